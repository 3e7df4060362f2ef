"""Replicable learning: retrain on a fresh sample, keep the answers."""

from replearn._version import __version__
from replearn.certificates import Certificate, Claim
from replearn.exceptions import (
    CertificateError,
    NotCertifiedWarning,
    PreprocessingWarning,
    UnsupportedValueError,
)
from replearn.learners import PointwiseReplicableClassifier
from replearn.planning import Plan, plan
from replearn.randomness import SharedKey

__all__ = [
    "Certificate",
    "CertificateError",
    "Claim",
    "NotCertifiedWarning",
    "Plan",
    "PointwiseReplicableClassifier",
    "PreprocessingWarning",
    "SharedKey",
    "UnsupportedValueError",
    "__version__",
    "plan",
]
