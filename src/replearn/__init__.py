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
from replearn.planning import BlocksDisplay, FlipCurveDisplay, Plan, PromiseDisplay, plan
from replearn.randomness import SharedKey

__all__ = [
    "BlocksDisplay",
    "Certificate",
    "CertificateError",
    "Claim",
    "FlipCurveDisplay",
    "NotCertifiedWarning",
    "Plan",
    "PointwiseReplicableClassifier",
    "PreprocessingWarning",
    "PromiseDisplay",
    "SharedKey",
    "UnsupportedValueError",
    "__version__",
    "plan",
]
