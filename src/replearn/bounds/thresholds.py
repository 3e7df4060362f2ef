"""Proper thresholds on one feature: choose a level of the distribution function, then a cut.

A level in [0, 1] is drawn with density proportional to ``exp(-t * error of its cut)``, the
randomness shared between runs; the cut of a level is the one whose empirical mass below is
nearest. Nothing is assumed about atoms. Proofs: docs/theory/thresholds-proper.md.
"""

import math

from replearn.bounds.numeric import dkw_tail, upper_probability
from replearn.bounds.selection import same_candidates_flip_bound
from replearn.bounds.theorem import theorem
from replearn.records import bisect, check_count, check_fraction, check_positive, require_pair

# Shares of gamma / 4 that are tried as the sampling error of the distribution functions.
_SPLITS = 16


def mean_level_distance(n: int) -> float:
    """Mean distance of the levels of one cut in two samples of size n, whatever the distribution.

    >>> round(mean_level_distance(10_000), 5)
    0.00574
    """
    check_count("n", n)
    root = math.sqrt(2 * n - 1)
    # theorem: thresholds-proper
    return upper_probability(min(1.0 / root, math.sqrt(2.0 / math.pi) / root + 1.0 / n))


def _weight_spread(sharpness: float, n: int, n_directions: int) -> float:
    """Root mean square of ``exp(t R) - 1``, R the range of the errors' difference from the pool."""
    step = 2.0 * sharpness / math.sqrt(n)
    term = 1.0
    total = 0.0
    k = 0
    while term > 1e-17 * total:
        k += 1
        # Terms step^k sqrt((2k - 1)!!) / k!: even moments of a walk against those of a normal.
        term *= step * math.sqrt(2 * k - 1) / k
        total += term
    return math.sqrt(n_directions) * total * (1.0 + 1e-12)


@theorem("thresholds-proper")
def threshold_flip_bound(sharpness: float, n: int, gamma: float, n_directions: int = 1) -> float:
    """Probability that the thresholds of two runs differ on a mass above ``gamma``.

    For every distribution, atoms or not; two directions when both are candidates.

    >>> round(threshold_flip_bound(40.0, 1_000_000, 0.2), 4)
    0.041
    """
    check_positive("sharpness", sharpness, zero=True)
    check_count("n", n)
    check_fraction("gamma", gamma)
    check_count("n_directions", n_directions, most=2)
    if 2.0 * sharpness > math.sqrt(n):
        return 1.0
    errors = same_candidates_flip_bound(sharpness, n)
    spread = _weight_spread(sharpness, n, n_directions) / math.sqrt(2 * n - 1)
    levels = mean_level_distance(n) + spread
    best = 1.0
    for split in range(1, _SPLITS):
        slack = gamma / 4.0 * split / _SPLITS
        scale = max(sharpness, 2.0 / (gamma - 4.0 * slack))
        best = min(best, errors + scale * levels + 2.0 * dkw_tail(n, slack))
    return upper_probability(best)


@theorem("thresholds-proper")
def threshold_error_tail(sharpness: float, n: int, alpha: float, n_directions: int = 1) -> float:
    """Probability that the chosen threshold is worse than the best one by more than ``alpha``.

    >>> round(threshold_error_tail(40.0, 1_000_000, 0.2), 4)
    0.0134
    """
    check_positive("sharpness", sharpness)
    check_count("n", n)
    check_fraction("alpha", alpha)
    if n < 2:
        return 1.0
    volume = sharpness * n_directions / -math.expm1(-sharpness)
    gap = 2.0 * math.log(n) / (n - 1)
    exponent = sharpness * ((1.0 + alpha) / n + sharpness / (2.0 * n) - (alpha - gap))
    return upper_probability(volume * math.exp(min(exponent, 0.0)) + 1.0 / n)


def threshold_scale(n: int, alpha: float, beta: float, n_directions: int = 1) -> float | None:
    """Return the smallest sharpness that is within ``alpha`` except with ``beta``, or None.

    >>> round(threshold_scale(1_000_000, 0.2, 0.1), 1)
    28.2
    """
    check_fraction("beta", beta)

    def accurate(sharpness: float) -> bool:
        return threshold_error_tail(sharpness, n, alpha, n_directions) <= beta

    passing = 1.0 / alpha
    while not accurate(passing):
        passing *= 2.0
        if passing > n:  # beyond, the fluctuation of the errors outweighs the sharpness
            return None
    return bisect(accurate, passing, passing / 2.0, tolerance=1e-9)


def smallest_sample_threshold(
    rho: float, gamma: float, alpha: float, beta: float, n_directions: int = 1
) -> tuple[int, float]:
    """Find the sample size and sharpness for a replicable and accurate threshold.

    >>> n, sharpness = smallest_sample_threshold(0.2, 0.2, 0.2, 0.1)
    >>> n, round(sharpness, 1)
    (32560, 28.4)
    """
    check_fraction("rho", rho)

    return require_pair(
        lambda n: threshold_scale(n, alpha, beta, n_directions),
        lambda n, sharpness: threshold_flip_bound(sharpness, n, gamma, n_directions) <= rho,
        f"rho={rho!r} and alpha={alpha!r} need more than 10**15 rows.",
        limit=10**15,
    )
