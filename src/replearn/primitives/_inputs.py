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


def fraction(name: str, value: Any, *, optional: bool = False) -> float | None:
    """Return a float in (0, 1], or None where that is allowed.

    Examples
    --------
    >>> fraction("rho", 0.1)
    0.1
    """
    if value is None and optional:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number, got {value!r}.")
    if not 0.0 < value <= 1.0:
        raise ValueError(f"{name}={value!r} must lie in (0, 1].")
    return float(value)
