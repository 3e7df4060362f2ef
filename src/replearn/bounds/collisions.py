"""What equal rows of a sample tell about the masses of single points.

The direct approximate bound and the bound on the error assume a sum of squared point masses; a
sample has equal rows exactly as often as that sum says.
"""

import math

from replearn.bounds.numeric import RELATIVE_SLACK
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_fraction
from replearn.records.search import bisect


@theorem("collisions")
def point_mass_limits(n: int, equal_pairs: int, delta: float) -> tuple[float, float]:
    """Confidence limits of the sum of squared masses of single points.

    From the number of equal pairs among the ``n (n - 1) / 2`` pairs of rows. Each limit is on the
    wrong side with probability at most ``delta``, whatever the population.

    >>> lower, upper = point_mass_limits(3300, 1_360_000, 1e-6)  # four values, equally frequent
    >>> round(lower, 3), round(upper, 3)
    (0.192, 0.322)
    >>> lower, upper = point_mass_limits(20_000, 0, 1e-6)
    >>> lower, round(upper, 6)
    (0.0, 6.4e-05)
    """
    check_count("n", n, least=2)
    pairs = n * (n - 1)
    if not 0 <= 2 * equal_pairs <= pairs:
        raise ValueError(f"equal_pairs must lie in [0, {pairs // 2}], got {equal_pairs}")
    # theorem: collisions (the Euclidean norm of the counts is self-bounding)
    norm = math.sqrt(n + 2.0 * equal_pairs)
    least, most = _mean_limits(norm, -math.log(check_fraction("delta", delta, one=False)))
    lower = (least * least - n) / pairs * (1.0 - RELATIVE_SLACK)
    upper = (most * most + most - n) / pairs * (1.0 + RELATIVE_SLACK)
    return max(0.0, lower), min(1.0, upper)


def _mean_limits(value: float, log: float) -> tuple[float, float]:
    """Return the means mu on both sides with ``value ln(value / mu) - value + mu = log``."""

    def outside(mean: float) -> bool:
        return value * math.log(value / mean) - value + mean > log

    # the outer end of the last interval: limits are never too narrow
    least = bisect(outside, value * math.exp(-1.0 - log / value) / 2.0, value, tolerance=1e-13)
    most = value + log + math.sqrt(2.0 * value * log + log * log)
    return least, bisect(outside, most + 1.0, value, tolerance=1e-13)
