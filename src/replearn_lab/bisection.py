"""Bisection on what is measured: how many rows until a target is reached.

For fitted learners every size that is tried is measured by pairs (or single runs) of its own. The
bisection decides where to measure next; the answer uses all sizes near the crossing at once: a
straight line through their logarithms, weighted by their standard errors, so a wrong turn at a
noisy size does little harm, and the answer has a standard error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

_NEAR = 4.0  # sizes within this factor of the last one enter the line


@dataclass(frozen=True)
class Crossing:
    """Where a measured frequency falls to a target."""

    size: float  # between those that were tried
    error: float  # standard error of its logarithm
    tried: list[list[float]]  # sizes, what was measured there, standard errors


def bracket(is_above: Callable[[int], bool], start: int, most: int) -> tuple[int, int]:
    """Return two sizes between which a quantity falls to its target, up to noise.

    Doubles until it is there, and halves the last step on the logarithmic scale a few times.
    """
    low = high = start
    while is_above(high):
        if high > most:
            raise ValueError(f"the target was not reached with {high} rows.")
        low = high
        high = 2 * high
    while low > 1 and not is_above(low):
        high = low
        low = low // 2
    for _ in range(4):
        middle = round(math.sqrt(low * high))
        if not low < middle < high:
            break
        low, high = (middle, high) if is_above(middle) else (low, middle)
    return low, high


def smallest_size(measured: Callable[[int], float], target: float, start: int) -> float:
    """Return the size at which a measured quantity falls to a target, by interpolation."""
    value = cache(measured)
    low, high = bracket(lambda size: value(size) > target, start, 10**9)
    below = value(low)
    above = value(high)
    if below <= above or above <= 0.0 or below <= target:
        return float(high)
    part = math.log(below / target) / math.log(below / above)
    return float(low * (high / low) ** min(1.0, part))


def find_crossing(
    measured: Callable[[int], Sequence[float]], target: float, start: int
) -> Crossing:
    """Return the size at which the mean of a measurement falls to a target.

    ``measured`` returns one number for each independent run or pair at a size.
    """
    tried: dict[int, list[float]] = {}

    def is_above(size: int) -> bool:
        if size not in tried:
            tried[size] = _mean_and_error(measured(size))
        return tried[size][0] > target

    low, high = bracket(is_above, start, 10**4 * start)
    near = {size: row for size, row in tried.items() if high / _NEAR <= size <= low * _NEAR}
    size, error = _line_at(near, target)
    # A line through noise may leave what was tried: then the bracket is all that is known.
    size = min(max(size, min(near)), max(near))
    return Crossing(size, error, [[float(n), *row] for n, row in sorted(tried.items())])


def _mean_and_error(values: Sequence[float]) -> list[float]:
    seen = np.asarray(values, dtype=float)
    spread = float(seen.std(ddof=1)) if len(seen) > 1 else 0.0
    return [float(seen.mean()), spread / math.sqrt(len(seen))]


def _line_at(rows: dict[int, list[float]], target: float) -> tuple[float, float]:
    """Return where the weighted line through (log size, log mean) meets the target, and its error.

    A mean near 0 has no useful logarithm: it counts as an eighth of the target, with an error of
    the same size. The slope is kept away from 0: what does not fall has no crossing.
    """
    u = np.log(np.array(list(rows), dtype=float))
    means, errors = np.array(list(rows.values())).T
    seen = np.maximum(means, target / 8.0)
    v = np.log(seen)
    weights = (seen / np.maximum(errors, np.where(means < seen, seen, 1e-9))) ** 2
    total = weights.sum()
    middle = float(weights @ u / total)
    spread = u - middle
    moment = float(weights @ spread**2)
    slope = float(weights @ (spread * v)) / moment if moment > 0.0 else -0.5
    slope = min(slope, -0.1)
    there = middle + (math.log(target) - float(weights @ v / total)) / slope
    variance = 1.0 / total + ((there - middle) ** 2 / moment if moment > 0.0 else 0.0)
    return math.exp(there), math.sqrt(variance) / abs(slope)
