"""What one run proves about a fresh training sample: limits of how often it answers differently.

``votes`` are the votes for class 1 among T blocks: one number per point, or one per point and
partition. With a point's own threshold u the question is about the published key; without it, the
average over keys. Limits hold for each point separately (no correction for looking at many).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds._crossing import (
    Integers,
    binomial_rows,
    crossing_bound,
    row_chunks,
)
from replearn.bounds._numeric import Floats
from replearn.bounds.concentration import binomial_limits, kl_lower
from replearn.bounds.laws import ThresholdLaw
from replearn.records.checks import check_fraction
from replearn.records.search import bisect_arrays

__all__ = [
    "average_flip_limit",
    "flip_limits",
]

# Numbers per halving up to which limits from several partitions are sharpened beyond Chernoff's.
_LARGEST_INVERSION = 4_000_000
_LIMIT_HALVINGS = 12


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
    u = checked_thresholds(thresholds, len(counts))
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
            reach = mean_distance(law.probabilities, matrix, local, seen[points])
            limits[points] = np.maximum(limits[points], reach)
    return np.minimum(limits + 1e-10, 1.0)


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

    def excluded(q: Floats) -> NDArray[np.bool_]:
        tails = crossing_bound(shares, q, every, mean, n_partitions=n_partitions, strict=False)
        return tails <= tail

    return bisect_arrays(excluded, outside, mean, _LIMIT_HALVINGS)


def mean_distance(levels: Floats, matrix: Floats, rows: Integers, seen: Floats) -> Floats:
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
