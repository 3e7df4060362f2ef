"""Exact probabilities behind the guarantees: pure functions of numbers, rounded to the safe side.

Every public function of this room is exported here.
"""

from replearn.bounds.approximate import (
    disagreement_bound,
    disagreement_tail,
    heavy_disagreement_tail,
    markov_gamma,
    markov_rho,
    smallest_blocks_approximate,
)
from replearn.bounds.concentration import (
    bernoulli_divergence,
    binomial_limits,
    dkw_tail,
    kl_lower,
    kl_upper,
    smallest_sample_dkw,
)
from replearn.bounds.flips import central_binomial, flip_bound, flip_curve, flip_supremum
from replearn.bounds.fresh import (
    average_flip_estimate,
    average_flip_limit,
    flip_estimate,
    flip_limits,
    share_variance,
)
from replearn.bounds.fresh_rate import block_disagreement, flip_rate_limit, flip_rate_majorant
from replearn.bounds.laws import LAW_BITS, ThresholdLaw, arcsine_law, table_law, uniform_law
from replearn.bounds.programme import programme_law, tightest_law
from replearn.bounds.widths import make_law, smallest_blocks, smallest_width

__all__ = [
    "LAW_BITS",
    "ThresholdLaw",
    "arcsine_law",
    "average_flip_estimate",
    "average_flip_limit",
    "bernoulli_divergence",
    "binomial_limits",
    "block_disagreement",
    "central_binomial",
    "disagreement_bound",
    "disagreement_tail",
    "dkw_tail",
    "flip_bound",
    "flip_curve",
    "flip_estimate",
    "flip_limits",
    "flip_rate_limit",
    "flip_rate_majorant",
    "flip_supremum",
    "heavy_disagreement_tail",
    "kl_lower",
    "kl_upper",
    "make_law",
    "markov_gamma",
    "markov_rho",
    "programme_law",
    "share_variance",
    "smallest_blocks",
    "smallest_blocks_approximate",
    "smallest_sample_dkw",
    "smallest_width",
    "table_law",
    "tightest_law",
    "uniform_law",
]
