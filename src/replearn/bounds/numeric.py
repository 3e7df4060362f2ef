"""Rounding to the safe side, and binomial tails without lost digits."""

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
