"""Prediction methods of estimators with keyed thresholds, beside ``predict``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin

from replearn.execution import BlockEnsemble
from replearn.guarantees import BlockVotes
from replearn.learners.inputs import FittedState, check_features
from replearn.learners.plain_words import PlainExplanation, in_plain_words
from replearn.learners.reasons import check_style, reasons
from replearn.learners.results import ClassExplanation, Explanation, FlipRate, explanation
from replearn.randomness import HoldsKey
from replearn.records import check_fraction

Floats = NDArray[np.float64]


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
            Limits of each point's flip probability.
        """
        check_fraction("delta", delta, one=False)
        vote = self._vote()
        X = check_features(self, X, reset=False)
        return vote.rule_for(X).limits(*vote.votes_and_noise(X, ids), delta)

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
