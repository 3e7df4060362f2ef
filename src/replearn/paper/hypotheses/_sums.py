"""Exact sums of 64-bit integers over the rows that many rules label 1.

The same sums serve two ends: empirical errors (sums of gains) and identities (sums of codes
modulo 2**64). Boxes with one or two bounded features take prefix sums, so that 10**5 stumps on
10**6 rows cost a sort for each feature and not 10**11 comparisons.
"""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.paper.hypotheses._inputs import Floats, Labels

# A plane grid of prefix sums is used up to this many cells (64 MB of 64-bit integers).
GRID_CELLS = 2**23
# Limbs of 22 bits: products of booleans with them sum exactly in doubles up to 2**31 rows.
_LIMB_BITS = 22
# Integers below this many bits are exact in single precision.
_SINGLE_BITS = 24


def labelled_sums(labels: Labels, values: NDArray[Any]) -> NDArray[Any]:
    """Return labels @ values in 64-bit integers, exactly, by fast floating-point products.

    >>> labelled_sums(np.array([[True, False, True]]), np.array([-5, 7, 2**60])).tolist()
    [1152921504606846971]
    """
    width = prod(values.shape[1:])
    matrix = np.ascontiguousarray(values).reshape(len(values), width)
    # Weights are multiples of a power of two (all the same one without sample_weight).
    bits = int(np.bitwise_or.reduce(matrix, axis=None))
    shift = max((bits & -bits).bit_length() - 1, 0)
    small = matrix >> shift
    largest = max(abs(int(small.max(initial=0))), abs(int(small.min(initial=0))))
    if small.dtype == np.int64 and largest * len(small) < 2**_SINGLE_BITS:
        sums = (labels.astype(np.float32) @ small.astype(np.float32)).astype(np.int64)
        return (sums << shift).reshape(len(labels), *values.shape[1:])
    return _limb_sums(labels, matrix).reshape(len(labels), *values.shape[1:])


def _limb_sums(labels: Labels, matrix: NDArray[Any]) -> NDArray[Any]:
    words = matrix.view(np.uint64)
    chosen = labels.astype(np.float64)
    total = np.zeros((len(labels), matrix.shape[1]), dtype=np.uint64)
    for shift in range(0, 64, _LIMB_BITS):
        limb = (words >> np.uint64(shift)) & np.uint64(2**_LIMB_BITS - 1)
        total += (chosen @ limb.astype(np.float64)).astype(np.uint64) << np.uint64(shift)
    return total.view(matrix.dtype)


def box_sums(
    lower: Floats, upper: Floats, rows: Floats, values: NDArray[Any], out: NDArray[Any]
) -> Labels:
    """Fill `out` for the boxes that prefix sums can serve; return a mask of the others."""
    bounded = (lower > -np.inf) | (upper < np.inf)
    width = bounded.sum(axis=1)
    out[width == 0] = values.sum(axis=0)
    rest: Labels = width > 2
    for feature in np.flatnonzero(bounded[width == 1].any(axis=0)):
        mine = (width == 1) & bounded[:, feature]
        column = rows[:, feature]
        out[mine] = _line_sums(lower[mine, feature], upper[mine, feature], column, values)
    pairs = np.argwhere(bounded[width == 2])[:, 1].reshape(-1, 2)
    for pair in np.unique(pairs, axis=0):
        mine = (width == 2) & bounded[:, pair].all(axis=1)
        corners = lower[mine][:, pair], upper[mine][:, pair]
        cuts = [np.unique(np.concatenate([side[:, axis] for side in corners])) for axis in (0, 1)]
        if (len(cuts[0]) + 1) * (len(cuts[1]) + 1) > GRID_CELLS:
            rest |= mine
            continue
        out[mine] = _grid_sums(*corners, cuts, rows[:, pair], values)
    return rest


def _line_sums(lower: Floats, upper: Floats, column: Floats, values: NDArray[Any]) -> NDArray[Any]:
    order = np.argsort(column)
    prefix = np.zeros((len(column) + 1, *values.shape[1:]), dtype=values.dtype)
    np.cumsum(values[order], axis=0, out=prefix[1:])
    ordered = column[order]
    end = np.searchsorted(ordered, upper, side="right")
    start = np.minimum(np.searchsorted(ordered, lower, side="right"), end)
    return prefix[end] - prefix[start]


def _grid_sums(
    lower: Floats, upper: Floats, cuts: list[Floats], rows: Floats, values: NDArray[Any]
) -> NDArray[Any]:
    # Cell c of an axis holds cuts[c - 1] < x <= cuts[c]; one more line of zeros in front.
    shape = (len(cuts[0]) + 2, len(cuts[1]) + 2)
    grid = np.zeros((*shape, *values.shape[1:]), dtype=values.dtype)
    cells = tuple(np.searchsorted(cuts[axis], rows[:, axis]) + 1 for axis in (0, 1))
    np.add.at(grid, cells, values)
    np.cumsum(grid, axis=0, out=grid)
    np.cumsum(grid, axis=1, out=grid)
    end = [np.searchsorted(cuts[axis], upper[:, axis]) + 1 for axis in (0, 1)]
    start = [np.searchsorted(cuts[axis], lower[:, axis]) + 1 for axis in (0, 1)]
    start = [np.minimum(first, last) for first, last in zip(start, end, strict=True)]
    return (
        grid[end[0], end[1]]
        - grid[start[0], end[1]]
        - grid[end[0], start[1]]
        + grid[start[0], start[1]]
    )
