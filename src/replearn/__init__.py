"""Replicable learning: retrain on a fresh sample, keep the answers."""

from replearn._version import __version__
from replearn.auditing import audit, compare
from replearn.exceptions import (
    CertificateError,
    ConstantBlocksWarning,
    NotCertifiedWarning,
    PreprocessingWarning,
    UnsupportedValueError,
)
from replearn.guarantees import Certificate, Plan, plan
from replearn.learners import (
    ApproximatelyReplicableClassifier,
    FiniteRandomnessClassifier,
    PointwiseReplicableClassifier,
    RealizableReplicableClassifier,
    ReplicableSearchCV,
    ReplicableSelector,
    ReplicableThresholdClassifier,
    ScoreReplicableClassifier,
    SemiReplicableClassifier,
)
from replearn.persistence import ModelFileError, load, save
from replearn.randomness import SharedKey

__all__ = [
    "ApproximatelyReplicableClassifier",
    "Certificate",
    "CertificateError",
    "ConstantBlocksWarning",
    "FiniteRandomnessClassifier",
    "ModelFileError",
    "NotCertifiedWarning",
    "Plan",
    "PointwiseReplicableClassifier",
    "PreprocessingWarning",
    "RealizableReplicableClassifier",
    "ReplicableSearchCV",
    "ReplicableSelector",
    "ReplicableThresholdClassifier",
    "ScoreReplicableClassifier",
    "SemiReplicableClassifier",
    "SharedKey",
    "UnsupportedValueError",
    "__version__",
    "audit",
    "compare",
    "load",
    "plan",
    "save",
]
