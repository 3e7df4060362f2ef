"""Prediction methods of estimators with keyed thresholds, beside ``predict``, and what they return.

Explanations and flip rates are made from the `Decision` of a rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin

from replearn.learners.inputs import FittedState, check_features
from replearn.learners.vote import Decision
from replearn.randomness import HoldsKey
from replearn.records import check_fraction
from replearn.tables import import_pandas

Floats = NDArray[np.float64]


class InWords:
    """A dataclass with one row per point in its columns, and a sentence for each row."""

    prediction: NDArray[Any]

    def sentences(self) -> Iterator[str]:
        """Explain each point in one sentence."""
        raise NotImplementedError

    def columns(self: Any) -> dict[str, NDArray[Any]]:
        """Return the columns by name; what holds for some rules only is left out for others."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.repr}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def frame(self) -> Any:
        """Return a pandas DataFrame."""
        return import_pandas().DataFrame(self.columns())

    def __len__(self) -> int:
        return len(self.prediction)

    def __str__(self) -> str:
        return "\n".join(self.sentences())


@dataclass(frozen=True, eq=False)
class Explanation(InWords):
    """Why each point got its prediction, two classes; one row per point.

    Parameters
    ----------
    prediction : ndarray
        Predicted label.
    stage : ndarray of str
        "vote" or "score".
    score : ndarray
        Share of the votes, or mean predicted probability, of ``classes[1]``.
    response : ndarray
        Probability, over all keys, that this score predicts ``classes[1]``.
    keyed_threshold : ndarray
        The point's own keyed threshold: for votes on the response, for scores on the score.
    margin : ndarray
        Response (or score) minus keyed threshold; ``classes[1]`` is predicted iff it is positive.
        Near 0 a fresh sample may predict differently.
    flip_probability : ndarray
        Estimated probability that a fresh training sample predicts differently.
    classes : tuple
        Both labels.
    standard_error : ndarray or None
        Of a mean predicted probability; None for votes.
    threshold : float
        The score at which both classes are equally likely over all keys.
    """

    prediction: NDArray[Any]
    stage: NDArray[np.str_]
    score: Floats
    response: Floats
    keyed_threshold: Floats
    margin: Floats
    flip_probability: Floats
    classes: tuple[Any, Any]
    standard_error: Floats | None = None
    threshold: float = 0.5

    @property
    def predicted_share(self) -> Floats:
        """Share of the votes, or mean predicted probability, of the prediction."""
        return np.where(self.prediction == self.classes[1], self.score, 1.0 - self.score)

    @property
    def overruled(self) -> NDArray[np.bool_]:
        """Whether the score alone points to the other class and the keyed threshold decided."""
        below = self.score < self.threshold
        above = self.score > self.threshold
        return np.where(self.margin > 0, below, above)

    def sentences(self) -> Iterator[str]:
        """Explain each point in one sentence."""
        say = self._say_votes if self.standard_error is None else self._say_score
        for row in range(len(self)):
            yield f"{say(row)}; {_say_flips(self.flip_probability[row])}"

    def _say_votes(self, row: int) -> str:
        side = "above" if self.margin[row] > 0 else "not above"
        return (
            f"Prediction {self.prediction[row]!s}: {self.score[row]:.1%} of the votes of the "
            f"blocks are for {self.classes[1]!s}, response {self.response[row]:.3f}, {side} this "
            f"point's threshold {self.keyed_threshold[row]:.3f} (margin {self.margin[row]:+.3f})"
        )

    def _say_score(self, row: int) -> str:
        assert self.standard_error is not None
        side = "above" if self.margin[row] > 0 else "not above"
        why = (
            f", on the other side of it than the decision threshold {self.threshold:.1%}: "
            "the score is too near to it to decide alone"
            if self.overruled[row]
            else ""
        )
        return (
            f"Prediction {self.prediction[row]!s}: {self.classes[1]!s} has a mean predicted "
            f"probability of {self.score[row]:.1%} (standard error "
            f"{self.standard_error[row]:.1%}), {side} this point's threshold "
            f"{self.keyed_threshold[row]:.1%}{why}"
        )


