"""What one run tells about a fresh training sample: would it answer a point differently.

``votes`` are the votes for class 1 among T blocks: one number per point, or one per point and
partition. With a point's own threshold u the question is about the published key; without it, the
average over keys. Limits hold for each point separately (no correction for looking at many).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from replearn.bounds._checks import check_fraction, checked_count
from replearn.bounds._crossing import (
    Integers,
    beta_binomial_rows,
    binomial_rows,
    crossing_bound,
    row_chunks,
)
from replearn.bounds._numeric import Floats
from replearn.bounds.concentration import binomial_limits, kl_lower
from replearn.bounds.laws import ThresholdLaw

__all__ = [
    "average_flip_estimate",
    "average_flip_limit",
    "flip_estimate",
    "flip_limits",
    "share_variance",
]

# Above this many blocks the lattice no longer matters and a beta distribution replaces it.
_LATTICE_BLOCKS = 4096
# A single vote is a coin, the limit of beta distributions of size 0.
_LEAST_SIZE = 1e-3
# Numbers per halving up to which limits from several partitions are sharpened beyond Chernoff's.
_LARGEST_INVERSION = 4_000_000
_LIMIT_HALVINGS = 12


def flip_estimate(law: ThresholdLaw, votes: ArrayLike, thresholds: ArrayLike) -> Floats:
    """Estimate the probability that a fresh sample answers differently under the same key.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the thresholds.
    votes : array_like of int
        Votes for class 1, shape (points,) or (points, partitions).
    thresholds : array_like
        The points' thresholds u in [0, 1); the answer is 1 iff ``u < mean G(votes / T)``.

    Returns
    -------
    ndarray
        One probability per point. One partition: the beta-binomial probability of the other
        side. Several: the same with the number of votes that the variation between partitions
        says they are worth.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> flip_estimate(uniform_law(32), [32, 20, 20], [0.5, 0.5, 0.01]).round(4)
    array([0.    , 0.1885, 0.    ])
    """
    counts = as_columns(votes, law.n_blocks)
    u = _thresholds(thresholds, len(counts))
    if counts.shape[1] == 1 and law.n_blocks <= _LATTICE_BLOCKS:
        return _lattice_estimate(law, counts[:, 0], u)
    worth = _effective_blocks(counts, law.n_blocks)
    share, boundary, answers = _share_scale(law, counts, u)
    center = (share * worth + 0.5) / (worth + 1.0)
    # A beta distribution with the mean and variance of the beta-binomial share.
    size = np.maximum(worth * (worth + 2.0) / (2.0 * worth + 1.0) - 1.0, _LEAST_SIZE)
    below = special.betainc(size * center, size * (1.0 - center), boundary)
    return np.asarray(np.where(answers, below, 1.0 - below), float)


def flip_limits(
    law: ThresholdLaw, votes: ArrayLike, thresholds: ArrayLike, *, delta: float = 0.05
) -> tuple[Floats, Floats]:
    """Limits of the probability that a fresh sample answers differently under the same key.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the thresholds.
    votes : array_like of int
        Votes for class 1, shape (points,) or (points, partitions).
    thresholds : array_like
        The points' thresholds u in [0, 1).
    delta : float
        Failure probability for each point.

    Returns
    -------
    lower, upper : ndarray
        Both hold at once except with probability ``delta``, for each point.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> lower, upper = flip_limits(uniform_law(32), [32, 20], [0.5, 0.5])
    >>> upper.round(3)
    array([0.   , 0.816])
    """
    check_fraction("delta", delta, one=False)
    counts = as_columns(votes, law.n_blocks)
    u = _thresholds(thresholds, len(counts))
    n_partitions = counts.shape[1]
    rows, low, high = _vote_limits(counts, law.n_blocks, delta)
    levels = law.probabilities
    # theorem: fresh-sample-point
    to_one = crossing_bound(levels, high, rows, u, n_partitions=n_partitions, strict=True)
    to_zero = crossing_bound(
        1.0 - levels[::-1], 1.0 - low, rows, 1.0 - u, n_partitions=n_partitions, strict=False
    )
    answers = u < levels[counts].mean(axis=1)
    upper = np.where(answers, to_zero, to_one)
    lower = np.where(answers, 1.0 - to_one, 1.0 - to_zero)
    return np.maximum(lower, 0.0), upper


def average_flip_estimate(law: ThresholdLaw, votes: ArrayLike) -> Floats:
    """Estimate how often a fresh sample answers differently, averaged over keys.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the thresholds.
    votes : array_like of int
        Votes for class 1, shape (points,) or (points, partitions).

    Returns
    -------
    ndarray
        Estimate of ``E|G(fresh) - G(seen)|`` for each point, given the votes seen.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
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
        distance[points] = _mean_distance(law.probabilities, matrix, local, seen[points])
    if counts.shape[1] == 1:
        return distance
    return distance * np.sqrt(law.n_blocks / _effective_blocks(counts, law.n_blocks))


def average_flip_limit(law: ThresholdLaw, votes: ArrayLike, *, delta: float = 0.05) -> Floats:
    """Upper limit of how often a fresh sample answers differently, averaged over keys.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the thresholds.
    votes : array_like of int
        Votes for class 1, shape (points,) or (points, partitions).
    delta : float
        Failure probability for each point.

    Returns
    -------
    ndarray
        Upper limit of ``E|G(fresh) - G(seen)|``, given the votes seen.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> average_flip_limit(uniform_law(32), [32, 16]).round(3)
    array([0.109, 0.182])
    """
    check_fraction("delta", delta, one=False)
    counts = as_columns(votes, law.n_blocks)
    rows, low, high = _vote_limits(counts, law.n_blocks, delta)
    seen = law.probabilities[counts].mean(axis=1)
    limits = np.zeros(len(rows))
    for chunk, points in row_chunks(rows, len(low), law.n_blocks + 1):
        local = rows[points] - chunk.start
        for end in (low, high):
            # theorem: fresh-sample-point (the mean distance is quasi-convex in q)
            matrix = binomial_rows(law.n_blocks, end[chunk])
            reach = _mean_distance(law.probabilities, matrix, local, seen[points])
            limits[points] = np.maximum(limits[points], reach)
    return np.minimum(limits + 1e-10, 1.0)


