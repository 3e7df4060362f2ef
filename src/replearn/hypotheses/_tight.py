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
from numpy.typing import NDArray

Side = Literal[">", "<=", "both"]  # which sides of a feature are free
Corners = tuple[NDArray[np.intp], NDArray[np.intp]]  # ranks of lower and upper sides, (k, d)
_PAIRS_AT_ONCE = 2**16


def tight_boxes(ranks: NDArray[np.intp], sides: tuple[Side, ...], size: int) -> Iterator[Corners]:
    """Yield the corners of all tight boxes in canonical order, `size` at a time.

    Examples
    --------
    >>> ((low, high),) = tight_boxes(np.array([[0], [1]]), ("both",), size=10)
    >>> low.ravel().tolist(), high.ravel().tolist()
    ([1, 0, 0], [1, 0, 1])
    """
    everything = np.arange(len(ranks))
    touching: list[NDArray[np.bool_]] = []
    return _batched(_extend(ranks, sides, everything, touching, []), size)


def corner_bounds(
    corners: Corners, cuts: list[NDArray[np.float64]], sides: tuple[Side, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lower and upper bounds of boxes; a side that is not free has no bound.

    Examples
    --------
    >>> cuts = [np.array([-np.inf, 1.5, np.inf])]
    >>> corner_bounds((np.array([[1]]), np.array([[1]])), cuts, (">",))
    (array([[1.5]]), array([[inf]]))
    """
    low, high = corners
    lower, upper = np.full(low.shape, -np.inf), np.full(high.shape, np.inf)
    for feature, side in enumerate(sides):
        if side != "<=":
            lower[:, feature] = cuts[feature][low[:, feature]]
        if side != ">":
            upper[:, feature] = cuts[feature][high[:, feature] + 1]
    return lower, upper


def _extend(
    ranks: NDArray[np.intp],
    sides: tuple[Side, ...],
    inside: NDArray[np.intp],
    touching: list[NDArray[np.bool_]],
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
        new = _new_sides(ranks[:, feature], low, high, sides[feature])
        if all(side[kept].any() for side in touching):
            yield from _extend(ranks, sides, kept, touching + new, [*corner, (low, high)])


def rank_ranges(values: NDArray[np.intp], side: Side) -> Iterator[tuple[int, int]]:
    """Yield all ranges between sorted values, in canonical order.

    A side that is not free stays at the outermost value.

    Examples
    --------
    >>> list(rank_ranges(np.array([2, 5]), "both"))
    [(5, 5), (2, 2), (2, 5)]
    """
    lows = values[:1] if side == "<=" else values[::-1]
    for low in lows.tolist():
        highs = values[-1:] if side == ">" else values[values >= low]
        for high in highs.tolist():
            yield low, high


def _new_sides(
    column: NDArray[np.intp], low: int, high: int, side: Side
) -> list[NDArray[np.bool_]]:
    lower = [column == low] if side != "<=" else []
    upper = [column == high] if side != ">" else []
    return lower + upper


def _last_feature(
    ranks: NDArray[np.intp],
    side: Side,
    inside: NDArray[np.intp],
    touching: list[NDArray[np.bool_]],
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
        first, last = first[kept], last[kept]
        low, high = values[first], values[last]
        fixed = np.array(corner, dtype=np.intp).reshape(-1, 2)
        repeated = np.broadcast_to(fixed, (len(low), *fixed.shape))
        yield (
            np.column_stack([repeated[:, :, 0], low]),
            np.column_stack([repeated[:, :, 1], high]),
        )


def _index_ranges(n_values: int, side: Side) -> Iterator[Corners]:
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
        count += len(part[0])
        if count >= size:
            low, high = _joined(held)
            full = count - count % size
            for start in range(0, full, size):
                yield low[start : start + size], high[start : start + size]
            held, count = [(low[full:], high[full:])], count - full
    if count:
        yield _joined(held)


def _joined(parts: list[Corners]) -> Corners:
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