@dataclass(frozen=True, eq=False)
class ClassExplanation(InWords):
    """Why each point got its prediction, several classes; one row per point.

    Parameters
    ----------
    prediction : ndarray
        Predicted label.
    stage : ndarray of str
        As in `Explanation`.
    score : ndarray
        Share of the votes, or mean predicted probability, of the prediction.
    runner_up, runner_up_score : ndarray
        The label that comes next, and its score.
    margin : ndarray
        Distance between the two. Votes: ``(w1 - w2) / (w1 + w2)`` of the weights
        ``w = key_chance * exp(Gumbel)``, between 0 (a tie) and 1 (no key could predict the
        runner-up). Scores: difference of the scores with the point's shared offsets.
    most_voted, most_voted_score : ndarray
        The label with the largest score.
    flip_probability : ndarray
        Estimated probability that a fresh training sample predicts differently.
    key_chance : ndarray or None
        Probability, over all keys, that these votes give this prediction; None for scores.
    lead : ndarray or None
        What the point's shared offsets add to the prediction against the runner-up; None for
        votes.
    """

    prediction: NDArray[Any]
    stage: NDArray[np.str_]
    score: Floats
    runner_up: NDArray[Any]
    runner_up_score: Floats
    margin: Floats
    most_voted: NDArray[Any]
    most_voted_score: Floats
    flip_probability: Floats
    key_chance: Floats | None = None
    lead: Floats | None = None

    @property
    def predicted_share(self) -> Floats:
        """Share of the votes, or mean predicted probability, of the prediction."""
        return self.score

    @property
    def overruled(self) -> NDArray[np.bool_]:
        """Whether another class has more."""
        return self.most_voted_score > self.score

    def sentences(self) -> Iterator[str]:
        """Explain each point in one or two sentences."""
        say = self._say_scores if self.key_chance is None else self._say_votes
        for row in range(len(self)):
            yield f"{say(row)}; {_say_flips(self.flip_probability[row])}"

    def _say_votes(self, row: int) -> str:
        return (
            f"Prediction {self.prediction[row]!s}: {self.score[row]:.1%} of the votes of "
            f"the blocks are for it{self._why(row)}"
        )

    def _why(self, row: int) -> str:
        """Say what decided: the votes alone, or random numbers."""
        assert self.key_chance is not None
        rival = f"{self.runner_up[row]!s} ({self.runner_up_score[row]:.1%})"
        if self.key_chance[row] >= 1.0:
            return f", so far ahead of {rival} that no random number could change the prediction"
        chance = f"{max(self.key_chance[row], 0.001):.1%} of all keys"
        if self.overruled[row]:
            return (
                f" and {self.most_voted_score[row]:.1%} for {self.most_voted[row]!s}. Shares "
                "change from one training sample to the next, so the choice between classes that "
                "are at most this far apart is left to random numbers that belong to this point "
                f"and are the same in every run; they favoured {self.prediction[row]!s} (as do "
                f"{chance}) by a "
                f"margin of {self.margin[row]:.3f}"
            )
        return (
            f", more than for any other; {rival} came next, and the point's shared random numbers "
            f"kept to the votes (as do {chance}; margin {self.margin[row]:.3f})"
        )

    def _say_scores(self, row: int) -> str:
        assert self.lead is not None
        why = (
            "; the scores are too near to each other to decide alone, and this point's shared "
            f"offsets add {self.lead[row]:.1%} to the prediction"
            if self.score[row] < self.runner_up_score[row]
            else ""
        )
        return (
            f"Prediction {self.prediction[row]!s}: mean predicted probability "
            f"{self.score[row]:.1%}; {self.runner_up[row]!s} ({self.runner_up_score[row]:.1%}) "
            f"came next{why}"
        )


def explanation(
    decision: Decision,
    flip_probability: Floats,
    classes: NDArray[Any],
) -> Explanation | ClassExplanation:
    """Return the explanation of a decision."""
    stage = np.full(len(decision.prediction), "vote" if decision.lead is None else "score")
    if decision.standard_error is not None:
        stage = np.full(len(stage), "score")
    prediction = classes[decision.prediction]
    if decision.keyed_threshold is not None:
        assert decision.key_chance is not None
        return Explanation(
            prediction=prediction,
            stage=stage,
            score=decision.score[:, 1],
            response=decision.key_chance[:, 1],
            keyed_threshold=decision.keyed_threshold,
            margin=decision.margin,
            flip_probability=flip_probability,
            classes=(classes[0], classes[-1]),
            standard_error=decision.standard_error,
            threshold=decision.threshold,
        )
    every = np.arange(len(prediction))
    most_voted = decision.score.argmax(axis=1)
    chance = decision.key_chance
    return ClassExplanation(
        prediction=prediction,
        stage=stage,
        score=decision.score[every, decision.prediction],
        runner_up=classes[decision.runner_up],
        runner_up_score=decision.score[every, decision.runner_up],
        margin=decision.margin,
        most_voted=classes[most_voted],
        most_voted_score=decision.score[every, most_voted],
        flip_probability=flip_probability,
        key_chance=None if chance is None else chance[every, decision.prediction],
        lead=decision.lead,
    )


