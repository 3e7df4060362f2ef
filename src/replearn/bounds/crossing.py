"""Tails of an average of equally distributed scores G(Bin(T, q)/T), whatever their dependence.

Everything is done once per distinct q (one row of a matrix) and looked up per point, so that a
million points cost little more than the distinct vote counts among them.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from replearn.bounds.numeric import Floats, binomial_sf
from replearn.bounds.suprema import binomial_masses, log_choose

Integers = NDArray[np.intp]

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
    first, second = votes[:, None] + 0.5, n_blocks - votes[:, None] + 0.5
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


def crossing_bound(
    levels: Floats,
    q: Floats,
    rows: Integers,
    thresholds: Floats,
    *,
    n_partitions: int,
    strict: bool,
) -> Floats:
    """Upper bound of P(mean of the scores > threshold), or >= when not ``strict``.

    ``levels`` are G at 0..T votes, ``q`` the distinct vote probabilities and ``rows`` the position
    of each point's in ``q``. So many scores as partitions are averaged; with one partition the
    bound is the exact tail.
    """
    n_blocks = len(levels) - 1
    needed = np.searchsorted(levels, thresholds, side="right" if strict else "left")
    if n_partitions == 1:
        return _exact_tail(n_blocks, q, rows, needed)
    bounds = np.empty(len(rows))
    for chunk, points in row_chunks(rows, len(q), n_blocks + 2):
        above = _survival_rows(n_blocks, q[chunk])
        local = rows[points] - chunk.start
        # Some score is at least as large as the mean.
        union = n_partitions * above[local, needed[points]]
        hinge = _hinge_bound(levels, above, local, thresholds[points])
        bounds[points] = np.minimum(union, hinge)
    # theorem: fresh-sample-point
    return np.minimum(bounds * (1.0 + _SUM_SLACK), 1.0)


def _exact_tail(n_blocks: int, q: Floats, rows: Integers, needed: Integers) -> Floats:
    pairs, inverse = np.unique(rows * (n_blocks + 2) + needed, return_inverse=True)
    row, count = np.divmod(pairs, n_blocks + 2)
    tails = binomial_sf(count - 1, n_blocks, q[row])
    return np.asarray(np.minimum(tails * (1.0 + _SUM_SLACK), 1.0)[inverse])


def _survival_rows(n_blocks: int, q: Floats) -> Floats:
    """P(B >= k) for k = 0..T+1."""
    rows = np.zeros((len(q), n_blocks + 2))
    rows[:, :-1] = np.cumsum(binomial_rows(n_blocks, q)[:, ::-1], axis=1)[:, ::-1]
    return rows


def _hinge_bound(levels: Floats, above: Floats, rows: Integers, thresholds: Floats) -> Floats:
    """Smallest E(X - c)_+ / (threshold - c) over the levels c below the threshold."""
    steps = np.diff(levels)
    excess = np.zeros((above.shape[0], len(levels)))
    excess[:, :-1] = np.cumsum((steps * above[:, 1:-1])[:, ::-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        tail_means = np.minimum(levels + excess / above[:, :-1], 1.0)
    tail_means = np.maximum.accumulate(np.nan_to_num(tail_means, nan=1.0, posinf=1.0), axis=1)
    # The best c is the last level whose tail mean does not exceed the threshold; rows are told
    # apart by an offset of 2. Any c gives a valid bound, so rounding here can do no harm.
    offsets = 2.0 * np.arange(above.shape[0])
    flat = (tail_means + offsets[:, None]).ravel()
    place = np.searchsorted(flat, thresholds + offsets[rows], side="right") - 1
    best = place - rows * len(levels)
    usable = np.maximum(best, 0)
    gap = thresholds - levels[usable]
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = excess[rows, usable] / gap
    return np.asarray(np.where((best >= 0) & (gap > 0), bound, 1.0))


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
    mass_below, moment_below = mass[rows, split], moment[rows, split]
    mass_above, moment_above = mass[rows, -1] - mass_below, moment[rows, -1] - moment_below
    distance: Floats = seen * (mass_below - mass_above) - moment_below + moment_above
    return np.maximum(distance, 0.0)
