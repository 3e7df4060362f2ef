"""Which cells of a column of objects hold no value."""

from __future__ import annotations

from numbers import Real
from typing import Any


def is_nan(cell: Any) -> bool:
    """Whether a cell is not a number: NaN of any type of number, or pandas' NA.

    None is a value of its own, as for scikit-learn's encoders; whoever wants it to be missing
    asks for it.

    Parameters
    ----------
    cell : object
        Of any kind.

    Returns
    -------
    bool
        False for texts, for None and for times that are none (NaT).

    Examples
    --------
    >>> import numpy as np
    >>> [is_nan(cell) for cell in (float("nan"), np.float32("nan"), 0.5, "nan", None)]
    [True, True, False, False, False]
    """
    if type(cell) is str:  # most cells: spare them the slow questions
        return False
    # pandas.NA answers NA to every comparison, so it is known by its name.
    return type(cell).__name__ == "NAType" or (isinstance(cell, Real) and bool(cell != cell))
