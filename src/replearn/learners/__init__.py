"""scikit-learn meta-estimators, one algorithm per file."""

from typing import TYPE_CHECKING

import replearn.fastpaths  # noqa: F401 - registers the plug-ins
from replearn.records.lazy import names_on_demand

if TYPE_CHECKING:
    from replearn.binding.learner import trusted
    from replearn.binding.probe import encode_probe
    from replearn.learners.approximate import ApproximatelyReplicableClassifier
    from replearn.learners.finite_randomness import FiniteRandomnessClassifier
    from replearn.learners.incumbent import IncumbentClassifier
    from replearn.learners.pointwise import PointwiseReplicableClassifier
    from replearn.learners.realizable import RealizableReplicableClassifier
    from replearn.learners.regressor import PointwiseReplicableRegressor
    from replearn.learners.score import ScoreReplicableClassifier
    from replearn.learners.search import ReplicableSearchCV
    from replearn.learners.selector import ReplicableSelector
    from replearn.learners.semi import SemiReplicableClassifier
    from replearn.learners.semi_private import SemiPrivateClassifier
    from replearn.learners.threshold import ReplicableThresholdClassifier
    from replearn.learners.usefulness import Usefulness

__all__ = [
    "ApproximatelyReplicableClassifier",
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
    "encode_probe",
    "trusted",
]

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "replearn.binding.learner": ["trusted"],
        "replearn.binding.probe": ["encode_probe"],
        "replearn.learners.approximate": ["ApproximatelyReplicableClassifier"],
        "replearn.learners.finite_randomness": ["FiniteRandomnessClassifier"],
        "replearn.learners.incumbent": ["IncumbentClassifier"],
        "replearn.learners.pointwise": ["PointwiseReplicableClassifier"],
        "replearn.learners.realizable": ["RealizableReplicableClassifier"],
        "replearn.learners.regressor": ["PointwiseReplicableRegressor"],
        "replearn.learners.score": ["ScoreReplicableClassifier"],
        "replearn.learners.search": ["ReplicableSearchCV"],
        "replearn.learners.selector": ["ReplicableSelector"],
        "replearn.learners.semi": ["SemiReplicableClassifier"],
        "replearn.learners.semi_private": ["SemiPrivateClassifier"],
        "replearn.learners.threshold": ["ReplicableThresholdClassifier"],
        "replearn.learners.usefulness": ["Usefulness"],
    },
)
