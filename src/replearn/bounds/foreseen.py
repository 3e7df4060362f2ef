"""What one run foresees of a fresh training sample: estimates, which promise nothing.

``votes`` are the votes for class 1 among T blocks, one column per partition. Partitions of the same
rows vote alike, so that together they are worth less than independent votes. How much less hardly
differs between points, but is known badly from the votes on one point: ``joint_variance`` takes
many points together.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from replearn.bounds.flips import binomial_masses
from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.numeric import Floats, Integers
from replearn.bounds.pairs import log_choose
from replearn.records.checks import check_fraction

# Above this many blocks the lattice no longer matters and a beta distribution replaces it.
_LATTICE_BLOCKS = 4096
# A single vote is a coin, the limit of beta distributions of size 0.
_MIN_SIZE = 1e-3
# Shares at which the law is averaged over the variation between partitions, and nodes of the mean.
_GRID = 4096
_NODES = 15


def flip_estimate(
    law: ThresholdLaw, votes: ArrayLike, thresholds: ArrayLike, *, joint: float | None = None
) -> Floats:
    """Estimate the probability that a fresh sample predicts differently under the same key.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the thresholds.
    votes : array_like of int
        Votes for class 1, shape (points,) or (points, partitions).
    thresholds : array_like
        The points' thresholds u in [0, 1); the prediction is 1 iff ``u < mean G(votes / T)``.
    joint : float, default=None
        ``joint_variance`` of many points, which is not needed with one partition.

    Returns
    -------
    ndarray
        One probability per point: with one partition the beta-binomial probability of the other
        side, with several the same for the mean share, with T / joint votes.

    Examples
    --------
    >>> from replearn.bounds.laws import uniform_law
    >>> flip_estimate(uniform_law(32), [32, 20, 20], [0.5, 0.5, 0.01]).round(4)
    array([0.    , 0.1885, 0.    ])
    """
    counts = as_columns(votes, law.n_blocks)
    u = checked_thresholds(thresholds, len(counts))
    if counts.shape[1] == 1 and law.n_blocks <= _LATTICE_BLOCKS:
        return _lattice_estimate(law, counts[:, 0], u)
    joint = _checked_joint(joint, counts)
    worth = law.n_blocks / joint
    share = counts.mean(axis=1) / law.n_blocks
    center = (share * worth + 0.5) / (worth + 1.0)
    # A beta distribution with the mean and variance of the beta-binomial share.
    size = max(worth * (worth + 2.0) / (2.0 * worth + 1.0) - 1.0, _MIN_SIZE)
    boundary = _boundary(law, u, joint)
    below = special.betainc(size * center, size * (1.0 - center), boundary)
    predictions = u < law.probabilities[counts].mean(axis=1)
    return np.asarray(np.where(predictions, below, 1.0 - below), float)


def average_flip_estimate(
    law: ThresholdLaw, votes: ArrayLike, *, joint: float | None = None
) -> Floats:
    """Estimate how often a fresh sample predicts differently, averaged over keys.

    Estimates ``E|G(fresh) - G(seen)|`` for each point, given the votes seen.

    >>> from replearn.bounds.laws import uniform_law
    >>> average_flip_estimate(uniform_law(32), [32, 16]).round(3)
    array([0.015, 0.098])
    """
    counts = as_columns(votes, law.n_blocks)
    sums, rows = np.unique(counts.sum(axis=1), return_inverse=True)
    pooled = sums / counts.shape[1]
    seen = law.probabilities[counts].mean(axis=1)
    distance = np.empty(len(rows))
    for chunk, points in row_chunks(rows, len(sums), law.n_blocks + 1):
        matrix = beta_binomial_rows(law.n_blocks, pooled[chunk])
        local = rows[points] - chunk.start
        distance[points] = mean_distance(law.probabilities, matrix, local, seen[points])
    distance *= math.sqrt(_checked_joint(joint, counts))
    return distance


def joint_variance(votes: ArrayLike, n_blocks: int) -> float:
    """Variance of the mean vote share of all partitions, as a part of one partition's.

    Between 1 / partitions (they vote independently) and 1 (they vote alike); 1 if unknown.

    >>> joint_variance([[4, 4], [5, 5]], 8), joint_variance([[2, 6], [1, 7]], 8)
    (1.0, 0.5)
    """
    counts = as_columns(votes, n_blocks)
    shares = counts / n_blocks
    single = float(_within_variance(shares, n_blocks).sum())
    if single == 0.0:
        return 1.0
    ratio = 1.0 - float(_between_variance(shares).sum()) / single
    return float(np.clip(ratio, 1.0 / counts.shape[1], 1.0))


def _lattice_estimate(law: ThresholdLaw, counts: Integers, u: Floats) -> Floats:
    # Prediction 1 iff votes >= needed, the number of levels that the threshold reaches.
    needed = np.searchsorted(law.probabilities, u, side="right")
    sums, rows = np.unique(counts, return_inverse=True)
    estimate = np.empty(len(rows))
    for chunk, points in row_chunks(rows, len(sums), law.n_blocks + 1):
        matrix = beta_binomial_rows(law.n_blocks, sums[chunk].astype(float))
        below = np.cumsum(matrix, axis=1)
        above = np.cumsum(matrix[:, ::-1], axis=1)[:, ::-1]
        index = rows[points] - chunk.start
        count = needed[points]
        # Each side summed from its own end: tiny probabilities stay right.
        flips_down = below[index, count - 1]
        estimate[points] = np.where(counts[points] >= count, flips_down, above[index, count])
    return np.minimum(estimate, 1.0)


def _boundary(law: ThresholdLaw, u: Floats, joint: float) -> Floats:
    """Mean shares above which a fresh sample predicts 1.

    Given its mean share, a fresh sample's partitions scatter around it: the mean of their levels
    is the law averaged over that scatter, which matters where the law has a corner.
    """
    grid = np.linspace(0.0, 1.0, max(_GRID, law.n_blocks) + 1)
    scatter = np.sqrt((1.0 - joint) * grid * (1.0 - grid) / law.n_blocks)
    every = np.arange(law.n_blocks + 1) / law.n_blocks
    level = np.zeros_like(grid)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        level += weight * np.interp(grid + node * scatter, every, law.probabilities)
    level = np.maximum.accumulate(level)
    rising = np.flatnonzero(np.diff(level))
    support = slice(rising[0], rising[-1] + 2)
    return np.asarray(np.interp(u, level[support], grid[support]), float)


def _checked_joint(joint: float | None, counts: Integers) -> float:
    return 1.0 if counts.shape[1] == 1 else check_fraction("joint", joint)


def _within_variance(shares: Floats, n_blocks: int) -> Floats:
    """Variance of one partition's share, without bias; 0 where a single block says nothing."""
    # theorem: fresh-sample-point
    return np.asarray((shares * (1.0 - shares)).mean(axis=1) / max(n_blocks - 1, 1))


