"""Instants and durations as exact integers: nanoseconds where 64 bits hold them.

The same instant has the same word in whatever unit it arrives: a unit is a matter of the
container. Outside the years 1677 to 2262 nanoseconds need more than 64 bits and microseconds are
taken, which reach 290,000 years; every container that can express such an instant counts whole
microseconds or coarser.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.randomness.kinds import BadCellError, Cell, Kind, Kinds, Words

Ticks = NDArray[np.int64]
WORD_MASK = (1 << 64) - 1
LARGEST_INT64 = (1 << 63) - 1

_NANOSECONDS = {
    "W": 7 * 86_400_000_000_000,
    "D": 86_400_000_000_000,
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "ns": 1,
}
_PARTS_OF_NANOSECOND = {"ps": 1_000, "fs": 1_000_000, "as": 1_000_000_000}
_TOO_FAR = "more than 290,000 years away; such times have no canonical value"
_TOO_FINE = "finer than a nanosecond; round it to nanoseconds first"


def time_cell(nanoseconds: int, near: Kind, far: Kind) -> Cell:
    """Encode one exact time in nanoseconds as the near kind or, in microseconds, the far one."""
    if abs(nanoseconds) <= LARGEST_INT64:
        return near, nanoseconds & WORD_MASK
    microseconds, rest = divmod(nanoseconds, 1000)
    if rest or abs(microseconds) > LARGEST_INT64:
        raise BadCellError(0, _TOO_FAR)
    return far, microseconds & WORD_MASK


def encode_time(value: np.datetime64 | np.timedelta64) -> Cell:
    """Encode one numpy time: what `encode_times` does for an array of one, but faster."""
    unit, count = np.datetime_data(value.dtype)
    if unit in _NANOSECONDS and not np.isnat(value):
        near, far = _kinds_of(value.dtype)
        kind, word = time_cell(int(value.astype(np.int64)) * _NANOSECONDS[unit] * count, near, far)
        return int(kind), word
    words = np.empty(1, dtype=np.uint64)
    kinds = encode_times(np.array([value]), words)
    return int(kinds[0]), int(words[0])


def _kinds_of(dtype: np.dtype[Any]) -> tuple[Kind, Kind]:
    if dtype.kind == "M":
        return Kind.INSTANT, Kind.FAR_INSTANT
    return Kind.DURATION, Kind.LONG_DURATION


def encode_times(values: NDArray[Any], words: Words) -> Kinds:
    """Encode an array of datetime64 or timedelta64 in any unit; return the kinds."""
    near, far = _kinds_of(values.dtype)
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    missing = np.isnat(values)
    unit, count = np.datetime_data(values.dtype)
    if unit in ("Y", "M") and near is Kind.INSTANT:
        values = values.astype("datetime64[D]")
        unit = "D"
        count = 1
    kinds = np.where(missing, np.uint8(Kind.MISSING), np.uint8(near))
    ticks = np.where(missing, 0, values.view(np.int64))
    if unit in _NANOSECONDS:
        _scale_up(ticks, _NANOSECONDS[unit] * count, words, kinds, far)
    elif unit in _PARTS_OF_NANOSECOND:
        words[:] = _scale_down(ticks, _PARTS_OF_NANOSECOND[unit], count).view(np.uint64)
    elif missing.all():
        words[:] = 0
    else:
        reason = f"a duration in unit {unit!r} has no fixed length"
        raise BadCellError(int(np.argmin(missing)), reason)
    return kinds


def _scale_up(ticks: Ticks, factor: int, words: Words, kinds: Kinds, far: Kind) -> None:
    """Write ticks times factor nanoseconds, or microseconds for those that do not fit."""
    beyond = np.abs(ticks) > LARGEST_INT64 // factor
    # beyond 64 bits the factor only ever meets zero ticks, or ticks refused below
    np.multiply(ticks, factor if factor <= LARGEST_INT64 else 0, out=words.view(np.int64))
    if beyond.any():
        # few distinct values as a rule, such as 9999-12-31 for "no end"
        distinct, inverse = np.unique(ticks[beyond], return_inverse=True)
        far_words = [_far_word(ticks, tick, factor, far) for tick in distinct.tolist()]
        words[beyond] = np.array(far_words, dtype=np.uint64)[inverse]
        kinds[beyond] = far


def _far_word(ticks: Ticks, tick: int, factor: int, far: Kind) -> int:
    try:
        return time_cell(tick * factor, far, far)[1]
    except BadCellError as error:
        raise BadCellError(int(np.argmax(ticks == tick)), error.reason) from None


def _scale_down(ticks: Ticks, parts: int, count: int) -> Ticks:
    """Return nanoseconds for a unit finer than one, refusing what is not a whole number."""
    whole = [divmod(int(tick) * count, parts) for tick in ticks]
    for position, (_, rest) in enumerate(whole):
        if rest:
            raise BadCellError(position, _TOO_FINE)
    return np.array([nanoseconds for nanoseconds, _ in whole], dtype=np.int64)
