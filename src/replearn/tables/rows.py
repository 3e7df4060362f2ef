"""Rows of any container, without importing pandas or polars.

A frame stays a frame (a ``ColumnTransformer`` inside the base learner needs its column names), an
array stays an array (C-contiguous, so that a base learner sees the same memory layout whichever
rows it is handed) and every sparse matrix becomes CSR. The index of a pandas frame is dropped: it
says where a row stood in a file, and nothing learned may depend on that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from replearn.randomness import SharedKey, as_points


def is_frame(X: Any) -> bool:
    """Tell whether ``X`` is a pandas or a polars data frame.

    Parameters
    ----------
    X : object
        Any container of rows.

    Returns
    -------
    bool
        True for a data frame of either library.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.tables import is_frame
    >>> is_frame(np.zeros((2, 2)))
    False
    """
    return _is_instance_of(X, "pandas", "DataFrame") or _is_instance_of(X, "polars", "DataFrame")


def is_sparse(X: Any) -> bool:
    """Tell whether ``X`` is a scipy sparse matrix or array.

    Parameters
    ----------
    X : object
        Any container of rows.

    Returns
    -------
    bool
        True for any sparse format.

    Examples
    --------
    >>> from scipy import sparse
    >>> from replearn.tables import is_sparse
    >>> is_sparse(sparse.eye_array(2))
    True
    """
    return bool(sparse.issparse(X))


def n_rows(X: Any) -> int:
    """Count the rows of an array, a frame, a sparse matrix or a list.

    Parameters
    ----------
    X : array-like, frame or sparse matrix
        Any container of rows.

    Returns
    -------
    int
        The number of rows.

    Examples
    --------
    >>> from replearn.tables import n_rows
    >>> n_rows(["a text", "another"])
    2
    """
    shape = getattr(X, "shape", None)
    if shape is None:
        return len(X)
    if len(shape) == 0:
        raise TypeError(f"expected a container of rows, got a single value: {X!r}")
    return int(shape[0])


def feature_names(X: Any) -> list[str] | None:
    """Return the column names of a frame whose columns are named by text.

    Parameters
    ----------
    X : array-like, frame or sparse matrix
        Any container of rows.

    Returns
    -------
    list of str or None
        The names, or None when there are none (arrays) or when some are not text.

    Examples
    --------
    >>> from replearn.tables import feature_names
    >>> feature_names([[1.0, 2.0]]) is None
    True
    """
    if not is_frame(X):
        return None
    names = list(X.columns)
    return names if all(isinstance(name, str) for name in names) else None


def take_rows(X: Any, rows: NDArray[np.intp]) -> Any:
    """Take rows by their positions; the container keeps its type.

    Parameters
    ----------
    X : array-like, frame or sparse matrix
        Any container of rows.
    rows : ndarray of int
        Positions, in the order wanted; repetitions are allowed.

    Returns
    -------
    same container
        C-contiguous for arrays, CSR for sparse matrices, a fresh index for pandas.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.tables import take_rows
    >>> take_rows(np.array([[1, 2], [3, 4], [5, 6]]), np.array([2, 0]))
    array([[5, 6],
           [1, 2]])
    >>> take_rows(["a", "b", "c"], np.array([2, 0]))
    ['c', 'a']
    """
    rows = np.asarray(rows, dtype=np.intp)
    if isinstance(X, np.ndarray):
        return np.take(X, rows, axis=0)
    if is_sparse(X):
        return X.tocsr()[rows]
    if _is_pandas(X):
        return X.take(rows).reset_index(drop=True)
    if _is_polars(X):
        return X[rows]
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    return np.take(np.asarray(X), rows, axis=0)


def slice_rows(X: Any, start: int, stop: int) -> Any:
    """Take the rows ``start`` to ``stop - 1``; no copy where the container allows it.

    Parameters
    ----------
    X : array-like, frame or sparse matrix
        Any container of rows.
    start, stop : int
        The half-open range of positions.

    Returns
    -------
    same container
        As from `take_rows`; an array that is C-contiguous is not copied.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.tables import slice_rows
    >>> slice_rows(np.arange(6).reshape(3, 2), 1, 3)
    array([[2, 3],
           [4, 5]])
    """
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X[start:stop])
    if isinstance(X, list | tuple):
        return list(X[start:stop])
    if _is_pandas(X):
        return X.iloc[start:stop].reset_index(drop=True)
    if _is_polars(X):
        return X[start:stop]
    if is_sparse(X):
        return X.tocsr()[start:stop]
    return take_rows(X, np.arange(start, stop, dtype=np.intp))


def pad_rows(X: Any, size: int) -> Any:
    """Lengthen ``X`` to ``size`` rows by repeating its last row.

    Parameters
    ----------
    X : array-like, frame or sparse matrix
        Between one and ``size`` rows.
    size : int
        The number of rows wanted.

    Returns
    -------
    same container
        ``X`` itself when it has ``size`` rows already.

    Examples
    --------
    >>> from replearn.tables import pad_rows
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

    Parameters
    ----------
    length : int
        The number of rows.
    size : int
        The largest range.

    Yields
    ------
    tuple of int
        Start and stop of each range.

    Examples
    --------
    >>> from replearn.tables import row_chunks
    >>> list(row_chunks(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, length, size):
        yield start, min(start + size, length)


def data_digest(X: Any, codes: NDArray[np.intp], groups: NDArray[Any] | None) -> str:
    """Digest of the rows in file order: features, labels and groups.

    Examples
    --------
    >>> X = np.zeros((2, 1))
    >>> data_digest(X, np.array([0, 1]), None) == data_digest(X, np.array([1, 0]), None)
    False
    """
    digest = sha256(SharedKey("audit data").hashes(as_points(X)).tobytes())
    digest.update(np.asarray(codes, dtype=np.int64).tobytes())
    if groups is not None:
        digest.update(SharedKey("audit groups").hashes(as_points(groups)).tobytes())
    return digest.hexdigest()[:32]


def _is_pandas(X: Any) -> bool:
    return _is_instance_of(X, "pandas", "DataFrame") or _is_instance_of(X, "pandas", "Series")


def _is_polars(X: Any) -> bool:
    return _is_instance_of(X, "polars", "DataFrame") or _is_instance_of(X, "polars", "Series")


def _is_instance_of(X: Any, library: str, name: str) -> bool:
    """Check a type without importing its library: nobody owns a frame whose library is unloaded."""
    module = sys.modules.get(library)
    kind = getattr(module, name, None)
    return kind is not None and isinstance(X, kind)
