"""Proper thresholds on one feature: choose a level of the distribution function, then a cut.

A level in [0, 1] is drawn with density proportional to ``exp(-t * error of its cut)``, the
randomness shared between runs; the cut of a level is the one whose empirical mass below is
nearest. Nothing is assumed about atoms. Proofs: docs/theory/thresholds-proper.md.
"""

import math

from replearn.bounds.concentration import dkw_tail
from replearn.bounds.numeric import upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_fraction, check_positive
from replearn.records.search import bisect, require_pair

# Splits of alpha between sampling error and exponential weights that are tried.
_SPLITS = 64
_LARGEST_SCALE = 1e9


def mean_cdf_distance(n: int) -> float:
    """Mean largest distance between the distribution functions of two samples of size n.

    At least ``E sup |F1 - F2|``, for every distribution.

    >>> round(mean_cdf_distance(10_000), 5)
    0.01762
    """
    check_count("n", n)
    # theorem: thresholds-proper
    return upper_probability((math.sqrt(math.pi * (n + 0.5)) - 1.0) / n)


def mean_cut_difference(n: int, n_directions: int = 1) -> float:
    """Mean half-range, over all cuts, of the difference of the errors in two samples.

    An upper bound for every distribution.

    >>> round(mean_cut_difference(10_000), 5)
    0.01596
    """
    check_count("n", n)
    check_count("n_directions", n_directions, most=2)
    # theorem: thresholds-proper
    return upper_probability(2.0 * n_directions * math.sqrt(2.0 * (n + 1) / math.pi) / n)


@theorem("thresholds-proper")
def threshold_flip_bound(sharpness: float, n: int, gamma: float, n_directions: int = 1) -> float:
    """Probability that the thresholds of two runs differ on a mass above ``gamma``.

    For every distribution, atoms or not; two directions when both are candidates.

    >>> round(threshold_flip_bound(40.0, 1_000_000, 0.2), 4)
    0.1736
    """
    check_positive("sharpness", sharpness, zero=True)
    check_fraction("gamma", gamma)
    # theorem: thresholds-proper
    levels = (max(sharpness, 4.0 / gamma) + sharpness) * mean_cdf_distance(n)
    errors = 0.5 * sharpness * mean_cut_difference(n, n_directions)
    return upper_probability(levels + errors + 2.0 * dkw_tail(n, gamma / 12.0))


@theorem("thresholds-proper")
def threshold_error_tail(sharpness: float, n: int, alpha: float, n_directions: int = 1) -> float:
    """Probability that the chosen threshold is worse than the best one by more than ``alpha``.

    >>> round(threshold_error_tail(60.0, 1_000_000, 0.2), 4)
    0.0014
    """
    check_positive("sharpness", sharpness)
    check_fraction("alpha", alpha)
    volume = 2.0 * sharpness * n_directions / -math.expm1(-sharpness)
    best = 1.0
    for split in range(1, _SPLITS):
        slack = alpha / 4.0 * split / _SPLITS
        # theorem: thresholds-proper
        exponent = -sharpness * (alpha - 4.0 * slack)
        best = min(best, 2.0 * dkw_tail(n, slack) + volume * math.exp(exponent))
    return upper_probability(best)


def threshold_scale(n: int, alpha: float, beta: float, n_directions: int = 1) -> float | None:
    """Smallest sharpness at which the threshold is within ``alpha`` except with ``beta``, or None.

    >>> round(threshold_scale(1_000_000, 0.2, 0.1), 1)
    34.3
    """
    check_fraction("beta", beta)

    def accurate(sharpness: float) -> bool:
        return threshold_error_tail(sharpness, n, alpha, n_directions) <= beta

    passing = 1.0 / alpha
    while not accurate(passing):
        passing *= 2.0
        if passing > _LARGEST_SCALE:
            return None
    return bisect(accurate, passing, passing / 2.0, tolerance=1e-9)


def smallest_sample_threshold(
    rho: float, gamma: float, alpha: float, beta: float, n_directions: int = 1
) -> tuple[int, float]:
    """Find the sample size and sharpness for a replicable and accurate threshold.

    >>> n, sharpness = smallest_sample_threshold(0.2, 0.2, 0.2, 0.1)
    >>> n, round(sharpness, 1)
    (568711, 34.8)
    """
    check_fraction("rho", rho)

    return require_pair(
        lambda n: threshold_scale(n, alpha, beta, n_directions),
        lambda n, sharpness: threshold_flip_bound(sharpness, n, gamma, n_directions) <= rho,
        f"rho={rho!r} and alpha={alpha!r} need more than 10**15 rows.",
        limit=10**15,
    )
