"""Two runs with binomial counts: the mean of a function of both, whatever their common chance.

For independent B1, B2 ~ Bin(T, q) the mean E f(B1, B2) is a polynomial of degree 2 T in q. Its
Bernstein coefficients are E f(S, j - S), S ~ Hypergeometric(2 T, j, T): given their sum j the two
counts do not depend on q any more. A polynomial is at most its largest coefficient, and halving
[0, 1] brings the coefficients close to it. Proof: docs/theory/binomial-pairs.md.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy import special

from replearn.bounds.laws import MAX_BLOCKS, frozen
from replearn.bounds.numeric import Floats, Integers
from replearn.records.checks import check_count

MAX_PAIRS = 20_000
"""Counts up to this size have coefficients; for larger ones closed formulas are as good."""

HALVED = 4_000
"""Up to this size [0, 1] is halved; beyond, the largest coefficient itself is the bound.

It is 0.01 % too large for 10,000 counts and half-widths below 0.9, 5 % near a half-width of 1."""

TOLERANCE = 1e-6
"""Gap between the returned number and the largest value found, relative to the latter."""

NEGLECTED = 1e-18
"""Mass that may lie outside a window around the mean, on each side."""

FLOAT_SLACK = 5e-10
"""Added to what is computed: masses are right to about 5e-11 for counts up to 20,000."""

BATCH = 400_000
"""Numbers held per array: keeps the memory of one pass to a few megabytes."""


@lru_cache(maxsize=4096)
def central_binomial(n_blocks: int) -> float:
    """Return f(T) = C(2T, T) / 4^T, rounded up: the flips of T hard votes, uniform threshold.

    >>> round(central_binomial(32), 6)
    0.099347
    """
    n_blocks = check_count("n_blocks", n_blocks, most=MAX_BLOCKS)
    if n_blocks <= 500:
        exact = Fraction(math.comb(2 * n_blocks, n_blocks), 4**n_blocks)
        nearest = float(exact)
        return nearest if nearest >= exact else float(np.nextafter(nearest, 1.0))
    # Stirling's series envelops ln f: cut off after a positive term, it is too large
    log_correction = 1.0 / (192.0 * n_blocks**3) - 1.0 / (8.0 * n_blocks)
    return math.exp(log_correction) / math.sqrt(math.pi * n_blocks) * (1.0 + 1e-15)


@lru_cache(maxsize=16)
def log_choose(n: int) -> Floats:
    """Logarithms of the binomial coefficients C(n, 0), ..., C(n, n)."""
    factorials = special.gammaln(np.arange(n + 1) + 1.0)
    return frozen(factorials[-1] - factorials - factorials[::-1])


def window_radius(n: int) -> int:
    """Radius around n q outside which Bin(n, q) has mass `NEGLECTED` on each side."""
    # Hoeffding: P(B <= n q - h) <= exp(-2 h^2 / n); one more for the shift between n and n - 1.
    # It holds for draws without replacement, too.
    return math.ceil(math.sqrt(-math.log(NEGLECTED) * n / 2.0)) + 1


def gap_coefficients(heights: Floats, offset: float = 0.0) -> Floats:
    """Return E(|h(S) - h(j - S)| - offset)+ for j = 0, ..., 2 T, S ~ Hypergeometric(2 T, j, T).

    Parameters
    ----------
    heights : ndarray of shape (T + 1,)
        The values h(0), ..., h(T).
    offset : float, default=0.0
        What is subtracted from each gap.

    Examples
    --------
    >>> gap_coefficients(np.array([0.0, 1.0])).round(6).tolist()
    [0.0, 1.0, 0.0]
    """
    size = len(heights) - 1
    steps = np.diff(heights)
    is_symmetric = np.array_equal(steps, steps[::-1])
    totals = np.arange(size + 1 if is_symmetric else 2 * size + 1)
    rows = max(1, BATCH // (window_radius(size) + 2))
    parts = [_mean_gaps(heights, offset, totals[i : i + rows]) for i in range(0, len(totals), rows)]
    means = np.concatenate(parts)
    return np.concatenate([means, means[-2::-1]]) if is_symmetric else means


def _mean_gaps(heights: Floats, offset: float, totals: Integers) -> Floats:
    """Return the coefficients of some totals j, from splits with a larger first part."""
    size = len(heights) - 1
    j = totals[:, np.newaxis]
    first = j // 2 + 1 + np.arange(window_radius(size) + 2)
    second = j - first
    possible = (second >= 0) & (first <= size)
    first = np.minimum(first, size)
    second = np.maximum(second, 0)
    choose = log_choose(size)
    logs = choose[first] + choose[second] - log_choose(2 * size)[j]
    masses = np.exp(np.where(possible, logs, -np.inf))
    gaps = np.maximum(np.abs(heights[first] - heights[second]) - offset, 0.0)
    return np.asarray(2.0 * (masses * gaps).sum(axis=1))


def largest_mean(coefficients: Floats) -> float:
    """Return an upper bound of a polynomial on [0, 1] from its Bernstein coefficients.

    Tight up to `TOLERANCE` for sizes up to `HALVED`.

    >>> round(largest_mean(np.array([0.0, 1.0, 0.0])), 6)  # 2 q (1 - q)
    0.5
    """
    # theorem: binomial-pairs
    if len(coefficients) > 2 * HALVED + 1:
        return min(1.0, float(coefficients.max()) + FLOAT_SLACK)
    open_parts = [coefficients]
    if np.array_equal(coefficients, coefficients[::-1]):
        open_parts = [_halves(coefficients)[0]]
    largest_value = 0.0
    bound = 0.0
    while open_parts:
        part = open_parts.pop()
        largest_value = max(largest_value, float(part[0]), float(part[-1]))
        highest = float(part.max())
        if highest <= largest_value * (1.0 + TOLERANCE) + FLOAT_SLACK:
            bound = max(bound, highest)
        else:
            # the more promising half is looked at first
            open_parts += sorted(_halves(part), key=lambda half: float(half.max()))
    return min(1.0, max(bound, largest_value) + FLOAT_SLACK)


def _halves(coefficients: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients on both halves of the interval (de Casteljau)."""
    degree = len(coefficients) - 1
    left = np.empty_like(coefficients)
    right = np.empty_like(coefficients)
    means = coefficients
    for i in range(degree + 1):
        left[i] = means[0]
        right[degree - i] = means[-1]
        means = 0.5 * (means[:-1] + means[1:])
    return left, right
