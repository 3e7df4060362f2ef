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
from numpy.typing import ArrayLike, NDArray

from replearn.bounds import order_width, smallest_sample_amplified
from replearn.guarantees import certify
from replearn.primitives.candidates import (
    Choice,
    candidate_count,
    chosen_item,
    error_counts,
    name_points,
    named_candidates,
    names_digest,
    requested,
    sample_order,
)
from replearn.randomness import Points, SharedKey, gumbel_from_hashes
from replearn.tables import n_rows, row_chunks, take_rows

# A matrix of predictions is hashed in pieces of this many cells.
_CELLS = 1 << 22


@dataclass(frozen=True, eq=False, kw_only=True)
class OrderedChoice(Choice):
    """The first of the good candidates in a shared order; a `Choice` with its margin.

    Parameters
    ----------
    margin : float
        The shared margin above the smallest error; the largest one if the choice is amplified.
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
        Largest margin. If None, the largest one that keeps alpha and beta, or ``alpha / 2``.
    amplify : bool, default=False
        Whether to run on many blocks of rows with several shared strings, and to return a pair of
        string and candidate that occurs often, as in the paper. The order of the file does not
        matter. This needs more rows than it saves; a plan says how many.

    Examples
    --------
    >>> X = np.random.default_rng(0).random(4000)
    >>> rules = {"young": lambda x: x < 0.2, "half": lambda x: x < 0.5}
    >>> chosen = learn_finite_class(rules, X, X < 0.5, key="k")
    >>> chosen.name, chosen.certificate.certified
    ('half', False)
    """
    targets = requested(rho, alpha, beta)
    key = SharedKey(key)
    plain, names = named_candidates(candidates, names)
    count = candidate_count(plain)
    if amplify:
        return _amplified(plain, names, X, y, key, targets, width)
    wrong, n = error_counts(plain, X, y)
    if width is None:
        width = order_width(count, alpha, beta, n) or alpha / 2
    margin = float(key.child("margin").uniforms([0])[0]) * width
    errors = wrong / n
    # theorem: finite-class
    good = np.flatnonzero(errors <= errors.min() + margin)
    ranks = key.child("order").hashes(name_points(names, count).take(good))
    index = int(good[np.argmin(ranks)])
    run: dict[str, Any] = {"n": n, "n_hypotheses": count, "width": float(width), **targets}
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
    targets: dict[str, float],
    width: float | None,
) -> OrderedChoice:
    """Choose with the planned numbers of blocks and strings, whatever the number of rows."""
    count = candidate_count(plain)
    design = smallest_sample_amplified(*targets.values(), count)
    points = name_points(names, count)
    errors, size, n = block_errors(plain, X, y, design.n_blocks, key=key, points=points)
    if width is None:
        alpha = targets["alpha"]
        beta = targets["beta"]
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
        **targets,
        candidates=names_digest(names, count),
    )
    item = chosen_item(plain, names, index)
    mean = errors.mean(axis=0)
    return OrderedChoice(**item, errors=mean, margin=float(width), certificate=certificate)


def block_errors(
    candidates: Any,
    X: Any,
    y: ArrayLike | None,
    n_blocks: int,
    *,
    key: SharedKey,
    points: Points,
) -> tuple[NDArray[np.float64], int, int]:
    """Return the errors of all candidates on blocks of equal size, block size and rows.

    Blocks are cut in a random order that is keyed by the sample as a whole, so that a sorted file
    is as good as a shuffled one. Rows are known by X and label; a matrix of predictions knows
    them by what each candidate (named by ``points``) says there, and the label.

    >>> from replearn.randomness import as_points
    >>> predictions, names = np.array([[0, 1, 1, 0], [0, 0, 0, 0]]), as_points(["a", "b"])
    >>> y, options = np.array([0, 1, 0, 0]), {"key": SharedKey(0), "points": names}
    >>> errors, size, n = block_errors(predictions, None, y, 2, **options)
    >>> errors.mean(axis=0).tolist(), size, n
    ([0.25, 0.25], 2, 4)
    """
    if y is None:
        raise ValueError("y is missing: amplify=True needs all rows at once, not chunks.")
    labels = np.asarray(y)
    size = len(labels) // n_blocks
    if size < 1:
        raise ValueError(f"amplify=True needs {n_blocks} blocks, got only {len(labels)} rows.")
    matrix = isinstance(candidates, np.ndarray)
    rows = candidates.shape[-1] if matrix else n_rows(X)
    if rows != len(labels):
        raise ValueError(f"y has {len(labels)} labels for {rows} rows.")
    known = _rows_by_predictions(candidates, points, key) if matrix else X
    # theorem: finite-class (a cut keyed by single rows would tie the blocks of both runs)
    order = sample_order(key.child("blocks"), known, labels)
    errors = np.empty((n_blocks, candidate_count(candidates)))
    for block, own in enumerate(order[: n_blocks * size].reshape(n_blocks, size)):
        part = candidates[:, own] if matrix else candidates
        errors[block] = error_counts(part, None if matrix else take_rows(X, own), labels[own])[0]
    return errors / size, size, len(labels)


def _rows_by_predictions(
    matrix: NDArray[Any], points: Points, key: SharedKey
) -> NDArray[np.uint32]:
    """Hash each row's predictions, candidates in the order of their names: two words each."""
    child = key.child("predictions")
    # Not in the order of the list, which must not change the choice either.
    by_name = np.argsort(child.hashes(points), kind="stable")
    step = max(1, _CELLS // len(matrix))
    hashes = [
        child.child("row").hashes(matrix[by_name, start:stop].T)
        for start, stop in row_chunks(matrix.shape[1], step)
    ]
    return np.concatenate(hashes).astype("<u8").view("<u4").reshape(-1, 2)


def named_pair(
    errors: NDArray[np.float64], points: Points, key: SharedKey, *, width: float, n_strings: int,
    kappa: float,
) -> tuple[int, int, NDArray[np.int64]]:  # fmt: skip
    """Return the string and the candidate that are named, and how often each candidate came out.

    ``width`` is the largest margin, ``kappa`` the power of the counts.

    >>> from replearn.randomness import as_points
    >>> errors, points = np.array([[0.1, 0.5], [0.2, 0.4]]), as_points(["a", "b"])
    >>> named_pair(errors, points, SharedKey(0), width=0.1, n_strings=2, kappa=2.0)[1]
    0
    """
    excess = errors - errors.min(axis=1, keepdims=True)
    margins = key.child("margins").uniforms(np.arange(n_strings)) * width
    counts = np.zeros((n_strings, errors.shape[1]), dtype=np.int64)
    scores = np.full(counts.shape, -np.inf)
    for string in range(n_strings):
        ranks = key.child("order", string).hashes(points)
        first = np.argsort(ranks, kind="stable")
        # theorem: finite-class
        chosen = first[np.argmax(excess[:, first] <= margins[string], axis=1)]
        counts[string] = np.bincount(chosen, minlength=errors.shape[1])
        seen = np.flatnonzero(counts[string])
        gumbels = gumbel_from_hashes(key.child("name", string).hashes(points.take(seen)))
        # theorem: single-heavy-hitter
        scores[string, seen] = kappa * np.log(counts[string, seen]) + gumbels
    best, index = divmod(int(np.argmax(scores)), scores.shape[1])
    return best, index, counts[best]
