"""What prediction methods return beside arrays: explanations and flip rates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.tables.rows import import_pandas

_NO_COLUMNS = ("classes", "decision_threshold", "overruled")


class InWords:
    """A dataclass with one row per point in its columns, and a sentence for each row."""

    answer: NDArray[Any]

    def sentences(self) -> Iterator[str]:
        """Explain each point in one sentence."""
        raise NotImplementedError

    def columns(self: Any) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NO_COLUMNS}

    def frame(self) -> Any:
        """Return a pandas DataFrame."""
        return import_pandas().DataFrame(self.columns())

    def __len__(self) -> int:
        return len(self.answer)

    def __str__(self) -> str:
        return "\n".join(self.sentences())


class AnalystExplanation(InWords):
    """What every explanation of a keyed rule tells, whatever the rule."""

    flip_probability: NDArray[np.float64]

    @property
    def answer_share(self) -> NDArray[np.float64]:
        """Share of the votes, or mean predicted probability, for the answer."""
        raise NotImplementedError

    @property
    def overruled(self) -> NDArray[np.bool_]:
        """Whether the models lean to another answer and shared random numbers decided."""
        raise NotImplementedError

    def _about_retraining(self, row: int) -> str:
        # Below that an estimate from a few dozen blocks says no more than: very unlikely.
        flips = self.flip_probability[row]
        words = "below 0.001" if flips < 0.001 else f"about {flips:.2g}"
        return f"a fresh training sample would answer differently with probability {words}."


@dataclass(frozen=True, eq=False)
class Explanation(AnalystExplanation):
    """One row per point: what the blocks said, the point's threshold, and the distance.

    ``stage`` is "vote", or "heavy" for a point with labels enough of its own; ``vote_share`` is the
    share of blocks (of a heavy point's own labels) for ``classes[1]``, which is the answer iff
    ``margin = law_value - threshold`` is positive; near 0 a fresh sample may answer differently.
    """

    answer: NDArray[Any]
    stage: NDArray[np.str_]
    vote_share: NDArray[np.float64]
    law_value: NDArray[np.float64]
    threshold: NDArray[np.float64]
    margin: NDArray[np.float64]
    flip_probability: NDArray[np.float64]
    classes: tuple[Any, Any]

    @property
    def answer_share(self) -> NDArray[np.float64]:
        """Share of the votes for the answer."""
        return np.where(self.answer == self.classes[1], self.vote_share, 1.0 - self.vote_share)

    @property
    def overruled(self) -> NDArray[np.bool_]:
        """Whether most models lean to the other class."""
        return self.answer_share < 0.5

    def sentences(self) -> Iterator[str]:
        """Explain each point in one sentence."""
        for row in range(len(self)):
            above = self.margin[row] > 0
            heavy = self.stage[row] == "heavy"
            source = "labels seen at this very point are" if heavy else "blocks voted for"
            yield (
                f"Answer {self.answer[row]!s}: {self.vote_share[row]:.1%} of the {source} "
                f"{self.classes[1]!s}, which the law turns into {self.law_value[row]:.3f}, "
                f"{'above' if above else 'not above'} this point's threshold "
                f"{self.threshold[row]:.3f} (margin {self.margin[row]:+.3f}); "
                f"{self._about_retraining(row)}"
            )


@dataclass(frozen=True, eq=False)
class ClassExplanation(AnalystExplanation):
    """One row per point: the answer, the runner-up, and the distance between them.

    ``key_chance`` is the chance, over all keys, that these votes give this answer: 1 if it is far
    enough ahead. ``margin`` compares the weights ``w = key_chance * exp(Gumbel)`` of the
    prediction and the runner-up, ``(w1 - w2) / (w1 + w2)``: between 0 (a tie) and 1 (no key could
    predict the runner-up). ``stage`` and ``vote_share`` as in `Explanation`, for the prediction.
    """

    answer: NDArray[Any]
    stage: NDArray[np.str_]
    vote_share: NDArray[np.float64]
    runner_up: NDArray[Any]
    runner_up_share: NDArray[np.float64]
    margin: NDArray[np.float64]
    key_chance: NDArray[np.float64]
    most_voted: NDArray[Any]
    most_voted_share: NDArray[np.float64]
    flip_probability: NDArray[np.float64]

    @property
    def answer_share(self) -> NDArray[np.float64]:
        """Share of the votes for the answer."""
        return self.vote_share

    @property
    def overruled(self) -> NDArray[np.bool_]:
        """Whether another class has more."""
        return self.most_voted_share > self.vote_share

    def sentences(self) -> Iterator[str]:
        """Explain each point in one or two sentences."""
        for row in range(len(self)):
            heavy = self.stage[row] == "heavy"
            source = "labels seen at this very point say so" if heavy else "blocks voted for it"
            yield (
                f"Answer {self.answer[row]!s}: {self.vote_share[row]:.1%} of the {source}"
                f"{self._why(row)}; {self._about_retraining(row)}"
            )

    def _why(self, row: int) -> str:
        """Say what decided: the votes alone, or random numbers."""
        rival = f"{self.runner_up[row]!s} ({self.runner_up_share[row]:.1%})"
        if self.key_chance[row] >= 1.0:
            return f", so far ahead of {rival} that no random number could change the answer"
        chance = f"{max(self.key_chance[row], 0.001):.1%} of all keys"
        if self.most_voted_share[row] > self.vote_share[row]:
            return (
                f" and {self.most_voted_share[row]:.1%} for {self.most_voted[row]!s}. Shares "
                "change from one training sample to the next, so the choice between classes that "
                "are at most this far apart is left to random numbers that belong to this point "
                f"and are the same in every run; they favoured {self.answer[row]!s} (as do "
                f"{chance}) by a "
                f"margin of {self.margin[row]:.3f}"
            )
        return (
            f", more than for any other; {rival} came next, and the point's shared random numbers "
            f"kept to the votes (as do {chance}; margin {self.margin[row]:.3f})"
        )


@dataclass(frozen=True, eq=False)
class ScoreExplanation(AnalystExplanation):
    """One row per point: its score with a standard error, its threshold, and the distance.

    ``score`` is the mean predicted probability of ``classes[1]``, which is the answer iff
    ``margin = score - threshold`` is positive. ``standard_error`` is the curve's, or the row's own
    where that is larger; ``law_value`` is the probability, over thresholds, of ``classes[1]``.
    """

    answer: NDArray[Any]
    score: NDArray[np.float64]
    law_value: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    threshold: NDArray[np.float64]
    margin: NDArray[np.float64]
    flip_probability: NDArray[np.float64]
    classes: tuple[Any, Any]
    decision_threshold: float

    @property
    def vote_share(self) -> NDArray[np.float64]:
        """The score, under the name it has where blocks vote."""
        return self.score

    @property
    def answer_share(self) -> NDArray[np.float64]:
        """Mean predicted probability of the answer."""
        return np.where(self.answer == self.classes[1], self.score, 1.0 - self.score)

    @property
    def overruled(self) -> NDArray[np.bool_]:
        """Whether the score alone would say the other class."""
        return (self.margin > 0) != (self.score > self.decision_threshold)

    def sentences(self) -> Iterator[str]:
        """Explain each point in one sentence."""
        overruled = self.overruled
        for row in range(len(self)):
            above = self.margin[row] > 0
            why = (
                f", on the other side of it than the decision threshold "
                f"{self.decision_threshold:.1%}: the score is too near to it to decide alone"
                if overruled[row]
                else ""
            )
            yield (
                f"Answer {self.answer[row]!s}: {self.classes[1]!s} has a mean predicted "
                f"probability of {self.score[row]:.1%} (standard error "
                f"{self.standard_error[row]:.1%}), {'above' if above else 'not above'} this "
                f"point's threshold {self.threshold[row]:.1%}{why}; {self._about_retraining(row)}"
            )


@dataclass(frozen=True, eq=False)
class ScoreClassExplanation(AnalystExplanation):
    """One row per point: the answer, the runner-up, and the distance between them.

    ``lead`` is what the point's shared offsets add to the answer against the runner-up, and
    ``margin`` is the distance of their scores with it.
    """

    answer: NDArray[Any]
    score: NDArray[np.float64]
    runner_up: NDArray[Any]
    runner_up_score: NDArray[np.float64]
    lead: NDArray[np.float64]
    margin: NDArray[np.float64]
    flip_probability: NDArray[np.float64]

    @property
    def answer_share(self) -> NDArray[np.float64]:
        """Mean predicted probability for the answer."""
        return self.score

    @property
    def overruled(self) -> NDArray[np.bool_]:
        """Whether another class has more."""
        return self.score < self.runner_up_score

    def sentences(self) -> Iterator[str]:
        """Explain each point in one sentence."""
        overruled = self.overruled
        for row in range(len(self)):
            why = (
                "; the scores are too near to each other to decide alone, and this point's shared "
                f"offsets add {self.lead[row]:.1%} to the answer"
                if overruled[row]
                else ""
            )
            yield (
                f"Answer {self.answer[row]!s}: mean predicted probability {self.score[row]:.1%}; "
                f"{self.runner_up[row]!s} ({self.runner_up_score[row]:.1%}) came next{why}; "
                f"{self._about_retraining(row)}"
            )


@dataclass(frozen=True)
class FlipRate:
    """Share of points that two fresh training samples would answer differently.

    An estimate from one fit, averaged over thresholds, and a limit that fails with at most delta.

    >>> print(FlipRate(0.0362, 0.078, 0.05))
    flip rate 3.62% (at most 7.80%, 95%)
    """

    estimate: float
    upper: float
    delta: float

    def __str__(self) -> str:
        return f"flip rate {self.estimate:.2%} (at most {self.upper:.2%}, {1 - self.delta:.0%})"
