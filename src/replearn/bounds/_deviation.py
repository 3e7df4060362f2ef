"""How far a binomial share is from its mean, on average and in the worst case."""

from functools import lru_cache

import numpy as np
from scipy import special

from replearn.bounds.laws import MOST_BLOCKS
from replearn.records.checks import check_count


@lru_cache(maxsize=1024)
def largest_mean_deviation(n_blocks: int) -> float:
    """Return the largest ``E|B/T - q|`` over q, B ~ Bin(T, q), rounded up.

    De Moivre: ``E|B - Tq| = 2 i C(T, i) q^i (1-q)^(T-i+1)`` with i = floor(Tq) + 1. On each piece
    that is largest at q = i/(T+1), which leaves T values to look at.

    Examples
    --------
    >>> round(largest_mean_deviation(1), 6), round(largest_mean_deviation(100) * 10, 4)
    (0.5, 0.3999)
    """
    size = check_count("n_blocks", n_blocks, most=MOST_BLOCKS)
    i = np.arange(1.0, size + 1.0)
    rest = size + 1.0 - i
    logs = (
        np.log(2.0 * i / size)
        + special.gammaln(size + 1.0)
        - special.gammaln(i + 1.0)
        - special.gammaln(size - i + 1.0)
        + i * np.log(i)
        + rest * np.log(rest)
        - (size + 1.0) * np.log(size + 1.0)
    )
    # sums of logarithms of up to 1e8 lose eight digits at most
    return float(np.exp(logs.max()) * (1.0 + 1e-9 + 1e-15 * size * np.log(size + 1.0)))
