"""Columns that look computed: numbers that differ from others in their last bits only.

A sum, a product of matrices or a logarithm may come out with other last bits on another machine or
with another version of a library. A point that differs in one bit has another threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.exceptions import PreprocessingWarning, warn_user

_LAST_BITS = 16
"""Units of the last bit: 10,000 independent numbers have two as close with probability 1e-6."""


def nearly_equal(ordered: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell for each row of sorted numbers whether two differ in their last bits only.

    Whole numbers are not looked at: neighbours above 2**53 differ by one unit.

    >>> nearly_equal(np.array([[0.1, 0.3, 0.1 + 0.2], [0.1, 0.2, 0.3]]))
    array([ True, False])
    """
    upper = ordered[:, 1:]
    with np.errstate(invalid="ignore"):
        gaps = upper - ordered[:, :-1]
        # One unit is at most an epsilon of the number, or the least number there is.
        limits = np.abs(upper)
        limits *= _LAST_BITS * np.finfo(np.float64).eps
        limits += _LAST_BITS * np.finfo(np.float64).smallest_subnormal
        rows, columns = np.nonzero((gaps > 0) & (gaps <= limits))
        numbers = upper[rows, columns]
        close = gaps[rows, columns] <= _LAST_BITS * np.spacing(np.abs(numbers))
    found = np.zeros(len(ordered), dtype=bool)
    found[rows[close & (numbers != np.rint(numbers))]] = True
    return found


def warn_of_computed(names: Sequence[Any]) -> None:
    """Warn that columns look computed."""
    if not names:
        return
    shown = ", ".join(repr(name) for name in names[:3]) + (", ..." if len(names) > 3 else "")
    warn_user(
        f"column{'s' if len(names) > 1 else ''} {shown}: some numbers differ from others in their "
        "last bits only, as numbers do that were computed in two ways. Another machine or another "
        "version may compute other last bits, and a point that differs in one bit has another "
        "threshold. Use decimals=6 in all runs, or identify rows by ids=.",
        PreprocessingWarning,
    )
