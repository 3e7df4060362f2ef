"""Rows as plain values that any file format can hold, and back."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
from scipy import sparse

from replearn.randomness import Points, SharedKey, as_points

_SPARSE_PARTS = ("data", "indices", "indptr")
_CHECK_KEY = SharedKey("replearn model file")


def plain_values(rows: Any, points: Points, decimals: int | None) -> Any:
    """Return rows as arrays, lists and dictionaries; raise if ``points`` are not their points.

    >>> rows = [["Ulm", dt.date(2024, 2, 3)]]
    >>> plain_values(rows, as_points(rows), None)
    [['Ulm', np.datetime64('2024-02-03')]]
    """
    values = _without_types(rows)
    again = as_points(rows_of(values), decimals=decimals)
    if not np.array_equal(_CHECK_KEY.hashes(again), _CHECK_KEY.hashes(points)):
        raise ValueError("heavy_ holds points with cells that a model file cannot represent.")
    return values


def rows_of(values: Any) -> Any:
    """Return the rows of `plain_values`.

    >>> parts = {"data": [1.0], "indices": [2], "indptr": [0, 1], "shape": (1, 3)}
    >>> rows_of(parts).toarray()
    array([[0., 0., 1.]])
    """
    if not isinstance(values, dict):
        return values
    parts = tuple(values[name] for name in _SPARSE_PARTS)
    rows = sparse.csr_array(parts, shape=values["shape"])
    rows.check_format(full_check=True)  # an index that leads outside would read foreign memory
    return rows


def _without_types(rows: Any) -> Any:
    if hasattr(rows, "columns"):  # frames are read by the names of their columns
        columns = [list(rows[name]) for name in sorted(rows.columns)]
        rows = [list(row) for row in zip(*columns, strict=True)]
    if sparse.issparse(rows):
        matrix: Any = sparse.csr_array(rows)  # type: ignore[call-overload]
        shape = tuple(map(int, matrix.shape))
        return {**{name: getattr(matrix, name) for name in _SPARSE_PARTS}, "shape": shape}
    if isinstance(rows, list):
        return [
            [_plain_cell(cell) for cell in row] if isinstance(row, list) else row for row in rows
        ]
    return rows


def _plain_cell(cell: Any) -> Any:
    """Return times as numpy's, and every missing value as None."""
    if isinstance(cell, dt.datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(dt.UTC).replace(tzinfo=None)
    if type(cell).__name__ in ("NaTType", "NAType"):
        return None
    if hasattr(cell, "to_datetime64"):
        return cell.to_datetime64()
    return np.datetime64(cell) if isinstance(cell, dt.date) else cell
