"""Warnings that point at the user's own line, however deep the library noticed."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

LIBRARIES = frozenset({"joblib", "replearn", "sklearn"})
"""Frames of these packages are not where the user can change anything."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the place of the nearest caller outside the libraries.

    Parameters
    ----------
    message : str
        The text.
    category : type
        The class of the warning.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("mind the step", UserWarning)
    >>> str(caught[0].message)
    'mind the step'
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _in_library(frame):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _in_library(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] in LIBRARIES
