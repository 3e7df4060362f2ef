"""Replicable learning: retrain on a fresh sample, keep the answers."""

from replearn._version import __version__
from replearn.audit import (
    AccuracyFlipsDisplay,
    AuditResult,
    FlipReliabilityDisplay,
    FlipsByBlocksDisplay,
    GroupFlipsDisplay,
    RowFlipsDisplay,
    audit,
    compare,
    extrapolate,
)
from replearn.certificates import Certificate, Claim
from replearn.exceptions import (
    CertificateError,
    NotCertifiedWarning,
    PreprocessingWarning,
    UnsupportedValueError,
)
from replearn.learners import (
    ApproximatelyReplicableClassifier,
    FiniteRandomnessClassifier,
    PointwiseReplicableClassifier,
    RealizableReplicableClassifier,
    ReplicableSearchCV,
    ReplicableSelector,
    ReplicableThresholdClassifier,
    SemiReplicableClassifier,
)
from replearn.persistence import ModelFileError, load, save
from replearn.planning import BlocksDisplay, FlipCurveDisplay, Plan, PromiseDisplay, plan
from replearn.randomness import SharedKey, as_points

__all__ = [
    "AccuracyFlipsDisplay",
    "ApproximatelyReplicableClassifier",
    "AuditResult",
    "BlocksDisplay",
    "Certificate",
    "CertificateError",
    "Claim",
    "FiniteRandomnessClassifier",
    "FlipCurveDisplay",
    "FlipReliabilityDisplay",
    "FlipsByBlocksDisplay",
    "GroupFlipsDisplay",
    "ModelFileError",
    "NotCertifiedWarning",
    "Plan",
    "PointwiseReplicableClassifier",
    "PreprocessingWarning",
    "PromiseDisplay",
    "RealizableReplicableClassifier",
    "ReplicableSearchCV",
    "ReplicableSelector",
    "ReplicableThresholdClassifier",
    "RowFlipsDisplay",
    "SemiReplicableClassifier",
    "SharedKey",
    "UnsupportedValueError",
    "__version__",
    "as_points",
    "audit",
    "compare",
    "extrapolate",
    "load",
    "plan",
    "save",
]
