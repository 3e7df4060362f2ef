"""JSON, atomic files, checks of arguments, searches and text: what every package needs."""

from typing import TYPE_CHECKING

from replearn.records.lazy import names_on_demand

if TYPE_CHECKING:
    from replearn.records.checks import check_choice, check_count, check_fraction, check_positive
    from replearn.records.json import (
        pretty_json,
        read_object,
        write_atomically,
        write_bytes_atomically,
    )
    from replearn.records.search import bisect, require_integer, smallest_integer
    from replearn.records.text import two_columns

__all__ = [
    "bisect",
    "check_choice",
    "check_count",
    "check_fraction",
    "check_positive",
    "pretty_json",
    "read_object",
    "require_integer",
    "smallest_integer",
    "two_columns",
    "write_atomically",
    "write_bytes_atomically",
]

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "replearn.records.checks": [
            "check_choice",
            "check_count",
            "check_fraction",
            "check_positive",
        ],
        "replearn.records.json": [
            "pretty_json",
            "read_object",
            "write_atomically",
            "write_bytes_atomically",
        ],
        "replearn.records.search": ["bisect", "require_integer", "smallest_integer"],
        "replearn.records.text": ["two_columns"],
    },
)
