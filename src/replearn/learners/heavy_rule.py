"""A rule of votes beside a heavy stage: points with enough labels of their own need no votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.heavy import HeavyView, TwoLabels

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeavyRule:
    """Answer heavy points from their own labels, all others by the rule of the votes."""

    rule: Any
    view: HeavyView

    def answers(self, votes: NDArray[Any], noise: Floats) -> NDArray[np.intp]:
        """Return the code of each answer."""
        return self.view.replace(self.rule.answers(votes, noise), self.view.rule.answers)

    def evidence(self, votes: NDArray[Any], noise: Floats) -> tuple[Floats, ...]:
        """Return what an answer rests on; for a heavy point, its own labels."""
        labels: Any = self.view.rule
        if isinstance(labels, TwoLabels):
            own: tuple[Any, ...] = (labels.shares[:, 1], labels.law_values, labels.noise)
        else:
            own = (labels.shares, labels.scores, labels.key_chances)
        pairs = zip(self.rule.evidence(votes, noise), own, strict=True)
        return tuple(self.view.replace(voted, labelled) for voted, labelled in pairs)

    def flips(self, votes: NDArray[Any], noise: Floats) -> Floats:
        """Estimate how likely a fresh sample answers differently: membership and label count."""
        return self.view.flips(self.rule.chances(votes, noise), self.rule.answers(votes, noise))

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

    def explain(self, codes: Any, evidence: Any, flips: Floats, stage: Any, classes: Any) -> Any:
        """Say why each point got its answer, and which of them are heavy."""
        stage = np.where(self.view.member, "heavy", stage)
        return self.rule.explain(codes, evidence, flips, stage, classes)
