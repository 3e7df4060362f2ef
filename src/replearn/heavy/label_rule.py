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
    binomial_limits,
    flip_estimate,
    flip_limits,
    selection_flip_bound_sampled,
)
from replearn.bounds.class_flips import label_answer_chances
from replearn.bounds.foreseen import average_flip_estimate
from replearn.bounds.signs import label_flip_bound, label_law
from replearn.primitives.coins import below_levels
from replearn.randomness import Points, SharedKey

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
    answers: NDArray[np.intp]  # number of the class that each point is labelled with

    @property
    def shares(self) -> Floats:
        """Share of each class among the labels in use."""
        return self.tallies / self.n_labels


class TwoLabels(_Labelled):
    """Label 1 iff a threshold is below the law's value of the share of ones."""

    @property
    def law_values(self) -> Floats:
        """Level of the labels, to be compared with the threshold."""
        return self._law.probabilities[self.tallies[:, 1]]

    @property
    def _law(self) -> Any:
        return label_law(self.n_labels, self.band)

    @property
    def flip_bound(self) -> float:
        """Certified flip probability of one label, averaged over keys."""
        return label_flip_bound(self.n_labels, self.band)

    def chances(self) -> Floats:
        """Estimate how likely fresh labels name each class, under this key."""
        flips = flip_estimate(self._law, self.tallies[:, 1], self.noise)
        # Who had too few labels has no label yet to lose: either may come.
        flips[self.tallies.sum(axis=1) < self.n_labels] = 0.5
        return with_flips(self.answers, flips)

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
        """Chance over all keys that these labels answer each class."""
        return np.asarray(special.softmax(self.shares / self.band, axis=1))

    @property
    def flip_bound(self) -> float:
        """Certified flip probability of one label, averaged over keys."""
        n_classes, k = self.tallies.shape[1], self.n_labels
        return selection_flip_bound_sampled(1.0 / self.band, n_classes, k)

    def chances(self) -> Floats:
        """Estimate how likely fresh labels name each class, under this key."""
        return label_answer_chances(self.tallies, self.n_labels, self.band, self.noise)

    def limits(self, delta: float) -> Floats:
        """Upper limits: union over the other labels, Hoeffding's inequality for each duel."""
        k, n_classes = self.n_labels, self.tallies.shape[1]
        low, high = binomial_limits(self.tallies, k, delta / n_classes)
        every = np.arange(len(self.answers))
        mine = self.noise[every, self.answers][:, np.newaxis]
        # Label c wins iff its share exceeds that of the answer by so much.
        needed = self.band * (mine - self.noise)
        drift = high - low[every, self.answers][:, np.newaxis]
        # theorem: fresh-sample-point (section "heavy points")
        beaten = np.exp(-k * np.maximum(needed - drift, 0.0) ** 2 / 2.0)
        beaten[every, self.answers] = 0.0
        return np.minimum(beaten.sum(axis=1) * (1.0 + 1e-9), 1.0)

    def average_flips(self) -> Floats:
        """Return the certified bound: there is no sharper estimate."""
        return np.full(len(self.tallies), self.flip_bound)


LabelRule = TwoLabels | ManyLabels


