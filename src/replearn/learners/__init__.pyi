from .chain import Step as Step, error_costs as error_costs, sentences_of as sentences_of
from .incumbent import IncumbentClassifier
from .incumbent_regressor import IncumbentRegressor
from .inputs import (
    FittedState as FittedState,
    all_or_nothing as all_or_nothing,
    check_features as check_features,
    check_groups as check_groups,
    check_labels as check_labels,
    refuse_one_class as refuse_one_class,
)
from .pointwise import PointwiseReplicableClassifier
from .regressor import PointwiseReplicableRegressor, check_numbers as check_numbers
from .row_sketch import (
    RowSketch as RowSketch,
    rows_in_sketch as rows_in_sketch,
    warn_if_trained_on as warn_if_trained_on,
)
from .score import ScoreReplicableClassifier
from .search import ReplicableSearchCV
from .selection import select_hypothesis
from .threshold import (
    check_pos_label as check_pos_label,
    fitted_threshold as fitted_threshold,
    known_threshold as known_threshold,
    parse_threshold as parse_threshold,
    split_threshold as split_threshold,
    threshold_of_label as threshold_of_label,
    threshold_on_last_label as threshold_on_last_label,
)
from .training import (
    Sample as Sample,
    requested_classes as requested_classes,
    usual_plan as usual_plan,
)
from .usefulness import N_ROWS as N_ROWS, Usefulness

__all__ = [
    "IncumbentClassifier",
    "IncumbentRegressor",
    "PointwiseReplicableClassifier",
    "PointwiseReplicableRegressor",
    "ReplicableSearchCV",
    "ScoreReplicableClassifier",
    "Usefulness",
    "select_hypothesis",
]
