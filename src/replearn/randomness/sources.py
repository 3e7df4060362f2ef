"""Other containers of rows, seen as columns of cells: lists, sparse matrices and frames.

Nothing is converted as a whole: a source hands over the cells of a few thousand rows at a time.
Frames of pandas, polars and pyarrow and sparse matrices are recognised by where their class comes
from; this package imports none of them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from replearn.randomness.encoding import (
    Coded,
    Encoded,
    Nullable,
    Rows,
    Values,
    pandas_columns,
    pandas_names,
)
from replearn.randomness.kinds import BadRowError, Kinds, Words

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
