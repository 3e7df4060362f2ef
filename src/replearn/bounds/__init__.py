"""Exact probabilities behind the guarantees: pure functions of numbers, rounded to the safe side.

Every public function of this room is exported here.
"""

from replearn.bounds.accuracy import error_factor, vote_error_bound
from replearn.bounds.amplified import (
    AmplifiedDesign,
    amplified_error_tail,
    amplified_flip_bound,
    smallest_sample_amplified,
)
from replearn.bounds.approximate import (
    disagreement_bound,
    disagreement_tail,
    markov_gamma,
    markov_rho,
    smallest_blocks_approximate,
    vote_mean_and_spread,
)
from replearn.bounds.approximate_classes import (
    class_disagreement_bound,
    class_disagreement_tail,
    class_mean_and_spread,
)
from replearn.bounds.approximate_heavy import (
    heavy_disagreement_bound,
    heavy_disagreement_tail,
    label_disagreement_tail,
    membership_disagreement_tail,
    membership_spread,
)
from replearn.bounds.class_flips import (
    class_answer_chances,
    class_answers,
    class_flip_estimate,
    class_flip_limits,
    label_answer_chances,
)
from replearn.bounds.coins import (
    CoinLaw,
    coin_error_bound,
    coin_flip_bound,
    coin_law,
    smallest_throws,
)
from replearn.bounds.completeness import (
    false_member_bound,
    missed_point_bound,
    smallest_sample_complete,
    some_false_member_bound,
    some_missed_point_bound,
)
from replearn.bounds.concentration import (
    bernoulli_divergence,
    binomial_limits,
    dkw_tail,
    kl_lower,
    kl_upper,
    smallest_sample_dkw,
)
from replearn.bounds.cover import cover_distance
from replearn.bounds.crowd import crowd_bound, crowd_tail
from replearn.bounds.domain import (
    collision_bound,
    reduced_disagreement,
    reduced_failure,
    smallest_domain,
)
from replearn.bounds.finite_class import (
    order_error_tail,
    order_flip_bound,
    order_width,
    smallest_sample_order,
)
from replearn.bounds.finite_randomness import finite_randomness_flip_bound
from replearn.bounds.flips import central_binomial, flip_bound, flip_curve, flip_supremum
from replearn.bounds.foreseen import (
    average_flip_estimate,
    flip_estimate,
    joint_variance,
    share_variance,
)
from replearn.bounds.fresh import average_flip_limit, flip_limits
from replearn.bounds.fresh_rate import block_disagreement, flip_rate_limit, flip_rate_majorant
from replearn.bounds.halves import halves_curve, halves_supremum
from replearn.bounds.heavy_accuracy import heavy_light_tail, light_allowance, light_mass
from replearn.bounds.heavy_labels import (
    label_error_bound,
    label_flip_bound,
    label_law,
    smallest_labels,
)
from replearn.bounds.heavy_sets import (
    SetLaw,
    false_members_below,
    found_from,
    set_flip_bound,
    smallest_sample_set,
)
from replearn.bounds.laws import LAW_BITS, ThresholdLaw, arcsine_law, table_law, uniform_law
from replearn.bounds.light import largest_atoms, light_point_slack, light_point_tail
from replearn.bounds.membership import (
    MembershipLaw,
    membership_flip_bound,
    smallest_sample_membership,
)
from replearn.bounds.multiclass import (
    agreement_probability,
    mean_difference,
    multiclass_flip_bound,
    smallest_blocks_multiclass,
)
from replearn.bounds.one_heavy import (
    one_heavy_flip_bound,
    one_heavy_least_mass,
    one_heavy_power,
    smallest_sample_one,
)
from replearn.bounds.programme import programme_law, tightest_law
from replearn.bounds.realizable import (
    best_ceiling,
    ceiling_flip_bound,
    realizable_flip_bound,
    smallest_sample_realizable,
)
from replearn.bounds.reuse import reuse_flip_bound
from replearn.bounds.runs import runs_bound, runs_curve, runs_supremum
from replearn.bounds.selection import (
    selection_agreement,
    selection_error_tail,
    selection_error_tail_sampled,
    selection_flip_bound,
    selection_scale,
)
from replearn.bounds.selection_samples import (
    selection_flip_bound_sampled,
    smallest_sample_search,
    smallest_sample_selection,
    stable_scale,
)
from replearn.bounds.signs import (
    JOINT_COINS,
    joint_sign_flip_bound,
    sign_error_bound,
    sign_flip_bound,
    sign_width,
)
from replearn.bounds.thresholds import (
    mean_cdf_distance,
    mean_cut_difference,
    smallest_sample_threshold,
    threshold_error_tail,
    threshold_flip_bound,
    threshold_scale,
)
from replearn.bounds.training_rows import training_row_bound
from replearn.bounds.vc import (
    agnostic_sample_size,
    agnostic_sample_size_finite,
    agnostic_tail,
    log_growth,
    realizable_sample_size,
    realizable_sample_size_finite,
    realizable_tail,
)
from replearn.bounds.widths import make_law, smallest_blocks, smallest_width

