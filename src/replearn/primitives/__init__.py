"""Building blocks of the paper: each takes a sample, parameters and a shared key.

Each returns a frozen result with its certificate, and keys its random numbers by the element they
belong to, never by a position in a stream.
"""

from replearn.primitives.candidates import (
    Choice,
    error_counts,
    named_candidates,
    names_digest,
    sample_key,
    sample_order,
)
from replearn.primitives.selection import (
    Selection,
    choose_by_errors,
    select_hypothesis,
)

__all__ = [
    "Choice",
    "Selection",
    "choose_by_errors",
    "names_digest",
    "sample_key",
    "sample_order",
    "select_hypothesis",
]
