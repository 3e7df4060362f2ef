"""Learn a finite class by shared random order and shared random margin (Bun et al. 2023).

The first candidate, in an order that the runs share, whose error is at most the smallest one plus
a shared random margin. Beside `select_hypothesis` it has no failure probability in its cost. It can
be amplified, as in the paper: run on many blocks, then return one result that occurs often. A plan
for the task "finite class" says which of them needs the fewest rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.finite_class import order_width, smallest_sample_amplified
from replearn.guarantees import certify
from replearn.primitives.amplified import block_errors, named_pair
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
from replearn.randomness import SharedKey


@dataclass(frozen=True, eq=False, kw_only=True)
class OrderedChoice(Choice):
    """The candidate that came first among the good ones; a `Choice` with its margin.

    Parameters
    ----------
    margin : float
        The shared margin above the smallest error; amplified: the largest one.
    """

    margin: float


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
    """Select the first good candidate in a shared random order.

    Parameters
    ----------
    candidates, X, y, key, names, rho, alpha, beta
        As for `select_hypothesis`.
    width : float, default=None
        Largest margin; None: the largest that keeps alpha and beta, or ``alpha / 2``.
    amplify : bool, default=False
        Run on many blocks of rows with several shared strings, and name one pair of string and
        candidate that comes out often: the paper's construction. The order of the file does not
        matter. It needs more rows than it saves; a plan says how many.

    Returns
    -------
    OrderedChoice

    Examples
    --------
    >>> X = np.random.default_rng(0).random(4000)
    >>> rules = {"young": lambda x: x < 0.2, "half": lambda x: x < 0.5}
    >>> chosen = learn_finite_class(rules, X, X < 0.5, key="k")
    >>> chosen.name, chosen.certificate.certified
    ('half', False)
    """
    asked, key = requested(rho, alpha, beta), SharedKey(key)
    plain, names = named_candidates(candidates, names)
    count = candidate_count(plain)
    if amplify:
        return _amplified(plain, names, X, y, key, asked, width)
    wrong, n = error_counts(plain, X, y)
    if width is None:
        width = order_width(count, alpha, beta, n) or alpha / 2
    margin = float(key.child("margin").uniforms([0])[0]) * width
    errors = wrong / n
    # theorem: finite-class
    good = np.flatnonzero(errors <= errors.min() + margin)
    ranks = key.child("order").hashes(name_points(names, count).take(good))
    index = int(good[np.argmin(ranks)])
    run: dict[str, Any] = {"n": n, "n_hypotheses": count, "width": float(width), **asked}
    certificate = certify(
        "finite class", key.fingerprint, **run, candidates=names_digest(names, count)
    )
    item = chosen_item(plain, names, index)
    return OrderedChoice(**item, errors=errors, margin=margin, certificate=certificate)


def _amplified(
    plain: Any,
    names: Any,
    X: Any,
    y: ArrayLike | None,
    key: SharedKey,
    asked: dict[str, float],
    width: float | None,
) -> OrderedChoice:
    """Choose with the planned numbers of blocks and strings, whatever the number of rows."""
    count = candidate_count(plain)
    design = smallest_sample_amplified(*asked.values(), count)
    points = name_points(names, count)
    errors, size, n = block_errors(plain, X, y, design.n_blocks, key=key, points=points)
    if width is None:
        alpha, beta = asked["alpha"], asked["beta"]
        width = order_width(count, alpha, beta / design.n_blocks, size) or alpha / 2
    shared: dict[str, Any] = {"width": float(width), "n_strings": design.n_strings}
    shared["kappa"] = design.kappa
    _, index, _ = named_pair(errors, points, key, **shared)
    certificate = certify(
        "finite class, amplified",
        key.fingerprint,
        n=n,
        n_hypotheses=count,
        n_blocks=design.n_blocks,
        block_size=size,
        **shared,
        **asked,
        candidates=names_digest(names, count),
    )
    item, mean = chosen_item(plain, names, index), errors.mean(axis=0)
    return OrderedChoice(**item, errors=mean, margin=float(width), certificate=certificate)
