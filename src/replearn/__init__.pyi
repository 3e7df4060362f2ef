from ._version import __version__
from .auditing import audit, compare
from .exceptions import (
    CertificateError,
    ConstantBlocksWarning,
    ModelFileError,
    NotCertifiedWarning,
    PreprocessingWarning,
    PublicKeyWarning,
    UnsupportedValueError,
    UsefulnessWarning,
)
from .guarantees.certificate import Certificate
from .guarantees.plan import Plan
from .guarantees.planner import plan
from .learners import (
    IncumbentClassifier,
    IncumbentRegressor,
    PointwiseReplicableClassifier,
    PointwiseReplicableRegressor,
    ReplicableSearchCV,
    ScoreReplicableClassifier,
    select_hypothesis,
)
from .persistence import load, save
from .randomness import SharedKey

__all__ = [
    "Certificate",
    "CertificateError",
    "ConstantBlocksWarning",
    "IncumbentClassifier",
    "IncumbentRegressor",
    "ModelFileError",
    "NotCertifiedWarning",
    "Plan",
    "PointwiseReplicableClassifier",
    "PointwiseReplicableRegressor",
    "PreprocessingWarning",
    "PublicKeyWarning",
    "ReplicableSearchCV",
    "ScoreReplicableClassifier",
    "SharedKey",
    "UnsupportedValueError",
    "UsefulnessWarning",
    "__version__",
    "audit",
    "compare",
    "load",
    "plan",
    "save",
    "select_hypothesis",
]
