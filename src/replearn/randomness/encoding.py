"""The canonical encoding of one cell: a kind and a 64-bit word that depend on its value alone.

Two runs agree on a person only if both see the same point, whatever container it came in. So a
cell is encoded by its *value*: 3, 3.0, True, int8 and float32 threes are one number, every missing
marker is one missing value, a category is its value, an instant is an instant. ``ENCODING_VERSION``
names these rules; they never change under one name.

A point is the message of its cells' words (8 bytes each, little endian), followed by their kinds
packed two per byte, the first cell in the low half.

`encode_cell` defines the encoding. Runs of cells of one column are encoded faster, arrays by dtype,
anything else by value, and give exactly the same. Kinds are returned as None where all cells are
plain numbers, so that the common case costs nothing.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import struct
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import singledispatch
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.randomness.kinds import BadCellError, Cell, Kind, Kinds, Words
from replearn.randomness.times import LARGEST_INT64, WORD_MASK, encode_time, encode_times, time_cell

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


# -- runs of cells of one column, and the columns of an array --------------------------------------
_LARGEST_EXACT = 1 << 53
_TEXT = int(Kind.TEXT)
_TEXTS_REMEMBERED = 1 << 16
# from here on a float64 is a whole number: rounding has nothing to do, and might overflow
_ALL_WHOLE = float(1 << 52)


@dataclass(frozen=True)
class Nullable:
    """Values of which some are missing; what the array holds for them does not matter."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]


@dataclass(frozen=True)
class Coded:
    """Categories: each cell is the position of its value in a list, or negative if missing."""

    codes: NDArray[np.integer[Any]]
    categories: Sequence[Any] | NDArray[Any]


@dataclass(frozen=True)
class Encoded:
    """A column whose words and kinds are known already (kinds None: all are numbers)."""

    words: Words
    kinds: Kinds | None


Values = NDArray[Any] | Sequence[Any] | Nullable | Coded | Encoded
"""What a container may hand over as one column's cells."""
Rows = slice | NDArray[np.intp]
"""Which rows: a slice, or positions."""

_COLUMNS_AT_ONCE = 16
"""Columns gathered together from rows of numbers: one by one, every cache line is read again."""


class TextWords(dict[str | None, int]):
    """Words of texts, each digested once; forgets everything when it grows too large."""

    def __missing__(self, text: str | None) -> int:
        if len(self) >= _TEXTS_REMEMBERED:
            self.clear()
        word = self[text] = encode_cell(text)[1]
        return word


