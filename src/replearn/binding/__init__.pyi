from .block_settings import adapted_to_blocks
from .choices import bind_candidates, certify_choice, pool_digest
from .computed import nearly_equal, warn_of_computed
from .copies import copy_conditions
from .digests import Fingerprint, bind
from .estimator import (
    bind_estimator,
    block_condition,
    blocks_to_check,
    describe_estimator,
    in_words,
    prefitted,
    refit_condition,
)
from .incumbent import bind_fitted
from .marks import (
    MAX_ORTHOGONAL,
    MIN_ROWS,
    is_long,
    mark_of_means,
    other_mark,
    products_vanish,
    repeats_inside,
    sample_conditions,
    say_conditions,
    say_mark,
    single_marks,
)
from .point_masses import (
    EQUAL_ROWS,
    has_distinct_column,
    refuted_by_pairs,
    refuted_point_mass,
    without_masses,
)
from .probe import encode_probe
from .schema import describe_points, rows_sketched
from .useful_blocks import (
    PROBES,
    ConstantModels,
    constant_models,
    find_constant,
    rows_needed,
    says_it_is_poor,
    warn_if_all_constant,
    warn_if_constant,
    warn_of_constant,
)

__all__ = [
    "EQUAL_ROWS",
    "MAX_ORTHOGONAL",
    "MIN_ROWS",
    "PROBES",
    "ConstantModels",
    "Fingerprint",
    "adapted_to_blocks",
    "bind",
    "bind_candidates",
    "bind_estimator",
    "bind_fitted",
    "block_condition",
    "blocks_to_check",
    "certify_choice",
    "constant_models",
    "copy_conditions",
    "describe_estimator",
    "describe_points",
    "encode_probe",
    "find_constant",
    "has_distinct_column",
    "in_words",
    "is_long",
    "mark_of_means",
    "nearly_equal",
    "other_mark",
    "pool_digest",
    "prefitted",
    "products_vanish",
    "refit_condition",
    "refuted_by_pairs",
    "refuted_point_mass",
    "repeats_inside",
    "rows_needed",
    "rows_sketched",
    "sample_conditions",
    "say_conditions",
    "say_mark",
    "says_it_is_poor",
    "single_marks",
    "warn_if_all_constant",
    "warn_if_constant",
    "warn_of_computed",
    "warn_of_constant",
    "without_masses",
]
