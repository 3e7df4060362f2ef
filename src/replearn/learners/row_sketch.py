"""A small sketch of the training rows: it tells whether rows that somebody has were used.

A model keeps the smallest of the keyed hashes of its training rows, a few hundred numbers. Nobody
can read a row from them, but whoever has a row can ask whether it is among those that the sketch
would hold. ``save(model, path, sketch=False)`` leaves it out of a file.

Only rows that occur once are counted, in both samples: rows of a table of few categories occur
again in every fresh sample. A row that is expected k times in a sample occurs once with a
probability of at most ``k exp(-k) <= 1/e``, so fresh rows are never taken for the same ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.exceptions import RetrainingWarning, warn_user
from replearn.randomness.key import SharedKey
from replearn.tables.rows import n_rows

SKETCH_SIZE = 512
"""Hashes that a sketch keeps."""

MIN_COMPARED_ROWS = 20
"""Rows that must be compared before anything is said."""


@dataclass(frozen=True, eq=False)
class RowSketch:
    """The smallest hashes of rows that occur once, and the key that they were made with."""

    key: str
    hashes: NDArray[np.uint64]

    def share_of(self, X: Any) -> float | None:
        """Return the share of some rows that are in the sketched sample; None if too few tell."""
        hashes = _single_hashes(self.key, X)
        if hashes is None or len(self.hashes) == 0:
            return None
        is_whole = len(self.hashes) < SKETCH_SIZE
        compared = hashes if is_whole else hashes[hashes <= self.hashes[-1]]
        if len(compared) < MIN_COMPARED_ROWS:
            return None
        return float(np.isin(compared, self.hashes).mean())


def sketch_rows(X: Any) -> RowSketch | None:
    """Return a sketch of some rows; None where a row has no canonical encoding.

    The key follows from the rows, so that the hashes of one row differ between two samples.

    >>> sample = np.random.default_rng(0).normal(size=(1000, 3))
    >>> sketch_rows(sample).share_of(sample[500:]), sketch_rows(sample).share_of(sample + 1.0)
    (1.0, 0.0)
    """
    plain = _single_hashes("sketch", X)
    if plain is None:
        return None
    key = f"{n_rows(X)} {int(np.bitwise_xor.reduce(plain, initial=0)):016x}"
    hashes = _single_hashes(key, X)
    assert hashes is not None
    return RowSketch(key, hashes[:SKETCH_SIZE])


def rows_in_sketch(model: Any, X: Any) -> float | None:
    """Return the share of rows that are in the training sample of a model; None if unknown.

    It is unknown for models without a sketch, and where fewer than 20 rows can be compared: the
    sketch holds hashes of 512 rows, so 5,000 rows show about 20 of a sample of 100,000.
    """
    sketch = getattr(model, "row_sketch_", None)
    return None if sketch is None else sketch.share_of(X)


def warn_if_trained_on(name: str, model: Any, X: Any) -> None:
    """Warn if most of the rows are in the training sample of a model."""
    share = rows_in_sketch(model, X)
    if share is not None and share > 0.5:
        warn_user(
            f"about {100 * share:.0f} % of the rows are in the training sample of the {name} "
            "model, which is wrong on fewer of them than on new rows. Compare on rows that neither "
            "model was trained on.",
            RetrainingWarning,
        )


def _single_hashes(key: str, X: Any) -> NDArray[np.uint64] | None:
    """Return the hashes of the rows that occur once, in order."""
    try:
        hashes, counts = np.unique(SharedKey(key).hashes(X), return_counts=True)
    except (TypeError, ValueError):  # rows that no key can tell apart
        return None
    return np.asarray(hashes[counts == 1])
