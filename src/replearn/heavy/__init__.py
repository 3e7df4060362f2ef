"""Points that occur often: find them and label them."""

from replearn.heavy.counting import count_points
from replearn.heavy.heavy_hitters import HeavyHitters, find_heavy_hitters
from replearn.heavy.labels import HeavyLabels, label_heavy_hitters

__all__ = [
    "HeavyHitters",
    "HeavyLabels",
    "count_points",
    "find_heavy_hitters",
    "label_heavy_hitters",
]
