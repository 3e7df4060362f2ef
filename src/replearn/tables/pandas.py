"""The one place that asks for pandas, when a result is wanted as a DataFrame."""

from __future__ import annotations

from typing import Any


def import_pandas() -> Any:
    """Return pandas; where it is missing, say how to get it.

    Examples
    --------
    >>> import_pandas().DataFrame({"row": [1]}).shape
    (1, 1)
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "frame() gives a pandas DataFrame: pip install 'replicable-learn[frames]'. Reports, "
            "to_dict() and print() work without pandas."
        ) from None
    return pandas
