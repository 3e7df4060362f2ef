"""Exact probabilities behind the guarantees: pure functions of numbers, rounded to the safe side.

``__all__`` lists what a user of the theory calls directly; the other names are for packages of this
library.
"""

from replearn.bounds.accuracy import (
    light_point_slack,
)
from replearn.bounds.approximate import (
    disagreement_bound,
    disagreement_tail,
    markov_gamma,
    markov_rho,
    vote_mean_and_spread,
)
from replearn.bounds.class_flips import (
    class_flip_estimate,
    class_prediction_chances,
    class_predictions,
)
from replearn.bounds.collisions import point_mass_limits
from replearn.bounds.flips import (
    flip_bound,
    flip_curve,
    flip_supremum,
    halves_supremum,
    repeated_row_bound,
    runs_bound,
    soft_flip_bound,
    training_row_bound,
)
from replearn.bounds.foreseen import (
    average_flip_estimate,
    flip_estimate,
    joint_variance,
)
from replearn.bounds.fresh import (
    block_disagreement,
    flip_rate_limit,
)
from replearn.bounds.laws import (
    LAW_BITS,
    ThresholdLaw,
    arcsine_law,
    error_factor,
    rounded_table,
    table_law,
    uniform_law,
)
from replearn.bounds.multiclass import (
    agreement_probability,
    class_disagreement_bound,
    class_disagreement_tail,
    class_error_factor,
    class_mean_and_spread,
    class_weights,
    least_sharpness,
    log_weight_agreement,
    multiclass_flip_bound,
    smallest_blocks_multiclass,
)
from replearn.bounds.numeric import (
    binomial_cdf,
    binomial_limits,
    binomial_sf,
    kl_lower,
    kl_upper,
)
from replearn.bounds.regression import (
    cell_escape,
    mean_rounding_flips,
    rounding_flip_bound,
    smallest_blocks_rounding,
)
from replearn.bounds.repeats import least_log_tail
from replearn.bounds.scores import (
    any_score_flip_bound,
    normal_flip_bound,
    score_half_width,
    worst_score_flip_bound,
)
from replearn.bounds.selection import (
    selection_agreement,
    selection_error_tail_sampled,
    selection_flip_bound,
    selection_flip_bound_sampled,
    selection_scale,
    smallest_sample_selection,
    stable_scale,
)
from replearn.bounds.vc import (
    agnostic_sample_size,
    log_growth,
    realizable_sample_size,
    realizable_tail,
)
from replearn.bounds.whole_models import jensen_bound, jensen_tail

__all__ = [
    "ThresholdLaw",
    "agnostic_sample_size",
    "arcsine_law",
    "binomial_limits",
    "disagreement_bound",
    "disagreement_tail",
    "error_factor",
    "flip_bound",
    "flip_curve",
    "flip_estimate",
    "flip_rate_limit",
    "flip_supremum",
    "halves_supremum",
    "jensen_bound",
    "multiclass_flip_bound",
    "realizable_sample_size",
    "rounded_table",
    "runs_bound",
    "selection_agreement",
    "selection_flip_bound_sampled",
    "selection_scale",
    "smallest_sample_selection",
    "table_law",
    "uniform_law",
]
