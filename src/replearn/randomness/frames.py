"""Readers for the columns of pandas, polars and pyarrow tables, found by duck typing."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from typing import Any

import numpy as np

from replearn.randomness.columns import Coded, Nullable, Values
from replearn.randomness.sources import ColumnSource, Reader, Rows, columns_by_name

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
    readers = [_pandas_reader(frame.iloc[:, i]) for i in range(frame.shape[1])]
    return columns_by_name(list(frame.columns), readers, len(frame))


def _pandas_reader(series: Any) -> Reader:
    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        array = series.to_numpy()
        return lambda rows: array[rows]
    if hasattr(dtype, "categories") and hasattr(series, "cat"):
        codes, categories = series.cat.codes.to_numpy(), series.cat.categories
        return lambda rows: Coded(codes[rows], categories)
    if hasattr(dtype, "tz"):
        array = series.dt.tz_convert(None).to_numpy()  # the instants in UTC
        return lambda rows: array[rows]
    if hasattr(dtype, "numpy_dtype") and dtype.kind in "biuf":
        return lambda rows: _pandas_nullable(series.iloc[rows], dtype.numpy_dtype)
    if hasattr(dtype, "fill_value"):  # sparse
        return lambda rows: np.asarray(series.iloc[rows])
    return lambda rows: series.iloc[rows].tolist()


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
    if name in _POLARS_NUMBERS:
        return lambda rows: _polars_numbers(series[rows])
    if name.startswith(("Date", "Duration")):  # also Datetime
        return lambda rows: series[rows].to_numpy()
    return lambda rows: series[rows].to_list()


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
