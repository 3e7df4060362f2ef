"""All tight boxes of a set of points: one for each dichotomy.

A box is tight when each of its free sides touches a point inside it. Different tight boxes
contain different sets of points, and every set that a box cuts out has a tight box: so the tight
boxes are the dichotomies (but for the empty one), each once, without any table of labels seen.

The canonical order is lexicographic, feature by feature: first the lower side, from high to
low, then the upper side, from low to high. Small boxes come early.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np

from replearn.paper.hypotheses._inputs import Floats, Indices, Labels

Side = Literal[">", "<=", "both"]  # which sides of a feature are free
Corners = Indices  # ranks of the lower and of the upper sides of k boxes, (k, 2, d)
_PAIRS_AT_ONCE = 2**16


def tight_boxes(ranks: Indices, sides: tuple[Side, ...], size: int) -> Iterator[Corners]:
    """Yield the corners of all tight boxes in canonical order, `size` at a time.

    >>> (corners,) = tight_boxes(np.array([[0], [1]]), ("both",), size=10)
    >>> corners[:, :, 0].tolist()
    [[1, 1], [0, 0], [0, 1]]
    """
    return _batched(_extend(ranks, sides, np.arange(len(ranks)), [], []), size)


def corner_bounds(
    corners: Corners, cuts: list[Floats], sides: tuple[Side, ...]
) -> tuple[Floats, Floats]:
    """Return lower and upper bounds of boxes; a side that is not free has no bound."""
    shape = len(corners), len(sides)
    lower = np.full(shape, -np.inf)
    upper = np.full(shape, np.inf)
    for feature, side in enumerate(sides):
        if side != "<=":
            lower[:, feature] = cuts[feature][corners[:, 0, feature]]
        if side != ">":
            upper[:, feature] = cuts[feature][corners[:, 1, feature] + 1]
    return lower, upper


def _extend(
    ranks: Indices,
    sides: tuple[Side, ...],
    inside: Indices,
    touching: list[Labels],
    corner: list[tuple[int, int]],
) -> Iterator[Corners]:
    """Extend a box that is fixed on the first features; `touching` marks points on its sides."""
    feature = len(corner)
    if len(inside) == 0:
        return
    if feature == len(sides) - 1:
        yield from _last_feature(ranks, sides[-1], inside, touching, corner)
        return
    column = ranks[inside, feature]
    for low, high in rank_ranges(np.unique(column), sides[feature]):
        kept = inside[(column >= low) & (column <= high)]
        if all(side[kept].any() for side in touching):
            lower = [ranks[:, feature] == low] if sides[feature] != "<=" else []
            upper = [ranks[:, feature] == high] if sides[feature] != ">" else []
            longer = [*corner, (low, high)]
            yield from _extend(ranks, sides, kept, touching + lower + upper, longer)


def rank_ranges(values: Indices, side: Side) -> Iterator[tuple[int, int]]:
    """Yield all ranges between sorted values, in canonical order.

    A side that is not free stays at the outermost value.
    """
    for first, last in _index_ranges(len(values), side):
        yield from zip(values[first].tolist(), values[last].tolist(), strict=True)


def _last_feature(
    ranks: Indices,
    side: Side,
    inside: Indices,
    touching: list[Labels],
    corner: list[tuple[int, int]],
) -> Iterator[Corners]:
    """Yield the ranges of the last feature that keep a point on each earlier side."""
    values, inverse = np.unique(ranks[inside, -1], return_inverse=True)
    counts = [
        np.concatenate([[0], np.cumsum(np.bincount(inverse[mark[inside]], minlength=len(values)))])
        for mark in touching
    ]
    for first, last in _index_ranges(len(values), side):
        kept = np.ones(len(first), dtype=bool)
        for count in counts:
            kept &= count[last + 1] > count[first]
        corners = np.empty((np.count_nonzero(kept), 2, len(corner) + 1), dtype=np.intp)
        corners[:, :, :-1] = np.array(corner, dtype=np.intp).reshape(-1, 2).T
        corners[:, 0, -1] = values[first[kept]]
        corners[:, 1, -1] = values[last[kept]]
        yield corners


def _index_ranges(n_values: int, side: Side) -> Iterator[tuple[Indices, Indices]]:
    """Yield index ranges (first, last) in canonical order, not too many at once."""
    index = np.arange(n_values)
    if side == ">":
        yield index[::-1], np.full(n_values, n_values - 1)
    elif side == "<=":
        yield np.zeros(n_values, dtype=np.intp), index
    else:
        step = max(1, _PAIRS_AT_ONCE // n_values)
        for start in range(n_values - 1, -1, -step):
            lows = np.arange(start, max(start - step, -1), -1)
            lengths = n_values - lows
            first = np.repeat(lows, lengths)
            offset = np.arange(len(first)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
            yield first, first + offset


def _batched(parts: Iterator[Corners], size: int) -> Iterator[Corners]:
    """Cut and join parts to batches of exactly `size` boxes (the last one may be shorter)."""
    held: list[Corners] = []
    count = 0
    for part in parts:
        held.append(part)
        count += len(part)
        if count >= size:
            joined = np.concatenate(held)
            full = count - count % size
            for start in range(0, full, size):
                yield joined[start : start + size]
            held = [joined[full:]]
            count = count - full
    if count:
        yield np.concatenate(held)
