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
from replearn.bounds.approximate_heavy import (
    label_disagreement_tail,
    membership_disagreement_tail,
    membership_spread,
    reuse_flip_bound,
)
from replearn.bounds.class_flips import (
    class_flip_estimate,
    class_prediction_chances,
    class_predictions,
)
from replearn.bounds.coins import (
    CoinLaw,
    coin_error_bound,
    coin_flip_bound,
    coin_law,
    smallest_throws,
)
from replearn.bounds.collisions import point_mass_limits
from replearn.bounds.completeness import (
    false_member_bound,
    false_members_below,
    found_from,
    missed_point_bound,
    some_missed_point_bound,
)
from replearn.bounds.domain import collision_bound
from replearn.bounds.flips import (
    any_score_flip_bound,
    flip_bound,
    flip_curve,
    flip_supremum,
    halves_supremum,
    normal_flip_bound,
    repeated_row_bound,
    runs_bound,
    score_half_width,
    soft_flip_bound,
    sphere_peak,
    training_row_bound,
    worst_score_flip_bound,
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
from replearn.bounds.heavy_sets import (
    SetLaw,
    set_flip_bound,
    smallest_sample_set,
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
from replearn.bounds.membership import (
    MembershipLaw,
    membership_flip_bound,
    quick_membership_bound,
    smallest_sample_membership,
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
    equal_share_tail,
    kl_lower,
    kl_upper,
)
from replearn.bounds.optimal import optimal_law, tightest_law
from replearn.bounds.privacy import (
    fewest_parts,
    release_threshold,
    run_failure,
    semi_private_miss,
    semi_private_wrong,
    single_release,
)
from replearn.bounds.realizable import (
    best_ceiling,
    cover_distance,
    realizable_flip_bound,
    smallest_sample_realizable,
)
from replearn.bounds.regression import (
    cell_escape,
    mean_rounding_flips,
    rounding_flip_bound,
    smallest_blocks_rounding,
)
from replearn.bounds.repeats import least_log_tail
from replearn.bounds.selection import (
    finite_randomness_flip_bound,
    selection_agreement,
    selection_error_tail_sampled,
    selection_flip_bound,
    selection_flip_bound_sampled,
    selection_scale,
    smallest_sample_search,
    smallest_sample_selection,
    stable_scale,
)
from replearn.bounds.signs import (
    joint_groups,
    joint_sign_flip_bound,
    label_flip_bound,
    sign_error_bound,
    sign_flip_bound,
    sign_width,
)
from replearn.bounds.thresholds import (
    smallest_sample_threshold,
    threshold_error_tail,
    threshold_flip_bound,
    threshold_scale,
)
from replearn.bounds.vc import (
    agnostic_sample_size,
    log_growth,
    realizable_sample_size,
    realizable_tail,
)
from replearn.bounds.whole_models import jensen_bound, jensen_tail
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
    "flip_rate_limit",
    "flip_supremum",
    "halves_supremum",
    "jensen_bound",
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
