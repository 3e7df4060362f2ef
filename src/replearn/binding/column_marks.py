"""Marks that columns show by what repeats in them and by their products; see `binding.marks`.

They are found in a whole table, and in sums of its pieces beside some of its rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.floating[Any]]

IMPUTER = "an imputer that fills in the mean"
CUT = "a cut at quantiles (winsorising)"
ORTHOGONAL = "TruncatedSVD, or another transformer that makes columns orthogonal,"

TOLERANCE = 1e-9
FIRST_ROWS = 128
FEWEST_IMPUTED, FEWEST_CUT = 3, 20


def were_cut(ends: list[tuple[int, int]]) -> bool:
    """Whether equally many cells stand at both ends of several columns.

    >>> were_cut([(50, 50), (50, 51)]), were_cut([(50, 50), (40, 51)]), were_cut([(50, 50)])
    (True, False, False)
    """
    counts = [count for pair in ends for count in pair if min(pair) >= FEWEST_CUT]
    return len(counts) > 2 and max(counts) - min(counts) <= 1


def repeats_inside(column: Column) -> bool:
    """Whether many of the first cells between the ends are equal to others of them.

    >>> repeats_inside(np.arange(9.0)), repeats_inside(np.arange(9.0) // 3)
    (False, True)
    """
    inner = column[(column > column.min()) & (column < column.max())][: 8 * FIRST_ROWS]
    return len(inner) == 0 or len(np.unique(inner)) < 0.9 * len(inner)


def has_imputed_mean(column: Column, mean: float) -> bool:
    """Whether several cells are the mean of the column, and the mean is no round number.

    >>> has_imputed_mean(np.append(np.sqrt(np.arange(30.0)), np.full(3, np.sqrt(8))), np.sqrt(8))
    True
    """
    tolerance = TOLERANCE * max(1.0, abs(mean))
    if abs(mean - round(mean, 6)) <= tolerance or is_whole(column[:FIRST_ROWS]):
        return False
    is_near = np.abs(column - mean) <= tolerance
    near = column[is_near] if np.count_nonzero(is_near) >= FEWEST_IMPUTED else column[:0]
    return len(near) > 0 and bool((near == near[0]).all())


def products_vanish(products: NDArray[np.float64]) -> bool:
    """Whether the products of different columns are zero to within rounding.

    >>> products_vanish(np.eye(2)), products_vanish(np.ones((2, 2)))
    (True, False)
    """
    scale = np.sqrt(np.outer(np.diag(products), np.diag(products)))
    rest = np.abs(products - np.diag(np.diag(products)))
    return bool((rest <= TOLERANCE * scale).all())


def is_whole(column: Column) -> bool:
    """Whether all cells are whole numbers."""
    return bool((column == np.round(column)).all())
