"""scikit-learn meta-estimators, one algorithm per file."""

from replearn.learners.pointwise import PointwiseReplicableClassifier

__all__ = ["PointwiseReplicableClassifier"]
