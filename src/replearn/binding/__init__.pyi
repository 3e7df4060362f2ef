from .choices import bind_candidates, certify_choice, pool_digest
from .copies import copy_conditions, mixed_bits, names_persons
from .digests import Fingerprint, bind
from .estimator import (
    bind_estimator,
    block_condition,
    blocks_to_keep,
    describe_estimator,
    in_words,
    prefitted,
)
from .incumbent import bind_fitted
from .marks import (
    MAX_ORTHOGONAL,
    MIN_ROWS,
    mark_of_columns,
    products_vanish,
    repeats_inside,
    sample_conditions,
    say_conditions,
    say_mark,
)
from .point_masses import (
    EQUAL_ROWS,
    has_distinct_column,
    refuted_by_pairs,
    refuted_point_mass,
    without_masses,
)
from .probe import encode_probe
from .schema import describe_points, nearly_equal, rows_sketched, warn_of_computed
from .useful_blocks import (
    PROBES,
    ConstantModels,
    adapted_to_blocks,
    family_of,
    find_constant,
    rows_needed,
    says_it_is_poor,
    warn_if_all_constant,
    warn_if_constant,
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
    "blocks_to_keep",
    "certify_choice",
    "copy_conditions",
    "describe_estimator",
    "describe_points",
    "encode_probe",
    "family_of",
    "find_constant",
    "has_distinct_column",
    "in_words",
    "mark_of_columns",
    "mixed_bits",
    "names_persons",
    "nearly_equal",
    "pool_digest",
    "prefitted",
    "products_vanish",
    "refuted_by_pairs",
    "refuted_point_mass",
    "repeats_inside",
    "rows_needed",
    "rows_sketched",
    "sample_conditions",
    "say_conditions",
    "say_mark",
    "says_it_is_poor",
    "warn_if_all_constant",
    "warn_if_constant",
    "warn_of_computed",
    "without_masses",
]
