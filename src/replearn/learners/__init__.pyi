from .approximate import ApproximatelyReplicableClassifier
from .decision_threshold import DecisionThresholdClassifier
from .finite_randomness import FiniteRandomnessClassifier
from .incumbent import IncumbentClassifier
from .pointwise import PointwiseReplicableClassifier
from .realizable import RealizableReplicableClassifier
from .regressor import PointwiseReplicableRegressor
from .score import ScoreReplicableClassifier
from .search import ReplicableSearchCV
from .selector import ReplicableSelector
from .semi import SemiReplicableClassifier
from .semi_private import SemiPrivateClassifier
from .threshold import ReplicableThresholdClassifier
from .usefulness import Usefulness

__all__ = [
    "ApproximatelyReplicableClassifier",
    "DecisionThresholdClassifier",
    "FiniteRandomnessClassifier",
    "IncumbentClassifier",
    "PointwiseReplicableClassifier",
    "PointwiseReplicableRegressor",
    "RealizableReplicableClassifier",
    "ReplicableSearchCV",
    "ReplicableSelector",
    "ReplicableThresholdClassifier",
    "ScoreReplicableClassifier",
    "SemiPrivateClassifier",
    "SemiReplicableClassifier",
    "Usefulness",
]
