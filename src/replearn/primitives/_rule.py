"""Shared numbers against levels in units of 2**-30, compared as integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from replearn.bounds.laws import LAW_BITS

_UNIFORM_BITS = 53


def below_levels(uniforms: NDArray[np.float64], levels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether ``u < level / 2**30``: the same bits on every machine.

    Examples
    --------
    >>> below_levels(np.array([0.0, 0.5, 0.75]), np.array([0, 2**29, 2**30]))
    array([False, False,  True])
    """
    scaled = (uniforms * 2.0**_UNIFORM_BITS).astype(np.int64)
    return scaled < levels << (_UNIFORM_BITS - LAW_BITS)
