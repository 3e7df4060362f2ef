"""Prediction methods of estimators with keyed thresholds, beside ``predict``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin

from replearn.learners.explanation import Explanation
from replearn.learners.inputs import FittedState, check_features
from replearn.randomness.key import HoldsKey
from replearn.records.checks import check_fraction

Floats = NDArray[np.float64]


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
        return vote.rule.explain(*vote.votes_and_noise(X, ids)).margin

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

    def explain(self, X: Any, *, ids: Any = None) -> Explanation:
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
        codes = vote.rule.explain(*vote.votes_and_noise(X, ids))
        return replace(
            codes,
            prediction=self.classes_[codes.prediction],
            runner_up=self.classes_[codes.runner_up],
        )

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
