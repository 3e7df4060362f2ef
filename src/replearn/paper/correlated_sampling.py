"""Correlated sampling: two near distributions are sampled alike (``lemma:correlated-sampling``).

One shared Gumbel for each element; the largest log weight plus Gumbel is drawn. Theory page:
correlated-sampling.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds.multiclass import log_weight_agreement
from replearn.bounds.selection import selection_flip_bound
from replearn.bounds.theorem import theorem
from replearn.guarantees.certificate import Certificate, certify
from replearn.guarantees.promise import Ledger, Promise, Task, rounded_up
from replearn.primitives.candidates import row_bytes
from replearn.randomness.key import SharedKey
from replearn.randomness.points import Points, as_points
from replearn.tables.rows import n_rows, row_chunks, slice_rows


@theorem("correlated-sampling")
def draw_flip(deviation: float) -> float:
    """Probability that two draws differ when no log weight moves by more than ``deviation``."""
    return selection_flip_bound(1.0, deviation)


def _draw(ledger: Ledger, deviation: float | None) -> Promise:
    in_general = (
        "A candidate is drawn with probability proportional to its weight; two runs with weights "
        "p and q differ with probability at most 2 TV(p, q)/(1 + TV(p, q))."
    )
    if deviation is None:
        return Promise(promises=(in_general,))
    flip = ledger.add(draw_flip, deviation=deviation)
    here = (
        f"If no log weight moves by more than {deviation:g}, two runs differ with probability "
        f"at most {rounded_up(flip)}."
    )
    return Promise(promises=(in_general, here), rho=flip)


TASKS = (
    Task(
        "correlated sampling",
        _draw,
        learners=("sample_correlated",),
        theorem="correlated-sampling",
    ),
)

_CHUNK = 1 << 18


@dataclass(frozen=True, eq=False)
class CorrelatedDraw:
    """One candidate, drawn with shared Gumbels.

    Parameters
    ----------
    index : int
        Position of the candidate.
    value : object
        The candidate.
    score : float
        Its log weight plus its Gumbel.
    margin : float
        Distance to the second best candidate.
    certificate : Certificate
        What is promised.
    """

    index: int
    value: Any
    score: float
    margin: float
    certificate: Certificate


def sample_correlated(
    candidates: Any,
    log_weights: ArrayLike,
    *,
    key: SharedKey | str | bytes | int,
    deviation: float | None = None,
) -> CorrelatedDraw:
    """Draw one candidate with probability proportional to its weight.

    Parameters
    ----------
    candidates : container of rows, or Points
        The candidates, all different. The Gumbels are keyed by their values.
    log_weights : array-like of float
        Logarithms of the weights, not normalised; ``-inf`` for weight 0.
    key : SharedKey, str, bytes or int
        The same in both runs.
    deviation : float, default=None
        By how much a log weight may differ between the runs. If given, the certificate states a
        number.

    Examples
    --------
    >>> draw = sample_correlated(["a", "b", "c"], [0.0, 9.0, 0.0], key="k")
    >>> draw.value
    'b'
    """
    weights = np.asarray(log_weights, dtype=np.float64)
    n = len(candidates) if isinstance(candidates, Points) else n_rows(candidates)
    if weights.shape != (n,):
        raise ValueError(f"log_weights has shape {weights.shape} for {n} candidates.")
    chunks = (
        (_rows(candidates, start, stop), weights[start:stop])
        for start, stop in row_chunks(n, _CHUNK)
    )
    return sample_correlated_stream(chunks, key=key, deviation=deviation)


def sample_correlated_stream(
    chunks: Iterable[tuple[Any, ArrayLike]],
    *,
    key: SharedKey | str | bytes | int,
    deviation: float | None = None,
) -> CorrelatedDraw:
    """Draw one candidate from a stream of chunks, never holding more than one of them.

    Parameters
    ----------
    chunks : iterable of (candidates, log_weights)
        The chunks; their sizes and their order do not matter.
    key, deviation
        As for `sample_correlated`.

    Examples
    --------
    >>> stream = [(["a", "b"], [0.0, 1.0]), (["c"], [0.5])]
    >>> whole = sample_correlated(["a", "b", "c"], [0.0, 1.0, 0.5], key=SharedKey("k"))
    >>> sample_correlated_stream(stream, key=SharedKey("k")).value == whole.value
    True
    """
    key = SharedKey(key)
    child = key.child("correlated sampling")
    best = -np.inf
    second = -np.inf
    index = -1
    value = None
    offset = 0
    for candidates, log_weights in chunks:
        weights = _checked(log_weights)
        # theorem: correlated-sampling
        scores = weights + child.gumbels(as_points(candidates), ["draw"])[:, 0]
        if len(scores) and scores.max() > best:
            top = int(np.argmax(scores))
            index = offset + top
            value = _row(candidates, top)
        largest = np.partition(scores, -2)[-2:] if len(scores) > 2 else scores
        *_, second, best = sorted([second, best, *largest.tolist()])
        offset += len(scores)
    if index < 0:
        raise ValueError("log_weights must be finite for at least one candidate.")
    certificate = certify("correlated sampling", key.fingerprint, deviation=deviation)
    return CorrelatedDraw(index, value, best, best - second, certificate)


def agreement_of_draws(first: tuple[Any, ArrayLike], second: tuple[Any, ArrayLike]) -> float:
    """Return the exact probability, over keys, that two draws give the same candidate.

    Parameters
    ----------
    first, second : (candidates, log_weights)
        What the two runs draw from. A candidate that only one run has gets weight 0 in the other.

    Examples
    --------
    >>> p, q = (["a", "b"], np.log([0.6, 0.4])), (["b", "a"], np.log([0.6, 0.4]))
    >>> round(agreement_of_draws(p, q), 6)
    0.8
    """
    mine = _checked(first[1])
    its = _checked(second[1])
    indices = {row: index for index, row in enumerate(row_bytes(as_points(first[0])))}
    index = np.array([indices.get(row, -1) for row in row_bytes(as_points(second[0]))], dtype=int)
    common = np.full(len(mine), -np.inf)
    common[index[index >= 0]] = its[index >= 0]
    left = np.concatenate([mine, np.full(int((index < 0).sum()), -np.inf)])
    right = np.concatenate([common, its[index < 0]])
    # theorem: correlated-sampling
    return float(log_weight_agreement(left, right))


def _checked(log_weights: ArrayLike) -> NDArray[np.float64]:
    weights = np.asarray(log_weights, dtype=np.float64)
    if weights.ndim != 1 or np.isnan(weights).any() or np.isposinf(weights).any():
        raise ValueError("log_weights must be one number per candidate, finite or -inf.")
    return weights


def _rows(candidates: Any, start: int, stop: int) -> Any:
    if isinstance(candidates, Points):
        return candidates.take(np.arange(start, stop))
    return slice_rows(candidates, start, stop)


def _row(candidates: Any, row: int) -> Any:
    taken = _rows(candidates, row, row + 1)
    return taken[0] if isinstance(taken, list | tuple | np.ndarray) else taken
