"""Searches over a monotone predicate: what they return has passed, or is said to be missing."""

import math
from collections.abc import Callable
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Value = TypeVar("Value")

# More halvings than lie between the largest float and the smallest.
_MAX_HALVINGS = 2200


def smallest_integer(
    passes: Callable[[int], bool], *, start: int = 1, limit: int = 10**13
) -> int | None:
    """Find a number that passes while the one before it fails, by doubling and bisection.

    The smallest passing number when the predicate is monotone.

    Returns None when nothing up to ``limit`` passes.

    >>> smallest_integer(lambda n: n * n >= 1000)
    32
    """
    if passes(start):
        return start
    failing = start
    passing = min(2 * start, limit)
    while not passes(passing):
        if passing >= limit:
            return None
        failing = passing
        passing = min(2 * passing, limit)
    while passing - failing > 1:
        middle = (failing + passing) // 2
        failing, passing = (failing, middle) if passes(middle) else (middle, passing)
    return passing


def require_integer(
    passes: Callable[[int], bool], otherwise: str, *, start: int = 1, limit: int = 10**13
) -> int:
    """Return what `smallest_integer` finds, or raise a ValueError that says ``otherwise``.

    >>> require_integer(lambda n: n > 5, "too many")
    6
    """
    number = smallest_integer(passes, start=start, limit=limit)
    if number is None:
        raise ValueError(otherwise)
    return number


def require_pair(
    choose: Callable[[int], Value | None],
    fits: Callable[[int, Value], bool],
    otherwise: str,
    *,
    limit: int = 10**13,
) -> tuple[int, Value]:
    """Return the smallest number whose chosen value fits, and that value; None never fits.

    >>> require_pair(lambda n: n * n, lambda n, square: square - n > 10, "too many")
    (4, 16)
    """

    def passes(number: int) -> bool:
        value = choose(number)
        return value is not None and fits(number, value)

    number = require_integer(passes, otherwise, limit=limit)
    return number, cast(Value, choose(number))


def arithmetic_mean(first: float, second: float) -> float:
    """Return the point half-way between two numbers."""
    return (first + second) / 2.0


def geometric_mean(first: float, second: float) -> float:
    """Return the point half-way between two positive numbers on the logarithmic scale."""
    return math.sqrt(first * second)


def bisect(
    passes: Callable[[float], bool],
    passing: float,
    failing: float,
    *,
    tolerance: float = 0.0,
    least_gap: float = 0.0,
    halvings: int = _MAX_HALVINGS,
    mean: Callable[[float, float], float] = arithmetic_mean,
) -> float:
    """Move a passing and a failing number towards each other; return the passing one.

    Neither is tried, and they may be in any order. The search stops at a gap of ``tolerance``
    times the larger number or of ``least_gap``; ``mean`` is the number tried next.

    >>> round(bisect(lambda x: x * x >= 2.0, 2.0, 0.0, tolerance=1e-9), 6)
    1.414214
    """
    for _ in range(halvings):
        gap = abs(passing - failing)
        if gap <= max(tolerance * max(passing, failing), least_gap):
            break
        middle = mean(passing, failing)
        passing, failing = (middle, failing) if passes(middle) else (passing, middle)
    return passing
