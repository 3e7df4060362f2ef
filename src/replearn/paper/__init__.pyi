from .coins import CoinDecision, decide_coin, decide_coins
from .complete import CompleteLearner
from .correlated_sampling import CorrelatedDraw, sample_correlated, sample_correlated_stream
from .domain_reduction import LazyDomain
from .finite_randomness import FiniteRandomnessClassifier
from .heavy_hitters import HeavyHitters, find_heavy_hitters
from .heavy_labels import HeavyLabels, label_heavy_hitters
from .quantiles import QuantileGrid, quantile_grid
from .realizable import RealizableReplicableClassifier
from .semi_private import PrivateSelection, SemiPrivateClassifier, select_privately
from .semi_replicable import SemiReplicableClassifier
from .signs import Signs, estimate_signs
from .thresholds import ReplicableThresholdClassifier

__all__ = [
    "CoinDecision",
    "CompleteLearner",
    "CorrelatedDraw",
    "FiniteRandomnessClassifier",
    "HeavyHitters",
    "HeavyLabels",
    "LazyDomain",
    "PrivateSelection",
    "QuantileGrid",
    "RealizableReplicableClassifier",
    "ReplicableThresholdClassifier",
    "SemiPrivateClassifier",
    "SemiReplicableClassifier",
    "Signs",
    "decide_coin",
    "decide_coins",
    "estimate_signs",
    "find_heavy_hitters",
    "label_heavy_hitters",
    "quantile_grid",
    "sample_correlated",
    "sample_correlated_stream",
    "select_privately",
]
