"""Replicable regression: the mean of block predictions, rounded to a grid keyed by the point.

Two runs give different rounded values iff a line of the shared grid falls between their means.
Proofs: docs/theory/rounded-regression.md.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.laws import MAX_BLOCKS
from replearn.bounds.numeric import Floats, upper_probability
from replearn.bounds.pairs import central_binomial
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_positive
from replearn.records.search import require_integer


@theorem("rounded-regression")
def rounding_flip_bound(n_blocks: int, y_span: float, resolution: float) -> float:
    """Probability that two runs round one point to different values.

    For predictions inside a range of length ``y_span``, whatever the data and the estimator:
    ``f(T) y_span / resolution``, rounded up.

    >>> round(rounding_flip_bound(128, 100.0, 50.0), 4)
    0.0996
    """
    check_positive("y_span", y_span)
    check_positive("resolution", resolution)
    return upper_probability(central_binomial(n_blocks) * y_span / resolution)


def smallest_blocks_rounding(rho: float, y_span: float, resolution: float) -> int:
    """Return the fewest blocks at which two runs differ with probability at most ``rho``.

    >>> smallest_blocks_rounding(0.1, 100.0, 50.0)
    128
    """
    check_positive("rho", rho)
    return require_integer(
        lambda blocks: rounding_flip_bound(blocks, y_span, resolution) <= rho,
        f"resolution={resolution!r} is too fine for y_span={y_span!r} and rho={rho!r}",
        limit=MAX_BLOCKS,
    )


def mean_rounding_flips(variances: ArrayLike, n_blocks: int, resolution: float) -> Floats:
    """Estimate, for each point, how often two runs round differently, over all grids.

    From the variance of the block predictions: ``2 sqrt(variance / (3 T)) / resolution``, at most
    1. An estimate, because the variance is one.

    >>> mean_rounding_flips([4.0, 0.0], 50, 4.0).round(4).tolist()
    [0.0816, 0.0]
    """
    check_count("n_blocks", n_blocks, least=2)
    check_positive("resolution", resolution)
    # theorem: rounded-regression (Gini's mean difference is at most 2 / sqrt(3) deviations)
    spread = 2.0 * np.sqrt(np.asarray(variances, dtype=float) / (3.0 * n_blocks))
    return np.minimum(spread / resolution, 1.0)


def cell_escape(
    means: ArrayLike, variances: ArrayLike, n_blocks: int, cells: tuple[ArrayLike, ArrayLike]
) -> Floats:
    """Estimate, for each point, the chance that a fresh sample's mean leaves this run's cell.

    Student's distribution for the difference of two means of T block predictions.

    >>> cell_escape([0.5], [0.25], 50, ([0.0], [1.0])).round(4).tolist()
    [0.0]
    >>> cell_escape([0.0], [0.25], 50, ([0.0], [1.0])).round(4).tolist()
    [0.5]
    """
    check_count("n_blocks", n_blocks, least=2)
    middle = np.asarray(means, float)
    spread = np.sqrt(2.0 * np.asarray(variances, float) / n_blocks)
    low = np.asarray(cells[0], float)
    high = np.asarray(cells[1], float)
    scale = np.maximum(spread, math.ulp(0.0))
    with np.errstate(over="ignore", invalid="ignore"):
        from scipy import stats  # slow to import: only where it is used

        below = stats.t.cdf((low - middle) / scale, n_blocks - 1)
        above = stats.t.sf((high - middle) / scale, n_blocks - 1)
    leaves: Floats = np.where(spread > 0, below + above, 0.0)
    return np.minimum(leaves, 1.0)
