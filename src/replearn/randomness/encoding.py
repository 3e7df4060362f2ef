"""The canonical encoding of one cell: a kind and a 64-bit word that depend on its value alone.

Two runs agree on a person only if both see the same point, whatever container it came in. So a
cell is encoded by its *value*: 3, 3.0, True, int8 and float32 threes are one number, every missing
marker is one missing value, a category is its value, an instant is an instant. ``ENCODING_VERSION``
names these rules; they never change under one name.

A point is the message of its cells' words (8 bytes each, little endian), followed by their kinds
packed two per byte, the first cell in the low half.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import struct
from functools import singledispatch
from typing import Any

import numpy as np

from replearn.randomness.kinds import BadCellError, Cell, Kind
from replearn.randomness.times import LARGEST_INT64, WORD_MASK, encode_time, time_cell

_DIGESTS = {
    kind: hashlib.blake2b(digest_size=8, person=b"replearn-cell-1", salt=bytes([kind]))
    for kind in (Kind.TEXT, Kind.HUGE_INTEGER, Kind.BYTES)
}
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)

MISSING_CELL: Cell = (int(Kind.MISSING), 0)


def digest_word(kind: Kind, content: bytes) -> int:
    """Return the 64-bit digest that stands for text, bytes or a huge integer."""
    digest = _DIGESTS[kind].copy()  # much faster than setting one up
    digest.update(content)
    return int.from_bytes(digest.digest(), "little")


def describe(value: object) -> str:
    """Say a value and its type in an error message, shortened."""
    shown = repr(value)
    return f"{shown if len(shown) <= 40 else shown[:37] + '...'} ({type(value).__name__})"


@singledispatch
def encode_cell(value: Any) -> Cell:
    """Encode one value; the slow path that defines what the fast ones must give."""
    is_pandas_na = type(value).__name__ == "NAType"  # pandas is not imported here
    if value is np.ma.masked or is_pandas_na:
        return MISSING_CELL
    raise BadCellError(
        0,
        f"{describe(value)} has no canonical value; "
        "the argument must be a string, number, date, duration or missing marker",
    )


@encode_cell.register
def _(value: None) -> Cell:
    return MISSING_CELL


@encode_cell.register(str)
def _text(value: str) -> Cell:
    return Kind.TEXT, digest_word(Kind.TEXT, value.encode("utf-8", "surrogatepass"))


@encode_cell.register(bytes)
def _bytes(value: bytes) -> Cell:
    return Kind.BYTES, digest_word(Kind.BYTES, value)


@encode_cell.register(float)
def _float(value: float) -> Cell:
    if math.isnan(value):
        return MISSING_CELL
    if math.isinf(value):
        raise BadCellError(0, f"{value} is infinite; replace it by a number or a missing marker")
    # adding zero turns -0.0 into 0.0
    return Kind.NUMBER, struct.unpack("<Q", struct.pack("<d", value + 0.0))[0]


@encode_cell.register(np.floating)
def _numpy_float(value: np.floating[Any]) -> Cell:
    rounded = float(value)
    if math.isfinite(rounded) and rounded != value:  # only a long double can differ
        raise BadCellError(0, f"{describe(value)} has more digits than a float64; convert it first")
    return _float(rounded)


@encode_cell.register(int)
@encode_cell.register(np.integer)
@encode_cell.register(np.bool_)
def _integer(value: int) -> Cell:
    value = int(value)
    try:
        as_float = float(value)
    except OverflowError:
        as_float = math.inf
    if as_float == value:  # Python compares int and float exactly
        return _float(as_float)
    if -LARGEST_INT64 - 1 <= value <= LARGEST_INT64:
        return Kind.INTEGER, value & WORD_MASK
    if 0 <= value <= WORD_MASK:
        return Kind.LARGE_INTEGER, value
    content = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return Kind.HUGE_INTEGER, digest_word(Kind.HUGE_INTEGER, content)


@encode_cell.register(datetime.date)
def _date(value: datetime.date) -> Cell:
    return _instant(datetime.datetime.combine(value, datetime.time()))


@encode_cell.register(datetime.datetime)
def _instant(value: datetime.datetime) -> Cell:
    if value != value:  # pandas' NaT is a datetime
        return MISSING_CELL
    if hasattr(value, "to_datetime64"):  # a pandas Timestamp knows nanoseconds
        return encode_time(value.to_datetime64())
    aware = value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)
    microseconds = (aware - _EPOCH) // _MICROSECOND
    return time_cell(microseconds * 1000, Kind.INSTANT, Kind.FAR_INSTANT)


@encode_cell.register(datetime.timedelta)
def _duration(value: datetime.timedelta) -> Cell:
    if hasattr(value, "to_timedelta64"):  # a pandas Timedelta knows nanoseconds
        return encode_time(value.to_timedelta64())
    return time_cell(value // _MICROSECOND * 1000, Kind.DURATION, Kind.LONG_DURATION)


encode_cell.register(np.datetime64, encode_time)
encode_cell.register(np.timedelta64, encode_time)
