"""A finite class learned by shared random order and random threshold (Bun et al. 2023).

The first hypothesis in a shared random order whose error is at most the best one plus a shared
random margin, uniform on [0, width]. Amplified: the estimator runs on many disjoint blocks with
each
of a few shared random strings; the pair (string, hypothesis) that comes out most often is named
replicably. Proofs: docs/theory/finite-class.md.
"""

import math
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from replearn.bounds.heavy_sets import one_heavy_flip_bound
from replearn.bounds.numeric import upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import (
    check_count,
    check_counts,
    check_fraction,
    check_positive,
    require_integer,
    require_pair,
)

# Mass that the favourite hypothesis of a good string has: tried in turn, the best one counts.
_MASSES = (0.5, 0.6, 0.7, 0.8)
# Designs that are tried: strings, share of rho for "no string is good".
_STRINGS = (4, 12)
_SHARES = (0.05, 0.2)
# Power of the counts.
_KAPPA = 3.0


@theorem("finite-class")
def order_flip_bound(n_hypotheses: int, width: float, m: int) -> float:
    """Bound the probability that two runs with fresh samples of size ``m`` choose differently.

    Returns ``2 sqrt(ln N / m) (1 + ln N) / width``, rounded up.

    >>> round(order_flip_bound(20, 0.09, 5_000_000), 4)
    0.0687
    """
    check_counts(n_hypotheses=n_hypotheses, m=m)
    check_positive("width", width)
    log_n = math.log(n_hypotheses)
    return upper_probability(2.0 * math.sqrt(log_n / m) * (1.0 + log_n) / width)


@theorem("finite-class")
def order_error_tail(n_hypotheses: int, width: float, m: int, alpha: float) -> float:
    """Probability that the choice is worse than the best by more than ``alpha``.

    Returns ``(N - 1) exp(-m (alpha - width)^2 / 2)``, rounded up; 1 unless width < alpha.

    >>> round(order_error_tail(20, 0.08, 50_000, 0.1), 6)
    0.000863
    """
    check_counts(n_hypotheses=n_hypotheses, m=m)
    check_fraction("alpha", alpha)
    if n_hypotheses == 1:
        return 0.0
    if width >= alpha:
        return 1.0
    return upper_probability((n_hypotheses - 1) * math.exp(-m * (alpha - width) ** 2 / 2.0))


def order_width(n_hypotheses: int, alpha: float, beta: float, m: int) -> float | None:
    """Largest width at which the choice is within ``alpha`` except with probability ``beta``.

    None when the sample is too small for any width.

    >>> round(order_width(20, 0.1, 0.05, 50_000), 4)
    0.0846
    """
    check_fraction("beta", beta)
    check_count("m", m)
    needed = max(math.log(max(n_hypotheses - 1, 1) / beta), 0.0) + 1e-9
    width = check_fraction("alpha", alpha) - math.sqrt(2.0 * needed / m)
    return width if width > 0.0 else None


def smallest_sample_order(
    rho: float, alpha: float, beta: float, n_hypotheses: int
) -> tuple[int, float]:
    """Find the sample size and width for a choice that is both accurate and replicable.

    The size m passes and m - 1 fails.

    >>> m, width = smallest_sample_order(0.1, 0.1, 0.05, 20)
    >>> m, round(width, 4)
    (2009719, 0.0976)
    """
    check_fraction("rho", rho)

    return require_pair(
        lambda m: order_width(n_hypotheses, alpha, beta, m),
        lambda m, width: order_flip_bound(n_hypotheses, width, m) <= rho,
        f"rho={rho!r}, alpha={alpha!r} need more than 10**15 rows.",
        limit=10**15,
    )


class AmplifiedDesign(NamedTuple):
    """What two runs share beside the key."""

    n: int  # rows: n_blocks * block_size
    n_blocks: int
    block_size: int
    n_strings: int  # shared orders and margins
    width: float  # largest margin above the best error
    kappa: float  # power of the counts


@theorem("finite-class")
def amplified_flip_bound(
    n_hypotheses: int, width: float, block_size: int, n_blocks: int, n_strings: int, kappa: float
) -> float:
    """Probability that two amplified runs choose differently; ``kappa`` is at least 2.

    >>> round(amplified_flip_bound(2, 0.3, 3000, 4000, 7, 2.0), 3)
    0.109
    """
    check_count("n_strings", n_strings)
    base = order_flip_bound(n_hypotheses, width, block_size)
    best = 1.0
    for mass in _MASSES:
        no_good_string = min(1.0, base / (1.0 - mass)) ** n_strings
        if no_good_string < best:
            named = one_heavy_flip_bound(n_blocks, mass, kappa, points_per_row=n_strings)
            best = min(best, no_good_string + named)
    return upper_probability(best)


@theorem("finite-class")
def amplified_error_tail(
    n_hypotheses: int, width: float, block_size: int, n_blocks: int, alpha: float
) -> float:
    """Probability that the choice is worse than the best by more than ``alpha``.

    That of one block times the number of blocks: whatever is named came out of one of them.

    >>> amplified_error_tail(20, 0.05, 20_000, 1000, 0.1) < 1e-6
    True
    """
    check_count("n_blocks", n_blocks)
    return upper_probability(n_blocks * order_error_tail(n_hypotheses, width, block_size, alpha))


@lru_cache(maxsize=64)
def smallest_sample_amplified(
    rho: float, alpha: float, beta: float, n_hypotheses: int
) -> AmplifiedDesign:
    """Find a design for a choice that is both accurate and replicable, with few rows.

    The cheapest of those tried; it passes both bounds.

    >>> design = smallest_sample_amplified(0.5, 0.5, 0.2, 2)
    >>> design.n_blocks * design.block_size == design.n
    True
    """
    check_fraction("rho", rho)
    designs = [
        _design(rho, alpha, beta, n_hypotheses, *choice)
        for choice in product(_MASSES, _STRINGS, _SHARES)
    ]
    return min(designs)


def _design(
    rho: float,
    alpha: float,
    beta: float,
    n_hypotheses: int,
    mass: float,
    n_strings: int,
    share: float,
) -> AmplifiedDesign:
    # theorem: finite-class
    base = (1.0 - mass) * (rho * share) ** (1.0 / n_strings)
    n_blocks = _blocks(rho * (1.0 - share) * (1.0 - 1e-9), mass, n_strings)
    size, width = smallest_sample_order(base * (1.0 - 1e-9), alpha, beta / n_blocks, n_hypotheses)
    return AmplifiedDesign(n_blocks * size, n_blocks, size, n_strings, width, _KAPPA)


@lru_cache(maxsize=1024)
def _blocks(budget: float, mass: float, n_strings: int) -> int:
    def passes(n_blocks: int) -> bool:
        return one_heavy_flip_bound(n_blocks, mass, _KAPPA, points_per_row=n_strings) <= budget

    return require_integer(passes, f"rho needs more than 10**13 blocks: {budget!r} is too small")
