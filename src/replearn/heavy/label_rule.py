"""The one labelling rule of heavy points: two classes by a threshold, more by shared Gumbels.

It sees only the tally of the k labels in use, so k must not depend on the data: members occur at
least n low times, and exactly the first k of their labels, in keyed order, are used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from replearn.bounds import uniform_law
from replearn.primitives import below_levels
from replearn.randomness import Points, SharedKey
from replearn.tables import row_chunks

Floats = NDArray[np.float64]

_ORDER = "heavy label order"
_AT_A_TIME = 1 << 20


class Labelled(NamedTuple):
    """Labels of some points, with the shared random numbers that decided."""

    label_codes: NDArray[np.intp]  # number of the class that each point is labelled with
    noise: Floats  # threshold of each point (two classes), or Gumbel of each point and class


def count_labels(
    codes: NDArray[np.intp], member: NDArray[np.intp], n_members: int, n_classes: int
) -> NDArray[np.int64]:
    """Count how often each member has each label; ``member`` says which one a row is, or -1.

    >>> count_labels(np.array([1, 1, 0, 0]), np.array([0, 0, -1, 0]), 1, 2)
    array([[1, 2]])
    """
    cells = (member * n_classes + codes)[member >= 0]
    counts = np.bincount(cells, minlength=n_members * n_classes)
    return counts.reshape(n_members, n_classes).astype(np.int64)


def first_labels(
    points: Points,
    label_counts: NDArray[np.int64],
    n_labels: NDArray[np.int64],
    key: SharedKey,
) -> NDArray[np.int64]:
    """Count the labels among the first k of each member, in keyed order.

    k is each member's entry of ``n_labels``. Equal rows with equal labels differ in their number
    only, so that it is enough to know how often each member has each label.

    >>> from replearn.randomness import as_points
    >>> first_labels(as_points([5]), np.array([[0, 3]]), np.array([2]), SharedKey(0))
    array([[0, 2]])
    """
    if np.any(label_counts.sum(axis=1) < n_labels):
        raise ValueError("a member has fewer labels than are to be used: give the same sample.")
    order = key.child(_ORDER)
    n_members, n_classes = label_counts.shape
    by_label = [order.row_hashes(points, np.full(n_members, c)) for c in range(n_classes)]
    hashes = np.column_stack(by_label).ravel()
    counts = np.where(n_labels[:, np.newaxis] > 0, label_counts, 0).ravel()
    ends = np.cumsum(counts)
    cells = np.zeros(0, dtype=np.intp)
    ranks = np.zeros(0, dtype=np.uint64)
    for start, stop in row_chunks(int(counts.sum()), _AT_A_TIME):
        rows = np.arange(start, stop)
        cell = np.searchsorted(ends, rows, side="right")
        # theorem: content-keyed-partition (the order of the file does not matter)
        more = order.ranks(hashes[cell], (rows - (ends - counts)[cell]).astype(np.uint64))
        cells = np.concatenate([cells, cell])
        ranks = np.concatenate([ranks, more])
        keyed = np.lexsort((ranks, cells // n_classes))
        member = cells[keyed] // n_classes
        index = np.arange(len(member)) - np.searchsorted(member, member)
        kept = keyed[index < n_labels[member]]
        cells = cells[kept]
        ranks = ranks[kept]
    tallies = np.bincount(cells, minlength=n_members * n_classes)
    return tallies.reshape(n_members, n_classes).astype(np.int64)


def label_points(
    points: Points,
    tallies: NDArray[np.int64],
    n_labels: int,
    band: float,
    classes: NDArray[Any],
    key: SharedKey,
) -> Labelled:
    """Label points from the tallies of their labels.

    Random numbers are keyed by what the points (and, of more than two, the classes) are.

    >>> from replearn.randomness import as_points
    >>> tallies, names = np.array([[1, 8, 0]]), np.array(["a", "b", "c"])
    >>> label_points(as_points([5]), tallies, 9, 0.01, names, SharedKey(0)).label_codes
    array([1])
    """
    child = key.child("heavy label")
    if tallies.shape[1] == 2:
        uniforms = child.uniforms(points)
        # theorem: heavy-labels
        ones = below_levels(uniforms, uniform_law(n_labels, band).table[tallies[:, 1]])
        return Labelled(ones.astype(np.intp), uniforms)
    gumbels = child.gumbels(points, classes.tolist())
    # theorem: heavy-labels (section "more than two classes")
    scores = tallies / n_labels / band + gumbels
    return Labelled(np.argmax(scores, axis=1), gumbels)
