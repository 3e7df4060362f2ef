"""How a run describes its points on the certificate: names, rounding, a coarse sketch of columns.

A sketch holds, for each column, how many cells are of which kind, 15 quantiles of the numbers (7
among rows of the second class), digests of values that at least 1 % of the rows have, and counts of
numbers with few decimals. It reveals this much about the sample and no more: quantiles are rounded
to four digits, extremes are not among them, and samples below 200 rows are not sketched.
"""

from __future__ import annotations

import struct
import unicodedata
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer

from replearn.exceptions import PreprocessingWarning, warn_user
from replearn.guarantees.points import DAYS, FEWEST_ROWS, MOST_LEVELS, RARE, ROUNDED_ROWS
from replearn.randomness import ENCODING_VERSION, Kind, SharedKey, as_points
from replearn.records.json import digest_of
from replearn.tables import n_rows, take_rows
from replearn.tables.encoder import TableEncoder

MOST_COLUMNS = 64
"""Of wider tables this many columns are sketched, evenly spread over them."""

MOST_CELLS = 1 << 17
"""Cells that are sketched at most (half as many of frames, whose texts take long to encode)."""

_QUANTILES, _SECOND_QUANTILES = 15, 7
_PUBLIC = SharedKey("replearn probe points")
_NUMBERLIKE = np.zeros(len(Kind), dtype=bool)
_NUMBERLIKE[[Kind.NUMBER, Kind.INTEGER, Kind.INSTANT, Kind.DURATION]] = True
_WORDS = {
    "number": (Kind.NUMBER, Kind.INTEGER, Kind.LARGE_INTEGER, Kind.HUGE_INTEGER),
    "missing": (Kind.MISSING,),
    "text": (Kind.TEXT,),
    "time": (Kind.INSTANT, Kind.FAR_INSTANT),
    "duration": (Kind.DURATION, Kind.LONG_DURATION),
    "bytes": (Kind.BYTES,),
}
_DECIMALS = (0, 2, 4, 6, 8)
_DIGITS = 15
_UNITS = {DAYS: 86_400 * 10**9, "whole hours": 3_600 * 10**9, "whole seconds": 10**9}
NOT_NFC = "text not in the form NFC"


def describe_points(
    X: Any,
    codes: NDArray[np.intp],
    *,
    rows: NDArray[np.intp],
    base: Any = None,
    decimals: int | None = None,
    groups: NDArray[Any] | None = None,
) -> dict[str, Any]:
    """Describe the points of a sample, as fields of an `Identity`.

    Parameters
    ----------
    X : container of rows
        The sample.
    codes : ndarray of intp
        Labels as codes.
    rows : ndarray of intp
        Rows in a keyed order, of which the first are looked at: the description then does not
        depend on the order of the file.
    base : estimator, optional
        The base learner: one that takes columns by name does not depend on their order.
    decimals : int, optional
        Rounding of the encoding.
    groups : ndarray, optional
        Groups of the rows: one row of each is looked at, since only groups are independent.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(1000.0)[:, None]
    >>> schema = describe_points(X, np.arange(1000) % 2, rows=np.arange(1000))["schema"]
    >>> schema["columns"], schema["rows"], schema["sketch"][0]["all"]["quantiles"][7]
    (None, 1000, 499.0)
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
    most = MOST_CELLS if isinstance(X, np.ndarray) and X.dtype.kind == "f" else MOST_CELLS // 2
    n_kept = most // max(1, min(len(names), MOST_COLUMNS))
    if groups is not None:
        rows = rows[np.sort(np.unique(groups[rows], return_index=True)[1])]
    chosen = rows[:n_kept]
    if len(chosen) >= FEWEST_ROWS:
        schema |= _sketch(take_rows(X, chosen), names, codes[chosen] == 1, decimals)
    if schema["texts"].get(NOT_NFC):
        warn_user(
            f"{schema['texts'][NOT_NFC]} of the first {min(len(chosen), ROUNDED_ROWS)} rows have "
            "text that is not in the Unicode form NFC: the same word in the usual form is another "
            'point. Put texts into one form first: unicodedata.normalize("NFC", text).',
            PreprocessingWarning,
        )
    return {"schema": schema, "points_digest": probe_digest(names, decimals)}


def probe_digest(names: tuple[Any, ...], decimals: int | None) -> str:
    """Digest of a few synthetic points with these columns: equal where points are encoded alike.

    Examples
    --------
    >>> probe_digest(("age", "sex"), None) == probe_digest(("sex", "age"), None)
    False
    """
    named = [str(name) for name in names[:MOST_COLUMNS]]
    rows = np.outer([1000.0, 1.0, -1.0 / 3.0], 1.0 + np.arange(len(named)) / 7.0)
    hashes = _PUBLIC.hashes(as_points(rows, decimals=decimals))
    content = repr((ENCODING_VERSION, named)).encode() + hashes.astype("<u8").tobytes()
    return sha256(content).hexdigest()[:16]


def takes_columns_by_name(base: Any) -> bool:
    """Whether a learner finds every column by its name, so that their order does not matter.

    Examples
    --------
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
    if len(names) > MOST_COLUMNS:
        kept = np.linspace(0, len(names) - 1, MOST_COLUMNS).astype(np.intp)
        names = tuple(names[place] for place in kept)
        X = X[list(names)] if hasattr(X, "columns") else X[:, kept]
    words, kinds = as_points(X, decimals=decimals).encoded()
    if words.shape[1] != len(names):
        return {}  # columns of one name cannot be told apart
    n_second = int(second.sum())
    columns = [
        _column(name, words[:, place], kinds[:, place], second if n_second >= FEWEST_ROWS else None)
        | {"zoned": _has_zone(X, name)}
        for place, name in enumerate(names)
    ]
    return {"rows": len(second), "second": n_second, "texts": texts, "sketch": columns}


