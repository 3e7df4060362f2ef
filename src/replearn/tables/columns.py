"""The cells of one column of a frame, read as numbers, texts, dates or words.

Pandas and polars columns are read alike, without importing either.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD_BUCKETS = 64

_LARGEST = float(np.finfo(np.float32).max)
_DAY = np.timedelta64(1, "D")
_EPOCH = np.datetime64("1970-01-01", "us")


def numbers_of(column: Any) -> NDArray[np.float64]:
    """Read a column of a frame as numbers; NaN where a cell is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> numbers_of(pd.Series([1, None]))
    array([ 1., nan])
    """
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if values.dtype != object:
        return np.asarray(values, dtype=np.float64)
    known = [np.nan if gone else cell for cell, gone in _cells(column)]
    return np.array(known, dtype=np.float64)


def clip_for_trees(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring numbers into the range of single precision: trees refuse larger ones.

    Examples
    --------
    >>> clip_for_trees(np.array([2.0, np.inf])).tolist()
    [2.0, 3.4028234663852886e+38]
    """
    return np.clip(values, -_LARGEST, _LARGEST)


def texts_of(column: Any) -> list[str | None]:
    """Read a column of a frame as texts; None where a cell is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> texts_of(pd.Series(["Ulm", None, 7]))
    ['Ulm', None, '7']
    """
    if not isinstance(column, np.ndarray) and str(column.dtype) == "String":  # polars
        return list(column.to_list())
    cells = _listed(column)
    if all(type(cell) is str for cell in cells):  # nothing is missing, nothing to convert
        return list(cells)
    return [None if gone else str(cell) for cell, gone in _cells(column)]


def parts_of_dates(column: Any) -> list[NDArray[np.float64]]:
    """Return days since 1970, month, weekday and hour; NaN where a date is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> parts_of_dates(pd.Series(pd.to_datetime(["1970-01-02 06:00"])))
    [array([1.25]), array([1.]), array([4.]), array([6.])]
    """
    instants = np.asarray(column).astype("datetime64[us]")
    missing = np.isnat(instants)
    days = instants.astype("datetime64[D]")
    whole = (days - _EPOCH.astype("datetime64[D]")) / _DAY
    parts = [
        (instants - _EPOCH) / _DAY,
        (instants.astype("datetime64[M]").astype(np.int64) % 12 + 1).astype(np.float64),
        (whole + 3) % 7,
        (instants - days) / np.timedelta64(1, "h"),
    ]
    return [np.where(missing, np.nan, part) for part in parts]


def count_words(texts: list[str | None]) -> NDArray[np.float64]:
    """Count hashed words, damped; the last column is the number of words.

    Examples
    --------
    >>> count_words(["to be or not to be", None]).shape
    (2, 65)
    """
    counts = np.zeros((len(texts), WORD_BUCKETS + 1))
    for row, text in enumerate(texts):
        for bucket in _word_buckets(text or ""):
            counts[row, bucket] += 1.0
    counts[:, -1] = counts[:, :-1].sum(axis=1)
    return np.log1p(counts)


def is_nan(cell: Any) -> bool:
    """Whether a cell is not a number: NaN of any type of number, or pandas' NA.

    None and a time that is none (NaT) are values of their own here, as for scikit-learn's encoders.

    Examples
    --------
    >>> [is_nan(cell) for cell in (float("nan"), np.float32("nan"), 0.5, "nan", None)]
    [True, True, False, False, False]
    """
    if type(cell) is str:  # most cells: spare them the slow questions
        return False
    # pandas.NA answers NA to every comparison, so it is known by its name.
    return type(cell).__name__ == "NAType" or (isinstance(cell, Real) and bool(cell != cell))


@lru_cache(maxsize=1 << 16)
def _word_buckets(text: str) -> tuple[int, ...]:
    return tuple(zlib.crc32(word.encode()) % WORD_BUCKETS for word in text.lower().split())


def _cells(column: Any) -> Iterable[tuple[Any, bool]]:
    """Yield each cell of a pandas or polars column, and whether it is missing."""
    if isinstance(column, np.ndarray):  # of a pandas column
        missing = [cell is None or is_nan(cell) for cell in column.tolist()]
    else:
        missing = _listed(column.isna() if hasattr(column, "isna") else column.is_null())
    return zip(_listed(column), missing, strict=True)


def _listed(column: Any) -> list[Any]:
    """Return the cells of a column: those of an array or of a series."""
    return list(column.to_list() if hasattr(column, "to_list") else column.tolist())
