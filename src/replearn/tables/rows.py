"""Rows of any container, without importing pandas or polars.

A frame stays a frame (a ``ColumnTransformer`` inside the base estimator needs its column names), an
array stays an array (C-contiguous, so that a base estimator sees the same memory layout whichever
rows it is handed) and every sparse matrix becomes CSR. The index of a pandas frame is dropped: it
says where a row stood in a file, and nothing learned may depend on that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import sha256
from numbers import Real
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points


def is_frame(X: Any) -> bool:
    """Tell whether ``X`` is a pandas or a polars data frame."""
    return _library(X) is not None and hasattr(type(X), "columns")


def without_arrow(X: Any) -> Any:
    """Return a table of pyarrow as a polars frame, or a pandas one; others as they are."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None or not isinstance(X, pyarrow.Table):
        return X
    try:
        import polars
    except ModuleNotFoundError:
        return X.to_pandas()
    return polars.from_arrow(X)


def is_sparse(X: Any) -> bool:
    """Tell whether ``X`` is a scipy sparse matrix or array."""
    return bool(sparse.issparse(X))


def n_rows(X: Any) -> int:
    """Count the rows of an array, a frame, a sparse matrix or a list."""
    shape = getattr(X, "shape", None)
    if shape is None:
        return len(X)
    if len(shape) == 0:
        raise TypeError(f"expected a container of rows, got a single value: {X!r}")
    return int(shape[0])


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Take rows by their positions; the container keeps its type.

    >>> take_rows(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    rows = np.asarray(rows, dtype=np.intp)
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    return np.take(X, rows, axis=0) if isinstance(X, np.ndarray) else _rows_of(X, rows)


def slice_rows(X: Any, start: int, stop: int) -> Any:
    """Take the rows ``start`` to ``stop - 1``; no copy where the container allows it."""
    if isinstance(X, list | tuple):
        return list(X[start:stop])
    return _rows_of(X, slice(start, stop))


def copy_rows(X: Any) -> Any:
    """Copy the rows for somebody who may write into them.

    >>> X = np.zeros((2, 1))
    >>> copy_rows(X)[0] = 1
    >>> float(X.sum())
    0.0
    """
    if _library(X) == "polars":
        return X.clone()
    return X.copy() if hasattr(X, "copy") else list(X)


def pad_rows(X: Any, size: int) -> Any:
    """Lengthen ``X`` to ``size`` rows by repeating its last row.

    >>> pad_rows(["a", "b"], 4)
    ['a', 'b', 'b', 'b']
    """
    length = n_rows(X)
    if length == size:
        return X
    if not 0 < length < size:
        raise ValueError(f"cannot pad {length} rows to {size}")
    return take_rows(X, np.minimum(np.arange(size), length - 1))


def row_chunks(length: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut ``length`` rows into ranges of at most ``size``.

    >>> list(row_chunks(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, length, size):
        yield start, min(start + size, length)


def data_digest(X: Any, codes: NDArray[np.intp], groups: NDArray[Any] | None) -> str:
    """Digest of the rows in file order: features, labels and groups.

    >>> X = np.zeros((2, 1))
    >>> data_digest(X, np.array([0, 1]), None) == data_digest(X, np.array([1, 0]), None)
    False
    """
    digest = sha256(SharedKey("audit data").hashes(as_points(X)).tobytes())
    digest.update(np.asarray(codes, dtype=np.int64).tobytes())
    if groups is not None:
        digest.update(SharedKey("audit groups").hashes(as_points(groups)).tobytes())
    return digest.hexdigest()[:32]


def is_nan(cell: Any) -> bool:
    """Whether a cell is not a number: NaN of any type of number, or pandas' NA.

    None and a time that is none (NaT) are values of their own here, as for scikit-learn's encoders.
    """
    if type(cell) is str:  # most cells: spare them the slow questions
        return False
    # Every comparison with pandas.NA is NA, so it is recognised by its name.
    return type(cell).__name__ == "NAType" or (isinstance(cell, Real) and bool(cell != cell))


def import_pandas() -> Any:
    """Return pandas for a result that is wanted as a DataFrame; without it, say how to get it."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "frame() gives a pandas DataFrame: pip install 'replicable-learn[frames]'. Reports, "
            "to_dict() and print() work without pandas."
        ) from None
    return pandas


def to_pandas(frame: Any) -> Any:
    """Return a polars frame for a user's own pipeline: as pandas where it is installed."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        return frame
    return pd.DataFrame({name: _pandas_column(frame[name]) for name in frame.columns})


def _pandas_column(column: Any) -> Any:
    is_text = str(column.dtype) == "String"
    return np.array(column.to_list(), dtype=object) if is_text else column.to_numpy()


def _rows_of(X: Any, rows: slice | NDArray[np.intp]) -> Any:
    if is_sparse(X):
        return X.tocsr()[rows]
    library = _library(X)
    if library == "pandas":
        return X.iloc[rows].reset_index(drop=True)
    return X[rows] if library == "polars" else np.ascontiguousarray(np.asarray(X)[rows])


def _library(X: Any) -> str | None:
    """Name the library of a frame or a series, without importing it.

    Nobody owns a frame whose library is unloaded.
    """
    for library in ("pandas", "polars"):
        module = sys.modules.get(library)
        if module is not None and isinstance(X, (module.DataFrame, module.Series)):
            return library
    return None


# -- columns of any container as numbers -----------------------------------------------------------
_FLOATS = ("float16", "float32", "float64")
_SPARSE_COLUMNS = 64
"""Columns of a sparse table that are looked at."""


def as_numbers(X: Any, most: int | None = None) -> Any:
    """Return the first columns of a sparse table or an array of objects as doubles.

    A column of objects that are not all numbers is NaN. Other tables stay as they are.

    >>> as_numbers(np.array([[1, "f"], [2.5, "m"]], dtype=object))
    array([[1. , nan],
           [2.5, nan]])
    """
    if sparse.issparse(X):
        rows: Any = X
        return rows.tocsr()[:, : most or _SPARSE_COLUMNS].toarray()
    if not (type(X) is np.ndarray and X.ndim == 2 and X.dtype == object):
        return X
    columns = [_numbers_of_objects(column) for column in X.T[:most]]
    unknown = np.full(len(X), np.nan)
    return np.column_stack([unknown if column is None else column for column in columns])


def _numbers_of_objects(column: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return a column of objects as doubles if they are numbers or missing; None if not."""
    kinds = set(map(type, column.tolist()))
    is_number = all(issubclass(kind, Real | np.number | NoneType) for kind in kinds)
    return column.astype(np.float64) if is_number and not kinds <= {bool, NoneType} else None


def frame_columns(X: Any) -> Iterator[Any]:
    """Yield the columns of a frame (pandas allows several of one name)."""
    if hasattr(X, "iloc"):
        return (X.iloc[:, index] for index in range(X.shape[1]))
    return iter(X.get_columns() if hasattr(X, "get_columns") else ())


def as_floats(column: Any) -> NDArray[np.floating[Any]] | None:
    """Return a column of a frame as an array if it holds floats; None for all others."""
    if hasattr(column, "iloc"):
        if column.dtype == object:
            return _numbers_of_objects(column.to_numpy())
        if column.dtype.kind != "f":
            return None
        dtype = getattr(column.dtype, "numpy_dtype", column.dtype)  # Float64, double[pyarrow]
        dtype = getattr(dtype, "subtype", dtype)  # Sparse[float64]
        return np.asarray(column.to_numpy(dtype=dtype, na_value=np.nan))
    name = str(column.dtype).lower()
    return np.asarray(column.to_numpy(), dtype=name) if name in _FLOATS else None


def number_columns(X: Any, most: int) -> Iterator[NDArray[np.float64]]:
    """Yield the first columns of floats as arrays, with NaN where a cell is missing."""
    X = as_numbers(X, most)
    if type(X) is np.ndarray:
        columns: Any = X.T[:most] if X.ndim == 2 and X.dtype.kind == "f" else ()
    else:
        columns = (cells for cells in map(as_floats, frame_columns(X)) if cells is not None)
    for _, cells in zip(range(most), columns, strict=False):
        yield np.asarray(cells, dtype=np.float64)
