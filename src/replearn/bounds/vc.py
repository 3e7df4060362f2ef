"""How many samples the base estimator needs: m(alpha, beta) from the VC dimension.

``agnostic_*`` hold for every empirical risk minimiser over the class, ``realizable_*`` for every
estimator that returns a hypothesis of the class without training error when there is one.
"""

import math
from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np

from replearn.bounds.numeric import upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_fraction
from replearn.records.search import require_integer

# More terms of Sauer's sum are not added one by one: they would fill the memory.
_MAX_TERMS = 1_000_000

# The logarithm of half the smallest positive float is -745.13...
_LOG_OF_ZERO = -746.0

# Sizes of the ghost sample, in multiples of the sample, among which the best is taken.
GHOST_RATIOS = (1, 2, 3, 4, 6, 8, 12)


def log_growth(d: int, m: int) -> float:
    """Logarithm of Sauer's bound on the number of dichotomies of ``m`` points.

    Returns ``ln(C(m, 0) + ... + C(m, d))``, rounded up; beyond a million terms ``d ln(e m / d)``,
    which is larger.

    >>> round(math.exp(log_growth(2, 4)))
    11
    """
    check_count("d", d, least=0)
    check_count("m", m, least=0)
    return _log_growth(int(d), int(m))


@lru_cache(maxsize=64)  # a search over limits needs one pair again and again
def _log_growth(d: int, m: int) -> float:
    if d >= m:
        return m * math.log(2.0)
    if d > _MAX_TERMS:
        return min(m * math.log(2.0), d * (1.0 + math.log(m / d))) * (1.0 + 1e-12)
    index = np.arange(1.0, d + 1.0)
    logs = np.concatenate([[0.0], np.cumsum(np.log((m - index + 1.0) / index))])
    largest = float(logs.max())
    logs -= largest
    # Smaller terms are zero in float64, and exp takes long to find that out.
    terms = np.exp(logs, where=logs > _LOG_OF_ZERO, out=np.zeros_like(logs))
    total = largest + math.log(float(terms.sum()))
    return total * (1.0 + 1e-12)


def agnostic_tail(m: int, d: int, alpha: float) -> float:
    """Probability that empirical risk minimisation is worse than the best by more than ``alpha``.

    ``exp(-m s^2 / 2)`` with ``s = alpha - sqrt(2 ln(growth(m)) / m)``; 1 where s <= 0.

    >>> agnostic_tail(100, 1, 0.1), round(agnostic_tail(5000, 1, 0.1), 4)
    (1.0, 0.0131)
    """
    check_count("m", m)
    check_fraction("alpha", alpha)
    # theorem: vc-sample-size
    slack = alpha - math.sqrt(2.0 * log_growth(d, m) / m) * (1.0 + 1e-12)
    return 1.0 if slack <= 0.0 else upper_probability(math.exp(-m * slack * slack / 2.0))


def agnostic_sample_size(d: int, alpha: float, beta: float) -> int:
    """Return the sample size at which empirical risk minimisation is within ``alpha``.

    Parameters
    ----------
    d : int
        VC dimension.
    alpha : float
        Largest excess error, in (0, 1].
    beta : float
        Failure probability, in (0, 1].

    Returns
    -------
    int
        The smallest m with ``agnostic_tail(m, d, alpha) <= beta``.

    Examples
    --------
    >>> agnostic_sample_size(1, 0.1, 0.05)
    4274
    """
    check_fraction("beta", beta)
    return _smallest(lambda m: agnostic_tail(m, d, alpha) <= beta, alpha)


