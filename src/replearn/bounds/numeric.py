"""Numbers from counts: tails without lost digits, limits, and rounding to the safe side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from replearn.records.checks import check_count, check_fraction, check_positive

# Elementary functions and the incomplete beta function are right to about 1e-13; what a bound
# quotes is larger by ten times that.
RELATIVE_SLACK = 1e-12

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]


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


# A double has 53 bits: 60 halvings of [0, 1] leave nothing to improve.
_HALVINGS = 60


def dkw_tail(m: int, tau: float) -> float:
    """Probability that an empirical distribution function is off by more than ``tau`` somewhere.

    Returns ``min(1, 2 exp(-2 m tau^2))``, rounded up.

    >>> round(dkw_tail(1000, 0.05), 6)
    0.013476
    """
    check_count("m", m)
    check_positive("tau", tau)
    # theorem: dkw
    return upper_probability(2.0 * np.exp(-2.0 * m * tau * tau))


def binomial_limits(successes: ArrayLike, trials: ArrayLike, delta: float) -> tuple[Any, Any]:
    """Return Clopper-Pearson limits of a success probability, ``delta / 2`` per side.

    Parameters
    ----------
    successes, trials : array_like of int
        Successes among independent trials; ``0 <= successes <= trials``.
    delta : float
        Total failure probability in (0, 1).

    Returns
    -------
    lower, upper : ndarray or float
        The interval contains the true probability, whatever it is, except with probability
        ``delta``.

    Examples
    --------
    >>> lower, upper = binomial_limits(0, 10, 0.05)
    >>> float(lower), round(float(upper), 4)
    (0.0, 0.3085)
    """
    check_fraction("delta", delta, one=False)
    k, n = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    if np.any(k < 0) or np.any(k > n) or np.any(n < 1):
        raise ValueError("successes must lie between 0 and trials, and trials must be positive.")
    upper = _clopper_pearson_upper(k, n, delta / 2.0)
    lower = 1.0 - _clopper_pearson_upper(n - k, n, delta / 2.0)
    return np.clip(lower, 0.0, 1.0)[()], upper[()]


def _clopper_pearson_upper(k: Floats, n: Floats, tail: float) -> Floats:
    # theorem: binomial-limits
    inner = k < n
    first = np.where(inner, k + 1.0, 1.0)
    second = np.where(inner, n - k, 1.0)
    upper = special.betainccinv(first, second, tail)
    # The inverse is only as good as its iteration: widen until the defining inequality holds.
    widening = 1e-12
    while True:
        low = inner & (special.betaincc(first, second, upper) > tail)
        if not low.any():
            return np.where(inner, np.minimum(upper * (1.0 + 1e-14), 1.0), 1.0)
        upper = np.where(low, np.minimum(upper + widening * (1.0 + upper), 1.0), upper)
        widening *= 4.0


def bisect_arrays(
    passes: Callable[[Floats], NDArray[np.bool_]], passing: Floats, failing: Floats, halvings: int
) -> Floats:
    """Bisect many intervals at once; the predicate takes an array and judges each of its numbers.

    >>> ends = bisect_arrays(lambda x: x >= np.array([0.2, 0.7]), np.ones(2), np.zeros(2), 20)
    >>> ends.round(4).tolist()
    [0.2, 0.7]
    """
    for _ in range(halvings):
        middle = 0.5 * (passing + failing)
        good = passes(middle)
        passing = np.where(good, middle, passing)
        failing = np.where(good, failing, middle)
    return passing


def bernoulli_divergence(p: ArrayLike, q: ArrayLike) -> Any:
    """Relative entropy of a coin of probability ``p`` against one of probability ``q``.

    ``p ln(p/q) + (1-p) ln((1-p)/(1-q))`` in nats, possibly infinite.

    >>> round(float(bernoulli_divergence(0.5, 0.25)), 6)
    0.143841
    """
    first = np.asarray(p, float)
    second = np.asarray(q, float)
    return special.rel_entr(first, second) + special.rel_entr(1.0 - first, 1.0 - second)


def kl_upper(mean: ArrayLike, trials: ArrayLike, delta: float) -> Any:
    """Upper limit of a mean from Chernoff's inequality in its relative entropy form.

    Holds for means of independent variables in [0, 1], for averages of several such means
    however dependent, and for U-statistics (with ``trials`` the number of disjoint groups).

    The largest q with ``trials * kl(mean, q) <= ln(1/delta)``, rounded up.

    >>> round(float(kl_upper(0.0, 32, 0.05)), 5)
    0.08937
    """
    check_fraction("delta", delta)
    observed, n = np.broadcast_arrays(np.asarray(mean, float), np.asarray(trials, float))
    if np.any(observed < 0) or np.any(observed > 1) or np.any(n < 1):
        raise ValueError("mean must lie in [0, 1] and trials must be positive.")
    # theorem: binomial-limits
    budget = -np.log(delta) / n
    outside = bisect_arrays(
        lambda q: ~np.asarray(bernoulli_divergence(observed, q) <= budget),
        np.ones_like(observed, dtype=float),
        observed.astype(float),
        _HALVINGS,
    )
    # Widened, since rounding in the divergence counts double near its minimum at the mean.
    return np.minimum(outside + 1e-9 * (1.0 - observed) * (outside > observed), 1.0)[()]


def kl_lower(mean: ArrayLike, trials: ArrayLike, delta: float) -> Any:
    """Lower limit of a mean; the mirror image of :func:`kl_upper`.

    The smallest q with ``trials * kl(mean, q) <= ln(1/delta)``, rounded down.

    >>> round(float(kl_lower(1.0, 32, 0.05)), 5)
    0.91063
    """
    return 1.0 - kl_upper(1.0 - np.asarray(mean, float), trials, delta)
