"""Learn a finite class by shared random order and shared random margin (Bun et al. 2023).

The first candidate, in an order that the runs share, whose error is at most the smallest one plus
a shared random margin. Beside `select_hypothesis` it has no failure probability in its cost. It can
be amplified, as in the paper: run on many blocks, then name one result that comes out often.
`smallest_sample_choice` says which needs the fewest rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds import smallest_sample_selection
from replearn.bounds.finite_class import (
    order_width,
    smallest_sample_amplified,
    smallest_sample_order,
)
from replearn.guarantees._choice_promises import same_and_good
from replearn.guarantees._primitive_certificate import PrimitiveCertificate, derivation
from replearn.guarantees._steps import Ledger
from replearn.primitives._amplify import block_errors, named_pair
from replearn.primitives._candidates import (
    candidate_count,
    error_counts,
    name_points,
    named_candidates,
    names_digest,
)
from replearn.randomness import SharedKey
from replearn.records.checks import check_fraction

__all__ = ["CheaperChoice", "OrderedChoice", "learn_finite_class", "smallest_sample_choice"]


@dataclass(frozen=True, eq=False)
class OrderedChoice:
    """The candidate that came first among the good ones.

    Parameters
    ----------
    index : int
        Its place in the list.
    candidate : object
        The candidate; None for a matrix of predictions.
    name : object
        What it is called.
    errors : ndarray
        Empirical errors of all candidates.
    margin : float
        The shared margin above the smallest error; amplified: the largest one.
    certificate : PrimitiveCertificate
        What is promised.
    """

    index: int
    candidate: Any
    name: Any
    errors: NDArray[np.float64]
    margin: float
    certificate: PrimitiveCertificate


class CheaperChoice(NamedTuple):
    """Which of the choices needs the fewest rows.

    Parameters
    ----------
    method : str
        ``"select_hypothesis"`` or ``"learn_finite_class"``.
    n_select : int
        Rows of `select_hypothesis` (exponential mechanism).
    n_order : int
        Rows of `learn_finite_class` (shared order).
    n_amplified : int
        Rows of `learn_finite_class` with ``amplify=True``.
    """

    method: str
    n_select: int
    n_order: int
    n_amplified: int


def smallest_sample_choice(
    rho: float, alpha: float, beta: float, n_hypotheses: int
) -> CheaperChoice:
    """Return the rows that each way to choose needs, and which is the cheapest.

    Parameters
    ----------
    rho : float
        Probability that two runs may choose differently.
    alpha, beta : float
        Excess error allowed and its failure probability.
    n_hypotheses : int
        Number of candidates.

    Examples
    --------
    >>> choice = smallest_sample_choice(0.1, 0.1, 0.05, 20)
    >>> choice.method, choice.n_select, choice.n_order, choice.n_amplified
    ('select_hypothesis', 56083, 2009719, 1708362243)
    >>> smallest_sample_choice(0.1, 0.1, 1e-30, 20).method
    'learn_finite_class'
    """
    select = smallest_sample_selection(rho, alpha, beta, n_hypotheses)[0]
    order = smallest_sample_order(rho, alpha, beta, n_hypotheses)[0]
    amplified = smallest_sample_amplified(rho, alpha, beta, n_hypotheses).n
    method = "select_hypothesis" if select <= min(order, amplified) else "learn_finite_class"
    return CheaperChoice(method, select, order, amplified)


def learn_finite_class(
    candidates: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    key: SharedKey | str | bytes | int,
    names: Any = None,
    rho: float = 0.1,
    alpha: float = 0.1,
    beta: float = 0.05,
    width: float | None = None,
    amplify: bool = False,
) -> OrderedChoice:
    """Choose the first good candidate in a shared random order.

    Parameters
    ----------
    candidates : mapping, Cover, Rules, matrix of predictions, or sequence
        As for `select_hypothesis`.
    X : container of rows, None, or iterable of (X, y) chunks when y is None
        The sample.
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
    width : float, default=None
        Largest margin; None: the largest that keeps alpha and beta, or ``alpha / 2``.
    amplify : bool, default=False
        Run on many blocks of rows with several shared strings, and name one pair of string and
        candidate that comes out often: the paper's construction. Blocks are cut by a keyed hash of
        the rows' content, so that the order of the file does not matter. It needs more rows than
        it saves; `smallest_sample_choice` says how many.

    Returns
    -------
    OrderedChoice

    Examples
    --------
    >>> X = np.random.default_rng(0).random(4000)
    >>> rules = {"young": lambda x: x < 0.2, "half": lambda x: x < 0.5}
    >>> chosen = learn_finite_class(rules, X, X < 0.5, key=SharedKey("k"))
    >>> chosen.name, chosen.certificate.certified
    ('half', False)
    """
    for name, value in (("rho", rho), ("alpha", alpha), ("beta", beta)):
        check_fraction(name, value)
    key = SharedKey(key)
    plain, names = named_candidates(candidates, names)
    count = candidate_count(plain)
    if amplify:
        return _amplified(plain, names, X, y, key, (rho, alpha, beta), width)
    wrong, n = error_counts(plain, X, y)
    if width is None:
        width = order_width(count, alpha, beta, n) or alpha / 2
    margin = float(key.child("margin").uniforms([0])[0]) * width
    errors = wrong / n
    # theorem: finite-class
    good = np.flatnonzero(errors <= errors.min() + margin)
    ranks = key.child("order").hashes(name_points(names, count).take(good))
    index = int(good[np.argmin(ranks)])
    certificate = PrimitiveCertificate.issue(
        "learn finite class",
        key.fingerprint,
        n=n,
        n_hypotheses=count,
        width=float(width),
        rho=float(rho),
        alpha=float(alpha),
        beta=float(beta),
        candidates=names_digest(names, count),
    )
    candidate = None if isinstance(plain, np.ndarray) else plain[index]
    return OrderedChoice(index, candidate, names[index], errors, margin, certificate)


def _amplified(
    plain: Any,
    names: Any,
    X: Any,
    y: ArrayLike | None,
    key: SharedKey,
    asked: tuple[float, float, float],
    width: float | None,
) -> OrderedChoice:
    """Choose with the planned numbers of blocks and strings, whatever the number of rows."""
    count = candidate_count(plain)
    design = smallest_sample_amplified(*map(float, asked), count)
    points = name_points(names, count)
    errors, size, n = block_errors(plain, X, y, design.n_blocks, key=key, points=points)
    if width is None:
        _, alpha, beta = asked
        width = order_width(count, alpha, beta / design.n_blocks, size) or alpha / 2
    shared: dict[str, Any] = {
        "width": float(width),
        "n_strings": design.n_strings,
        "kappa": design.kappa,
    }
    _, index, _ = named_pair(errors, points, key, **shared)
    certificate = PrimitiveCertificate.issue(
        "learn finite class, amplified",
        key.fingerprint,
        n=n,
        n_hypotheses=count,
        n_blocks=design.n_blocks,
        block_size=size,
        **shared,
        **dict(zip(("rho", "alpha", "beta"), map(float, asked), strict=True)),
        candidates=names_digest(names, count),
    )
    candidate = None if isinstance(plain, np.ndarray) else plain[index]
    mean = errors.mean(axis=0)
    return OrderedChoice(index, candidate, names[index], mean, float(width), certificate)


@derivation("learn finite class")
def _derive(
    ledger: Ledger,
    n: int,
    n_hypotheses: int,
    width: float,
    rho: float,
    alpha: float,
    beta: float,
    candidates: str,
) -> tuple[list[str], list[str]]:
    data = {"n_hypotheses": n_hypotheses, "width": width, "m": n}
    flip = ledger.add("order_flip", "finite-class", **data)
    tail = ledger.add("order_error", "finite-class", alpha=alpha, **data)
    return same_and_good(n, flip, tail, rho=rho, alpha=alpha, beta=beta)
