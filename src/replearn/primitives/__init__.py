"""A choice by shared random numbers, keyed by what a candidate is, never by its place in a list."""

from replearn.primitives.candidates import (
    error_sums,
    names_digest,
    sample_key,
    sample_order,
)
from replearn.primitives.selection import Selection, choose_by_errors

__all__ = [
    "Selection",
    "choose_by_errors",
    "error_sums",
    "names_digest",
    "sample_key",
    "sample_order",
]
