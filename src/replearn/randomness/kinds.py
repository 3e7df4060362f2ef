"""Names of the encoding: its version, the kinds of cell, and the error for a cell without one."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

ENCODING_VERSION = "replearn-encoding-1"
"""Name of the encoding's rules, for certificates and plans; rules never change under one name."""

Cell = tuple[int, int]
"""Kind and word of one cell."""
Words = NDArray[np.uint64]
Kinds = NDArray[np.uint8]


class Kind(IntEnum):
    """What the word of a cell stands for (four bits)."""

    NUMBER = 0
    """A number that is exactly a float64; the word is its bits, with -0.0 as 0.0."""
    MISSING = 1
    """NaN, None, NA, NaT, null, masked; the word is 0."""
    TEXT = 2
    """Text; the word is a 64-bit digest of its UTF-8 bytes."""
    INTEGER = 3
    """A signed 64-bit integer that is not exactly a float64."""
    LARGE_INTEGER = 4
    """An integer from 2**63 to 2**64 - 1 that is not exactly a float64."""
    HUGE_INTEGER = 5
    """Any other integer that is not exactly a float64; the word is a 64-bit digest."""
    INSTANT = 6
    """Nanoseconds since 1970-01-01 UTC."""
    FAR_INSTANT = 7
    """Microseconds since 1970-01-01 UTC, where nanoseconds exceed 64 bits."""
    DURATION = 8
    """Nanoseconds."""
    LONG_DURATION = 9
    """Microseconds, where nanoseconds exceed 64 bits."""
    BYTES = 10
    """Bytes; the word is a 64-bit digest."""


class BadRowError(Exception):
    """A row that does not have as many cells as the first one."""


class BadCellError(Exception):
    """A cell without canonical encoding, by its position among the cells being encoded."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(position, reason)
        self.position = position
        self.reason = reason
