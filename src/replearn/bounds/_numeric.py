"""Rounding to the safe side, the search for the smallest number, binomial tails."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

# Elementary functions and the incomplete beta function are right to about 1e-13; what a bound
# quotes is larger by ten times that.
RELATIVE_SLACK = 1e-12

Floats = NDArray[np.float64]


def round_up(value: float) -> float:
    """Return a float that is surely not below the exact value of a non-negative quantity."""
    return float(value) * (1.0 + RELATIVE_SLACK)


def upper_probability(value: float) -> float:
    """Round a probability bound up and cut it at 1."""
    return min(1.0, round_up(value))


def smallest_integer(
    passes: Callable[[int], bool], *, start: int = 1, limit: int = 10**13
) -> int | None:
    """Find a number that passes while the one before it fails, by doubling and bisection.

    The smallest passing number when the predicate is monotone.

    Parameters
    ----------
    passes : callable
        Predicate on whole numbers.
    start : int
        Smallest number allowed.
    limit : int
        Largest number tried.

    Returns
    -------
    int or None
        The passing side; None when nothing up to ``limit`` passes.
    """
    if passes(start):
        return start
    failing, candidate = start, min(2 * start, limit)
    while not passes(candidate):
        if candidate >= limit:
            return None
        failing, candidate = candidate, min(2 * candidate, limit)
    while candidate - failing > 1:
        middle = (failing + candidate) // 2
        failing, candidate = (failing, middle) if passes(middle) else (middle, candidate)
    return candidate


def smallest_passing(passes: Callable[[int], bool], largest: int, target: str) -> int:
    """Return a count that passes while the one before it fails, or raise beyond ``largest``."""
    found = smallest_integer(passes, limit=largest)
    if found is None:
        raise ValueError(f"{target} needs more than {largest} blocks: raise it")
    return found


def binomial_cdf(successes: ArrayLike, trials: ArrayLike, probability: ArrayLike) -> Any:
    """P(Bin(trials, probability) <= successes), for up to 10^10 trials; 0 below 0, 1 from n on."""
    return _binomial_tail(special.betaincc, successes, trials, probability)


def binomial_sf(successes: ArrayLike, trials: ArrayLike, probability: ArrayLike) -> Any:
    """P(Bin(trials, probability) > successes), without cancellation."""
    return _binomial_tail(special.betainc, successes, trials, probability)


def _binomial_tail(
    beta: Callable[..., Any], successes: ArrayLike, trials: ArrayLike, probability: ArrayLike
) -> Any:
    # scipy.special.bdtr casts the number of trials to 32 bits: the beta function does not.
    k, n, q = np.broadcast_arrays(
        np.asarray(successes, float), np.asarray(trials, float), np.asarray(probability, float)
    )
    k = np.floor(k)
    inside = (k >= 0) & (k < n)
    tail = beta(np.where(inside, k + 1.0, 1.0), np.where(inside, n - k, 1.0), q)
    # Below 0 nothing is reached, from n on everything: probability 1 lies at 0 or at 1.
    return np.where(inside, tail, beta(1.0, 1.0, np.where(k < 0, 1.0, 0.0)))
