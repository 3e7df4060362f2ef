"""Shares with confidence limits, sizes that are measured, and exponents of power laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import t as student

from replearn.bounds.numeric import binomial_limits
from replearn_lab.drawing import COLORS, legend, panel, ticks

DELTA = 0.05
_HALVINGS = 8


def share(count: int, trials: int) -> list[float]:
    """Return a share and its 95 % Clopper-Pearson limits.

    >>> [round(value, 3) for value in share(3, 10)]
    [0.3, 0.067, 0.652]
    """
    low, high = binomial_limits(int(count), int(trials), DELTA)
    return [count / trials, float(low), float(high)]


def shown(row: Sequence[float]) -> str:
    """Write a share with its limits.

    >>> shown([0.3, 0.067, 0.652])
    '0.300 (0.067 to 0.652)'
    """
    return f"{row[0]:.3f} ({row[1]:.3f} to {row[2]:.3f})"


def exponent(x: Sequence[float], y: Sequence[float]) -> list[float]:
    """Return the slope of log y against log x by least squares, with 95 % limits.

    The limits take the scatter around the line as independent; with two points there is none.
    """
    u = np.log(np.asarray(x, dtype=float))
    v = np.log(np.asarray(y, dtype=float))
    spread = u - u.mean()
    slope = float(spread @ v / (spread @ spread))
    if len(u) < 3:
        return [slope, slope, slope]
    rest = v - v.mean() - slope * spread
    error = float(np.sqrt(rest @ rest / (len(u) - 2) / (spread @ spread)))
    half = float(student.isf(DELTA / 2, len(u) - 2)) * error
    return [slope, slope - half, slope + half]


# -- sizes as powers of a parameter ----------------------------------------------------------------
def smallest_size(measured: Callable[[int], float], target: float, start: int) -> float:
    """Return the size at which a noisy falling quantity reaches a target, by bisection.

    Doubles until it is there, then halves the step on the logarithmic scale, and interpolates.
    """
    seen = cache(measured)
    low = high = start
    while seen(high) > target:
        low, high = high, 2 * high
        if high > 10**9:
            raise ValueError(f"{target} was not reached at size {high}")
    while low > 1 and seen(low) <= target:
        low, high = max(1, low // 2), low
    for _ in range(_HALVINGS):
        middle = round(math.sqrt(low * high))
        if middle in (low, high):
            break
        low, high = (middle, high) if seen(middle) > target else (low, middle)
    above, below = max(seen(low), 1e-300), max(seen(high), 1e-300)
    part = 1.0 if above <= below else math.log(above / target) / math.log(above / below)
    return low * (high / low) ** min(1.0, max(0.0, part))


def line(name: str, x: Sequence[float], sizes: Sequence[float], expected: str) -> dict[str, Any]:
    """Return sizes against a parameter with their exponent, beside the exponent of the theory."""
    return {
        "name": name,
        "x": list(x),
        "sizes": [float(size) for size in sizes],
        "exponent": exponent(x, sizes),
        "expected": expected,
    }


def draw_lines(
    figure: Any, parameter: str, lines: list[dict[str, Any]], *, place: Any = 111
) -> None:
    """Draw sizes against the parameter on logarithmic scales, exponents in the legend."""
    axes = panel(figure, parameter, "needed", log="xy", place=place)
    ticks(axes, lines[0]["x"])
    for one, color in zip(lines, COLORS, strict=False):
        label = f"{one['name']}: {one['exponent'][0]:.2f}"
        axes.plot(one["x"], one["sizes"], "o-", color=color, label=label, ms=4, lw=1.2)
    legend(axes)


def said(lines: list[dict[str, Any]]) -> str:
    """Write each line's exponent with its limits and that of the theory.

    >>> said([line("rows", [1, 2, 4], [8, 4, 2], "-1")])
    'rows -1.00 (-1.00 to -1.00; -1)'
    """
    return ", ".join(
        f"{one['name']} {one['exponent'][0]:.2f} ({one['exponent'][1]:.2f} to "
        f"{one['exponent'][2]:.2f}; {one['expected']})"
        for one in lines
    )
