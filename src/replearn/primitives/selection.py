"""Replicable model selection: the exponential mechanism with shared Gumbels.

The candidate with the smallest ``sharpness * error - Gumbel`` is selected. The Gumbels are keyed by
what a candidate is: neither the order of the list nor candidates that lose can change the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds.selection import selection_agreement
from replearn.guarantees.certificate import Certificate
from replearn.primitives.candidates import name_points
from replearn.randomness.hashing import gumbel_from_hashes
from replearn.randomness.key import SharedKey

# All keyed Gumbels lie between these numbers: 52-bit uniforms.
_LARGEST = float(gumbel_from_hashes(np.array([2**64 - 1], dtype=np.uint64))[0])
_SMALLEST = float(gumbel_from_hashes(np.array([0], dtype=np.uint64))[0])


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection:
    """The selected candidate.

    Parameters
    ----------
    index : int
        Its index in the list.
    candidate : object
        The candidate; None for a matrix of predictions.
    name : object
        Its name.
    errors : ndarray
        Empirical errors of all candidates.
    margin : float
        Distance to the second best score ``sharpness * error - Gumbel``.
    sharpness : float
        Scale of the errors relative to the Gumbels.
    certificate : Certificate
        What is promised.
    """

    index: int
    candidate: Any
    name: Any
    errors: NDArray[np.float64]
    margin: float
    sharpness: float
    certificate: Certificate

    @property
    def error(self) -> float:
        """Empirical error of the chosen candidate."""
        return float(self.errors[self.index])

    def agreement(self, other: Selection) -> float:
        """Return the exact probability, over keys, that two runs with these errors agree.

        Parameters
        ----------
        other : Selection
            Another run with the same candidates in the same order, and the same sharpness.

        Returns
        -------
        float
            P(same choice) for these two vectors of errors.
        """
        if other.sharpness != self.sharpness:
            raise ValueError(
                f"sharpness is {self.sharpness} here and {other.sharpness} there: the runs must "
                "share it."
            )
        # theorem: hypothesis-selection
        return selection_agreement(self.sharpness, self.errors, other.errors)


def choose_by_errors(
    errors: ArrayLike, names: Any, *, sharpness: float, key: SharedKey | str | bytes | int
) -> tuple[int, float]:
    """Select the smallest ``sharpness * error - Gumbel``; return its index and its margin.

    Parameters
    ----------
    errors : array-like of shape (N,)
        Empirical errors.
    names : container of N rows, or uint32 array of shape (N, 4)
        Names of the candidates; equal names are an error.
    sharpness : float
        Scale of the errors relative to the Gumbels.
    key : SharedKey, str, bytes or int
        The same in both runs.

    Returns
    -------
    index : int
        The chosen candidate.
    margin : float
        Distance to the second best candidate.

    Examples
    --------
    >>> choose_by_errors([0.3, 0.1, 0.3], ["a", "b", "c"], sharpness=200.0, key="k")[0]
    1
    """
    values = np.asarray(errors, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise ValueError("errors must be one finite number for each candidate, at least one.")
    points = name_points(names, len(values))
    scores = -sharpness * values
    # Gumbels are bounded: a candidate this far behind cannot win, and is not hashed.
    possible = scores >= scores.max() - (_LARGEST - _SMALLEST)
    rows = None if possible.all() else np.flatnonzero(possible)
    if rows is not None:
        points = points.take(rows)
        scores = scores[rows]
    hashes = SharedKey(key).child("selection").hashes(points)
    # theorem: hypothesis-selection
    scores += gumbel_from_hashes(hashes)
    best = int(np.argmax(scores))
    if np.count_nonzero(hashes == hashes[best]) > 1:
        raise ValueError("names must differ: two candidates have the name of the chosen one.")
    top = float(scores[best])
    scores[best] = -math.inf
    return best if rows is None else int(rows[best]), top - float(scores.max())
