"""Readers for the columns of pandas, polars and pyarrow tables, found by duck typing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from replearn.randomness.columns import Coded, Nullable, Values
from replearn.randomness.sources import ColumnSource, Rows

_ARROW_NUMBERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)} | {
    "halffloat",
    "float",
    "double",
}

Reader = Callable[[Rows], Values]


def pandas_source(frame: Any) -> ColumnSource:
    """Return the columns of a pandas DataFrame, or of a Series or Index as one column.

    Examples
    --------
    >>> import pandas as pd
    >>> pandas_source(pd.DataFrame({"b": [1], "a": ["x"]})).names
    ['a', 'b']
    """
    if frame.ndim == 1:
        series = frame if hasattr(frame, "iloc") else frame.to_series()
        return ColumnSource([series.name], [_pandas_reader(series)], len(series))
    readers = [_pandas_reader(frame.iloc[:, i]) for i in range(frame.shape[1])]
    return ColumnSource(list(frame.columns), readers, len(frame))


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
    return lambda rows: list(series.iloc[rows])


def _pandas_nullable(series: Any, dtype: np.dtype[Any]) -> Nullable:
    missing = series.isna().to_numpy(dtype=bool)
    return Nullable(series.to_numpy(dtype=dtype, na_value=dtype.type(0)), missing)


def polars_source(frame: Any) -> ColumnSource:
    """Return the columns of a polars DataFrame, or of a Series as one column.

    Examples
    --------
    >>> import polars as pl
    >>> polars_source(pl.DataFrame({"b": [1], "a": ["x"]})).names
    ['a', 'b']
    """
    if hasattr(frame, "collect"):
        raise TypeError("X is a polars LazyFrame, which has no rows yet; call .collect() first")
    if not hasattr(frame, "columns"):
        return ColumnSource([frame.name], [_polars_reader(frame)], len(frame))
    readers = [_polars_reader(frame[name]) for name in frame.columns]
    return ColumnSource(list(frame.columns), readers, frame.height)


def _polars_reader(series: Any) -> Reader:
    name = str(series.dtype)
    if series.dtype.is_temporal() and not name.startswith("Time"):
        return lambda rows: series[rows].to_numpy()
    if name == "Boolean":
        return lambda rows: _arrow_like_nullable(series[rows], False)
    if series.dtype.is_numeric() and name.rstrip("0123456789") in ("Int", "UInt", "Float"):
        if name.endswith("128"):
            return lambda rows: series[rows].to_list()
        return lambda rows: _arrow_like_nullable(series[rows], 0)
    return lambda rows: series[rows].to_list()


def _arrow_like_nullable(chunk: Any, filler: Any) -> Values:
    if chunk.null_count() if callable(chunk.null_count) else chunk.null_count:
        return Nullable(chunk.fill_null(filler).to_numpy(), np.asarray(chunk.is_null().to_numpy()))
    return np.asarray(chunk.to_numpy())


def arrow_source(table: Any) -> ColumnSource:
    """Return the columns of a pyarrow Table or RecordBatch.

    Examples
    --------
    >>> import pyarrow as pa
    >>> arrow_source(pa.table({"b": [1], "a": ["x"]})).names
    ['a', 'b']
    """
    readers = [_arrow_reader(table.column(i)) for i in range(table.num_columns)]
    return ColumnSource(list(table.column_names), readers, table.num_rows)


def _arrow_reader(column: Any) -> Reader:
    def chunk(rows: Rows) -> Any:
        if isinstance(rows, slice):
            return column.slice(rows.start, rows.stop - rows.start)
        return column.take(rows)

    name = str(column.type)
    is_number = name.rstrip("0123456789") in ("int", "uint", "float") or name in (
        "double",
        "float",
        "halffloat",
    )
    if not is_number:
        return lambda rows: chunk(rows).to_pylist()

    def numbers(rows: Rows) -> Values:
        cells = chunk(rows)
        if not cells.null_count:
            return np.asarray(cells)
        return Nullable(np.asarray(cells.fill_null(0)), np.asarray(cells.is_null()))

    return numbers