class ColumnEncoder:
    """Encode columns' cells into words and kinds, chunk by chunk; numbers rounded to decimals."""

    def __init__(self, decimals: int | None) -> None:
        self._decimals = decimals
        self._texts = TextWords()

    def encode(self, values: Values, words: Words) -> Kinds | None:
        """Write the words of the cells; return their kinds, or None if all are numbers."""
        if isinstance(values, Encoded):
            words[:] = values.words
            return values.kinds
        if isinstance(values, Nullable):
            return self._nullable(values, words)
        if isinstance(values, Coded):
            return self._coded(values, words)
        if isinstance(values, np.ndarray):
            return self._array(values, words)
        return self._objects(values, words)

    def _array(self, values: NDArray[Any], words: Words) -> Kinds | None:
        kind = values.dtype.kind
        if kind == "f" and values.dtype.itemsize <= 8:
            return self._floats(values, words)
        if kind in "iu":
            return encode_integers(values, words)
        if kind == "b":
            words.view(np.float64)[:] = values
            return None
        if kind in "mM":
            return encode_times(values, words)
        if kind in "fc":  # long double, complex: cell by cell
            return self._objects(list(values), words)
        return self._objects(values.tolist(), words)

    def _floats(self, values: NDArray[np.floating[Any]], words: Words) -> Kinds | None:
        numbers = words.view(np.float64)
        with np.errstate(invalid="ignore"):  # a signalling NaN is a missing value like any other
            if self._decimals is None:
                np.add(values, 0.0, out=numbers)  # adding zero turns -0.0 into 0.0
            else:
                round_numbers(values, self._decimals, numbers)
        if np.isfinite(numbers).all():
            return None
        missing = np.isnan(numbers)
        infinite = ~missing & ~np.isfinite(numbers)
        if infinite.any():
            position = int(np.flatnonzero(infinite)[0])
            encode_at(position, float(numbers[position]))
        numbers[missing] = 0.0
        return np.where(missing, np.uint8(Kind.MISSING), np.uint8(Kind.NUMBER))

    def _nullable(self, column: Nullable, words: Words) -> Kinds | None:
        if not column.missing.any():
            return self.encode(column.values, words)
        known = column.values.copy()
        known[column.missing] = np.zeros((), dtype=known.dtype)
        kinds = self.encode(known, words)
        kinds = np.zeros(len(words), dtype=np.uint8) if kinds is None else kinds
        words[column.missing] = 0
        kinds[column.missing] = Kind.MISSING
        return kinds

    def _coded(self, column: Coded, words: Words) -> Kinds | None:
        # only categories that occur are encoded: an unused one can do no harm
        used, inverse = np.unique(column.codes, return_inverse=True)
        values = [None if code < 0 else column.categories[code] for code in used]
        used_words = np.empty(len(used), dtype=np.uint64)
        try:
            used_kinds = self.encode(values, used_words)
        except BadCellError as error:
            raise BadCellError(int(np.argmax(inverse == error.position)), error.reason) from None
        np.take(used_words, inverse, out=words)
        return None if used_kinds is None else used_kinds[inverse]

    def _objects(self, values: Sequence[Any], words: Words) -> Kinds | None:
        types = set(map(type, values))
        if types <= {float}:
            return self._floats(np.array(values, dtype=np.float64), words)
        if types <= {int, bool}:
            try:
                return encode_integers(np.array(values, dtype=np.int64), words)
            except OverflowError:
                pass  # beyond 64 bits: cell by cell
        if str in types and types <= {str, NoneType}:
            texts = self._texts
            words[:] = [texts[text] for text in values]
            kinds = np.full(len(words), Kind.TEXT, dtype=np.uint8)
            if NoneType in types:
                kinds[[text is None for text in values]] = Kind.MISSING
            return kinds
        return self._one_by_one(values, words)

    def _one_by_one(self, values: Sequence[Any], words: Words) -> Kinds | None:
        cells = [self._cell(position, value) for position, value in enumerate(values)]
        words[:] = [word for _, word in cells]
        kinds = np.array([kind for kind, _ in cells], dtype=np.uint8)
        return kinds if kinds.any() else None

    def _cell(self, position: int, value: Any) -> Cell:
        if type(value) is str:
            return _TEXT, self._texts[value]
        if value is None:
            return MISSING_CELL
        if self._decimals is not None and isinstance(value, float | np.floating):
            value = round_numbers(np.array([value]), self._decimals)[0]
        return encode_at(position, value)


def encode_at(position: int, value: Any) -> Cell:
    """Encode one value; an error names its position."""
    try:
        return encode_cell(value)
    except BadCellError as error:
        raise BadCellError(position, error.reason) from None


