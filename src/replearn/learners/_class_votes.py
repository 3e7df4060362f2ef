"""More than two classes: answers, flips and explanations from class votes and Gumbels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from replearn.bounds.class_flips import (
    class_answer_chances,
    class_answers,
    class_flip_estimate,
    class_flip_limits,
)
from replearn.guarantees import Plan
from replearn.heavy import HeavyView, ManyLabels
from replearn.learners._explanation import ClassExplanation

Floats = NDArray[np.float64]


class ClassVotes(NamedTuple):
    """What the blocks say of each point, and the point's shared Gumbels."""

    parts: Floats  # (n, partitions, classes): vote shares
    gumbels: Floats  # (n, classes)
    heavy: HeavyView | None = None

    @property
    def shares(self) -> Floats:
        """Mean over partitions."""
        weights = self.parts.sum(axis=1)
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def answers(self) -> NDArray[np.intp]:
        """Return the class that votes and Gumbels name, or a heavy point's own labels."""
        # theorem: multiclass-vote
        votes = class_answers(self.shares, self.gumbels)
        return votes if self.heavy is None else self.heavy.replace(votes, self.heavy.rule.answers)

    def flips(self, made: Plan) -> Floats:
        """Estimate how likely a fresh sample answers differently."""
        if self.heavy is None:
            return class_flip_estimate(self.parts, made.n_blocks, self.gumbels)
        chances = class_answer_chances(self.parts, made.n_blocks, self.gumbels)
        return self.heavy.flips(chances, class_answers(self.shares, self.gumbels))

    def limits(self, made: Plan, delta: float) -> tuple[Floats, Floats]:
        """Return limits of that probability."""
        counted = made.n_partitions == 1 and made.vote == "hard"
        part = delta if self.heavy is None else delta / 2
        votes = class_flip_limits(
            self.shares, made.n_blocks, self.gumbels, delta=part, counted=counted
        )
        return votes if self.heavy is None else self.heavy.limits(votes, delta)

    def explain(self, made: Plan, classes: NDArray[Any]) -> ClassExplanation:
        """Say why each point got its answer."""
        shares, stage = self.shares, np.full(len(self.parts), "vote")
        with np.errstate(divide="ignore"):
            scores = np.log(shares) + self.gumbels
        if self.heavy is not None:
            rule = self.heavy.rule
            assert isinstance(rule, ManyLabels)
            shares, scores = (
                self.heavy.replace(votes, own)
                for votes, own in ((shares, rule.shares), (scores, rule.scores))
            )
            stage = np.where(self.heavy.member, "heavy", stage)
        ranked = np.argsort(-scores, axis=1, kind="stable")
        every, best, second = np.arange(len(scores)), ranked[:, 0], ranked[:, 1]
        return ClassExplanation(
            answer=classes[best],
            stage=stage,
            vote_share=shares[every, best],
            runner_up=classes[second],
            runner_up_share=shares[every, second],
            margin=scores[every, best] - scores[every, second],
            flip_probability=self.flips(made),
        )
