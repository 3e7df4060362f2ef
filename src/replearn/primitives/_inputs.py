"""Checks of what a primitive is given; the messages name the parameter."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def heads_of(flips: Any) -> NDArray[np.bool_]:
    """Throws as truth values, one column per coin; -1/+1, 0/1 and booleans are understood.

    Examples
    --------
    >>> heads_of([-1, 1, 1]).ravel().tolist()
    [False, True, True]
    """
    throws = np.asarray(flips)
    if throws.ndim == 1:
        throws = throws[:, np.newaxis]
    if throws.ndim != 2 or throws.shape[0] == 0:
        raise ValueError(f"flips must have one row per throw, got shape {np.shape(flips)}.")
    if throws.dtype.kind == "b":
        return throws
    heads = throws == 1
    others = throws[~heads]
    if others.size and not (np.all(others == 0) or np.all(others == -1)):
        raise ValueError("flips must be -1 and +1, or 0 and 1.")
    return heads