def round_numbers(
    values: NDArray[np.floating[Any]], decimals: int, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Round as float64 with numpy's rounding (half to even), and turn -0.0 into 0.0."""
    numbers = np.asarray(values, dtype=np.float64)
    with np.errstate(all="ignore"):  # what overflows here is not taken
        rounded = np.where(np.abs(numbers) < _ALL_WHOLE, np.round(numbers, decimals), numbers)
    return np.add(rounded, 0.0, out=out)


def encode_integers(values: NDArray[np.integer[Any]], words: Words) -> Kinds | None:
    """Encode integers of any width: as float64 where exact, as themselves beyond."""
    numbers = words.view(np.float64)
    numbers[:] = values
    # the float of a larger integer is at least 2**53 itself: rounding is monotone
    if values.dtype.itemsize < 8 or np.abs(numbers).max(initial=0.0) < _LARGEST_EXACT:
        return None
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    signed = values.dtype.kind == "i"
    size = np.abs(values).view(np.uint64) if signed else values
    rounded = np.abs(numbers)
    fits = rounded < 2.0**64
    inexact = ~fits | (np.where(fits, rounded, 0.0).astype(np.uint64) != size)
    if not inexact.any():
        return None
    kinds = np.zeros(len(words), dtype=np.uint8)
    kinds[inexact] = Kind.INTEGER
    if not signed:
        kinds[inexact & (size >= np.uint64(1 << 63))] = Kind.LARGE_INTEGER
    words[inexact] = values[inexact].view(np.uint64)
    return kinds


def split_mask(cells: np.ma.MaskedArray[Any, Any]) -> Values:
    """Turn a masked column into one whose masked cells are missing."""
    missing = np.ma.getmaskarray(cells)
    if cells.dtype.kind in "biufmM":
        return Nullable(cells.data, missing)
    return [None if gone else cell for cell, gone in zip(cells.data.tolist(), missing, strict=True)]


class ArraySource:
    """A numpy array of one or two dimensions, masked or not."""

    def __init__(self, array: NDArray[Any]) -> None:
        if array.dtype.kind == "V":
            raise TypeError(
                f"a structured array ({array.dtype}) is not supported; "
                "give a frame, or an array of one dtype"
            )
        if array.ndim not in (1, 2):
            raise ValueError(
                f"must have one or two dimensions, got an array of shape {array.shape}"
            )
        if not isinstance(array, np.ma.MaskedArray):
            array = np.asarray(array)  # a numpy matrix has no columns of one dimension
        self._array = array[:, np.newaxis] if array.ndim == 1 else array
        self.names: Sequence[Hashable] = range(self._array.shape[1])
        self.is_plain = array.dtype.kind in "biuf" and not isinstance(array, np.ma.MaskedArray)

    def __len__(self) -> int:
        return int(self._array.shape[0])

    def row(self, rows: Rows) -> NDArray[Any]:
        """Return the cells of a single chosen row."""
        cells: NDArray[Any] = self._array[rows][0]
        return cells

    def columns(self, rows: Rows) -> Iterator[Values]:
        """Yield the cells of the chosen rows, column by column."""
        block = self._array[rows]
        if isinstance(block, np.ma.MaskedArray):
            yield from (split_mask(cells) for cells in block.T)
            return
        for start in range(0, block.shape[1], _COLUMNS_AT_ONCE):
            yield from np.ascontiguousarray(block[:, start : start + _COLUMNS_AT_ONCE].T)


# -- columns of a pandas frame without a series each; held: a frame, its columns, their names ------
# A context and no argument: the frame reaches its readers (checks of X, `Predictor.prepare` of all
# plug-ins, `as_points`) through calls that take any table, and base estimators must get the frame.
_HELD: ContextVar[tuple[Any, list[Any], list[Any]] | None] = ContextVar("columns", default=None)


def pandas_columns(frame: Any) -> list[Any]:
    """Return the columns of a pandas frame: plain arrays of numbers and texts, series otherwise.

    A series takes ten times as long to make as its cell takes to read, if there is only one row.
    """
    held = _HELD.get()
    if held is not None and held[0] is frame:
        return held[1]
    try:
        # Private, and so with a fallback; `replearn.compat` would load scikit-learn.
        arrays = list(frame._iter_column_arrays())
    except AttributeError:  # pragma: no cover - it may go
        return [column for _, column in frame.items()]
    return [_plain(array, frame, index) for index, array in enumerate(arrays)]


def pandas_names(frame: Any) -> list[Any]:
    """Return the names of the columns; pandas takes three microseconds for each of them."""
    held = _HELD.get()
    return held[2] if held is not None and held[0] is frame else list(frame.columns)


@contextmanager
def read_once(frame: Any) -> Iterator[None]:
    """Read the columns of a pandas frame once while the context lasts; nobody may change it."""
    if not hasattr(frame, "iloc") or frame.ndim != 2:
        yield
        return
    token = _HELD.set((frame, pandas_columns(frame), pandas_names(frame)))
    try:
        yield
    finally:
        _HELD.reset(token)


def _plain(array: Any, frame: Any, index: int) -> Any:
    """Return an array if it hands out the same cells as its series: numbers and pandas' texts."""
    dtype = array.dtype
    if isinstance(array, np.ndarray) and dtype.kind in "biuf":
        return array
    if getattr(dtype, "name", "") != "str":
        return frame.iloc[:, index]
    return np.array([array[0]], dtype=object) if len(array) == 1 else array
