"""What one run proves about a fresh training sample: limits of how often it predicts differently.

``votes`` are the votes for class 1 among T blocks: one number per point, or one per point and
partition. With a point's own threshold u the question is about the published key; without it, the
average over keys. Limits hold for each point separately (no correction for looking at many).
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.flips import flip_curve, flip_supremum
from replearn.bounds.foreseen import as_columns
from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.numeric import (
    Floats,
    kl_upper,
    round_up,
)
from replearn.records.checks import check_count, check_fraction

_CELLS = 4000
# For very many blocks one evaluation is long: fewer cells, a little more slack.
_CELLS_MANY_BLOCKS = 1000
_MANY_BLOCKS = 50_000


def block_disagreement(votes: ArrayLike, n_blocks: int) -> float:
    """How often two different blocks disagree on a point, over points and partitions.

    >>> round(block_disagreement([4, 8, 0, 4], 8), 4)
    0.2857
    """
    n_blocks = check_count("n_blocks", n_blocks, least=2)
    counts = as_columns(votes, n_blocks).astype(float)
    if counts.size == 0:
        raise ValueError("votes must hold at least one point.")
    pairs = 2.0 * counts * (n_blocks - counts) / (n_blocks * (n_blocks - 1.0))
    return float(pairs.mean())


def flip_rate_limit(law: ThresholdLaw, disagreement: float, *, delta: float = 0.05) -> float:
    """Return an upper limit of the flip rate of two fresh samples, averaged over keys.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the thresholds.
    disagreement : float
        Mean pairwise disagreement of the blocks of this run on the points in question, see
        :func:`block_disagreement`.
    delta : float
        Failure probability.

    Returns
    -------
    float
        A number that the expected share of these points that two fresh samples predict
        differently does not exceed, except with probability ``delta`` over the sample of this run.

    Examples
    --------
    >>> from replearn.bounds.laws import uniform_law
    >>> flip_rate_limit(uniform_law(32), 0.02, delta=0.05) < 0.099
    True
    """
    check_fraction("disagreement", disagreement, zero=True)
    check_fraction("delta", delta)
    # All points share the blocks: only floor(T/2) disjoint pairs are independent.
    pairs = law.n_blocks // 2
    largest = 0.5 if pairs == 0 else min(0.5, float(kl_upper(disagreement, pairs, delta)))
    # theorem: fresh-sample-rate
    return flip_rate_majorant(law, largest / 2.0)


def flip_rate_majorant(law: ThresholdLaw, variance: float) -> float:
    """Largest flip rate of points whose votes have this mean variance q (1 - q).

    The increasing concave majorant of H as a function of q (1 - q), rounded up.

    >>> from replearn.bounds.laws import uniform_law
    >>> round(flip_rate_majorant(uniform_law(32), 0.25), 3)
    0.099
    """
    if not 0.0 <= variance <= 0.25:
        raise ValueError(f"variance={variance!r} must lie in [0, 0.25].")
    grid, heights = _majorant(law)
    return min(flip_supremum(law), round_up(float(np.interp(variance, grid, heights))))


@lru_cache(maxsize=64)
def _majorant(law: ThresholdLaw) -> tuple[Floats, Floats]:
    """Corners of the majorant: above H on every cell, not only on a grid."""
    cells = _CELLS if law.n_blocks <= _MANY_BLOCKS else _CELLS_MANY_BLOCKS
    q = np.union1d(np.linspace(0.0, 0.5, cells + 1), np.geomspace(1e-9, 0.5, cells // 2))
    curve = flip_curve(law, q)
    if not law.is_symmetric:
        curve = np.maximum(curve, flip_curve(law, 1.0 - q))
    # |dH/dq| <= 2 T g, so on a cell H is at most the mean of its ends plus T g times its length.
    steepness = law.n_blocks * law.largest_step
    top = 0.5 * (curve[1:] + curve[:-1]) + steepness * np.diff(q) + 1e-12
    variance = q * (1.0 - q)
    corners = np.concatenate([variance[:-1], variance[1:]])
    heights = np.concatenate([top, top])
    order = np.lexsort((heights, corners))
    return _increasing_hull(corners[order], heights[order])


def _increasing_hull(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Upper concave hull of points sorted by x, kept level after its highest point."""
    hull: list[int] = []
    for i in range(len(x)):
        while len(hull) >= 2 and not _turns_right(x, y, hull[-2], hull[-1], i):
            hull.pop()
        hull.append(i)
    return x[hull], np.maximum.accumulate(y[hull])


def _turns_right(x: Floats, y: Floats, a: int, b: int, c: int) -> bool:
    return bool((y[b] - y[a]) * (x[c] - x[b]) > (y[c] - y[b]) * (x[b] - x[a]))
