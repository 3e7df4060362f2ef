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
from replearn.guarantees import (
    Certificate,
    ChoicePlan,
    Claim,
    Plan,
    plan,
    plan_choice,
)
from replearn.heavy import find_heavy_hitters, find_one_heavy_hitter, label_heavy_hitters
from replearn.hypotheses import (
    Boxes,
    Conjunctions,
    FiniteClass,
    Halfspaces,
    Intervals,
    Stumps,
    Thresholds,
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
from replearn.primitives import (
    decide_coin,
    decide_coins,
    estimate_signs,
    learn_finite_class,
    quantile_grid,
    sample_correlated,
    select_hypothesis,
)
from replearn.randomness import SharedKey, as_points

__all__ = [
    "ApproximatelyReplicableClassifier",
    "Boxes",
    "Certificate",
    "CertificateError",
    "ChoicePlan",
    "Claim",
    "Conjunctions",
    "ConstantBlocksWarning",
    "FiniteClass",
    "FiniteRandomnessClassifier",
    "Halfspaces",
    "Intervals",
    "ModelFileError",
    "NotCertifiedWarning",
    "Plan",
    "PointwiseReplicableClassifier",
    "PreprocessingWarning",
    "RealizableReplicableClassifier",
    "ReplicableSearchCV",
    "ReplicableSelector",
    "ReplicableThresholdClassifier",
    "SemiReplicableClassifier",
    "SharedKey",
    "Stumps",
    "Thresholds",
    "UnsupportedValueError",
    "__version__",
    "as_points",
    "audit",
    "compare",
    "decide_coin",
    "decide_coins",
    "estimate_signs",
    "find_heavy_hitters",
    "find_one_heavy_hitter",
    "label_heavy_hitters",
    "learn_finite_class",
    "load",
    "plan",
    "plan_choice",
    "quantile_grid",
    "sample_correlated",
    "save",
    "select_hypothesis",
]