__all__ = [
    "JOINT_COINS",
    "LAW_BITS",
    "AmplifiedDesign",
    "CoinLaw",
    "MembershipLaw",
    "SetLaw",
    "ThresholdLaw",
    "agnostic_sample_size",
    "agnostic_sample_size_finite",
    "agnostic_tail",
    "agreement_probability",
    "amplified_error_tail",
    "amplified_flip_bound",
    "arcsine_law",
    "average_flip_estimate",
    "average_flip_limit",
    "bernoulli_divergence",
    "best_ceiling",
    "binomial_limits",
    "block_disagreement",
    "ceiling_flip_bound",
    "central_binomial",
    "class_answer_chances",
    "class_answers",
    "class_disagreement_bound",
    "class_disagreement_tail",
    "class_flip_estimate",
    "class_flip_limits",
    "class_mean_and_spread",
    "coin_error_bound",
    "coin_flip_bound",
    "coin_law",
    "collision_bound",
    "cover_distance",
    "crowd_bound",
    "crowd_tail",
    "disagreement_bound",
    "disagreement_tail",
    "dkw_tail",
    "error_factor",
    "false_member_bound",
    "false_members_below",
    "finite_randomness_flip_bound",
    "flip_bound",
    "flip_curve",
    "flip_estimate",
    "flip_limits",
    "flip_rate_limit",
    "flip_rate_majorant",
    "flip_supremum",
    "found_from",
    "halves_curve",
    "halves_supremum",
    "heavy_disagreement_bound",
    "heavy_disagreement_tail",
    "heavy_light_tail",
    "joint_sign_flip_bound",
    "joint_variance",
    "kl_lower",
    "kl_upper",
    "label_answer_chances",
    "label_disagreement_tail",
    "label_error_bound",
    "label_flip_bound",
    "label_law",
    "largest_atoms",
    "light_allowance",
    "light_mass",
    "light_point_slack",
    "light_point_tail",
    "log_growth",
    "make_law",
    "markov_gamma",
    "markov_rho",
    "mean_cdf_distance",
    "mean_cut_difference",
    "mean_difference",
    "membership_disagreement_tail",
    "membership_flip_bound",
    "membership_spread",
    "missed_point_bound",
    "multiclass_flip_bound",
    "one_heavy_flip_bound",
    "one_heavy_least_mass",
    "one_heavy_power",
    "order_error_tail",
    "order_flip_bound",
    "order_width",
    "programme_law",
    "realizable_flip_bound",
    "realizable_sample_size",
    "realizable_sample_size_finite",
    "realizable_tail",
    "reduced_disagreement",
    "reduced_failure",
    "reuse_flip_bound",
    "runs_bound",
    "runs_curve",
    "runs_supremum",
    "selection_agreement",
    "selection_error_tail",
    "selection_error_tail_sampled",
    "selection_flip_bound",
    "selection_flip_bound_sampled",
    "selection_scale",
    "set_flip_bound",
    "share_variance",
    "sign_error_bound",
    "sign_flip_bound",
    "sign_width",
    "smallest_blocks",
    "smallest_blocks_approximate",
    "smallest_blocks_multiclass",
    "smallest_domain",
    "smallest_labels",
    "smallest_sample_amplified",
    "smallest_sample_complete",
    "smallest_sample_dkw",
    "smallest_sample_membership",
    "smallest_sample_one",
    "smallest_sample_order",
    "smallest_sample_realizable",
    "smallest_sample_search",
    "smallest_sample_selection",
    "smallest_sample_set",
    "smallest_sample_threshold",
    "smallest_throws",
    "smallest_width",
    "some_false_member_bound",
    "some_missed_point_bound",
    "stable_scale",
    "table_law",
    "threshold_error_tail",
    "threshold_flip_bound",
    "threshold_scale",
    "tightest_law",
    "training_row_bound",
    "uniform_law",
    "vote_error_bound",
    "vote_mean_and_spread",
]
