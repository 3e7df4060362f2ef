"""Replicable model selection: the exponential mechanism with shared Gumbels.

The candidate with the smallest ``sharpness * error - Gumbel`` is selected. The Gumbels are keyed by
what a candidate is: neither the order of the list nor candidates that lose can change the result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.selection import selection_agreement
from replearn.guarantees.certificate import Certificate, Identity
from replearn.guarantees.promise import derive
from replearn.guarantees.selection import choice_scale
from replearn.primitives.candidates import (
    Choice,
    candidate_count,
    chosen_item,
    error_counts,
    name_points,
    named_candidates,
    names_digest,
    requested,
)
from replearn.randomness import SharedKey, gumbel_from_hashes

# All keyed Gumbels lie between these numbers: 52-bit uniforms.
_LARGEST = float(gumbel_from_hashes(np.array([2**64 - 1], dtype=np.uint64))[0])
_SMALLEST = float(gumbel_from_hashes(np.array([0], dtype=np.uint64))[0])


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection(Choice):
    """The selected candidate; a `Choice` with its score.

    Parameters
    ----------
    margin : float
        Distance to the second best score ``sharpness * error - Gumbel``.
    sharpness : float
        Scale of the errors relative to the Gumbels.
    """

    margin: float
    sharpness: float

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


def select_hypothesis(
    candidates: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    key: SharedKey | str | bytes | int,
    names: Any = None,
    rho: float = 0.1,
    alpha: float = 0.1,
    beta: float = 0.05,
    sharpness: float | None = None,
) -> Selection:
    """Select a nearly best model, the same in two runs except with probability rho.

    Parameters
    ----------
    candidates : mapping, Cover, Rules, matrix of predictions, or sequence
        Fitted estimators, callables or hypotheses, the same in both runs and fixed before the
        sample is seen.
    X : container of rows, None, or iterable of (X, y) chunks when y is None
        The sample; None if candidates is a matrix with one column for each row.
    y : array-like, default=None
        Labels.
    key : SharedKey, str, bytes or int
        The same in both runs.
    names : container of rows, default=None
        Names of the candidates, which are not needed for mappings, covers and hypotheses.
    rho : float, default=0.1
        Probability that two runs may choose differently.
    alpha, beta : float, default=0.1, 0.05
        Largest excess error, and its failure probability.
    sharpness : float, default=None
        Scale of the errors relative to the random numbers. If None, that of `choice_scale`.

    Returns
    -------
    Selection
        The choice with its certificate. Rows are read in chunks, so that predictions of all
        candidates for all rows are never in memory at once.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random(4000)
    >>> rules = {"young": lambda x: x < 0.3, "half": lambda x: x < 0.5}
    >>> chosen = select_hypothesis(rules, X, X < 0.5, key="k", alpha=0.05)
    >>> chosen.name, chosen.error, chosen.certificate.certified
    ('half', 0.0, False)
    """
    targets = requested(rho, alpha, beta)
    key = SharedKey(key)
    plain, names = named_candidates(candidates, names)
    count = candidate_count(plain)
    wrong, n = error_counts(plain, X, y)
    errors = wrong / n
    if sharpness is None:
        sharpness = choice_scale(count, n, rho, alpha, beta)
    index, margin = choose_by_errors(errors, names, sharpness=sharpness, key=key)
    run: dict[str, Any] = {"n": n, "n_hypotheses": count, "sharpness": float(sharpness), **targets}
    identity = Identity(key.fingerprint, candidates=names_digest(names, count))
    certificate = Certificate.of(derive("selection", run), identity)
    chosen = {**chosen_item(plain, names, index), "errors": errors, "margin": margin}
    return Selection(**chosen, certificate=certificate, sharpness=float(sharpness))
