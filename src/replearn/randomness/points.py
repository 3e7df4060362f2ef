"""Points: rows of any container in their canonical encoding, computed a few thousand at a time."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.exceptions import UnsupportedValueError
from replearn.randomness.encoding import ArraySource, ColumnEncoder, Rows
from replearn.randomness.kinds import BadCellError, BadRowError, Cell, Kinds, Words
from replearn.randomness.sources import (
    ColumnSource,
    RowsSource,
    Source,
    SparseSource,
    arrow_source,
    is_row,
    pandas_source,
    pick,
    polars_source,
    read_encoded,
    row_number,
)

_MAX_DECIMALS = 15

LANES = 32768
"""Messages hashed together: the four state vectors and a buffer then take 1.3 MB.

Half as many are as fast alone, but disturb other threads more often: every numpy call takes the
interpreter lock.
"""

CACHE_LINE = 64 // 8
"""Words in a cache line."""

# which class attribute tells a table or a column of a package, and what reads it
_CONTAINERS: dict[str, tuple[str, Callable[[Any], Source]]] = {
    "pandas": ("ndim", pandas_source),
    "polars": ("clear", polars_source),
    "pyarrow": ("slice", arrow_source),
    "scipy": ("tocsr", SparseSource),
}


def aligned_words(n_words: int) -> Words:
    """Return memory for words that begins with a cache line, which numpy reads a fifth faster."""
    memory = np.empty(n_words + CACHE_LINE - 1, dtype=np.uint64)
    start = (-memory.ctypes.data % 64) // 8
    return memory[start : start + n_words]


@dataclass(frozen=True)
class _Part:
    """Some columns of the points: a source, the rows taken from it, and how to round them."""

    source: Source
    rows: NDArray[np.intp] | None
    decimals: int | None
    parameter: str  # what the caller calls it, for messages

    def __len__(self) -> int:
        return len(self.source) if self.rows is None else len(self.rows)

    def take(self, rows: NDArray[np.intp]) -> _Part:
        return replace(self, rows=rows if self.rows is None else self.rows[rows])

    def encode(self, run: slice, encoder: ColumnEncoder, words: Words) -> Iterator[Kinds | None]:
        """Encode a run of rows: one step per column, its words left in ``words``."""
        rows = run if self.rows is None else self.rows[run]
        try:
            for name, values in zip(self.source.names, self.source.columns(rows), strict=True):
                try:
                    kinds = encoder.encode(values, words)
                except BadCellError as error:
                    row = row_number(rows, error.position)
                    index = f"{self.parameter}, column {name!r}, row {row}"
                    raise UnsupportedValueError(f"{index}: {error.reason}") from None
                yield kinds
        except BadRowError as error:
            raise ValueError(f"{self.parameter}: {error}") from None

    def only_row(self) -> list[Cell]:
        """Encode the cells of a single row; plain numbers as if they stood below one another."""
        rows = slice(0, 1) if self.rows is None else self.rows
        source = self.source
        if isinstance(source, ArraySource) and source.is_plain:
            return self._encode_together(source.row(rows), source.names, rows)
        if not isinstance(source, ColumnSource):
            return self._encode_each()
        columns = list(source.columns(rows))
        numbers = [index for index, cells in enumerate(columns) if _is_float(cells)]
        if len(numbers) < 2:
            return self._encode_each()
        together = np.concatenate([columns[index] for index in numbers])
        names = [source.names[index] for index in numbers]
        found = dict(zip(numbers, self._encode_together(together, names, rows), strict=True))
        others = [index for index in range(len(columns)) if index not in found]
        read = [partial(_as_read, columns[index]) for index in others]
        left = ColumnSource([source.names[index] for index in others], read, 1)
        found.update(zip(others, replace(self, source=left)._encode_each(), strict=True))
        return [found[index] for index in range(len(columns))]

    def _encode_each(self) -> list[Cell]:
        word = np.empty(1, dtype=np.uint64)
        encoded = self.encode(slice(0, 1), ColumnEncoder(self.decimals), word)
        return [(0 if kinds is None else int(kinds[0]), int(word[0])) for kinds in encoded]

    def _encode_together(
        self, cells: NDArray[Any], names: Sequence[Hashable], rows: Rows
    ) -> list[Cell]:
        words = np.empty(len(cells), dtype=np.uint64)
        try:
            kinds = ColumnEncoder(self.decimals).encode(cells, words)
        except BadCellError as error:
            row = row_number(rows, 0)
            index = f"{self.parameter}, column {names[error.position]!r}, row {row}"
            raise UnsupportedValueError(f"{index}: {error.reason}") from None
        known = [0] * len(words) if kinds is None else kinds.tolist()
        return list(zip(known, words.tolist(), strict=True))


def _as_read(cells: Any, rows: Rows) -> Any:
    return cells


def _is_float(cells: Any) -> bool:
    return type(cells) is np.ndarray and cells.dtype == np.float64


class Points:
    """Rows in canonical encoding, lazily; make them with `as_points`.

    Attributes
    ----------
    n_columns : int
        Number of cells of a point.

    Examples
    --------
    >>> points = as_points([[1.0, "a"], [2.0, "b"], [3.0, "c"]])
    >>> len(points), points.n_columns, len(points.take([2, 0]))
    (3, 2, 2)
    """

    __slots__ = ("_parts",)

    def __init__(self, parts: tuple[_Part, ...]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return len(self._parts[0])

    def __repr__(self) -> str:
        return f"Points({len(self)} rows, {self.n_columns} columns)"

    @property
    def n_columns(self) -> int:
        """Number of cells of a point."""
        return sum(len(part.source.names) for part in self._parts)

    @property
    def names(self) -> tuple[Hashable, ...]:
        """Names of the columns in canonical order; positions if there are no names."""
        return tuple(name for part in self._parts for name in part.source.names)

    def take(self, rows: ArrayLike) -> Points:
        """Return some of the points, by position or by mask, without encoding them.

        Parameters
        ----------
        rows : array of int or bool
            Positions (negative ones count from the end), or one truth value per point.

        Examples
        --------
        >>> points = as_points([10, 20, 30])
        >>> len(points.take([True, False, True]))
        2
        """
        chosen = np.atleast_1d(np.asarray(rows))
        if chosen.size == 0:
            chosen = chosen.astype(np.intp)  # an empty list has no integer type of its own
        return self[chosen]

    def __getitem__(self, rows: Rows | NDArray[np.bool_]) -> Points:
        positions = np.arange(len(self), dtype=np.intp)[rows]
        return Points(tuple(part.take(positions) for part in self._parts))

    def beside(self, other: Points) -> Points:
        """Return points with the columns of ``other`` appended to each row.

        Examples
        --------
        >>> as_points([[1, 2]]).beside(as_points(["yes"])).n_columns
        3
        """
        if len(self) != len(other):
            mine = self._parts[0].parameter
            its = other._parts[0].parameter
            raise ValueError(
                f"{mine} and {its} must have equally many rows, got {len(self)} and {len(other)}"
            )
        return Points(self._parts + other._parts)

    def chunks(self) -> Iterator[tuple[slice, Iterator[tuple[Words, Kinds | None]]]]:
        """Iterate over runs of points: where they are, and words and kinds of each column.

        All columns share one buffer of words: take each in turn.

        Examples
        --------
        >>> [(rows, len(list(columns))) for rows, columns in as_points([[1, 2], [3, 4]]).chunks()]
        [(slice(0, 2, None), 2)]
        """
        encoders = [ColumnEncoder(part.decimals) for part in self._parts]
        words = aligned_words(min(LANES, len(self)))
        for start in range(0, len(self), LANES):
            run = slice(start, min(start + LANES, len(self)))
            yield run, self._columns(run, encoders, words[: run.stop - start])

    def _columns(
        self, run: slice, encoders: list[ColumnEncoder], words: Words
    ) -> Iterator[tuple[Words, Kinds | None]]:
        for part, encoder in zip(self._parts, encoders, strict=True):
            for kinds in part.encode(run, encoder, words):
                yield words, kinds

    def only_row(self) -> list[Cell]:
        """Return kind and word of each cell of a single point.

        Examples
        --------
        >>> as_points([[1.0, None]]).only_row()
        [(0, 4607182418800017408), (1, 0)]
        """
        return [cell for part in self._parts for cell in part.only_row()]

    def encoded_once(self) -> Points:
        """Return the same points with their cells encoded, for use in several hashes.

        Plain arrays of numbers stay as they are, since encoding them costs a tenth of a hash;
        encoding text costs several hashes.

        Examples
        --------
        >>> as_points(["a", "b"]).encoded_once()
        Points(2 rows, 1 columns)
        """
        sources = [part.source for part in self._parts]
        if all(isinstance(source, ArraySource) and source.is_plain for source in sources):
            return self
        words, kinds = self.encoded()
        readers = [partial(read_encoded, *column) for column in zip(words.T, kinds.T, strict=True)]
        source = ColumnSource(self.names, readers, len(self))
        return Points((_Part(source, None, None, self._parts[0].parameter),))

    def encoded(self) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Return the words and kinds of all cells, one row per point: for tests and inspection.

        Examples
        --------
        >>> words, kinds = as_points([[1.0, None]]).encoded()
        >>> hex(int(words[0, 0])), kinds.tolist()
        ('0x3ff0000000000000', [[0, 1]])
        """
        words = np.empty((self.n_columns, len(self)), dtype=np.uint64)
        kinds = np.zeros((self.n_columns, len(self)), dtype=np.uint8)
        for run, columns in self.chunks():
            for position, (cell_words, cell_kinds) in enumerate(columns):
                words[position, run] = cell_words
                if cell_kinds is not None:
                    kinds[position, run] = cell_kinds
        return words.T, kinds.T


