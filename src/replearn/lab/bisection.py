"""Bisection on a measured frequency: how many rows until fitted learners reach a target.

Every size that is tried is measured by pairs (or single runs) of its own. The bisection decides
where to measure next; the answer uses all sizes near the crossing at once: a straight line through
their logarithms, weighted by their standard errors, so a wrong turn at a noisy size does little
harm, and the answer has a standard error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

STEPS = 4
_NEAR = 4.0  # sizes within this factor of the last one enter the line

_MOST = 10**4


@dataclass(frozen=True)
class Crossing:
    """Where a measured frequency falls to a target.

    Parameters
    ----------
    size : float
        The size, between those that were tried.
    error : float
        Standard error of its logarithm.
    tried : list of [size, frequency, standard error]
        What was measured.
    """

    size: float
    error: float
    tried: list[list[float]]


def find_crossing(
    measured: Callable[[int], Sequence[float]], target: float, start: int, *, steps: int = STEPS
) -> Crossing:
    """Return the size at which the mean of a measurement falls to a target, by bisection.

    Parameters
    ----------
    measured : callable of int to sequence of float
        One number for each independent run or pair at a size; their mean falls with the size.
    target : float
        Where to stop.
    start : int
        The first size that is tried.
    steps : int, default=4
        Halvings (on the logarithmic scale) once the target lies between two sizes.

    Returns
    -------
    Crossing

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found = find_crossing(lambda n: rng.random(400) < n**-0.5, 0.1, 16)
    >>> round(found.size), round(found.error, 2)
    (114, 0.14)
    """
    tried: dict[int, list[float]] = {}

    def above(size: int) -> bool:
        if size not in tried:
            tried[size] = _mean_and_error(measured(size))
        return tried[size][0] > target

    low = high = start
    while above(high):
        if high > _MOST * start:
            raise ValueError(f"target={target!r} was not reached with {high} rows.")
        low, high = high, 2 * high
    while low > 1 and not above(low):
        low, high = low // 2, low
    for _ in range(steps):
        middle = round(math.sqrt(low * high))
        if not low < middle < high:
            break
        low, high = (middle, high) if above(middle) else (low, middle)
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
    v, weights = np.log(seen), (seen / np.maximum(errors, np.where(means < seen, seen, 1e-9))) ** 2
    total = weights.sum()
    middle = float(weights @ u / total)
    spread = u - middle
    moment = float(weights @ spread**2)
    slope = float(weights @ (spread * v)) / moment if moment > 0.0 else -0.5
    slope = min(slope, -0.1)
    there = middle + (math.log(target) - float(weights @ v / total)) / slope
    variance = 1.0 / total + ((there - middle) ** 2 / moment if moment > 0.0 else 0.0)
    return math.exp(there), math.sqrt(variance) / abs(slope)