def _column(
    name: Any,
    words: NDArray[np.uint64],
    kinds: NDArray[np.uint8],
    second: NDArray[np.bool_] | None,
) -> dict[str, Any]:
    by_kind = np.bincount(kinds, minlength=len(Kind))
    counts = {word: int(by_kind[list(of)].sum()) for word, of in _WORDS.items()}
    values = _values(words, kinds)
    sketch = {
        "name": name if isinstance(name, int) else str(name),
        "kinds": {word: count for word, count in counts.items() if count},
        "steps": _steps(values[:ROUNDED_ROWS], words, kinds),
        "all": _distribution(values, _others(words, kinds), _QUANTILES),
    }
    if second is not None:
        places = np.flatnonzero(second)
        others = _others(words, kinds, places)
        sketch["second"] = _distribution(values.take(places), others, _SECOND_QUANTILES)
    return sketch


def _others(
    words: NDArray[np.uint64], kinds: NDArray[np.uint8], places: NDArray[np.intp] | None = None
) -> NDArray[np.uint64]:
    """Return the words of cells that are neither numbers nor times nor missing."""
    if not kinds.any():
        return words[:0]
    if places is not None:
        words, kinds = words.take(places), kinds.take(places)
    return words[~_NUMBERLIKE[kinds] & (kinds != Kind.MISSING)]


def _values(words: NDArray[np.uint64], kinds: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return numbers and times as floats, everything else as plus infinity."""
    words = np.ascontiguousarray(words)
    if not kinds.any():
        return words.view(np.float64)
    values = np.where(kinds == Kind.NUMBER, words.view(np.float64), words.view(np.int64))
    return np.where(_NUMBERLIKE[kinds], values, np.inf)


def _distribution(
    values: NDArray[np.float64], others: NDArray[np.uint64], n_quantiles: int
) -> dict[str, Any]:
    n = len(values)
    levels = np.arange(1, n_quantiles + 1) / (n_quantiles + 1)
    places = np.ceil(levels * n).astype(np.intp) - 1
    ordered = np.sort(values)
    finite = ordered[: ordered.searchsorted(np.inf)]
    return {
        "quantiles": [None if q == np.inf else _short(q) for q in ordered[places].tolist()],
        "levels": _levels(finite, others, max(1, int(np.ceil(RARE * n)))),
    }


def _levels(numbers: NDArray[np.float64], words: NDArray[np.uint64], least: int) -> dict[str, int]:
    """Return digests and counts of the values that occur often, numbers from a sorted array."""
    often = _often(numbers, least) + (_often(np.sort(words), least) if len(words) else [])
    often.sort(key=lambda pair: -pair[1])
    return {_value_digest(value): count for value, count in often[:MOST_LEVELS]}


def _often(ordered: NDArray[Any], least: int) -> list[tuple[Any, int]]:
    """Return the values of a sorted array that occur often, with their counts."""
    # A value that occurs so often stands at some multiple of that step.
    found = np.unique(ordered[least - 1 :: least])
    first, last = (np.searchsorted(ordered, found, side=side) for side in ("left", "right"))
    counts = last - first
    kept = counts >= least
    return list(zip(found[kept].tolist(), counts[kept].tolist(), strict=True))


def _value_digest(value: float | int) -> str:
    content = struct.pack("<d", value) if isinstance(value, float) else struct.pack("<Q", value)
    return sha256(content).hexdigest()[:8]


def _has_zone(X: Any, name: Any) -> bool:
    """Whether a column of a frame holds times with a time zone."""
    dtype = X[name].dtype if hasattr(X, "columns") else None
    return getattr(dtype, "tz", None) is not None or getattr(dtype, "time_zone", None) is not None


def _steps(
    values: NDArray[np.float64], words: NDArray[np.uint64], kinds: NDArray[np.uint8]
) -> dict[str, int]:
    """Count cells that are multiples of a step: what printing and rounding change."""
    n, kinds = len(values), kinds[: len(values)]
    times = np.isin(kinds, (Kind.INSTANT, Kind.DURATION))
    if times.any():
        instants = np.ascontiguousarray(words[:n]).view(np.int64)[times]
        return {name: int((instants % unit == 0).sum()) for name, unit in _UNITS.items()}
    numbers = values[kinds == Kind.NUMBER]
    if len(numbers) == 0:
        return {}
    with np.errstate(all="ignore"):
        rounded = {f"numbers of {d} decimals": np.round(numbers, d) == numbers for d in _DECIMALS}
        rounded["float32 numbers"] = numbers == numbers.astype(np.float32)
        rounded[f"numbers of {_DIGITS} digits"] = _has_few_digits(numbers)
    return {name: int(same.sum()) for name, same in rounded.items()}


def _has_few_digits(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether numbers are those that a text of 15 digits stands for: spreadsheets keep no more."""
    size = np.floor(np.log10(np.abs(numbers)))
    scale = 10.0 ** (_DIGITS - 1 - np.where(np.isfinite(size), size, 0.0))
    return np.asarray((np.round(numbers * scale) / scale == numbers) | (numbers == 0))


def _text_counts(X: Any) -> dict[str, int]:
    """Count rows with texts that look alike and are other points elsewhere."""
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
    elif hasattr(X, "tocsr") or _is_number(X):
        return []
    else:
        cells = (row if isinstance(row, list | tuple | np.ndarray) else (row,) for row in X)
    return [[cell for cell in row if isinstance(cell, str)] for row in cells]


def _is_number(column: Any) -> bool:
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    return kind in ("b", "i", "u", "f", "M", "m")


def _short(value: Any) -> float:
    return float(f"{float(value):.4g}")