def first_labels(
    sample: Points,
    codes: NDArray[np.intp],
    member: NDArray[np.intp],
    n_labels: NDArray[np.int64],
    key: SharedKey,
    *,
    n_classes: int = 2,
) -> NDArray[np.int64]:
    """Count the labels among the first k of each member, in keyed order.

    ``member`` says which member each row is, or -1; k is each member's entry of ``n_labels``.

    >>> from replearn.randomness import as_points
    >>> sample, member = as_points([5, 5, 6, 5]), np.array([0, 0, -1, 0])
    >>> first_labels(sample, np.array([1, 1, 0, 1]), member, np.array([2]), SharedKey(0))
    array([[0, 2]])
    """
    rows = np.flatnonzero(member >= 0)
    # theorem: content-keyed-partition (the order of the file does not matter)
    keyed = rows[key.child(_ORDER).order(sample.take(rows), codes[rows])]
    by_member = keyed[np.argsort(member[keyed], kind="stable")]
    counts = np.bincount(member[rows], minlength=len(n_labels))
    if np.any(counts < n_labels):
        raise ValueError("a member has fewer labels than are to be used: give the same sample.")
    starts = np.cumsum(counts) - counts
    place = np.arange(len(by_member)) - np.repeat(starts, counts)
    taken = by_member[place < np.repeat(n_labels, counts)]
    cells = member[taken] * n_classes + codes[taken]
    tallies = np.bincount(cells, minlength=len(n_labels) * n_classes)
    return tallies.reshape(len(n_labels), n_classes).astype(np.int64)


def first_labels_of_counts(
    points: Points,
    label_counts: NDArray[np.int64],
    n_labels: NDArray[np.int64],
    key: SharedKey,
) -> NDArray[np.int64]:
    """Do what `first_labels` does, from how often each member has each label.

    Equal rows with equal labels differ in their number only, so that counts tell the keyed order.

    >>> from replearn.randomness import as_points
    >>> first_labels_of_counts(as_points([5]), np.array([[0, 3]]), np.array([2]), SharedKey(0))
    array([[0, 2]])
    """
    order, n_classes = key.child(_ORDER), label_counts.shape[1]
    hashes = [order.row_hashes(points, np.full(len(points), c)) for c in range(n_classes)]
    tallies = np.zeros_like(label_counts)
    for member, k in enumerate(n_labels):
        # theorem: content-keyed-partition
        firsts = [
            _smallest_ranks(order, hashes[c][member], label_counts[member, c], k)
            for c in range(n_classes)
        ]
        labels = np.repeat(np.arange(n_classes), [len(ranks) for ranks in firsts])
        kept = np.argsort(np.concatenate(firsts), kind="stable")[:k]
        tallies[member] = np.bincount(labels[kept], minlength=n_classes)
    return tallies


def _smallest_ranks(order: SharedKey, row_hash: Any, count: int, k: int) -> NDArray[np.uint64]:
    """Return the k smallest ranks of equal rows, hashed a few at a time."""
    kept = np.zeros(0, dtype=np.uint64)
    for start in range(0, int(count), _AT_A_TIME):
        numbers = np.arange(start, min(start + _AT_A_TIME, int(count)), dtype=np.uint64)
        ranks = order.ranks(np.full(len(numbers), row_hash, dtype=np.uint64), numbers)
        kept = np.sort(np.concatenate([kept, ranks]))[: int(k)]
    return kept


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
    >>> label_points(as_points([5]), tallies, 9, 0.01, names, SharedKey(0)).answers
    array([1])
    """
    child = key.child("heavy label")
    if tallies.shape[1] == 2:
        uniforms = child.uniforms(points)
        # theorem: heavy-labels
        ones = below_levels(uniforms, label_law(n_labels, band).table[tallies[:, 1]])
        return TwoLabels(tallies, n_labels, band, uniforms, ones.astype(np.intp))
    gumbels = child.gumbels(points, classes.tolist())
    # theorem: heavy-labels (section "more than two classes")
    scores = tallies / n_labels / band + gumbels
    return ManyLabels(tallies, n_labels, band, gumbels, np.argmax(scores, axis=1))


def with_flips(answers: NDArray[np.intp], flips: Floats) -> Floats:
    """Return the probabilities of two classes from the label and its flip probability.

    Examples
    --------
    >>> with_flips(np.array([0, 1]), np.array([0.1, 0.2]))
    array([[0.9, 0.1],
           [0.2, 0.8]])
    """
    every, chances = np.arange(len(answers)), np.empty((len(answers), 2))
    chances[every, answers], chances[every, 1 - answers] = 1.0 - flips, flips
    return chances