def _between_variance(shares: Floats) -> Floats:
    n_partitions = shares.shape[1]
    if n_partitions == 1:
        return np.zeros(len(shares))
    return np.asarray(shares.var(axis=1, ddof=1) * (1.0 - 1.0 / n_partitions))


# Numbers held at once in one matrix: 32 MB.
_CHUNK = 4_000_000
# Sums of up to 10^5 terms, each right to 1e-13.
_SUM_SLACK = 1e-10


def binomial_rows(n_blocks: int, q: Floats) -> Floats:
    """Probabilities of 0..T successes, one row for each q."""
    counts = np.broadcast_to(np.arange(n_blocks + 1), (len(q), n_blocks + 1))
    return binomial_masses(n_blocks, q, counts)


def beta_binomial_rows(n_blocks: int, votes: Floats) -> Floats:
    """Predictive probabilities of 0..T votes after ``votes`` votes and Jeffreys' prior."""
    k = np.arange(n_blocks + 1.0)
    first = votes[:, None] + 0.5
    second = n_blocks - votes[:, None] + 0.5
    logs = log_choose(n_blocks) + special.betaln(k + first, n_blocks - k + second)
    return np.asarray(np.exp(logs - special.betaln(first, second)))


def row_chunks(rows: Integers, n_rows: int, width: int) -> Iterator[tuple[slice, Integers]]:
    """Cut the distinct rows into chunks; yield each with the points that use it."""
    size = max(1, _CHUNK // width)
    if n_rows <= size:
        yield slice(0, n_rows), np.arange(len(rows))
        return
    order = np.argsort(rows, kind="stable")
    for start in range(0, n_rows, size):
        ends = np.searchsorted(rows[order], [start, start + size])
        yield slice(start, min(start + size, n_rows)), order[ends[0] : ends[1]]


def as_columns(votes: ArrayLike, n_blocks: int) -> Integers:
    """Votes as a matrix with one column per partition, checked to lie between 0 and T."""
    counts = np.asarray(votes)
    if counts.ndim == 1:
        counts = counts[:, None]
    if counts.ndim != 2 or counts.shape[1] < 1 or not np.issubdtype(counts.dtype, np.integer):
        raise ValueError("votes must be whole numbers of shape (points,) or (points, partitions).")
    if counts.size and (counts.min() < 0 or counts.max() > n_blocks):
        raise ValueError(f"votes must lie between 0 and n_blocks={n_blocks}.")
    return counts.astype(np.intp, copy=False)


def checked_thresholds(thresholds: ArrayLike, n_points: int) -> Floats:
    """One threshold in [0, 1) for each point."""
    u = np.asarray(thresholds, float)
    if u.shape != (n_points,):
        raise ValueError(f"thresholds must have one value per point, got shape {u.shape}.")
    if u.size and not (u.min() >= 0.0 and u.max() < 1.0):
        raise ValueError("thresholds must lie in [0, 1).")
    return u


def mean_distance(levels: Floats, matrix: Floats, rows: Integers, seen: Floats) -> Floats:
    """E|G(B) - seen| for B with the probabilities of its row."""
    split = np.searchsorted(levels, seen, side="right")
    mass = np.zeros((matrix.shape[0], len(levels) + 1))
    moment = np.zeros_like(mass)
    np.cumsum(matrix, axis=1, out=mass[:, 1:])
    np.cumsum(matrix * levels, axis=1, out=moment[:, 1:])
    mass_below = mass[rows, split]
    moment_below = moment[rows, split]
    mass_above = mass[rows, -1] - mass_below
    moment_above = moment[rows, -1] - moment_below
    distance: Floats = seen * (mass_below - mass_above) - moment_below + moment_above
    return np.maximum(distance, 0.0)
