"""Points: rows of any container in their canonical encoding, computed a few thousand at a time.

Containers are seen as columns of cells; nothing is converted as a whole. Frames of pandas, polars
and pyarrow and sparse matrices are recognised by where their class comes from; this package imports
none of them.
"""

from __future__ import annotations

import operator
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.exceptions import UnsupportedValueError
from replearn.randomness.encoding import (
    ArraySource,
    Coded,
    ColumnEncoder,
    Encoded,
    Nullable,
    Rows,
    Values,
    pandas_columns,
    pandas_names,
)
from replearn.randomness.kinds import BadCellError, BadRowError, Cell, Kinds, Words

# -- containers of rows, seen as columns of cells: lists, sparse matrices and frames ---------------
Reader = Callable[[Rows], Values]
"""A column: it hands over the cells of the chosen rows."""


class Source(Protocol):
    """Rows of cells in some container."""

    names: Sequence[Hashable]
    """Names of the columns (positions where there are none), in canonical order."""

    def __len__(self) -> int: ...

    def columns(self, rows: Rows) -> Iterator[Values]:
        """Yield the cells of the chosen rows, column by column in canonical order."""
        ...


class SparseSource:
    """A scipy sparse matrix or array; only chosen rows are ever made dense, column by column."""

    def __init__(self, matrix: Any) -> None:
        if matrix.ndim != 2:
            raise ValueError(
                f"must have two dimensions, got a sparse array of shape {matrix.shape}"
            )
        self._matrix = matrix.tocsr()
        self.names: Sequence[Hashable] = range(matrix.shape[1])

    def __len__(self) -> int:
        return int(self._matrix.shape[0])

    def columns(self, rows: Rows) -> Iterator[Values]:
        """Yield the cells of the chosen rows, column by column."""
        block = self._matrix[rows].tocsc()
        block.sum_duplicates()
        for position in range(block.shape[1]):
            stored = slice(block.indptr[position], block.indptr[position + 1])
            cells = np.zeros(block.shape[0], dtype=block.dtype)
            cells[block.indices[stored]] = block.data[stored]
            yield cells


class RowsSource:
    """A list of rows, each a list, tuple or array of the same length."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = rows
        self.names: Sequence[Hashable] = range(len(rows[0]))

    def __len__(self) -> int:
        return len(self._rows)

    def columns(self, rows: Rows) -> Iterator[Values]:
        """Yield the cells of the chosen rows, column by column."""
        chosen = pick(self._rows, rows)
        for position, row in enumerate(chosen):
            if not is_row(row) or len(row) != len(self.names):
                raise BadRowError(
                    f"rows must be lists of equal length, but row 0 has {len(self.names)} cells "
                    f"and row {row_number(rows, position)} is {row!r:.60}"
                )
        yield from zip(*chosen, strict=True)


@dataclass(eq=False)
class ColumnSource:
    """Columns in canonical order, each with a reader of its own."""

    names: Sequence[Hashable]
    readers: Sequence[Reader]
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows

    def columns(self, rows: Rows) -> Iterator[Values]:
        """Yield the cells of the chosen rows, column by column."""
        return (reader(rows) for reader in self.readers)


def columns_by_name(
    names: Sequence[Hashable], readers: Sequence[Reader], n_rows: int
) -> ColumnSource:
    """Return named columns in canonical order."""
    order = canonical_order(names)
    return ColumnSource([names[i] for i in order], [readers[i] for i in order], n_rows)


def read_encoded(words: Words, kinds: Kinds, rows: Rows) -> Encoded:
    """Return some cells of a column that was encoded before."""
    chosen = kinds[rows]
    return Encoded(words[rows], chosen if chosen.any() else None)


def is_row(value: object) -> bool:
    """Tell a row of cells from a single cell."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


def pick(values: Sequence[Any], rows: Rows) -> Sequence[Any]:
    """Return the chosen elements of a sequence."""
    return values[rows] if isinstance(rows, slice) else [values[i] for i in rows.tolist()]


def row_number(rows: Rows, position: int) -> int:
    """Return which row of the container stands at a position among the chosen ones."""
    return int(rows.start + position if isinstance(rows, slice) else rows[position])


def canonical_order(names: Sequence[Hashable]) -> list[int]:
    """Return the positions of columns ordered by name.

    Names are compared as text; those made of digits only come first, as numbers, so that a frame
    made from an array keeps the array's order, also after a trip through a text file.

    >>> canonical_order(["b", 10, "a", 9])
    [3, 1, 2, 0]
    """
    return list(_order_of(tuple(map(str, names))))


@lru_cache(maxsize=64)
def _order_of(texts: tuple[str, ...]) -> tuple[int, ...]:
    repeated = sorted(text for text, count in Counter(texts).items() if count > 1)
    if repeated:
        raise ValueError(
            f"columns are ordered by name, but these names occur more than once: {repeated}; "
            "rename them"
        )

    def rank(position: int) -> tuple[int, int, str]:
        text = texts[position]
        is_number = text.isascii() and text.isdigit()
        return (0, int(text), text) if is_number else (1, 0, text)

    return tuple(sorted(range(len(texts)), key=rank))


_INTEGERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_ARROW_NUMBERS = _INTEGERS | {"halffloat", "float", "double"}
_POLARS_NUMBERS = {name.replace("u", "U").replace("int", "Int") for name in _INTEGERS}
_POLARS_NUMBERS |= {"Float32", "Float64", "Boolean"}


def single_column(name: Hashable, reader: Reader, n_rows: int) -> ColumnSource:
    """Return one column, called by position where it has no name."""
    return ColumnSource([0 if name is None or name == "" else name], [reader], n_rows)


