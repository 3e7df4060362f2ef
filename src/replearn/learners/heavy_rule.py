"""A rule of votes beside a heavy stage: points with enough labels of their own need no votes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.heavy import HeavyView, TwoLabels
from replearn.learners.rule import Decision, decide_among_many, decide_between_two
from replearn.randomness import Points, SharedKey

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeavyRule:
    """Label heavy points by their own labels, and predict all others by the rule of the votes."""

    rule: Any
    view: HeavyView

    def noise(self, key: SharedKey, points: Points) -> Floats:
        """Return each point's shared random numbers."""
        return self.rule.noise(key, points)

    def predictions(self, votes: NDArray[Any], noise: Floats) -> NDArray[np.intp]:
        """Return the code of each prediction."""
        return self.view.replace(self.rule.predictions(votes, noise), self.view.rule.label_codes)

    def decide(self, votes: NDArray[Any], noise: Floats) -> Decision:
        """Return the predictions with what they follow from; for a heavy point, its own labels."""
        decision = self.rule.decide(votes, noise)
        labelled = _decide_by_labels(self.view.rule)
        return replace(decision.merged(labelled, self.view.replace), heavy=self.view.member)

    def proba(self, votes: NDArray[Any]) -> Floats:
        """Return the vote share of each class."""
        return self.rule.proba(votes)

    def flips(self, votes: NDArray[Any], noise: Floats) -> Floats:
        """Estimate how likely a fresh sample predicts differently: membership and label count."""
        return self.view.flips(self.rule.chances(votes, noise), self.rule.predictions(votes, noise))

    def limits(self, votes: NDArray[Any], noise: Floats, delta: float) -> tuple[Floats, Floats]:
        """Confidence limits of the flip probability; votes and stage share delta."""
        return self.view.limits(self.rule.limits(votes, noise, delta / 2), delta)

    def average_flips(self, votes: NDArray[Any]) -> Floats:
        """Estimate the flip probability of each point, averaged over keys."""
        return self.view.average_flips(self.rule.average_flips(votes))

    def rate_limit(self, votes: NDArray[Any], delta: float) -> float:
        """Upper limit of the flip rate over the points."""
        # theorem: fresh-sample-rate (section "heavy stage"): votes of all points, heavy or not
        limit = self.rule.rate_limit(votes, delta / 2) + self.view.rate_limit(delta / 2)
        return min(1.0, limit)


def _decide_by_labels(labels: Any) -> Decision:
    """Return the decision about the known points by the labels of each of them."""
    if isinstance(labels, TwoLabels):
        share = labels.shares[:, 1]
        return decide_between_two(share, labels.law_values, labels.noise, labels.label_codes)
    return decide_among_many(labels.shares, labels.scores, labels.key_chances, labels.label_codes)
