"""Whether one population can have given both of two counts."""

import numpy as np
from scipy import special

from replearn.bounds.numeric import upper_probability
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count

_ROUNDING = 1e-9
"""Relative error of the logarithms of factorials, times their size: far above what occurs."""


@theorem("equal-shares")
def equal_share_tail(count: int, n: int, other_count: int, other_n: int) -> float:
    """Probability that the shares in two samples of one population are at least so far apart.

    Twice the smaller tail of the hypergeometric law of ``count``, given the sum of both counts.

    >>> equal_share_tail(50, 1000, 55, 1000) > 0.5, equal_share_tail(125, 2500, 0, 2500) < 1e-30
    (True, True)
    """
    check_count("n", n)
    check_count("other_n", other_n)
    if not (0 <= count <= n and 0 <= other_count <= other_n):
        raise ValueError(f"counts {count} and {other_count} must lie within {n} and {other_n}")
    # theorem: equal-shares
    total = count + other_count
    counts = np.arange(max(0, total - other_n), min(total, n) + 1)
    logs = _log_choices(n, counts) + _log_choices(other_n, total - counts)
    law = np.exp(logs - _log_choices(n + other_n, np.asarray(total)))
    tails = law[counts <= count].sum(), law[counts >= count].sum()
    return upper_probability(2.0 * min(tails) * (1.0 + _ROUNDING * (n + other_n)))


def _log_choices(n: int, k: np.ndarray) -> np.ndarray:
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
