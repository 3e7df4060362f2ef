from .checks import check_choice, check_count, check_fraction, check_positive
from .json import pretty_json, read_object, write_atomically, write_bytes_atomically
from .search import bisect, require_integer, smallest_integer
from .text import two_columns

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
