"""Checks of what a primitive is given; the messages name the parameter."""

from __future__ import annotations

from typing import Any

import numpy as np


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
