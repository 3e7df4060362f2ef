"""What independent draws cannot show, whatever the population: how often values occur.

Copies leave marks in the multiplicities of the different rows: many that occur exactly c times and
few that occur once less or once more, or a common divisor of all multiplicities.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count


@theorem("repeated-rows")
def log_repeat_tail(count: int, fewer: int, exactly: int, more: int) -> float:
    """Logarithm of a bound on the probability of these multiplicities, for any population.

    ``exactly`` values occur ``count`` times, ``fewer`` occur once less and ``more`` once more. The
    bound is small if the first number, squared, is far above the product of the others.

    >>> log_repeat_tail(10, 0, 250, 0) < -200  # 250 rows, each of them ten times
    True
    >>> log_repeat_tail(2, 3000, 60, 2) > -2
    True
    """
    check_count("count", count, least=2)
    # The logarithms are convex in the number of moved pairs, and 0 for none.
    if (count + 1) * (fewer + 1) * (more + 1) >= count * exactly * (exactly - 1):
        return 0.0
    moved = np.arange(exactly // 2 + 1)
    logs = (
        moved * math.log((count + 1) / count)
        + (gammaln(fewer + moved + 1) - gammaln(fewer + 1))
        + (gammaln(more + moved + 1) - gammaln(more + 1))
        + (gammaln(exactly - 2 * moved + 1) - gammaln(exactly + 1))
    )
    return float(logs.min())


@theorem("repeated-rows")
def log_divisor_tail(n: int, n_values: int) -> float:
    """Logarithm of a bound on the probability that a number above 1 divides all multiplicities.

    ``n`` draws have ``n_values`` different values.

    >>> log_divisor_tail(2500, 1250) < -300
    True
    """
    return math.log(5.0 * check_count("n", n, least=1)) - n_values // 2 * math.log(5.0 / 3.0)


def least_log_tail(multiplicities: ArrayLike) -> tuple[float, int]:
    """Return the smallest logarithm of a bound on these multiplicities, and what they show.

    With the number of times that too many values occur, or minus the common divisor; a union over
    all counts is in the bound.

    >>> least_log_tail([3] * 200)[1], least_log_tail([1] * 200)
    (3, (0.0, 1))
    """
    counts = np.asarray(multiplicities, dtype=np.intp)
    n = int(counts.sum())
    divisor = int(np.gcd.reduce(counts)) if len(counts) else 1
    found = [(0.0, 1)]
    if divisor > 1:
        found.append((log_divisor_tail(n, len(counts)), -divisor))
    # theorem: repeated-rows (a union over at most n ** 3 quadruples)
    padded = np.append(np.bincount(counts, minlength=2), 0)
    for count in np.flatnonzero(padded >= _MIN_COUNT).tolist():
        if count >= 2:
            here = padded[count - 1 : count + 2].tolist()
            found.append((log_repeat_tail(count, *here) + 3.0 * math.log(n), count))
    return min(found)


_MIN_COUNT = 20
"""Fewer values with one multiplicity prove nothing."""
