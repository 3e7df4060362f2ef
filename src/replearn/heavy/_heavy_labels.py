"""How a heavy point is labelled: two classes by a threshold, more by shared Gumbels.

Both see only the tally of the k labels in use. One face, so that the rest of the heavy stage does
not ask how many classes there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.bounds import (
    binomial_limits,
    flip_estimate,
    flip_limits,
    selection_flip_bound_sampled,
)
from replearn.bounds.class_flips import label_answer_chances
from replearn.bounds.foreseen import average_flip_estimate
from replearn.bounds.signs import label_flip_bound, label_law
from replearn.guarantees import HeavyStage
from replearn.heavy.labels import decide_labels
from replearn.randomness import Points, SharedKey

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LabelRule(ABC):
    """Tallies of the labels of some points, and the points' shared random numbers."""

    stage: HeavyStage
    tallies: NDArray[np.int64]
    noise: Floats
    answers: NDArray[np.intp]

    @property
    def shares(self) -> Floats:
        """Share of each class among the labels in use."""
        return self.tallies / self.stage.n_labels

    @property
    @abstractmethod
    def flip_bound(self) -> float:
        """What the certificate says of one label, averaged over keys."""

    @abstractmethod
    def chances(self) -> Floats:
        """Estimate how likely fresh labels name each class, under this key."""

    @abstractmethod
    def limits(self, delta: float) -> Floats:
        """Upper limits of the probability that fresh labels name another class."""

    @abstractmethod
    def average_flips(self) -> Floats:
        """Estimate how likely two fresh samples label differently, averaged over keys."""


class TwoLabels(LabelRule):
    """Label 1 iff a threshold is below the law's value of the share of ones."""

    @property
    def law_values(self) -> Floats:
        """Level of the labels, to be compared with the threshold."""
        return self._law.probabilities[self.tallies[:, 1]]

    @property
    def _law(self) -> Any:
        return label_law(self.stage.n_labels, self.stage.band)

    @property
    def flip_bound(self) -> float:
        """What the certificate says of one label."""
        return label_flip_bound(self.stage.n_labels, self.stage.band)

    def chances(self) -> Floats:
        """Estimate how likely fresh labels name each class."""
        flips = flip_estimate(self._law, self.tallies[:, 1], self.noise)
        # Who had too few labels has no label yet to lose: either may come.
        flips[self.tallies.sum(axis=1) < self.stage.n_labels] = 0.5
        return with_flips(self.answers, flips)

    def limits(self, delta: float) -> Floats:
        """Upper limits of the flip probability of the label."""
        return flip_limits(self._law, self.tallies[:, 1], self.noise, delta=delta)[1]

    def average_flips(self) -> Floats:
        """Estimate the flip probability of the label, averaged over keys."""
        return average_flip_estimate(self._law, self.tallies[:, 1])


class ManyLabels(LabelRule):
    """The label with the largest share plus noise: hypothesis selection among the labels."""

    @property
    def scores(self) -> Floats:
        """Share over band plus Gumbel, of each label."""
        return self.shares / self.stage.band + self.noise

    @property
    def flip_bound(self) -> float:
        """What the certificate says of one label."""
        n_classes, k = self.tallies.shape[1], self.stage.n_labels
        return selection_flip_bound_sampled(1.0 / self.stage.band, n_classes, k)

    def chances(self) -> Floats:
        """Estimate how likely fresh labels name each class."""
        return label_answer_chances(self.tallies, self.stage.n_labels, self.stage.band, self.noise)

    def limits(self, delta: float) -> Floats:
        """Upper limits: union over the other labels, Hoeffding's inequality for each duel."""
        k, n_classes = self.stage.n_labels, self.tallies.shape[1]
        low, high = binomial_limits(self.tallies, k, delta / n_classes)
        every = np.arange(len(self.answers))
        mine = self.noise[every, self.answers][:, np.newaxis]
        # Label c wins iff its share exceeds that of the answer by so much.
        needed = self.stage.band * (mine - self.noise)
        drift = high - low[every, self.answers][:, np.newaxis]
        # theorem: fresh-sample-point (section "heavy points")
        beaten = np.exp(-k * np.maximum(needed - drift, 0.0) ** 2 / 2.0)
        beaten[every, self.answers] = 0.0
        return np.minimum(beaten.sum(axis=1) * (1.0 + 1e-9), 1.0)

    def average_flips(self) -> Floats:
        """Return what the certificate says: no sharper estimate is made."""
        return np.full(len(self.tallies), self.flip_bound)


def decide(
    points: Points,
    tallies: NDArray[np.int64],
    stage: HeavyStage,
    classes: NDArray[Any],
    key: SharedKey,
) -> LabelRule:
    """Label points from the tallies of their labels.

    Examples
    --------
    >>> from replearn.randomness import as_points
    >>> stage = HeavyStage(0.1, 0.2, n_labels=9, band=0.01)
    >>> tallies, names = np.array([[1, 8, 0]]), np.array(["a", "b", "c"])
    >>> decide(as_points([5]), tallies, stage, names, SharedKey(0)).answers
    array([1])
    """
    if tallies.shape[1] == 2:
        noise, answers = decide_labels(points, tallies[:, 1], stage.n_labels, stage.band, key)
        return TwoLabels(stage, tallies, noise, answers)
    gumbels = key.child("heavy label").gumbels(points, classes.tolist())
    # theorem: heavy-labels (section "more than two classes")
    scores = tallies / stage.n_labels / stage.band + gumbels
    return ManyLabels(stage, tallies, gumbels, np.argmax(scores, axis=1))


def with_flips(answers: NDArray[np.intp], flips: Floats) -> Floats:
    """Chances of two classes, from the answer and the chance of the other one.

    Examples
    --------
    >>> with_flips(np.array([0, 1]), np.array([0.1, 0.2]))
    array([[0.9, 0.1],
           [0.2, 0.8]])
    """
    every, chances = np.arange(len(answers)), np.empty((len(answers), 2))
    chances[every, answers], chances[every, 1 - answers] = 1.0 - flips, flips
    return chances
