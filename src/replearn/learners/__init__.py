"""scikit-learn meta-estimators, one algorithm per file."""

from replearn.learners.pointwise import PointwiseReplicableClassifier
from replearn.learners.selector import ReplicableSelector
from replearn.learners.semi import SemiReplicableClassifier

__all__ = ["PointwiseReplicableClassifier", "ReplicableSelector", "SemiReplicableClassifier"]
