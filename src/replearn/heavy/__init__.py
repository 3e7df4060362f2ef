"""Points that occur often: find them, label them, and let estimators treat them apart."""

from replearn.heavy.counting import INDEX_KEY, PointIndex, count_points
from replearn.heavy.heavy_hitters import HeavyHitters, find_heavy_hitters
from replearn.heavy.label_rule import TwoLabels, with_flips
from replearn.heavy.labels import HeavyLabels, label_heavy_hitters
from replearn.heavy.stage import HeavyPoints, fit_heavy, heavy_from_counts
from replearn.heavy.view import HeavyView, fewest_remembered

__all__ = [
    "HeavyHitters",
    "HeavyLabels",
    "HeavyPoints",
    "HeavyView",
    "TwoLabels",
    "count_points",
    "find_heavy_hitters",
    "fit_heavy",
    "label_heavy_hitters",
    "with_flips",
]
