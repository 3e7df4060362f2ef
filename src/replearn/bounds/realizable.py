"""Realizable learning that is replicable on every distribution: a shared limit on the best error.

The best training error is compared with a limit drawn uniformly from [0, max_error_limit] and
shared between runs. Above it both runs abstain; below it both hypotheses are nearly right, hence
nearly equal. Proofs: docs/theory/realizable.md.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.numeric import Floats, bernoulli_divergence, upper_probability
from replearn.bounds.theorem import theorem
from replearn.bounds.vc import GHOST_RATIOS, log_growth, realizable_tail_within
from replearn.records import bisect, check_count, check_fraction, check_fractions, require_pair

_LIMITS = 200

# Bisection of a distance: far below what any sample could resolve.
_HALVINGS = 40


def ceiling_flip_bound(n: int, max_error_limit: float) -> float:
    """Probability that one run abstains and the other does not, whatever the errors are.

    ``1 / (max_error_limit sqrt(3 n))``, rounded up.

    >>> round(ceiling_flip_bound(20_000, 0.08), 4)
    0.051
    """
    check_count("n", n)
    check_fraction("max_error_limit", max_error_limit)
    # theorem: realizable
    return upper_probability(1.0 / (max_error_limit * math.sqrt(3.0 * n)))


def underrated_tail(n: int, d: int, training_error: ArrayLike, error: float) -> Floats:
    """Probability that some hypothesis has at most this training error and at least this error.

    Relative uniform convergence: of order ``exp(-n error)`` where Hoeffding's inequality has
    ``exp(-n error^2)``. Rounded up.

    >>> underrated_tail(8000, 1, [0.02, 0.035], 0.05).round(6).tolist()
    [0.0, 5.9e-05]
    """
    check_fraction("error", error)
    logs = [_ghost_log_tails(n, d, np.asarray(training_error), error, r * n) for r in GHOST_RATIOS]
    tails: Floats = np.minimum(np.exp(np.min(logs, axis=0)) * (1.0 + 1e-9), 1.0)
    return tails


def _ghost_log_tails(n: int, d: int, training_error: Floats, error: float, ghost: int) -> Floats:
    """Logarithm of twice the growth times a hypergeometric tail, for one ghost sample."""
    few = np.floor(n * training_error * (1.0 + 1e-12))
    many = float(math.floor(ghost * error * (1.0 - 1e-12)))
    rows = n + ghost
    wrong = few + many
    # Terms of the tail fall at least as fast as a geometric series with this ratio.
    ratio = few * (ghost - many) / ((many + 1.0) * (n - few + 1.0))
    fine = (many >= 1.0) & (many < ghost) & (few < n) & (ratio < 1.0)
    # theorem: realizable (the largest term, by Stirling's formula on the safe side)
    largest = (
        -n * bernoulli_divergence(few / n, wrong / rows)
        - ghost * bernoulli_divergence(many / ghost, wrong / rows)
        + np.where(few > 0, 0.5 * _log_ratio(n, 2.0 * math.pi * few * (n - few)), 0.0)
        + 0.5 * _log_ratio(ghost, 2.0 * math.pi * many * (ghost - many))
        - 0.5 * _log_ratio(rows, 8.0 * wrong * (rows - wrong))
    )
    tail = largest - np.log1p(-np.where(fine, ratio, 0.0))
    return np.where(fine, np.minimum(math.log(2.0) + log_growth(d, rows) + tail, 0.0), 0.0)


def _log_ratio(above: float, below: ArrayLike) -> Floats:
    """ln(above / below), some number where below is not positive."""
    return np.log(above / np.maximum(below, 1.0))


def _flip_bounds(n: int, d: int, gamma: float, limits: Floats) -> Floats:
    """Bound for each largest limit, by absolute or by relative deviations: whichever is better."""
    # theorem: realizable
    slack = gamma / 2.0 - limits - math.sqrt(2.0 * log_growth(d, n) / n) * (1.0 + 1e-12)
    wrong = np.where(slack > 0.0, 2.0 * np.exp(-2.0 * n * np.maximum(slack, 0.0) ** 2), 1.0)
    absolute = 1.0 / (limits * math.sqrt(3.0 * n)) + wrong
    tail = underrated_tail(n, d, limits, gamma / 2.0)
    relative = np.sqrt((gamma + 2.0 * tail) / (1.5 * n)) / limits + 2.0 * tail
    return np.minimum(absolute, relative)


@theorem("realizable")
def realizable_flip_bound(n: int, d: int, gamma: float, max_error_limit: float) -> float:
    """Probability that the hypotheses of two runs differ on a mass above ``gamma``.

    For every distribution, realizable or not; ``d`` is the VC dimension.

    >>> round(realizable_flip_bound(50_000, 1, 0.2, 0.07), 4)
    0.0233
    """
    check_count("n", n)
    check_fractions(gamma=gamma, max_error_limit=max_error_limit)
    return upper_probability(float(_flip_bounds(n, d, gamma, np.array([max_error_limit]))[0]))


def best_ceiling(n: int, d: int, gamma: float) -> float:
    """Largest shared limit with the smallest :func:`realizable_flip_bound`.

    Returns ``gamma / 4`` when no limit gives a bound below 1.

    >>> round(best_ceiling(50_000, 1, 0.2), 4)
    0.091
    """
    check_fraction("gamma", gamma)
    limits = gamma / 2.0 * np.arange(1, _LIMITS) / _LIMITS
    bounds = _flip_bounds(n, d, gamma, limits)
    best = int(np.argmin(bounds))
    return float(limits[best]) if bounds[best] < 1.0 else gamma / 4.0


def smallest_sample_realizable(
    rho: float, gamma: float, alpha: float, beta: float, d: int
) -> tuple[int, float]:
    """Find the sample size and limit of a realizable estimator that is replicable everywhere.

    ``alpha`` and ``beta`` are error and failure probability where one hypothesis is right.

    >>> smallest_sample_realizable(0.1, 0.2, 0.1, 0.05, 1)
    (2896, 0.069)
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
    distance = bisect(
        lambda mass: realizable_tail_within(n_shared, d, mass, beta), 1.0, 0.0, halvings=_HALVINGS
    )
    return math.nextafter(distance, 1.0)
