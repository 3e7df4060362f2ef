"""Shares with confidence limits, and exponents of power laws with theirs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import norm, t as student

from replearn.bounds import binomial_limits

DELTA = 0.05


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


def weighted_exponent(
    x: Sequence[float], y: Sequence[float], errors: Sequence[float]
) -> list[float]:
    """Return the slope of log y against log x, weighted by standard errors of log y; 95 % limits.

    Where the points scatter by more than their errors say, the limits widen in proportion.
    """
    u = np.log(np.asarray(x, dtype=float))
    v = np.log(np.asarray(y, dtype=float))
    weights = np.asarray(errors, dtype=float) ** -2.0
    spread = u - weights @ u / weights.sum()
    moment = float(weights @ spread**2)
    slope = float(weights @ (spread * v)) / moment
    rest = v - weights @ v / weights.sum() - slope * spread
    excess = float(weights @ rest**2) / max(1, len(u) - 2)
    half = float(norm.isf(DELTA / 2)) * math.sqrt(max(1.0, excess) / moment)
    return [slope, slope - half, slope + half]
