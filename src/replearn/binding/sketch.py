"""Coarse sketches of columns: kinds of cells, quantiles, frequent values, decimals.

Columns of numbers only, the usual ones, are sketched together: a table of twenty columns takes the
time of a few passes over it. What a sketch holds is said in `replearn.binding.schema`.
"""

from __future__ import annotations

import struct
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.binding.computed import nearly_equal
from replearn.guarantees import DAYS, MAX_LEVELS, RARE, ROUNDED_ROWS
from replearn.randomness import Kind

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
    # A value that occurs so often stands at two neighbours of a grid of half that width.
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
    # A value that occurs so often stands at some multiple of that step.
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
    counts = {name: cells.sum(axis=1).tolist() for name, cells in same.items()}
    return [dict(zip(counts, row, strict=True)) for row in zip(*counts.values(), strict=True)]


def _have_few_digits(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether numbers are those that a text of 15 digits stands for: spreadsheets keep no more."""
    size = np.floor(np.log10(np.abs(numbers)))
    powers = (_DIGITS - 1 - np.where(np.isfinite(size), size, 0.0)).astype(np.intp)
    # Few powers occur: to look them up is several times as fast as to compute each.
    low, high = (int(end(powers)) for end in (np.min, np.max)) if powers.size else (0, 0)
    scale = (10.0 ** np.arange(low, high + 1.0))[powers - low]
    return np.asarray((np.round(numbers * scale) / scale == numbers) | (numbers == 0))
