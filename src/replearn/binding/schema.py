"""How a run describes its points on the certificate: names, rounding, a coarse sketch of columns.

A sketch holds, for each column, how many cells are of which kind, 15 quantiles of the numbers (7
among rows of the second class), digests of values that at least 1 % of the rows have, and counts of
numbers with few decimals. It reveals this much about the sample and no more: quantiles are rounded
to four digits, extremes are not among them, and samples below 200 rows are not sketched. Columns of
numbers only, the usual ones, are sketched together: twenty take a few passes over the table.
"""

from __future__ import annotations

import struct
import unicodedata
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer

from replearn.exceptions import PreprocessingWarning, warn_user
from replearn.guarantees.comparison import DAYS, MAX_LEVELS, MIN_ROWS, RARE, ROUNDED_ROWS
from replearn.randomness import (
    ENCODING_VERSION,
    Kind,
    SharedKey,
    as_points,
    nearly_equal,
    warn_of_computed,
)
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

    Only the first of ``rows``, in keyed order, are examined, so that the description does not
    depend on the order of the file. A base estimator that takes columns by name does not depend
    on their order.
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
            "text that is not in the Unicode form NFC: the same word in the usual form is a "
            'different point. Normalise texts first: unicodedata.normalize("NFC", text).',
            PreprocessingWarning,
        )
    return {"schema": schema, "points_digest": probe_digest(names, decimals)}


def rows_sketched(n_columns: int) -> int:
    """Return how many rows of a table with this many columns are examined.

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
    """Return a digest of synthetic points: equal if points are encoded in the same way.

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
    """Count rows with texts that look the same as others but are different points."""
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


# -- coarse sketches of columns --------------------------------------------------------------------
Cells = tuple[NDArray[np.uint64], NDArray[np.uint8]]
"""Words and kinds of the cells, one row for each column of the table."""

_QUANTILES = 15
_SECOND_QUANTILES = 7
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


def sketch_columns(
    words: NDArray[np.uint64], kinds: NDArray[np.uint8], second: NDArray[np.bool_] | None
) -> tuple[list[dict[str, Any]], NDArray[np.bool_]]:
    """Sketch every column of a table, and the rows of the second class by themselves as well.

    Cells are encoded, one row for each column; the words are used up. Which columns look computed
    is returned as well: it is no part of the sketch.

    >>> words = np.arange(1000.0).view(np.uint64)[np.newaxis]
    >>> (sketch,), computed = sketch_columns(words, np.zeros((1, 1000), dtype=np.uint8), None)
    >>> sketch["kinds"], sketch["all"]["quantiles"][7], sketch["steps"]["numbers of 0 decimals"]
    ({'number': 1000}, 499.0, 1000)
    """
    plain = np.asarray(~kinds.any(axis=1))  # nothing but floats
    values = words.view(np.float64)
    if not plain.all():
        values = values.copy()
    for index in np.flatnonzero(~plain):
        values[index] = _values(words[index], kinds[index])
    sketches: list[dict[str, Any]] = [
        {"kinds": counts, "steps": steps}
        for counts, steps in zip(
            _kind_counts(kinds, plain), _steps(values, (words, kinds), plain), strict=True
        )
    ]
    parts = {"all": (values, (words, kinds), _QUANTILES)}
    if second is not None:
        rows = np.flatnonzero(second)
        cells = (words, kinds) if plain.all() else (words[:, rows], kinds[:, rows])
        parts["second"] = (values.take(rows, axis=1), cells, _SECOND_QUANTILES)
    computed = np.zeros(len(values), dtype=bool)
    for part, (numbers, cells, n_quantiles) in parts.items():
        numbers.sort(axis=1)  # without a copy: fresh memory costs as much as to sort
        if part == "all":
            computed[plain] = nearly_equal(numbers[plain])
        for sketch, found in zip(
            sketches, _distributions(numbers, cells, plain, n_quantiles), strict=True
        ):
            sketch[part] = found
    return sketches, computed


def _kind_counts(kinds: NDArray[np.uint8], plain: NDArray[np.bool_]) -> list[dict[str, int]]:
    found: list[dict[str, int]] = []
    for only_floats, column in zip(plain, kinds, strict=True):
        if only_floats:
            found.append({"number": len(column)})
            continue
        by_kind = np.bincount(column, minlength=len(Kind))
        counts = {word: int(by_kind[list(of)].sum()) for word, of in _WORDS.items()}
        found.append({word: count for word, count in counts.items() if count})
    return found


