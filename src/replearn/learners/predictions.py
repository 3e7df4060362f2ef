"""Prediction methods of estimators with keyed thresholds, beside ``predict``, and what they return.

Explanations and flip rates are made from the `Decision` of a rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin

from replearn.execution import BlockEnsemble
from replearn.guarantees import BlockVotes
from replearn.learners.inputs import FittedState, check_features
from replearn.learners.reasons import Reasons, reasons
from replearn.learners.vote import Decision
from replearn.randomness import HoldsKey
from replearn.records import check_choice, check_fraction
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
        "vote"; "heavy" for a point that was labelled by its own labels; "score".
    score : ndarray
        Share of the votes (of a heavy point's own labels), or mean predicted probability, of
        ``classes[1]``.
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
        heavy = self.stage[row] == "heavy"
        source = "labels seen at this very point are" if heavy else "votes of the blocks are for"
        side = "above" if self.margin[row] > 0 else "not above"
        return (
            f"Prediction {self.prediction[row]!s}: {self.score[row]:.1%} of the {source} "
            f"{self.classes[1]!s}, response {self.response[row]:.3f}, {side} this point's "
            f"threshold {self.keyed_threshold[row]:.3f} (margin {self.margin[row]:+.3f})"
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
        heavy = self.stage[row] == "heavy"
        source = (
            "labels seen at this very point say so" if heavy else "votes of the blocks are for it"
        )
        return (
            f"Prediction {self.prediction[row]!s}: {self.score[row]:.1%} of the {source}"
            f"{self._why(row)}"
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
    if decision.heavy is not None:
        stage = np.where(decision.heavy, "heavy", stage)
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


# -- for the person who gets the prediction --------------------------------------------------------
FIRMNESS = ((0.001, "very firm"), (0.01, "firm"), (0.05, "fairly firm"), (0.2, "close"))
"""Up to which flip probability a word is used; beyond the last: very close."""


@dataclass(frozen=True, eq=False)
class PlainExplanation(InWords):
    """One row per point: the prediction, and how likely a model trained on new data repeats it.

    ``model_share`` is the share of the trained models' votes, or their mean predicted probability,
    for the prediction; ``overruled`` says where they lean to another one. ``reasons`` has the
    contribution of each feature where reference rows were given.
    """

    prediction: NDArray[Any]
    firmness: NDArray[Any]
    same_prediction: NDArray[np.float64]
    model_share: NDArray[np.float64]
    overruled: NDArray[np.bool_] = field(repr=False)
    stage: NDArray[Any] = field(repr=False)
    reasons: Reasons | None = field(default=None, repr=False)

    def sentences(self) -> Iterator[str]:
        """Explain each point in a few plain sentences."""
        for row in range(len(self)):
            parts = [
                f"The prediction is {self.prediction[row]!s}.",
                *self._reasons(row),
                _about_retraining(self.firmness[row], self.same_prediction[row]),
                *([_tie(self.model_share[row])] if self.overruled[row] else []),
            ]
            yield " ".join(parts)

    def _reasons(self, row: int) -> list[str]:
        """Name the features that speak for the prediction, and those that speak against it."""
        if self.reasons is None:
            return []
        if self.stage[row] == "heavy":
            return ["Earlier cases that are equal to this one had this outcome most often."]
        return self.reasons.sentences(row)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name, with the reasons as texts where they are known."""
        reasons = {} if self.reasons is None else self.reasons.columns()
        return super().columns() | reasons


def in_plain_words(
    explained: Explanation | ClassExplanation, why: Reasons | None = None
) -> PlainExplanation:
    """Leave out of an explanation what only those who run the model need.

    >>> import numpy as np
    >>> from replearn.learners.predictions import Explanation
    >>> explained = Explanation(
    ...     prediction=np.array(["yes"]), stage=np.array(["vote"]), score=np.array([0.94]),
    ...     response=np.array([0.99]), keyed_threshold=np.array([0.2]), margin=np.array([0.79]),
    ...     flip_probability=np.array([0.02]), classes=("no", "yes"),
    ... )
    >>> print(in_plain_words(explained))
    The prediction is yes. It is fairly firm: of 100 models trained on new data, about 98 would predict the same.
    """  # noqa: E501
    same = 1.0 - explained.flip_probability
    words = np.array([_word(value) for value in same], dtype=object)
    return PlainExplanation(
        prediction=explained.prediction,
        firmness=words,
        same_prediction=same,
        model_share=explained.predicted_share,
        overruled=explained.overruled,
        stage=explained.stage,
        reasons=why,
    )


