"""Choose one of N hypotheses alike in two runs: exponential mechanism with shared Gumbels.

The candidate with the smallest ``t * error - Gumbel`` is chosen. The Gumbels are keyed by what the
candidate is, so that neither the order of a list nor candidates that lose can change the choice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds.selection import (
    selection_agreement,
    selection_error_tail_sampled,
    selection_scale,
    stable_scale,
)
from replearn.guarantees._choice_promises import same_and_good
from replearn.guarantees._primitive_certificate import PrimitiveCertificate, derivation
from replearn.guarantees._steps import Ledger
from replearn.primitives._candidates import (
    candidate_count,
    error_counts,
    name_points,
    named_candidates,
    names_digest,
)
from replearn.randomness import SharedKey
from replearn.randomness.hashing import gumbel_from_hashes
from replearn.records.checks import check_fraction

__all__ = ["Selection", "choice_scale", "choose_by_errors", "select_hypothesis"]

# All keyed Gumbels lie between these numbers: 52-bit uniforms.
_LARGEST = float(gumbel_from_hashes(np.array([2**64 - 1], dtype=np.uint64))[0])
_SMALLEST = float(gumbel_from_hashes(np.array([0], dtype=np.uint64))[0])


@dataclass(frozen=True, eq=False)
class Selection:
    """The candidate that was chosen, and why.

    Parameters
    ----------
    index : int
        Its place in the list.
    candidate : object
        The candidate; None for a matrix of predictions.
    name : object
        What it is called.
    margin : float
        How far the next one was behind, in units of the score ``t * error - Gumbel``.
    errors : ndarray
        Empirical errors of all candidates.
    t : float
        Scale of the errors against the Gumbels.
    certificate : PrimitiveCertificate
        What is promised.
    """

    index: int
    candidate: Any
    name: Any
    margin: float
    errors: NDArray[np.float64]
    t: float
    certificate: PrimitiveCertificate

    @property
    def error(self) -> float:
        """Empirical error of the chosen candidate."""
        return float(self.errors[self.index])

    def agreement(self, other: Selection) -> float:
        """Return the exact probability, over keys, that two runs with these errors agree.

        Parameters
        ----------
        other : Selection
            Another run with the same candidates in the same order, and the same t.

        Returns
        -------
        float
            P(same choice) for these two vectors of errors.
        """
        if other.t != self.t:
            raise ValueError(f"t is {self.t} here and {other.t} there: the runs must share it.")
        # theorem: hypothesis-selection
        return selection_agreement(self.t, self.errors, other.errors)


@derivation("select hypothesis")
def _derive(
    ledger: Ledger,
    n: int,
    n_hypotheses: int,
    t: float,
    rho: float,
    alpha: float,
    beta: float,
    candidates: str,
) -> tuple[list[str], list[str]]:
    flip = ledger.add(
        "selection_sampled",
        "hypothesis-selection",
        t=t,
        n_hypotheses=n_hypotheses,
        m=n,
    )
    tail = ledger.add(
        "selection_error", "hypothesis-selection", t=t, n_hypotheses=n_hypotheses, m=n, alpha=alpha
    )
    return same_and_good(n, flip, tail, rho=rho, alpha=alpha, beta=beta)


def choice_scale(n_hypotheses: int, m: int, rho: float, alpha: float, beta: float) -> float:
    """Return the scale t to choose with: from the request and the number of rows alone.

    The largest t that keeps rho when that is accurate enough: the budget is spent on accuracy.
    Otherwise no t keeps both promises, and t is what (alpha, beta) asks for.

    Parameters
    ----------
    n_hypotheses : int
        Number of candidates.
    m : int
        Number of rows.
    rho, alpha, beta : float
        Probability of another choice, excess error, and its failure probability.

    Examples
    --------
    >>> [round(choice_scale(20, m, 0.1, 0.1, 0.05), 1) for m in (300_000, 9000)]
    [138.8, 61.5]
    """
    if n_hypotheses == 1:
        return 0.0
    stable = stable_scale(rho, n_hypotheses, m)
    if selection_error_tail_sampled(stable, n_hypotheses, alpha, m) <= beta:
        return stable
    accurate = selection_scale(n_hypotheses, alpha, beta, m)
    return math.log(n_hypotheses / beta) / alpha if accurate is None else accurate


def choose_by_errors(
    errors: ArrayLike, names: Any, *, t: float, key: SharedKey
) -> tuple[int, float]:
    """Return the place of the smallest ``t * error - Gumbel`` and its margin.

    Parameters
    ----------
    errors : array-like of shape (N,)
        Empirical errors.
    names : container of N rows, or uint32 array of shape (N, 4)
        What the candidates are; equal names are an error.
    t : float
        Scale of the errors against the Gumbels.
    key : SharedKey
        The same in both runs.

    Returns
    -------
    index : int
        The chosen candidate.
    margin : float
        How far the next one was behind.

    Examples
    --------
    >>> choose_by_errors([0.3, 0.1, 0.3], ["a", "b", "c"], t=200.0, key=SharedKey("k"))[0]
    1
    """
    values = np.asarray(errors, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0 or not np.isfinite(values).all():
        raise ValueError("errors must be one finite number for each candidate, at least one.")
    points = name_points(names, len(values))
    scores = -t * values
    # Gumbels are bounded: a candidate this far behind cannot win, and is not hashed.
    possible = scores >= scores.max() - (_LARGEST - _SMALLEST)
    rows = None if possible.all() else np.flatnonzero(possible)
    if rows is not None:
        points, scores = points.take(rows), scores[rows]
    hashes = key.child("selection").hashes(points)
    # theorem: hypothesis-selection
    scores += gumbel_from_hashes(hashes)
    best = int(np.argmax(scores))
    if np.count_nonzero(hashes == hashes[best]) > 1:
        raise ValueError("names must differ: two candidates have the name of the chosen one.")
    top, scores[best] = float(scores[best]), -math.inf
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
    t: float | None = None,
) -> Selection:
    """Choose a nearly best candidate, the same in two runs except with probability rho.

    Parameters
    ----------
    candidates : mapping, Cover, Rules, matrix of predictions, or sequence
        Fitted estimators, callables, hypotheses: the same in both runs, fixed before the sample.
    X : container of rows, None, or iterable of (X, y) chunks when y is None
        The sample; None when candidates is a matrix with one column for each row.
    y : array-like, default=None
        Labels.
    key : SharedKey, str, bytes or int
        The same in both runs.
    names : container of rows, default=None
        What the candidates are; not needed for mappings, covers and hypotheses.
    rho : float, default=0.1
        Probability that two runs may choose differently.
    alpha, beta : float, default=0.1, 0.05
        Excess error allowed and its failure probability.
    t : float, default=None
        Scale of the errors; None: see `choice_scale`.

    Returns
    -------
    Selection
        With its certificate; rows are read in chunks, so that predictions of all candidates for
        all rows are never in memory at once.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random(4000)
    >>> rules = {"young": lambda x: x < 0.3, "half": lambda x: x < 0.5}
    >>> chosen = select_hypothesis(rules, X, X < 0.5, key=SharedKey("k"), alpha=0.05)
    >>> chosen.name, chosen.error, chosen.certificate.certified
    ('half', 0.0, False)
    """
    for name, value in (("rho", rho), ("alpha", alpha), ("beta", beta)):
        check_fraction(name, value)
    key = SharedKey(key)
    plain, names = named_candidates(candidates, names)
    count = candidate_count(plain)
    wrong, n = error_counts(plain, X, y)
    errors = wrong / n
    if t is None:
        t = choice_scale(count, n, rho, alpha, beta)
    index, margin = choose_by_errors(errors, names, t=t, key=key)
    certificate = PrimitiveCertificate.issue(
        "select hypothesis",
        key.fingerprint,
        n=n,
        n_hypotheses=count,
        t=float(t),
        rho=float(rho),
        alpha=float(alpha),
        beta=float(beta),
        candidates=names_digest(names, count),
    )
    candidate = None if isinstance(plain, np.ndarray) else plain[index]
    return Selection(index, candidate, names[index], margin, errors, float(t), certificate)