@theorem("vc-sample-size")
def mean_excess(m: int, n_blocks: int, d: int, beta: float) -> float:
    """Excess of the mean error of all block models, except with probability ``beta``.

    ``sqrt(2 ln(growth(m)) / m) + sqrt(2 ln(1 / beta) / (m n_blocks))``: every row moves the mean of
    the blocks by little, so that more blocks cost nothing. It may exceed 1.

    >>> round(mean_excess(4000, 16, 2, 0.01), 4)
    0.1011
    """
    check_count("m", m)
    check_count("n_blocks", n_blocks)
    check_fraction("beta", beta)
    deviation = math.sqrt((-math.log(beta) + 1e-11) / n_blocks)
    return (math.sqrt(log_growth(d, m)) + deviation) * math.sqrt(2.0 / m) * (1.0 + 1e-12)


def mean_sample_size(d: int, alpha: float, beta: float, n_blocks: int) -> int:
    """Return the rows of a block at which the mean error of all blocks is within ``alpha``.

    The smallest m with ``mean_excess(m, n_blocks, d, beta) <= alpha``.

    >>> mean_sample_size(2, 0.1, 0.05, 32), agnostic_sample_size(2, 0.1, 0.05 / 32)
    (3646, 9056)
    """
    check_fraction("beta", beta)
    return _smallest(lambda m: mean_excess(m, n_blocks, d, beta) <= alpha, alpha)


@theorem("vc-sample-size")
def realizable_tail(m: int, d: int, alpha: float) -> float:
    """Probability that some hypothesis without training error has error above ``alpha``.

    The smallest ``2 growth(m + g) C(g, k) / C(m + g, k)``, ``k = floor(alpha g)``, over
    sizes g of a ghost sample.

    >>> round(realizable_tail(200, 1, 0.1), 6)
    1e-05
    """
    return min(_ghost_tails(m, d, alpha))


def realizable_tail_within(m: int, d: int, alpha: float, beta: float) -> bool:
    """Whether ``realizable_tail(m, d, alpha) <= beta``, by as few ghost samples as possible.

    >>> realizable_tail_within(107, 1, 0.1, 0.05), realizable_tail_within(106, 1, 0.1, 0.05)
    (True, False)
    """
    return any(tail <= beta for tail in _ghost_tails(m, d, alpha))


def _ghost_tails(m: int, d: int, alpha: float) -> Iterator[float]:
    check_count("m", m)
    check_fraction("alpha", alpha)
    for ratio in GHOST_RATIOS:
        # theorem: vc-sample-size
        log_tail = _ghost_log_tail(m, d, alpha, ratio * m)
        yield 1.0 if log_tail >= 0.0 else upper_probability(math.exp(log_tail))


def _ghost_log_tail(m: int, d: int, alpha: float, ghost: int) -> float:
    # Rounded down: fewer errors in the ghost sample are at least as likely.
    errors = math.floor(ghost * alpha * (1.0 - 1e-12))
    growth = math.log(2.0) + log_growth(d, m + ghost)
    # ln C(g, k)/C(m + g, k) is a sum of k values of a concave function of the index: at most k
    # times its value in the middle, without the cancellation of factorials.
    middle = max(errors - 1, 0) / 2.0
    return growth + errors * -math.log1p(m / (ghost - middle)) * (1.0 - 1e-12)


def realizable_sample_size(d: int, alpha: float, beta: float) -> int:
    """Return the sample size at which every consistent estimator has error at most ``alpha``.

    Parameters
    ----------
    d, alpha, beta
        As for `agnostic_sample_size`; alpha is the largest error.

    Returns
    -------
    int
        m passes ``realizable_tail(m, d, alpha) <= beta`` and m - 1 fails.

    Examples
    --------
    >>> realizable_sample_size(1, 0.1, 0.05)
    107
    """
    check_fraction("beta", beta)
    return _smallest(lambda m: realizable_tail_within(m, d, alpha, beta), alpha)


def _smallest(passes: Callable[[int], bool], alpha: float) -> int:
    if alpha >= 1.0:
        # No error exceeds 1.
        return 1
    return require_integer(
        passes, f"alpha={alpha!r} is too small: it needs more than 10**15 samples", limit=10**15
    )
