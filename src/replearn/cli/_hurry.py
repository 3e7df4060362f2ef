"""Fewer rows where reading all of a file would use up the time budget."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from replearn.randomness import SharedKey

READ_SHARE = 0.25
"""Share of the budget after which the table should be there."""

LEAST_ROWS = 20_000
"""So many rows are read in any case."""

DEARER = 8.0
"""Making cells of the texts and looking at them takes about so many times as long as cutting lines
into texts, which cannot be avoided."""


class Thinning:
    """Draw rows of a file that has been cut into cells, as many as there is time for.

    The rows are drawn by the key, all over the file: its first rows may be of another kind. The
    command ``started`` at that time of ``time.monotonic``, and has ``budget`` seconds.

    >>> import polars as pl
    >>> late = Thinning(time.monotonic() - 100, 60.0, SharedKey(0))
    >>> late(pl.DataFrame({"x": np.arange(30_000)})).height
    20000
    >>> late.told
    ['20,000 of 30,000 rows of the file were read, drawn by the key, to keep the time budget']
    """

    def __init__(self, started: float, budget: float, key: SharedKey) -> None:
        self.told: list[str] = []
        self._end = started + READ_SHARE * budget
        self._began = time.monotonic()
        self._key = key

    def __call__(self, frame: Any) -> Any:
        """Return the frame, or some of its rows in their order."""
        now = time.monotonic()
        left, each = self._end - now, DEARER * (now - self._began) / frame.height
        n_rows = max(LEAST_ROWS, int(left / max(each, 1e-9)))
        if n_rows >= frame.height:
            return frame
        self.told.append(
            f"{n_rows:,} of {frame.height:,} rows of the file were read, drawn by the key, to keep "
            "the time budget"
        )
        rng = np.random.default_rng(self._key.child("rows read").seed_for("permutation"))
        return frame[np.sort(rng.permutation(frame.height)[:n_rows])]
