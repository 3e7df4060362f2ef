"""How a run describes its points on the certificate: names, rounding, a coarse sketch of columns.

A sketch holds, for each column, how many cells are of which kind, 15 quantiles of the numbers (7
among rows of the second class), digests of values that at least 1 % of the rows have, and counts of
numbers with few decimals. It reveals this much about the sample and no more: quantiles are rounded
to four digits, extremes are not among them, and samples below 200 rows are not sketched.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer

from replearn.binding.computed import warn_of_computed
from replearn.binding.sketch import sketch_columns
from replearn.exceptions import PreprocessingWarning, warn_user
from replearn.guarantees import MIN_ROWS, ROUNDED_ROWS
from replearn.randomness import ENCODING_VERSION, SharedKey, as_points
from replearn.records import digest_of
from replearn.tables import TableEncoder, n_rows, take_rows

MAX_COLUMNS = 64
"""Of wider tables this many columns are sketched, evenly spread over them."""

MAX_CELLS = 1 << 15
"""Cells that are sketched at most: of twenty columns 1,638 rows."""

_PUBLIC = SharedKey("replearn probe points")
NOT_NFC = "text not in the form NFC"
_MIN_NUMBERED = 30  # fewer rows prove nothing


def describe_points(
    X: Any,
    codes: NDArray[np.intp],
    *,
    rows: NDArray[np.intp],
    base: Any = None,
    decimals: int | None = None,
) -> dict[str, Any]:
    """Describe the points of a sample, as fields of an `Identity`.

    Of ``rows``, in a keyed order, the first are looked at: the description then does not depend on
    the order of the file. A base estimator that takes columns by name does not depend on their
    order.
    """
    names = as_points(take_rows(X, np.arange(min(1, n_rows(X))))).names
    by_position = list(names) == list(range(len(names))) or names == (None,)
    schema: dict[str, Any] = {
        "encoding": ENCODING_VERSION,
        "decimals": decimals,
        "columns": None if by_position else [str(name) for name in names],
        "n_columns": len(names),
        "order": "" if by_position or takes_columns_by_name(base) else _order_of(X),
        "rows": 0,
        "second": 0,
        "texts": {},
        "sketch": [],
    }
    chosen = rows[: rows_sketched(len(names))]
    if len(chosen) >= MIN_ROWS:
        schema |= _sketch(_taken(X, chosen), names, codes[chosen] == 1, decimals)
    if schema["texts"].get(NOT_NFC):
        warn_user(
            f"{schema['texts'][NOT_NFC]} of the first {min(len(chosen), ROUNDED_ROWS)} rows have "
            "text that is not in the Unicode form NFC: the same word in the usual form is another "
            'point. Put texts into one form first: unicodedata.normalize("NFC", text).',
            PreprocessingWarning,
        )
    return {"schema": schema, "points_digest": probe_digest(names, decimals)}


def rows_sketched(n_columns: int) -> int:
    """Return how many rows of a table with so many columns are looked at.

    >>> rows_sketched(20), rows_sketched(500)
    (1638, 512)
    """
    return MAX_CELLS // max(1, min(n_columns, MAX_COLUMNS))


def _taken(X: Any, rows: NDArray[np.intp]) -> Any:
    """Take rows; of an array with the cells of a column side by side, as they are looked at."""
    if type(X) is np.ndarray and X.ndim == 2:
        return np.asfortranarray(X[rows])  # X.T.take would copy the whole table first
    return take_rows(X, rows)


def probe_digest(names: tuple[Any, ...], decimals: int | None) -> str:
    """Digest of a few synthetic points with these columns: equal where points are encoded alike.

    >>> probe_digest(("age", "sex"), None) == probe_digest(("sex", "age"), None)
    False
    """
    return _probe_digest(tuple(str(name) for name in names[:MAX_COLUMNS]), decimals)


@lru_cache(maxsize=64)
def _probe_digest(names: tuple[str, ...], decimals: int | None) -> str:
    named = list(names)
    rows = np.outer([1000.0, 1.0, -1.0 / 3.0], 1.0 + np.arange(len(named)) / 7.0)
    hashes = _PUBLIC.hashes(as_points(rows, decimals=decimals))
    content = repr((ENCODING_VERSION, named)).encode() + hashes.astype("<u8").tobytes()
    return sha256(content).hexdigest()[:16]


def takes_columns_by_name(base: Any) -> bool:
    """Whether an estimator finds every column by its name, so that their order does not matter.

    >>> takes_columns_by_name(ColumnTransformer([("kept", "passthrough", ["age", "sex"])]))
    True
    """
    steps = getattr(base, "steps", None)
    if steps:
        return takes_columns_by_name(steps[0][1])
    if isinstance(base, ColumnTransformer):
        wanted = [columns for _, _, columns in base.transformers]
        return base.remainder == "drop" and all(
            isinstance(columns, list | tuple) and all(isinstance(name, str) for name in columns)
            for columns in wanted
        )
    return isinstance(base, TableEncoder)


def _order_of(X: Any) -> str:
    return order_digest(getattr(X, "column_names", getattr(X, "columns", ())))  # pyarrow, others


def order_digest(names: Any) -> str:
    """Digest of the names of columns in their order."""
    return digest_of([str(name) for name in names])[:16]


def _sketch(
    X: Any, names: tuple[Any, ...], second: NDArray[np.bool_], decimals: int | None
) -> dict[str, Any]:
    texts = _text_counts(X)
    if len(names) > MAX_COLUMNS:
        kept = np.linspace(0, len(names) - 1, MAX_COLUMNS).astype(np.intp)
        names = tuple(names[index] for index in kept)
        X = X[list(names)] if hasattr(X, "columns") else X[:, kept]
    words, kinds = as_points(X, decimals=decimals).encoded()
    if words.shape[1] != len(names):
        return {}  # columns of one name cannot be distinguished
    n_second = int(second.sum())
    sketched, computed = sketch_columns(words.T, kinds.T, second if n_second >= MIN_ROWS else None)
    if decimals is None:
        warn_of_computed([names[index] for index in np.flatnonzero(computed)])
    columns = [
        {
            "name": name if isinstance(name, int) else str(name),
            **found,
            "zoned": _has_zone(X, name),
        }
        for name, found in zip(names, sketched, strict=True)
    ]
    return {"rows": len(second), "second": n_second, "texts": texts, "sketch": columns}


def _has_zone(X: Any, name: Any) -> bool:
    """Whether a column of a frame holds times with a time zone."""
    dtype = X[name].dtype if hasattr(X, "columns") else None
    return getattr(dtype, "tz", None) is not None or getattr(dtype, "time_zone", None) is not None


def _text_counts(X: Any) -> dict[str, int]:
    """Count rows with texts that look alike and are other points elsewhere."""
    if _is_number(X):
        return {}
    rows = _texts(take_rows(X, np.arange(min(n_rows(X), ROUNDED_ROWS))))
    if not any(rows):
        return {}
    marks = {
        NOT_NFC: lambda text: not unicodedata.is_normalized("NFC", text),
        "text with capital letters": lambda text: text != text.lower(),
        "text with spaces around it": lambda text: text != text.strip(),
    }
    return {name: sum(any(map(mark, row)) for row in rows) for name, mark in marks.items()}


def _texts(X: Any) -> list[list[str]]:
    """Return the texts of each row."""
    if hasattr(X, "columns"):
        kept = [c for c in X.columns if not _is_number(X[c])]
        cells: Any = zip(*(list(X[c]) for c in kept), strict=True)
    elif hasattr(X, "tocsr"):
        return []
    else:
        cells = (row if isinstance(row, list | tuple | np.ndarray) else (row,) for row in X)
    return [[cell for cell in row if isinstance(cell, str)] for row in cells]


def _is_number(column: Any) -> bool:
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    return kind in ("b", "i", "u", "f", "M", "m")


def row_number_column(X: Any) -> Any:
    """Return the name or index of a column that numbers the rows; None if there is none."""
    if hasattr(X, "columns"):
        named = ((name, X[name]) for name in X.columns)
        columns = ((name, column) for name, column in named if _is_numeric(column))
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iuf":
        first = X[:_MIN_NUMBERED]
        whole = np.flatnonzero((first == np.round(first)).all(axis=0)).tolist()
        columns = ((index, X[:, index]) for index in whole)
    else:
        return None
    return next((name for name, column in columns if _numbers_rows(np.asarray(column))), None)


def _is_numeric(column: Any) -> bool:
    kind = getattr(getattr(column, "dtype", None), "kind", None)
    return kind in ("i", "u", "f") or str(getattr(column, "dtype", "")).startswith(("Int", "UInt"))


def _numbers_rows(column: NDArray[Any]) -> bool:
    n = len(column)
    if n < _MIN_NUMBERED or column.ndim != 1 or column.dtype.kind not in "iuf":
        return False
    low = column.min()
    high = column.max()
    if not (np.isfinite(low) and np.isfinite(high)) or float(high) - float(low) != n - 1:
        return False
    indices = column - low
    whole = indices.astype(np.intp)
    return bool((whole == indices).all()) and len(np.unique(whole)) == n