def _word(same: float) -> str:
    if math.isnan(same):
        return "of unknown firmness"
    return next((word for limit, word in FIRMNESS if 1.0 - same <= limit), "very close")


def _about_retraining(firmness: str, same: float) -> str:
    if math.isnan(same):
        return "How firm it is cannot be said from a single training."
    if same >= 1.0 - FIRMNESS[0][0]:
        models = "of 1,000 models trained on new data, all or nearly all"
    else:
        models = f"of 100 models trained on new data, about {min(99, max(1, round(100 * same)))}"
    return f"It is {firmness}: {models} would predict the same."


def _tie(share: float) -> str:
    """Say why the prediction is not the one that the models lean to."""
    return (
        f"The models trained here lean to another one ({share:.0%} for this one), but the case is "
        "close, and close cases are decided by lot. The lot was drawn beforehand, belongs to the "
        "case and is used again at every training, so that the prediction does not change by "
        "chance."
    )


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


STYLES = ("analyst", "plain")


def check_style(style: str, reference: Any) -> None:
    """Raise if a style of explanations is none, or has no use for reference rows."""
    check_choice("style", style, STYLES)
    if reference is not None and style != "plain":
        raise ValueError(f'reference requires style="plain", got style={style!r}.')


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

    def vote_share(self, X: Any) -> Floats:
        """Return the mean share of the blocks that vote for ``classes_[1]``.

        Parameters
        ----------
        X
            As in ``predict``.

        Returns
        -------
        ndarray of shape (n,)
            Shares in [0, 1].
        """
        vote = self._vote_of_two("vote_share")
        X = check_features(self, X, reset=False)
        return vote.rule.share(vote.votes(X))

    def margin(self, X: Any, *, ids: Any = None) -> Floats:
        """Return the response (or score) minus the point's threshold.

        Parameters
        ----------
        X, ids
            As in ``predict``.

        Returns
        -------
        ndarray of shape (n,)
            Positive if ``classes_[1]`` is predicted; for two classes only. For a heavy point, the
            margin of its own labels. Because it contains the point's random threshold, it is not
            a ``decision_function``: rank points by `vote_share` or `predict_proba`.
        """
        vote = self._vote_of_two("margin")
        X = check_features(self, X, reset=False)
        return vote.rule_for(X).decide(*vote.votes_and_noise(X, ids)).margin

    def flip_probability(self, X: Any, *, ids: Any = None) -> Floats:
        """Estimate the probability that a fresh training sample gives another prediction.

        Parameters
        ----------
        X, ids
            As in ``predict``, but not rows of the training sample.

        Returns
        -------
        ndarray of shape (n,)
            Estimates from this one fit, under this key. `flip_limits` gives their limits.
        """
        vote = self._vote()
        X = check_features(self, X, reset=False)
        return vote.rule_for(X).flips(*vote.votes_and_noise(X, ids))

    def predict_or_abstain(
        self, X: Any, max_flip: float, *, ids: Any = None, fill_value: Any = None
    ) -> NDArray[Any]:
        """Predict only where the estimated flip probability is at most ``max_flip``.

        Parameters
        ----------
        X, ids
            As in ``predict``.
        max_flip : float
            Largest flip probability at which a label is predicted.
        fill_value : object, default=None
            The value that marks an abstention.

        Returns
        -------
        ndarray of object, shape (n,)
            Labels, or ``fill_value``. Whether it abstains is estimated from this sample, so
            another run may abstain on other rows.
        """
        check_fraction("max_flip", max_flip, zero=True)
        vote = self._vote()
        X = check_features(self, X, reset=False)
        rule = vote.rule_for(X)
        votes, noise = vote.votes_and_noise(X, ids)
        labels = self.classes_[rule.predictions(votes, noise)].astype(object)
        labels[rule.flips(votes, noise) > max_flip] = fill_value
        return labels

    def explain(
        self, X: Any, *, ids: Any = None, style: str = "analyst", reference: Any = None
    ) -> Explanation | ClassExplanation | PlainExplanation:
        """Explain each prediction: votes, threshold, distance, flip probability.

        Parameters
        ----------
        X, ids
            As in ``predict``.
        style : {"analyst", "plain"}, default="analyst"
            "plain" is for the person who gets the prediction: which label, which features spoke for
            and against it, how stable it is, and what training on new data would change, without
            thresholds.
        reference : array-like or frame of shape (n_reference, n_features), default=None
            Rows of other cases, for style "plain". The weight of a feature is the mean change of
            the score if this feature alone takes the values of these rows (at most 100 of them).
            If None, no features are named.

        Returns
        -------
        Explanation
            Prints as sentences; ``frame()`` gives a table.
        """
        check_style(style, reference)
        vote = self._vote()
        X = check_features(self, X, reset=False)
        rule = vote.rule_for(X)
        votes, noise = vote.votes_and_noise(X, ids)
        decision = rule.decide(votes, noise)
        explained = explanation(decision, rule.flips(votes, noise), self.classes_)
        if style != "plain":
            return explained
        if reference is None:
            return in_plain_words(explained)
        reference = check_features(self, reference, reset=False)
        why = reasons(self._mean_scores, X, decision.prediction, reference)
        return in_plain_words(explained, why)

    def _mean_scores(self, X: Any) -> Floats:
        """Return the mean probability of each class over all blocks; their votes without one."""
        vote = self._vote()
        ensemble: BlockEnsemble = vote.ensemble
        if not all(hasattr(model, "predict_proba") for model in self.estimators_):
            return vote.rule.proba(vote.votes(X))
        scores = ensemble.soft_scores(X, n_jobs=self.n_jobs).mean(axis=1)
        return np.column_stack([1.0 - scores, scores]) if scores.ndim == 1 else scores

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

    def flip_limits(self, X: Any, *, ids: Any = None, delta: float = 0.05) -> tuple[Floats, Floats]:
        """Return lower and upper confidence limits of `flip_probability` for each point.

        Parameters
        ----------
        X, ids
            As in ``predict``, but not rows of the training sample.
        delta : float, default=0.05
            The limits of each point fail with probability at most delta.

        Returns
        -------
        lower, upper : ndarray of shape (n,)
            Limits of each point's flip probability. The estimate is never outside them.
        """
        check_fraction("delta", delta, one=False)
        vote = self._vote()
        X = check_features(self, X, reset=False)
        rule = vote.rule_for(X)
        votes, noise = vote.votes_and_noise(X, ids)
        lower, upper = rule.limits(votes, noise, delta)
        # The estimate averages over chances beyond the limits, which matters below 1e-6.
        estimate = rule.flips(votes, noise)
        return np.minimum(lower, estimate), np.maximum(upper, estimate)

    def block_votes(self, X: Any) -> BlockVotes:
        """Return the votes of each block of the first partition, for a comparison of two labs.

        Two labs publish the votes on the same rows: ``certificate_.comparable(other, votes=...)``
        then tests whether their blocks vote with the same probabilities, whatever the reason.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            Rows that both labs have and that are independent of both samples.

        Returns
        -------
        BlockVotes
            A record with ``save`` and ``load``.
        """
        vote = self._vote()
        design = vote.design
        if design.vote == "soft" or len(self.classes_) > 2 or design.heavy is not None:
            raise ValueError(
                "block_votes requires hard votes, two classes and no heavy stage; this estimator "
                f"was fitted with vote={design.vote!r}, {len(self.classes_)} classes and "
                f"{'a' if design.heavy is not None else 'no'} heavy stage."
            )
        X = check_features(self, X, reset=False)
        votes = vote.ensemble.block_votes(X, n_jobs=self.n_jobs)
        return BlockVotes.of(self.certificate_.digest, X, votes)

    def flip_rate(self, X: Any, *, delta: float = 0.05) -> FlipRate:
        """Return the mean flip probability over points and thresholds, with an upper limit.

        With a heavy stage, membership and labels of heavy points are included.

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
        rule = vote.rule_for(X)
        if vote.design.n_blocks < 2:
            return FlipRate(float("nan"), 1.0, delta)
        upper = rule.rate_limit(votes, delta)
        return FlipRate(float(rule.average_flips(votes).mean()), upper, delta)
