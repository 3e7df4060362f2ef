"""More than two classes: answers, flips and explanations from class votes and Gumbels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from replearn.bounds.class_flips import class_answers, class_flip_estimate, class_flip_limits
from replearn.planning import Plan


class ClassVotes(NamedTuple):
    """What the blocks say of each point, and the point's shared Gumbels."""

    shares: NDArray[np.float64]  # (n, classes): mean over partitions
    gumbels: NDArray[np.float64]  # (n, classes)

    def answers(self) -> NDArray[np.intp]:
        """Return the class that votes and Gumbels name."""
        # theorem: multiclass-vote
        return class_answers(self.shares, self.gumbels)

    def flips(self, made: Plan) -> NDArray[np.float64]:
        """Estimate how likely a fresh sample answers differently."""
        return class_flip_estimate(self.shares, made.n_blocks, self.gumbels)

    def limits(self, made: Plan, delta: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return limits of that probability."""
        counted = made.n_partitions == 1 and made.vote == "hard"
        return class_flip_limits(
            self.shares, made.n_blocks, self.gumbels, delta=delta, counted=counted
        )

    def explain(self, made: Plan, classes: NDArray[Any]) -> ClassExplanation:
        """Say why each point got its answer."""
        with np.errstate(divide="ignore"):
            scores = np.log(self.shares) + self.gumbels
        ranked = np.argsort(-scores, axis=1, kind="stable")
        every, best, second = np.arange(len(scores)), ranked[:, 0], ranked[:, 1]
        return ClassExplanation(
            answer=classes[best],
            stage=np.full(len(best), "vote"),
            vote_share=self.shares[every, best],
            runner_up=classes[second],
            runner_up_share=self.shares[every, second],
            margin=scores[every, best] - scores[every, second],
            flip_probability=self.flips(made),
        )


@dataclass(frozen=True, eq=False)
class ClassExplanation:
    """One row per point: the answer, the runner-up, and the distance between them.

    Parameters
    ----------
    answer : ndarray
        The prediction.
    stage : ndarray of str
        Which part of the algorithm answered ("vote").
    vote_share : ndarray of float
        Share of blocks that voted for the answer.
    runner_up : ndarray
        The label that came next.
    runner_up_share : ndarray of float
        Share of blocks that voted for it.
    margin : ndarray of float
        Log share plus shared Gumbel of the answer, minus that of the runner-up.
    flip_probability : ndarray of float
        Estimated probability that a fresh training sample answers differently.
    """

    answer: NDArray[Any]
    stage: NDArray[np.str_]
    vote_share: NDArray[np.float64]
    runner_up: NDArray[Any]
    runner_up_share: NDArray[np.float64]
    margin: NDArray[np.float64]
    flip_probability: NDArray[np.float64]

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return dict(vars(self))

    def frame(self) -> Any:
        """Return a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.columns())

    def sentences(self) -> Iterator[str]:
        """Explain each point in one sentence."""
        for row in range(len(self)):
            yield (
                f"Answer {self.answer[row]!s}: {self.vote_share[row]:.1%} of the blocks voted for "
                f"it; with this point's shared random numbers {self.runner_up[row]!s} "
                f"({self.runner_up_share[row]:.1%}) came next (margin {self.margin[row]:.3f}); a "
                "fresh training sample would answer differently with probability about "
                f"{self.flip_probability[row]:.2g}."
            )

    def __len__(self) -> int:
        return len(self.answer)

    def __str__(self) -> str:
        return "\n".join(self.sentences())