def _say_flips(flip_probability: float) -> str:
    # Below that an estimate from a few dozen blocks says no more than: very unlikely.
    words = "below 0.001" if flip_probability < 0.001 else f"about {flip_probability:.2g}"
    return f"a fresh training sample would predict differently with probability {words}."


# -- the methods -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class FlipRate:
    """Share of points that two fresh training samples would predict differently.

    An estimate from one fit, averaged over thresholds, and a limit that fails with at most delta.

    >>> print(FlipRate(0.0362, 0.078, 0.05))
    flip rate 3.62% (at most 7.80%, 95%)
    """

    estimate: float
    upper: float
    delta: float

    def __str__(self) -> str:
        return f"flip rate {self.estimate:.2%} (at most {self.upper:.2%}, {1 - self.delta:.0%})"


class KeyedPredictions(FittedState, HoldsKey, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Probabilities, flips and explanations from a fitted rule with keyed thresholds.

    A subclass has ``_vote()``, which returns the fitted votes or scores, and ``predict``.
    """

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities: the mean vote share of each class, over all blocks.

        With ``vote="hard"`` each block gives its label: a share is exactly 0 or 1 if all blocks
        agree, and measures the agreement of the blocks rather than the probability of the class.
        With ``vote="soft"`` each block gives its probabilities, and their mean is as good a
        probability as those of the base estimator. Use soft votes for probabilities, ranking and
        log loss.

        Parameters
        ----------
        X
            As in ``predict``.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``; rows add up to 1. `predict` does not follow from them,
            because each point has its own threshold.
        """
        vote = self._vote()
        X = check_features(self, X, reset=False)
        return vote.rule.proba(vote.votes(X))[:, : len(self.classes_)]

    def margin(self, X: Any, *, ids: Any = None) -> Floats:
        """Return the response (or score) minus the point's threshold.

        Parameters
        ----------
        X, ids
            As in ``predict``.

        Returns
        -------
        ndarray of shape (n,)
            Positive if ``classes_[1]`` is predicted; for two classes only. Because it contains
            the point's random threshold, it is not a ``decision_function``: rank points by
            `predict_proba`.
        """
        vote = self._vote_of_two("margin")
        X = check_features(self, X, reset=False)
        return vote.rule.decide(*vote.votes_and_noise(X, ids)).margin

    def flip_probability(self, X: Any, *, ids: Any = None) -> Floats:
        """Estimate the probability that a fresh training sample gives another prediction.

        Parameters
        ----------
        X, ids
            As in ``predict``, but not rows of the training sample.

        Returns
        -------
        ndarray of shape (n,)
            Estimates from this one fit, under this key.
        """
        vote = self._vote()
        X = check_features(self, X, reset=False)
        return vote.rule.flips(*vote.votes_and_noise(X, ids))

    def explain(self, X: Any, *, ids: Any = None) -> Explanation | ClassExplanation:
        """Explain each prediction: votes, threshold, distance, flip probability.

        Parameters
        ----------
        X, ids
            As in ``predict``.

        Returns
        -------
        Explanation
            Prints as sentences; ``frame()`` gives a table.
        """
        vote = self._vote()
        X = check_features(self, X, reset=False)
        rule = vote.rule
        votes, noise = vote.votes_and_noise(X, ids)
        decision = rule.decide(votes, noise)
        return explanation(decision, rule.flips(votes, noise), self.classes_)

    def _vote_of_two(self, method: str) -> Any:
        """Return the fitted vote; refuse more than two classes."""
        vote = self._vote()
        if len(self.classes_) > 2:
            raise ValueError(
                f"{method} is defined for two classes; this estimator has {len(self.classes_)}."
            )
        return vote


class VotePredictions(KeyedPredictions):
    """The same with confidence limits, which follow from counted votes."""

    def flip_rate(self, X: Any, *, delta: float = 0.05) -> FlipRate:
        """Return the mean flip probability over points and thresholds, with an upper limit.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            Points of the population; they must not be rows of the training sample.
        delta : float, default=0.05
            The limit fails with probability at most delta.

        Returns
        -------
        FlipRate
            ``estimate`` and ``upper``.
        """
        check_fraction("delta", delta, one=False)
        vote = self._vote_of_two("flip_rate")
        X = check_features(self, X, reset=False)
        votes = vote.votes(X)
        rule = vote.rule
        if vote.design.n_blocks < 2:
            return FlipRate(float("nan"), 1.0, delta)
        upper = rule.rate_limit(votes, delta)
        return FlipRate(float(rule.average_flips(votes).mean()), upper, delta)