def share_variance(votes: ArrayLike, n_blocks: int) -> Floats:
    """Unbiased estimate of the variance of the mean vote share over samples.

    Parameters
    ----------
    votes : array_like of int
        Votes for class 1, shape (points,) or (points, partitions).
    n_blocks : int
        Blocks per partition, at least 2.

    Returns
    -------
    ndarray
        One value per point; it can be negative, as unbiased estimates can.

    Examples
    --------
    >>> share_variance([[4, 4], [2, 6]], 8).round(4)
    array([ 0.0357, -0.0357])
    """
    n_blocks = checked_count(n_blocks, name="n_blocks", smallest=2)
    shares = as_columns(votes, n_blocks) / n_blocks
    within: Floats = (shares * (1.0 - shares)).mean(axis=1) / (n_blocks - 1)
    return within - _between_variance(shares)


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


def _thresholds(thresholds: ArrayLike, n_points: int) -> Floats:
    u = np.asarray(thresholds, float)
    if u.shape != (n_points,):
        raise ValueError(f"thresholds must have one value per point, got shape {u.shape}.")
    if u.size and not (u.min() >= 0.0 and u.max() < 1.0):
        raise ValueError("thresholds must lie in [0, 1).")
    return u


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
    shares, every = np.arange(n_blocks + 1) / n_blocks, np.arange(len(mean))
    inside = mean.copy()
    for _ in range(_LIMIT_HALVINGS):
        middle = 0.5 * (inside + outside)
        tails = crossing_bound(shares, middle, every, mean, n_partitions=n_partitions, strict=False)
        excluded = tails <= tail
        outside, inside = np.where(excluded, middle, outside), np.where(excluded, inside, middle)
    return outside


def _lattice_estimate(law: ThresholdLaw, counts: Integers, u: Floats) -> Floats:
    # Answer 1 iff votes >= needed, the number of levels that the threshold reaches.
    needed = np.searchsorted(law.probabilities, u, side="right")
    sums, rows = np.unique(counts, return_inverse=True)
    estimate = np.empty(len(rows))
    for chunk, points in row_chunks(rows, len(sums), law.n_blocks + 1):
        matrix = beta_binomial_rows(law.n_blocks, sums[chunk].astype(float))
        below = np.cumsum(matrix, axis=1)
        above = np.cumsum(matrix[:, ::-1], axis=1)[:, ::-1]
        place, count = rows[points] - chunk.start, needed[points]
        # Each side summed from its own end: tiny probabilities stay right.
        flips_down = below[place, count - 1]
        estimate[points] = np.where(counts[points] >= count, flips_down, above[place, count])
    return np.minimum(estimate, 1.0)


def _mean_distance(levels: Floats, matrix: Floats, rows: Integers, seen: Floats) -> Floats:
    """E|G(B) - seen| for B with the probabilities of its row."""
    split = np.searchsorted(levels, seen, side="right")
    mass = np.zeros((matrix.shape[0], len(levels) + 1))
    moment = np.zeros_like(mass)
    np.cumsum(matrix, axis=1, out=mass[:, 1:])
    np.cumsum(matrix * levels, axis=1, out=moment[:, 1:])
    mass_below, moment_below = mass[rows, split], moment[rows, split]
    mass_above, moment_above = mass[rows, -1] - mass_below, moment[rows, -1] - moment_below
    distance: Floats = seen * (mass_below - mass_above) - moment_below + moment_above
    return np.maximum(distance, 0.0)


def _between_variance(shares: Floats) -> Floats:
    n_partitions = shares.shape[1]
    if n_partitions == 1:
        return np.zeros(len(shares))
    spread: Floats = shares.var(axis=1, ddof=1) * (1.0 - 1.0 / n_partitions)
    return spread


def _effective_blocks(counts: Integers, n_blocks: int) -> Floats:
    """How many independent votes the partitions together are worth, between T and all."""
    n_partitions = counts.shape[1]
    shares = counts / n_blocks
    smoothed = (shares.mean(axis=1) * n_blocks + 0.5) / (n_blocks + 1.0)
    single: Floats = smoothed * (1.0 - smoothed) / n_blocks
    joint = np.maximum(single - _between_variance(shares), single / n_partitions)
    worth: Floats = n_blocks * single / joint
    return worth


def _share_scale(law: ThresholdLaw, counts: Integers, u: Floats) -> tuple[Floats, Floats, Any]:
    """Shares and thresholds on one scale: the share at which a single partition has that level."""
    levels = law.probabilities
    scores = levels[counts].mean(axis=1)
    rising = np.flatnonzero(np.diff(levels)) if levels.size > 1 else np.array([0])
    support = np.arange(rising[0], rising[-1] + 2)
    grid = support / law.n_blocks
    share = np.interp(scores, levels[support], grid)
    plain = counts.mean(axis=1) / law.n_blocks
    share = np.where((scores <= 0.0) | (scores >= 1.0), plain, share)
    return share, np.interp(u, levels[support], grid), u < scores