def _values(words: NDArray[np.uint64], kinds: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return numbers and times as floats, everything else as plus infinity."""
    values = np.where(kinds == Kind.NUMBER, words.view(np.float64), words.view(np.int64))
    return np.where(_NUMBERLIKE[kinds], values, np.inf)


# -- quantiles and frequent values -----------------------------------------------------------------
def _distributions(
    ordered: NDArray[np.float64], cells: Cells, plain: NDArray[np.bool_], n_quantiles: int
) -> list[dict[str, Any]]:
    """Return quantiles and frequent values of each column, whose numbers are sorted."""
    n = ordered.shape[1]
    levels = np.arange(1, n_quantiles + 1) / (n_quantiles + 1)
    indices = np.ceil(levels * n).astype(np.intp) - 1
    least = max(1, int(np.ceil(RARE * n)))
    # A value that occurs this often stands at two neighbours of a grid of half that width.
    grid = ordered[:, :: max(1, least // 2)]
    repeats = (grid[:, 1:] == grid[:, :-1]).any(axis=1) | (least == 1)
    found = []
    for index, quantiles in enumerate(_four_digits(ordered[:, indices])):
        words = cells[0][index][:0] if plain[index] else _others(cells[0][index], cells[1][index])
        numbers = ordered[index, : ordered[index].searchsorted(np.inf) if repeats[index] else 0]
        found.append({"quantiles": quantiles, "levels": _levels(numbers, words, least)})
    return found


def _four_digits(table: NDArray[np.float64]) -> list[list[float | None]]:
    """Round a table of numbers to four digits; plus infinity becomes None.

    >>> _four_digits(np.array([[1.23456, np.inf]]))
    [[1.235, None]]
    """
    text = "%.4g " * table.size % tuple(table.ravel().tolist())  # one text: half of the time
    numbers = [None if number == np.inf else number for number in map(float, text.split())]
    width = table.shape[1]
    return [numbers[start : start + width] for start in range(0, table.size, width)]


def _others(words: NDArray[np.uint64], kinds: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the words of cells that are neither numbers nor times nor missing."""
    return words[~_NUMBERLIKE[kinds] & (kinds != Kind.MISSING)]


def _levels(numbers: NDArray[np.float64], words: NDArray[np.uint64], least: int) -> dict[str, int]:
    """Return digests and counts of the values that occur often, numbers from a sorted array."""
    if len(numbers) + len(words) == 0:  # most columns: no number occurs twice
        return {}
    often = _often(numbers, least) + _often(np.sort(words), least)
    often.sort(key=lambda pair: -pair[1])
    return {_value_digest(value): count for value, count in often[:MAX_LEVELS]}


def _often(ordered: NDArray[Any], least: int) -> list[tuple[Any, int]]:
    """Return the values of a sorted array that occur often, with their counts."""
    if len(ordered) == 0:
        return []
    # A value that occurs this often stands at some multiple of that step.
    found = np.unique(ordered[least - 1 :: least])
    first, last = (np.searchsorted(ordered, found, side=side) for side in ("left", "right"))
    counts = last - first
    kept = counts >= least
    return list(zip(found[kept].tolist(), counts[kept].tolist(), strict=True))


def _value_digest(value: float | int) -> str:
    content = struct.pack("<d", value) if isinstance(value, float) else struct.pack("<Q", value)
    return sha256(content).hexdigest()[:8]


# -- what printing and rounding change -------------------------------------------------------------
def _steps(
    values: NDArray[np.float64], cells: Cells, plain: NDArray[np.bool_]
) -> list[dict[str, int]]:
    """Count the first cells of each column that are multiples of a step."""
    together = iter(_rounded(values[plain, :ROUNDED_ROWS]))
    words, kinds = (part[:, :ROUNDED_ROWS] for part in cells)
    return [
        next(together) if only_floats else _steps_of_one(values[index, :ROUNDED_ROWS], *pair)
        for index, (only_floats, *pair) in enumerate(zip(plain, words, kinds, strict=True))
    ]


def _steps_of_one(
    values: NDArray[np.float64], words: NDArray[np.uint64], kinds: NDArray[np.uint8]
) -> dict[str, int]:
    times = (kinds == Kind.INSTANT) | (kinds == Kind.DURATION)
    if times.any():
        instants = words.view(np.int64)[times]
        return {name: int((instants % unit == 0).sum()) for name, unit in _UNITS.items()}
    numbers = values[kinds == Kind.NUMBER]
    return _rounded(numbers[np.newaxis])[0] if len(numbers) else {}


def _rounded(numbers: NDArray[np.float64]) -> list[dict[str, int]]:
    """Count in each row of a table the numbers that rounding leaves as they are."""
    with np.errstate(all="ignore"):
        same = {f"numbers of {d} decimals": np.round(numbers, d) == numbers for d in _DECIMALS}
        same["float32 numbers"] = numbers == numbers.astype(np.float32)
        same[f"numbers of {_DIGITS} digits"] = _have_few_digits(numbers)
    # Row by row: a sum of booleans along an axis takes three times as long.
    counts = {name: [int(np.count_nonzero(row)) for row in cells] for name, cells in same.items()}
    return [dict(zip(counts, row, strict=True)) for row in zip(*counts.values(), strict=True)]


def _have_few_digits(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether numbers are those that a text of 15 digits stands for: spreadsheets keep no more."""
    size = np.floor(np.log10(np.abs(numbers)))
    powers = (_DIGITS - 1 - np.where(np.isfinite(size), size, 0.0)).astype(np.intp)
    # Few powers occur: to look them up is several times as fast as to compute each.
    low, high = (int(end(powers)) for end in (np.min, np.max)) if powers.size else (0, 0)
    scale = (10.0 ** np.arange(low, high + 1.0))[powers - low]
    return np.asarray((np.round(numbers * scale) / scale == numbers) | (numbers == 0))
