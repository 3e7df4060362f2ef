"""Realizable learning that is replicable on every distribution: a shared limit on the best error.

The best training error is compared with a limit drawn uniformly from [0, max_error_limit] and
shared between runs. Above it both runs abstain; below it both hypotheses are nearly right, hence
nearly equal. Proofs: docs/theory/realizable.md.
"""

import math

import numpy as np

from replearn.bounds.numeric import upper_probability
from replearn.bounds.theorem import theorem
from replearn.bounds.vc import log_growth, realizable_tail_within
from replearn.records.checks import check_count, check_fraction, check_fractions
from replearn.records.search import bisect, require_pair

_LIMITS = 200

# Bisection of a distance: far below what any sample could resolve.
_HALVINGS = 40


def ceiling_flip_bound(n: int, max_error_limit: float) -> float:
    """Probability that one run abstains and the other does not.

    ``1 / (max_error_limit sqrt(2 n))``, rounded up.

    >>> round(ceiling_flip_bound(20_000, 0.08), 4)
    0.0625
    """
    check_count("n", n)
    check_fraction("max_error_limit", max_error_limit)
    # theorem: realizable
    return upper_probability(1.0 / (max_error_limit * math.sqrt(2.0 * n)))


@theorem("realizable")
def realizable_flip_bound(n: int, d: int, gamma: float, max_error_limit: float) -> float:
    """Probability that the hypotheses of two runs differ on a mass above ``gamma``.

    For every distribution, realizable or not; ``d`` is the VC dimension.

    >>> round(realizable_flip_bound(50_000, 1, 0.2, 0.07), 4)
    0.0456
    """
    check_fraction("gamma", gamma)
    # theorem: realizable
    slack = gamma / 2.0 - max_error_limit - math.sqrt(2.0 * log_growth(d, n) / n) * (1.0 + 1e-12)
    if slack <= 0.0:
        return 1.0
    both_wrong = 2.0 * math.exp(-2.0 * n * slack * slack)
    return upper_probability(ceiling_flip_bound(n, max_error_limit) + both_wrong)


def best_ceiling(n: int, d: int, gamma: float) -> float:
    """Largest shared limit with the smallest :func:`realizable_flip_bound`.

    Returns ``gamma / 4`` when no limit gives a bound below 1.

    >>> best_ceiling(50_000, 1, 0.2)
    0.07
    """
    check_fraction("gamma", gamma)
    limits = [gamma / 2.0 * k / _LIMITS for k in range(1, _LIMITS)]
    rhos = [realizable_flip_bound(n, d, gamma, limit) for limit in limits]
    best = int(np.argmin(rhos))
    return limits[best] if rhos[best] < 1.0 else gamma / 4.0


def smallest_sample_realizable(
    rho: float, gamma: float, alpha: float, beta: float, d: int
) -> tuple[int, float]:
    """Find the sample size and limit of a realizable learner that is replicable everywhere.

    ``alpha`` and ``beta`` are error and failure probability where one hypothesis is right.

    >>> smallest_sample_realizable(0.1, 0.2, 0.1, 0.05, 1)
    (18238, 0.053500000000000006)
    """
    check_fractions(rho=rho, alpha=alpha, beta=beta)

    def fits(n: int, limit: float) -> bool:
        # Sauer's sum has d terms: the flips want it for one size, the tail for up to seven.
        flips = realizable_flip_bound(n, d, gamma, limit)
        return flips <= rho and realizable_tail_within(n, d, alpha, beta)

    message = f"rho={rho!r}, gamma={gamma!r} need more than 10**12 rows"
    return require_pair(lambda n: best_ceiling(n, d, gamma), fits, message, limit=10**12)


@theorem("semi-replicable")
def cover_distance(n_shared: int, d: int, beta: float) -> float:
    """Mass on which the best hypothesis and its candidate in the cover of a pool may differ.

    Every candidate that agrees with a fixed hypothesis on the pool is within this mass of it,
    except with probability ``beta``; 1 when the pool is too small to say anything.

    >>> round(cover_distance(1000, 1, 0.025), 4)
    0.0143
    """
    check_count("n_shared", n_shared)
    check_count("d", d, least=0)
    check_fraction("beta", beta)
    # theorem: semi-replicable
    distance = bisect(
        lambda mass: realizable_tail_within(n_shared, d, mass, beta), 1.0, 0.0, halvings=_HALVINGS
    )
    return math.nextafter(distance, 1.0)