def pandas_source(frame: Any) -> ColumnSource:
    """Return the columns of a pandas DataFrame, or a Series, Index or array as one column."""
    if frame.ndim == 1:
        series = frame if hasattr(frame, "iloc") else sys.modules["pandas"].Series(frame)
        return single_column(series.name, _pandas_reader(series), len(series))
    readers = [_pandas_reader(column) for column in pandas_columns(frame)]
    return columns_by_name(pandas_names(frame), readers, len(frame))


def _pandas_reader(series: Any) -> Reader:
    if isinstance(series, np.ndarray):
        return series.__getitem__
    dtype = series.dtype
    if not hasattr(series, "iloc"):  # an array of texts
        return lambda rows: (series if _is_all(rows, len(series)) else series[rows]).tolist()
    if isinstance(dtype, np.dtype):
        array = series.to_numpy()
        return lambda rows: array[rows]
    if hasattr(dtype, "categories") and hasattr(series, "cat"):
        codes = series.cat.codes.to_numpy()
        categories = series.cat.categories
        return lambda rows: Coded(codes[rows], categories)
    if hasattr(dtype, "tz"):
        array = series.dt.tz_convert(None).to_numpy()  # the instants in UTC
        return lambda rows: array[rows]
    if hasattr(dtype, "numpy_dtype") and dtype.kind in "biuf":
        return lambda rows: _pandas_nullable(series.iloc[rows], dtype.numpy_dtype)
    if hasattr(dtype, "fill_value"):  # sparse
        return lambda rows: np.asarray(series.iloc[rows])
    return lambda rows: (series if _is_all(rows, len(series)) else series.iloc[rows]).tolist()


def _is_all(rows: Rows, length: int) -> bool:
    return isinstance(rows, slice) and rows.start == 0 and rows.stop == length


def _pandas_nullable(series: Any, dtype: np.dtype[Any]) -> Nullable:
    missing = series.isna().to_numpy(dtype=bool)
    return Nullable(series.to_numpy(dtype=dtype, na_value=dtype.type(0)), missing)


def polars_source(frame: Any) -> ColumnSource:
    """Return the columns of a polars DataFrame, or of a Series as one column."""
    if hasattr(frame, "collect"):
        raise TypeError("a polars LazyFrame has no rows yet; call .collect() first")
    if not hasattr(frame, "columns"):
        return single_column(frame.name, _polars_reader(frame), len(frame))
    readers = [_polars_reader(frame[name]) for name in frame.columns]
    return columns_by_name(list(frame.columns), readers, frame.height)


def _polars_reader(series: Any) -> Reader:
    name = str(series.dtype)
    length = len(series)

    def chunk(rows: Rows) -> Any:
        return series if _is_all(rows, length) else series[rows]

    if name in _POLARS_NUMBERS:
        return lambda rows: _polars_numbers(chunk(rows))
    if name.startswith(("Date", "Duration")):  # also Datetime
        return lambda rows: chunk(rows).to_numpy()
    return lambda rows: chunk(rows).to_list()


def _polars_numbers(cells: Any) -> Values:
    if not cells.null_count():
        return np.asarray(cells.to_numpy())
    filler = False if str(cells.dtype) == "Boolean" else 0
    return Nullable(cells.fill_null(filler).to_numpy(), cells.is_null().to_numpy())


def arrow_source(table: Any) -> ColumnSource:
    """Return the columns of a pyarrow Table or RecordBatch, or of an array as one column."""
    if not hasattr(table, "column_names"):
        return single_column(None, _arrow_reader(table), len(table))
    readers = [_arrow_reader(table.column(i)) for i in range(table.num_columns)]
    return columns_by_name(list(table.column_names), readers, table.num_rows)


def _arrow_reader(column: Any) -> Reader:
    def chunk(rows: Rows) -> Any:
        if isinstance(rows, slice):
            return column.slice(rows.start, rows.stop - rows.start)
        return column.take(rows)

    name = str(column.type)
    if name.startswith(("timestamp", "date", "duration")):
        return lambda rows: np.asarray(chunk(rows))  # in UTC, null as not-a-time
    if name not in _ARROW_NUMBERS:
        return lambda rows: chunk(rows).to_pylist()

    def numbers(rows: Rows) -> Values:
        cells = chunk(rows)
        if not cells.null_count:
            return np.asarray(cells)
        return Nullable(np.asarray(cells.fill_null(0)), np.asarray(cells.is_null()))

    return numbers


# -- points ----------------------------------------------------------------------------------------
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


# -- ids that key points instead of their features ------------------------------------------------
def id_texts(ids: Any) -> Any:
    """Return ids with whole numbers as text: 7 and "7" are one id, in whatever column it stands.

    >>> id_texts([7, "7", 7.0, "007"]).tolist()
    ['7', '7', '7', '007']
    """
    if hasattr(ids, "columns"):  # ids of several parts
        return np.column_stack([id_texts(ids[name]) for name in sorted(ids.columns)])
    cells = np.asarray(ids, dtype=object if isinstance(ids, list | tuple) else None)
    if cells.dtype.kind in "iu":
        return cells.astype(str)
    if cells.dtype.kind not in "fO":
        return cells
    texts = [_id_text(cell) for cell in cells.astype(object).ravel()]
    plain = np.empty(len(texts), dtype=object)
    plain[:] = texts
    return plain.reshape(cells.shape)


def _id_text(cell: Any) -> Any:
    is_number = isinstance(cell, Integral | Real) and not isinstance(cell, bool | np.bool_)
    return str(int(cell)) if is_number and np.isfinite(cell) and cell == int(cell) else cell
