"""Exact probabilities behind the guarantees: pure functions of numbers, rounded to the safe side.

The names exported here are those that a user of the theory calls directly; every other bound is
imported from its module.
"""

from replearn.bounds.approximate import disagreement_bound, disagreement_tail
from replearn.bounds.coins import CoinLaw, coin_error_bound, coin_flip_bound
from replearn.bounds.domain import collision_bound
from replearn.bounds.flips import flip_bound, flip_curve, flip_supremum, runs_bound
from replearn.bounds.foreseen import flip_estimate
from replearn.bounds.fresh import flip_limits, flip_rate_limit
from replearn.bounds.halves import halves_supremum
from replearn.bounds.heavy_sets import SetLaw, smallest_sample_set
from replearn.bounds.laws import (
    ThresholdLaw,
    arcsine_law,
    error_factor,
    rounded_table,
    table_law,
    uniform_law,
)
from replearn.bounds.membership import (
    MembershipLaw,
    membership_flip_bound,
    smallest_sample_membership,
)
from replearn.bounds.multiclass import multiclass_flip_bound
from replearn.bounds.numeric import binomial_limits
from replearn.bounds.optimal import optimal_law
from replearn.bounds.selection import (
    selection_agreement,
    selection_flip_bound_sampled,
    selection_scale,
    smallest_sample_selection,
)
from replearn.bounds.sign_test import sign_test
from replearn.bounds.signs import joint_sign_flip_bound
from replearn.bounds.thresholds import smallest_sample_threshold, threshold_scale
from replearn.bounds.vc import agnostic_sample_size, realizable_sample_size
from replearn.bounds.widths import make_law, smallest_blocks, smallest_width

__all__ = [
    "CoinLaw",
    "MembershipLaw",
    "SetLaw",
    "ThresholdLaw",
    "agnostic_sample_size",
    "arcsine_law",
    "binomial_limits",
    "coin_error_bound",
    "coin_flip_bound",
    "collision_bound",
    "disagreement_bound",
    "disagreement_tail",
    "error_factor",
    "flip_bound",
    "flip_curve",
    "flip_estimate",
    "flip_limits",
    "flip_rate_limit",
    "flip_supremum",
    "halves_supremum",
    "joint_sign_flip_bound",
    "make_law",
    "membership_flip_bound",
    "multiclass_flip_bound",
    "optimal_law",
    "realizable_sample_size",
    "rounded_table",
    "runs_bound",
    "selection_agreement",
    "selection_flip_bound_sampled",
    "selection_scale",
    "sign_test",
    "smallest_blocks",
    "smallest_sample_membership",
    "smallest_sample_selection",
    "smallest_sample_set",
    "smallest_sample_threshold",
    "smallest_width",
    "table_law",
    "threshold_scale",
    "uniform_law",
]