def as_points(X: Any, *, decimals: int | None = None) -> Points:
    """Return the rows of a container as points in canonical encoding.

    The same values give the same points whether they come as list, numpy array, pandas or polars
    frame, or sparse matrix. Frames are ordered by column name, arrays by position.

    Parameters
    ----------
    X : list, numpy array, pandas, polars or pyarrow table, scipy sparse matrix, or Points
        Rows; a list or array of one dimension is a single column.
    decimals : int, optional
        Number of decimals (0 to 15) to which numbers are rounded first, for data that were stored
        as float32 or in other files.

    Returns
    -------
    Points
        A lazy view: cells are encoded when they are hashed.

    Examples
    --------
    >>> as_points(np.zeros((5, 2)))
    Points(5 rows, 2 columns)
    """
    return points_of(X, decimals, "X")


def points_of(value: Any, decimals: int | None, parameter: str) -> Points:
    """Do what `as_points` does, with the caller's name for the container in messages."""
    check_decimals(decimals)
    if isinstance(value, Points):
        if decimals is not None:
            raise ValueError(
                f"decimals={decimals} is not supported for Points; pass it to as_points instead"
            )
        return value
    try:
        source = _source_of(value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{parameter}: {error}") from None
    if len(source) and not len(source.names):
        raise ValueError(f"{parameter}: {len(source)} rows without columns cannot be distinguished")
    return Points((_Part(source, None, decimals, parameter),))


def check_decimals(decimals: object) -> None:
    """Raise unless ``decimals`` is None or a whole number from 0 to 15."""
    if decimals is None:
        return
    if isinstance(decimals, bool | np.bool_) or not hasattr(decimals, "__index__"):
        raise TypeError(f"decimals must be an integer or None, got {decimals!r}")
    if not 0 <= operator.index(decimals) <= _MAX_DECIMALS:
        raise ValueError(f"decimals must be from 0 to {_MAX_DECIMALS}, got {decimals!r}")


def _source_of(value: Any) -> Source:
    packages = {base.__module__.partition(".")[0] for base in type(value).__mro__}
    if isinstance(value, np.ndarray):
        return ArraySource(value)
    for package, (attribute, make) in _CONTAINERS.items():
        if package in packages and hasattr(type(value), attribute):
            return make(value)
    if isinstance(value, list | tuple | range):
        return _sequence_source(value)
    raise TypeError(
        "rows must come as a list, numpy array, pandas, polars or pyarrow table, "
        f"or scipy sparse matrix, got {type(value).__name__}"
    )


def _sequence_source(values: list[Any] | tuple[Any, ...] | range) -> Source:
    if len(values) and isinstance(values[0], dict):
        raise TypeError("a list of dicts has no order of columns; give lists, or a frame")
    if len(values) and is_row(values[0]):
        return RowsSource(values)
    return ColumnSource((0,), [partial(pick, values)], len(values))
