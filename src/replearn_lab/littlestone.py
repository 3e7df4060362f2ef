"""Littlestone dimension of a finite class on a pool of points, and mistakes of online learners.

A class is given by the labels of its hypotheses on the pool, one row each. Both quantities are
recursions over the hypotheses that are left after some labels were seen, each a set of bit masks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Left = frozenset[int]
"""Hypotheses that agree with all labels so far; bit k of each is its label of point k."""

Predict = Callable[[Left, Left, Left], bool]
"""Predicts a label from all hypotheses that are left, and those that say 0 and 1."""


def littlestone_dimension(labels: ArrayLike) -> int:
    """Return the depth of the largest complete mistake tree that a finite class shatters.

    Parameters
    ----------
    labels : array-like of shape (n_hypotheses, n_points)
        Labels 0 and 1 of every hypothesis on the pool.

    Returns
    -------
    int
        0 if all hypotheses are equal on the pool.

    Examples
    --------
    Thresholds on 7 points: eight hypotheses in a row, and a mistake halves what is left.

    >>> littlestone_dimension(np.tri(8, 7, -1))
    3
    """
    return _dimension(*_as_masks(labels))


def worst_mistakes(labels: ArrayLike, predict: Predict) -> int:
    """Return the most mistakes of a learner that predicts from the hypotheses that are left.

    The worst case over all sequences of points of the pool with labels of some hypothesis.

    Examples
    --------
    >>> worst_mistakes(np.tri(8, 7, -1), halving), worst_mistakes(np.tri(8, 7, -1), by_dimension)
    (3, 3)
    """
    rows, n_points = _as_masks(labels)

    @cache
    def mistakes(left: Left) -> int:
        worst = 0
        for zeros, ones in _splits(left, n_points):
            told = predict(left, zeros, ones)
            worst = max(worst, told + mistakes(zeros), (not told) + mistakes(ones))
        return worst

    return mistakes(rows)


def halving(left: Left, zeros: Left, ones: Left) -> bool:
    """Predict what most of the hypotheses say that are left; ties: 0."""
    return len(ones) > len(zeros)


def by_dimension(left: Left, zeros: Left, ones: Left) -> bool:
    """Predict the label with the larger dimension (the standard optimal algorithm); ties: 0."""
    n_points = max(left).bit_length()
    return _dimension(ones, n_points) > _dimension(zeros, n_points)


def first_consistent(left: Left, zeros: Left, ones: Left) -> bool:
    """Predict what the first hypothesis says that is left, in one fixed order."""
    return min(left) in ones


@cache
def _dimension(left: Left, n_points: int) -> int:
    best = 0
    for zeros, ones in _splits(left, n_points):
        if min(len(zeros), len(ones)) >= 2**best:  # fewer cannot shatter a deeper tree
            best = max(best, 1 + min(_dimension(zeros, n_points), _dimension(ones, n_points)))
        if len(left) < 2 ** (best + 1):
            break
    return best


def _splits(left: Left, n_points: int) -> Iterator[tuple[Left, Left]]:
    """Yield the hypotheses with label 0 and 1, for each point on which some differ."""
    for point in range(n_points):
        ones = frozenset(row for row in left if row >> point & 1)
        if 0 < len(ones) < len(left):
            yield left - ones, ones


def _as_masks(labels: ArrayLike) -> tuple[Left, int]:
    table: Any = np.asarray(labels)
    if table.ndim != 2 or len(table) == 0 or not np.isin(table, (0, 1)).all():
        raise ValueError(
            f"labels must be a table of 0 and 1 with a row for each hypothesis, got an array of "
            f"shape {table.shape}."
        )
    rows = table.astype(bool).tolist()
    return frozenset(sum(1 << k for k, one in enumerate(row) if one) for row in rows), len(rows[0])
