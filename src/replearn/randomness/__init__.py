"""Shared randomness: keys, canonical encoding of points, keyed hash."""

from replearn.randomness.encoding import (
    pandas_columns,
    pandas_names,
    read_once,
)
from replearn.randomness.hashing import gumbel_from_hashes
from replearn.randomness.key import HoldsKey, SharedKey, key_or_default, warn_if_weak
from replearn.randomness.kinds import ENCODING_VERSION, Kind
from replearn.randomness.points import Points, as_points, id_texts

__all__ = [
    "ENCODING_VERSION",
    "HoldsKey",
    "Kind",
    "Points",
    "SharedKey",
    "as_points",
    "key_or_default",
    "warn_if_weak",
]
