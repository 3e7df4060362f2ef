"""Exact probabilities behind the guarantees: pure functions of numbers, rounded to the safe side.

Every public function of this room is exported here.
"""

# --- thresholds, votes, runs -------------------------------------------------------------------
from replearn.bounds.flips import central_binomial, flip_bound, flip_curve, flip_supremum
from replearn.bounds.laws import (
    LAW_BITS,
    ThresholdLaw,
    arcsine_law,
    table_law,
    uniform_law,
)

# --- heavy points, selection, concentration, fresh samples (one import per module, sorted) ------
# --- end ----------------------------------------------------------------------------------------

__all__ = [
    "LAW_BITS",
    "ThresholdLaw",
    "arcsine_law",
    "central_binomial",
    "flip_bound",
    "flip_curve",
    "flip_supremum",
    "table_law",
    "uniform_law",
]
