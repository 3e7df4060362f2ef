from .approximate import ApproximatelyReplicableClassifier
from .decision_threshold import DecisionThresholdClassifier
from .decision_threshold import block_thresholds as block_thresholds
from .decision_threshold import fitted_threshold as fitted_threshold
from .decision_threshold import known_threshold as known_threshold
from .decision_threshold import parse_threshold as parse_threshold
from .decision_threshold import split_threshold as split_threshold
from .decision_threshold import with_threshold as with_threshold
from .finite_randomness import FiniteRandomnessClassifier
from .fitted_state import FittedState as FittedState
from .incumbent import IncumbentClassifier
from .incumbent_chain import Chain as Chain
from .incumbent_chain import Retraining as Retraining
from .incumbent_regressor import IncumbentRegressor
from .inputs import all_or_nothing as all_or_nothing
from .inputs import base_estimator as base_estimator
from .inputs import check_base as check_base
from .inputs import check_features as check_features
from .inputs import check_groups as check_groups
from .inputs import check_labels as check_labels
from .inputs import float_precision as float_precision
from .inputs import refuse_one_class as refuse_one_class
from .planning import identity_of as identity_of
from .planning import plan_in_force as plan_in_force
from .planning import plan_request as plan_request
from .planning import requested_classes as requested_classes
from .planning import usual_plan as usual_plan
from .planning import wants_heavy_stage as wants_heavy_stage
from .planning import warn_if_blocks_cannot_learn as warn_if_blocks_cannot_learn
from .pointwise import PointwiseReplicableClassifier
from .realizable import RealizableReplicableClassifier
from .regressor import PointwiseReplicableRegressor
from .regressor import check_numbers as check_numbers
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
    "IncumbentRegressor",
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
