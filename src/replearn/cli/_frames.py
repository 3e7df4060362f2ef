"""Frames for a user's own pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np


def to_pandas(frame: Any) -> Any:
    """Return a frame for a user's own pipeline: as pandas where it is installed."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        return frame
    return pd.DataFrame({name: _pandas_column(frame[name]) for name in frame.columns})


def _pandas_column(column: Any) -> Any:
    is_text = str(column.dtype) == "String"
    return np.array(column.to_list(), dtype=object) if is_text else column.to_numpy()
