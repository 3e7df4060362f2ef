"""The one labelling rule of heavy points: two classes by a threshold, more by shared Gumbels.

It sees only the tally of the k labels in use, so k must not depend on the data: members occur at
least n low times, and exactly the first k of their labels, in keyed order, are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from replearn.bounds import (
    average_flip_estimate,
    binomial_limits,
    flip_estimate,
    flip_limits,
    label_flip_bound,
    label_prediction_chances,
    selection_flip_bound_sampled,
    uniform_law,
)
from replearn.primitives import below_levels
from replearn.randomness import Points, SharedKey
from replearn.tables import row_chunks

Floats = NDArray[np.float64]

_ORDER = "heavy label order"
_AT_A_TIME = 1 << 20


@dataclass(frozen=True, eq=False)
class _Labelled:
    """Labels of some points, with the tallies and the shared random numbers they follow from."""

    tallies: NDArray[np.int64]  # how often each class occurs among the labels in use
    n_labels: int  # how many labels of each point are in use, k
    band: float  # half-width of the threshold, or scale of the Gumbels
    noise: Floats  # threshold of each point (two classes), or Gumbel of each point and class
    label_codes: NDArray[np.intp]  # number of the class that each point is labelled with

    @property
    def shares(self) -> Floats:
        """Share of each class among the labels in use."""
        return self.tallies / self.n_labels


class TwoLabels(_Labelled):
    """Predict label 1 if the threshold is below the law's value at the share of ones."""

    @property
    def law_values(self) -> Floats:
        """Level of the labels, to be compared with the threshold."""
        return self._law.probabilities[self.tallies[:, 1]]

    @property
    def _law(self) -> Any:
        return uniform_law(self.n_labels, self.band)

    @property
    def flip_bound(self) -> float:
        """Certified flip probability of one label, averaged over keys."""
        return label_flip_bound(self.n_labels, self.band)

    def chances(self) -> Floats:
        """Estimate how likely fresh labels name each class, under this key."""
        flips = flip_estimate(self._law, self.tallies[:, 1], self.noise)
        # Who had too few labels has no label yet to lose: either may come.
        flips[self.tallies.sum(axis=1) < self.n_labels] = 0.5
        return with_flips(self.label_codes, flips)

    def limits(self, delta: float) -> Floats:
        """Upper limits of the flip probability of the label."""
        return flip_limits(self._law, self.tallies[:, 1], self.noise, delta=delta)[1]

    def average_flips(self) -> Floats:
        """Estimate the flip probability of the label, averaged over keys."""
        return average_flip_estimate(self._law, self.tallies[:, 1])


class ManyLabels(_Labelled):
    """The label with the largest share plus noise: hypothesis selection among the labels."""

    @property
    def scores(self) -> Floats:
        """Share over band plus Gumbel, of each label."""
        return self.shares / self.band + self.noise

    @property
    def key_chances(self) -> Floats:
        """Chance over all keys that these labels predict each class."""
        return np.asarray(special.softmax(self.shares / self.band, axis=1))

    @property
    def flip_bound(self) -> float:
        """Certified flip probability of one label, averaged over keys."""
        n_classes = self.tallies.shape[1]
        k = self.n_labels
        return selection_flip_bound_sampled(1.0 / self.band, n_classes, k)

    def chances(self) -> Floats:
        """Estimate how likely fresh labels name each class, under this key."""
        return label_prediction_chances(self.tallies, self.n_labels, self.band, self.noise)

    def limits(self, delta: float) -> Floats:
        """Upper limits: union over the other labels, Hoeffding's inequality for each duel."""
        k = self.n_labels
        n_classes = self.tallies.shape[1]
        low, high = binomial_limits(self.tallies, k, delta / n_classes)
        every = np.arange(len(self.label_codes))
        mine = self.noise[every, self.label_codes][:, np.newaxis]
        # Label c wins iff its share exceeds that of the prediction by this much.
        needed = self.band * (mine - self.noise)
        drift = high - low[every, self.label_codes][:, np.newaxis]
        # theorem: fresh-sample-point (section "heavy points")
        beaten = np.exp(-k * np.maximum(needed - drift, 0.0) ** 2 / 2.0)
        beaten[every, self.label_codes] = 0.0
        return np.minimum(beaten.sum(axis=1) * (1.0 + 1e-9), 1.0)

    def average_flips(self) -> Floats:
        """Return the certified bound: there is no sharper estimate."""
        return np.full(len(self.tallies), self.flip_bound)


LabelRule = TwoLabels | ManyLabels


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
) -> LabelRule:
    """Label points from the tallies of their labels; see `LabelRule`.

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
        return TwoLabels(tallies, n_labels, band, uniforms, ones.astype(np.intp))
    gumbels = child.gumbels(points, classes.tolist())
    # theorem: heavy-labels (section "more than two classes")
    scores = tallies / n_labels / band + gumbels
    return ManyLabels(tallies, n_labels, band, gumbels, np.argmax(scores, axis=1))


def with_flips(predictions: NDArray[np.intp], flips: Floats) -> Floats:
    """Return the probabilities of two classes from the label and its flip probability.

    Examples
    --------
    >>> with_flips(np.array([0, 1]), np.array([0.1, 0.2]))
    array([[0.9, 0.1],
           [0.2, 0.8]])
    """
    every = np.arange(len(predictions))
    chances = np.empty((len(predictions), 2))
    chances[every, predictions] = 1.0 - flips
    chances[every, 1 - predictions] = flips
    return chances
