"""The box with the largest sum of gains, exactly.

One feature: prefix sums (Kadane). Two features: all lower sides at once move their upper
side over the points, each with a tree of partial sums over the second feature: O(n^2 log n),
with numpy over the lower sides. More features: all ranges of the first ones, cut off where even
the positive gains inside cannot win.

Ties go to the first tight box in the canonical order of `_tight`: lower sides as high as
possible, upper sides as low as possible. A box chosen so is tight by itself.
"""

from typing import NamedTuple

import numpy as np

from replearn.paper.hypotheses._inputs import Indices, Integers, sums_by_index
from replearn.paper.hypotheses._tight import Side, rank_ranges

# Trees of all lower sides together: at most this many cells in each of four int64 arrays.
_TREE_CELLS = 2**21
# A single lower side takes a plain table of all sums up to this many cells.
_GRID_CELLS = 2**22


class BestBox(NamedTuple):
    """A box of positive gain: its sum of gains and the rank range of each feature."""

    gain: int
    corner: tuple[tuple[int, int], ...]


def best_box(
    ranks: Indices, gains: Integers, sides: tuple[Side, ...], at_least: int = 1
) -> BestBox | None:
    """Return the first box with the largest sum of gains, or None if it is below `at_least`.

    >>> best_box(np.array([[0], [1], [2]]), np.array([-1, 1, 1]), ("both",))
    BestBox(gain=2, corner=((1, 2),))
    """
    if gains[gains > 0].sum() < at_least:
        return None
    if len(sides) == 1:
        box = _best_range(sums_by_index(ranks[:, 0], gains), sides[0])
    elif len(sides) == 2:
        box = _best_rectangle(ranks, gains, sides)
    else:
        return _best_by_first_feature(ranks, gains, sides, at_least)
    return box if box.gain >= at_least else None


def _best_by_first_feature(
    ranks: Indices, gains: Integers, sides: tuple[Side, ...], at_least: int
) -> BestBox | None:
    best = None
    column = ranks[:, 0]
    for low, high in rank_ranges(np.unique(column), sides[0]):
        inside = (column >= low) & (column <= high)
        box = best_box(ranks[inside, 1:], gains[inside], sides[1:], at_least)
        if box is not None:
            best = BestBox(box.gain, ((low, high), *box.corner))
            at_least = box.gain + 1
    return best


def _best_range(sums: Integers, side: Side) -> BestBox:
    """Return the first best non-empty range of ranks: lower end high, then upper end low."""
    prefix = np.concatenate([[0], np.cumsum(sums)])
    last = len(sums) - 1
    if side == ">":
        reach = np.full(len(sums), prefix[-1])
    else:
        reach = np.maximum.accumulate(prefix[:0:-1])[::-1]  # the largest prefix after each rank
    value = (reach - prefix[:-1])[: 1 if side == "<=" else None]
    low = len(value) - 1 - int(np.argmax(value[::-1]))
    high = last if side == ">" else low + int(np.argmax(prefix[low + 1 :]))
    return BestBox(int(value[low]), ((low, high),))


def _best_rectangle(ranks: Indices, gains: Integers, sides: tuple[Side, ...]) -> BestBox:
    first = ranks[:, 0]
    top = int(first.max())
    # A lower side that moves alone is an upper side in the mirror.
    mirrored = sides[0] == ">"
    strip = _best_strip(top - first if mirrored else first, ranks[:, 1], gains, sides)
    if strip is None:
        return BestBox(0, ())
    low, high = strip
    if mirrored:
        low = top - high
        high = top
    inside = (first >= low) & (first <= high)
    across = _best_range(sums_by_index(ranks[inside, 1], gains[inside]), sides[1])
    return BestBox(across.gain, ((low, high), *across.corner))


def _best_strip(
    first: Indices, second: Indices, gains: Integers, sides: tuple[Side, ...]
) -> tuple[int, int] | None:
    """Return the first range of `first` whose best range of `second` is largest and positive."""
    cells, index = np.unique(np.column_stack([first, second]), axis=0, return_inverse=True)
    sums = sums_by_index(index.reshape(-1), gains)
    lows = np.unique(first) if sides[0] == "both" else np.zeros(1, dtype=np.intp)
    leaves = 1 << int(second.max()).bit_length()
    step = max(1, _TREE_CELLS // (2 * leaves))
    best = (0, 0, 0)
    for start in range(0, len(lows), step):
        group = lows[start : start + step]
        if len(group) == 1 and (int(cells[-1, 0]) + 1) * leaves <= _GRID_CELLS:
            value, high = _grid_sweep(cells, sums, leaves, sides[1])
        else:
            value, high = _tree_sweep(cells, sums, group, leaves, sides[1])
        winner = len(group) - 1 - int(np.argmax(value[::-1]))
        if value[winner] >= best[0]:  # later groups have higher lower sides
            best = (int(value[winner]), int(group[winner]), int(high[winner]))
    return best[1:] if best[0] > 0 else None


def _grid_sweep(
    cells: Indices, sums: Integers, leaves: int, side: Side
) -> tuple[Integers, Indices]:
    """Return what `_tree_sweep` returns, for one lower side below all cells."""
    table = np.zeros((int(cells[-1, 0]) + 1, leaves + 1), dtype=np.int64)
    table[cells[:, 0], cells[:, 1] + 1] = sums
    prefix = np.cumsum(np.cumsum(table, axis=0), axis=1)
    if side == "<=":
        values = prefix.max(axis=1)
    elif side == ">":
        values = prefix[:, -1] - prefix.min(axis=1)
    else:
        values = (prefix - np.minimum.accumulate(prefix, axis=1)).max(axis=1)
    high = np.argmax(values)
    return values[[high]], np.array([high])


def _tree_sweep(
    cells: Indices, sums: Integers, lows: Indices, leaves: int, side: Side
) -> tuple[Integers, Indices]:
    """Return, for each lower side, the best value and the first upper side that reaches it.

    Cells come in the order of the first feature. tree[0..3] hold for each node the sum, the
    best beginning, the best end and the best part of its range; the empty part counts 0.
    """
    tree = np.zeros((4, 2 * leaves, len(lows)), dtype=np.int64)
    best = tree[{"both": 3, ">": 2, "<=": 1}[side], 1]
    value = np.zeros(len(lows), dtype=np.int64)
    high = np.zeros(len(lows), dtype=np.intp)
    open_lows = np.searchsorted(lows, cells[:, 0], side="right")
    last_of_column = np.append(cells[1:, 0] != cells[:-1, 0], True)
    for (rank, leaf), gain, n_open, last in zip(
        cells.tolist(), sums.tolist(), open_lows.tolist(), last_of_column.tolist(), strict=True
    ):
        _add(tree[:, :, :n_open], leaves + leaf, gain)
        if last:
            better = best > value
            value[better] = best[better]
            high[better] = rank
    return value, high


def _add(tree: Integers, node: int, gain: int) -> None:
    """Add a gain to one leaf in all trees and mend the nodes above it."""
    total, begin, end, part = tree
    total[node] += gain
    begin[node] = end[node] = part[node] = np.maximum(total[node], 0)
    while node > 1:
        node //= 2
        left = 2 * node
        right = 2 * node + 1
        np.add(total[left], total[right], out=total[node])
        np.maximum(begin[left], total[left] + begin[right], out=begin[node])
        np.maximum(end[right], total[right] + end[left], out=end[node])
        np.maximum(part[left], part[right], out=part[node])
        np.maximum(part[node], end[left] + begin[right], out=part[node])
