"""Points that occur often: find them, label them, and let learners treat them apart."""

from replearn.heavy.heavy_hitters import HeavyHitters, find_heavy_hitters
from replearn.heavy.labels import HeavyLabels, label_heavy_hitters
from replearn.heavy.one_heavy import OneHeavyHitter, find_one_heavy_hitter

__all__ = [
    "HeavyHitters",
    "HeavyLabels",
    "OneHeavyHitter",
    "find_heavy_hitters",
    "find_one_heavy_hitter",
    "label_heavy_hitters",
]
