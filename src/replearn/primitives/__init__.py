"""Building blocks of the paper: each takes a sample, parameters and a shared key.

Each returns a frozen result with its certificate, and keys its random numbers by the element they
belong to, never by a position in a stream.
"""

from replearn.bounds import smallest_throws
from replearn.primitives.candidates import (
    Choice,
    error_counts,
    named_candidates,
    names_digest,
    sample_key,
    sample_order,
)
from replearn.primitives.coins import (
    CoinDecision,
    below_levels,
    decide_coin,
    decide_coins,
)
from replearn.primitives.correlated import (
    CorrelatedDraw,
    agreement_of_draws,
    sample_correlated,
    sample_correlated_stream,
)
from replearn.primitives.private_selection import PrivateSelection, select_privately
from replearn.primitives.quantiles import (
    Cuts,
    QuantileGrid,
    cuts_of_sample,
    draw_level,
    quantile_grid,
)
from replearn.primitives.selection import (
    Selection,
    choice_scale,
    choose_by_errors,
    select_hypothesis,
)
from replearn.primitives.signs import Signs, estimate_signs

__all__ = [
    "Choice",
    "CoinDecision",
    "CorrelatedDraw",
    "Cuts",
    "PrivateSelection",
    "QuantileGrid",
    "Selection",
    "Signs",
    "agreement_of_draws",
    "below_levels",
    "choice_scale",
    "choose_by_errors",
    "cuts_of_sample",
    "decide_coin",
    "decide_coins",
    "draw_level",
    "estimate_signs",
    "names_digest",
    "quantile_grid",
    "sample_correlated",
    "sample_correlated_stream",
    "sample_key",
    "sample_order",
    "select_hypothesis",
    "select_privately",
    "smallest_throws",
]
