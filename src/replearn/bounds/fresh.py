"""What one run proves about a fresh training sample: limits of how often it predicts differently.

``votes`` are the votes for class 1 among T blocks: one number per point, or one per point and
partition. With a point's own threshold u the question is about the published key; without it, the
average over keys. Limits hold for each point separately (no correction for looking at many).
"""

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds.flips import flip_curve, flip_supremum
from replearn.bounds.foreseen import as_columns, checked_thresholds, crossing_bound
from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.numeric import (
    Floats,
    Integers,
    bernoulli_divergence,
    binomial_limits,
    bisect_arrays,
    kl_lower,
    kl_upper,
    round_up,
)
from replearn.records import check_count, check_fraction

# Numbers per halving up to which limits from several partitions are sharpened beyond Chernoff's.
_LARGEST_INVERSION = 4_000_000
_LIMIT_HALVINGS = 12
_SHARE_HALVINGS = 45

_CELLS = 4000
# For very many blocks one evaluation is long: fewer cells, a little more slack.
_CELLS_MANY_BLOCKS = 1000
_MANY_BLOCKS = 50_000


def flip_limits(
    law: ThresholdLaw, votes: ArrayLike, thresholds: ArrayLike, *, delta: float = 0.05
) -> tuple[Floats, Floats]:
    """Return limits of the probability that a fresh sample predicts differently with the same key.

    Parameters
    ----------
    law, votes, thresholds
        As for `flip_estimate`.
    delta : float
        Failure probability for each point.

    Returns
    -------
    lower, upper : ndarray
        Both hold except with probability ``delta``, for each point.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> lower, upper = flip_limits(uniform_law(32), [32, 20], [0.5, 0.5])
    >>> upper.round(3)
    array([0.   , 0.816])
    """
    check_fraction("delta", delta, one=False)
    counts = as_columns(votes, law.n_blocks)
    u = checked_thresholds(thresholds, len(counts))
    n_partitions = counts.shape[1]
    rows, low, high = _vote_limits(counts, law.n_blocks, delta)
    levels = law.probabilities
    # theorem: fresh-sample-point
    to_one = crossing_bound(levels, high, rows, u, n_partitions=n_partitions, strict=True)
    to_zero = crossing_bound(
        1.0 - levels[::-1], 1.0 - low, rows, 1.0 - u, n_partitions=n_partitions, strict=False
    )
    return _limits_from(u < levels[counts].mean(axis=1), to_zero, to_one)


def _limits_from(
    predictions: NDArray[np.bool_], to_zero: Floats, to_one: Floats
) -> tuple[Floats, Floats]:
    """Return the limits of a flip from bounds of the chances of answering 0 and 1."""
    upper = np.where(predictions, to_zero, to_one)
    return np.maximum(1.0 - np.where(predictions, to_one, to_zero), 0.0), upper


def soft_flip_limits(
    law: ThresholdLaw, scores: ArrayLike, thresholds: ArrayLike, *, delta: float = 0.05
) -> tuple[Floats, Floats]:
    """As `flip_limits`, for mean scores in [0, 1] of shape (points, partitions) instead of votes.

    >>> from replearn.bounds import uniform_law
    >>> lower, upper = soft_flip_limits(uniform_law(64), [[0.9], [0.5]], [0.4, 0.4])
    >>> upper.round(4).tolist()
    [0.0, 1.0]
    """
    check_fraction("delta", delta, one=False)
    shares = np.asarray(scores, dtype=float)
    u = checked_thresholds(thresholds, len(shares))
    n_blocks = law.n_blocks
    n_partitions = shares.shape[1]
    mean = np.clip(shares.mean(axis=1), 0.0, 1.0)
    # theorem: binomial-limits (an average of dependent means concentrates like one of them)
    low = kl_lower(mean, n_blocks, delta / 2)
    high = kl_upper(mean, n_blocks, delta / 2)
    ones = np.ones_like(mean)
    zeros = np.zeros_like(mean)
    above = bisect_arrays(lambda share: law.at(share) > u, ones, zeros, _SHARE_HALVINGS)
    below = np.maximum(above - 2.0**-_SHARE_HALVINGS, 0.0)
    # theorem: fresh-sample-point (scores: one partition at least must pass the share of u)
    to_one = np.where(below > high, np.exp(-n_blocks * bernoulli_divergence(below, high)), 1.0)
    to_zero = np.where(above < low, np.exp(-n_blocks * bernoulli_divergence(above, low)), 1.0)
    to_one, to_zero = (np.minimum(n_partitions * p * (1 + 1e-9), 1.0) for p in (to_one, to_zero))
    return _limits_from(u < law.at(shares).mean(axis=1), to_zero, to_one)


def _vote_limits(counts: Integers, n_blocks: int, delta: float) -> tuple[Integers, Floats, Floats]:
    """Limits of q for each distinct number of votes, and which of them each point has."""
    n_partitions = counts.shape[1]
    sums, rows = np.unique(counts.sum(axis=1), return_inverse=True)
    if n_partitions == 1:
        low, high = binomial_limits(sums, n_blocks, delta)
        return rows, low, high
    total = n_blocks * n_partitions
    low = _lower_vote_limit(sums / total, n_blocks, n_partitions, delta / 2)
    high = 1.0 - _lower_vote_limit((total - sums) / total, n_blocks, n_partitions, delta / 2)
    return rows, low, high


def _lower_vote_limit(mean: Floats, n_blocks: int, n_partitions: int, tail: float) -> Floats:
    """Lower limit of q from the mean share of several partitions of the same rows."""
    # theorem: binomial-limits (an average of dependent shares concentrates like one share)
    outside: Floats = np.maximum(np.atleast_1d(kl_lower(mean, n_blocks, tail)), 0.0)
    if (n_blocks * n_partitions + 1) * n_blocks > _LARGEST_INVERSION:
        return outside
    # theorem: fresh-sample-point (the bound grows with q: keep the side where it is below tail)
    shares = np.arange(n_blocks + 1) / n_blocks
    every = np.arange(len(mean))

    def excluded(q: Floats) -> NDArray[np.bool_]:
        tails = crossing_bound(shares, q, every, mean, n_partitions=n_partitions, strict=False)
        return tails <= tail

    return bisect_arrays(excluded, outside, mean, _LIMIT_HALVINGS)


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
    >>> from replearn.bounds import uniform_law
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

    >>> from replearn.bounds import uniform_law
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
