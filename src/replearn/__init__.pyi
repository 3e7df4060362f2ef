from ._version import __version__
from .auditing.audits import audit
from .auditing.comparison import compare
from .guarantees.certificate import Certificate
from .guarantees.plan import Plan
from .guarantees.planner import plan
from .learners.incumbent import IncumbentClassifier
from .learners.incumbent_regressor import IncumbentRegressor
from .learners.pointwise import PointwiseReplicableClassifier
from .learners.regressor import PointwiseReplicableRegressor
from .learners.score import ScoreReplicableClassifier
from .learners.search import ReplicableSearchCV
from .learners.selection import select_hypothesis
from .persistence.model_file import load, save
from .randomness.key import SharedKey

__all__ = [
    "Certificate",
    "IncumbentClassifier",
    "IncumbentRegressor",
    "Plan",
    "PointwiseReplicableClassifier",
    "PointwiseReplicableRegressor",
    "ReplicableSearchCV",
    "ScoreReplicableClassifier",
    "SharedKey",
    "__version__",
    "audit",
    "compare",
    "load",
    "plan",
    "save",
    "select_hypothesis",
]
