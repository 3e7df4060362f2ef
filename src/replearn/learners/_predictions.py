"""From votes to answers: everything a fitted block-voting learner can be asked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from replearn.execution.threads import side_by_side
from replearn.execution.voting import FEWEST_ROWS_PER_TASK
from replearn.learners._class_votes import ClassExplanation, ClassVotes
from replearn.learners._explanation import Explanation
from replearn.learners._flips import FlipRate, flip_estimate, flip_limits, flip_rate
from replearn.learners._heavy_labels import TwoLabels, with_flips
from replearn.learners._heavy_view import HeavyView
from replearn.learners._inputs import check_features, warn_if_precision_changed
from replearn.learners._rule import hard_answers, law_values, mean_law
from replearn.randomness import SharedKey, as_points
from replearn.tables import n_rows


class Scores(NamedTuple):
    """What the blocks say of each point (two classes)."""

    votes: NDArray[np.integer] | None  # (n, partitions): votes for class 1; None when soft
    shares: NDArray[np.float64]  # (n, partitions): share or mean score of class 1
    law: NDArray[np.float64]  # (n,): mean over partitions of G(share)


class VotePredictions(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """The prediction face of a learner whose blocks vote."""

    def predict(self, X: Any, *, points: Any = None) -> NDArray[Any]:
        """Answer each point.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.
        points : array-like of shape (n,), default=None
            Ids that key the thresholds instead of the features (the customer number): then a
            change of features moves the vote, but not the threshold.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        X = self._check(X)
        if len(self.classes_) > 2:
            return self.classes_[self._class_votes(X, points).answers()]
        codes = self._codes(*self._scores_and_uniforms(X, points))
        view = self._heavy(X)
        return self.classes_[codes if view is None else view.replace(codes, view.rule.answers)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Mean vote share of each class.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Shares in the order of ``classes_``. Not calibrated probabilities, and not the rule
            that `predict` follows: each point has its own threshold.
        """
        X = self._check(X)
        if len(self.classes_) > 2:
            return ClassVotes(self._class_shares(X), np.empty(0)).shares
        share = self._scores(X).shares.mean(axis=1)
        return np.column_stack([1 - share, share])[:, : len(self.classes_)]

    def vote_share(self, X: Any) -> NDArray[np.float64]:
        """Mean share of the blocks that vote for ``classes_[1]``.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n,)
            Shares in [0, 1].
        """
        return self._scores(self._check(X, two_classes="vote_share")).shares.mean(axis=1)

    def margin(self, X: Any, *, points: Any = None) -> NDArray[np.float64]:
        """Distance from the other answer: the law's value minus the point's threshold.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.
        points : array-like of shape (n,), default=None
            Ids that key the thresholds.

        Returns
        -------
        ndarray of shape (n,)
            Positive for ``classes_[1]``. For a heavy point: that of its own labels.
        """
        X = self._check(X, two_classes="margin")
        scores, uniforms = self._scores_and_uniforms(X, points)
        margins, view = scores.law - uniforms, self._heavy(X)
        if view is None:
            return margins
        rule = view.rule
        assert isinstance(rule, TwoLabels)
        return view.replace(margins, rule.law_values - rule.noise)

    def flip_probability(self, X: Any, *, points: Any = None) -> NDArray[np.float64]:
        """Estimate, per point, the chance that a fresh training sample answers differently.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points; they must not be rows of the training sample.
        points : array-like of shape (n,), default=None
            Ids that key the thresholds.

        Returns
        -------
        ndarray of shape (n,)
            Estimates from this one fit, under this key. `flip_limits` gives their limits.
        """
        X = self._check(X)
        if len(self.classes_) > 2:
            return self._class_votes(X, points).flips(self.plan_)
        return self._flips(X, *self._scores_and_uniforms(X, points))

    def flip_limits(
        self, X: Any, *, points: Any = None, delta: float = 0.05
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper confidence limits of `flip_probability`, per point.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points; they must not be rows of the training sample.
        points : array-like of shape (n,), default=None
            Ids that key the thresholds.
        delta : float, default=0.05
            Each point's limits fail with probability at most delta.

        Returns
        -------
        lower, upper : ndarray of shape (n,)
            Limits of each point's flip probability.
        """
        X = self._check(X)
        if len(self.classes_) > 2:
            return self._class_votes(X, points).limits(self.plan_, delta)
        votes, view = self._hard_votes(self._scores(X), "flip_limits"), self._heavy(X)
        part = delta if view is None else delta / 2
        limits = flip_limits(self.plan_.law, votes, self._uniforms(X, points), delta=part)
        return limits if view is None else view.limits(limits, delta)

    def flip_rate(self, X: Any, *, delta: float = 0.05) -> FlipRate:
        """Mean flip probability over the points, averaged over thresholds, with an upper limit.

        With a heavy stage membership and labels of heavy points are counted as well.

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
        X = self._check(X, two_classes="flip_rate")
        votes = self._hard_votes(self._scores(X), "flip_rate")
        return flip_rate(self.plan_.law, votes, delta, self._heavy(X))

    def predict_or_abstain(
        self, X: Any, max_flip: float, *, points: Any = None, abstain: Any = None
    ) -> NDArray[Any]:
        """Answer only the points whose estimated flip probability is at most ``max_flip``.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.
        max_flip : float
            Largest flip probability that is answered.
        points : array-like of shape (n,), default=None
            Ids that key the thresholds.
        abstain : object, default=None
            What stands for no answer.

        Returns
        -------
        ndarray of object, shape (n,)
            Labels, or ``abstain``. Whether a point is answered is itself an estimate from this
            sample: another run may abstain elsewhere.
        """
        if not 0 <= max_flip <= 1:
            raise ValueError(f"max_flip={max_flip!r} must lie in [0, 1].")
        answers = self.predict(X, points=points).astype(object)
        answers[self.flip_probability(X, points=points) > max_flip] = abstain
        return answers

    def explain(self, X: Any, *, points: Any = None) -> Explanation | ClassExplanation:
        """Say why each point got its answer and how far it was from the other.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.
        points : array-like of shape (n,), default=None
            Ids that key the thresholds.

        Returns
        -------
        Explanation
            Prints as sentences; ``frame()`` gives a table.
        """
        X = self._check(X)
        if len(self.classes_) > 2:
            return self._class_votes(X, points).explain(self.plan_, self.classes_)
        scores, uniforms = self._scores_and_uniforms(X, points)
        codes, share, law = self._codes(scores, uniforms), scores.shares.mean(axis=1), scores.law
        stage, flips = np.full(len(codes), "vote"), self._flips(X, scores, uniforms)
        view = self._heavy(X)
        if view is not None:
            rule = view.rule
            assert isinstance(rule, TwoLabels)
            codes, law = view.replace(codes, rule.answers), view.replace(law, rule.law_values)
            share = view.replace(share, rule.shares[:, 1])
            uniforms = view.replace(uniforms, rule.noise)
            stage = np.where(view.member, "heavy", stage)
        return Explanation(
            answer=self.classes_[codes],
            stage=stage,
            vote_share=share,
            law_value=law,
            threshold=uniforms,
            margin=law - uniforms,
            flip_probability=flips,
            classes=tuple((self.classes_.tolist() * 2)[:2]),
        )

    def _check(self, X: Any, two_classes: str | None = None) -> Any:
        check_is_fitted(self)
        if two_classes and len(self.classes_) > 2:
            raise ValueError(
                f"{two_classes} is defined for two classes; this learner has {len(self.classes_)}."
            )
        return check_features(self, X, reset=False)

    def _vote_key(self) -> SharedKey:
        return SharedKey(self.shared_key).child("vote")

    def _points(self, X: Any, points: Any) -> Any:
        if points is not None:
            # Ids are taken as they are; only measured features are rounded.
            return as_points(points)
        if self.plan_.decimals is None:
            warn_if_precision_changed(X, self._dtype)
        return as_points(X, decimals=self.plan_.decimals)

    def _uniforms(self, X: Any, points: Any) -> NDArray[np.float64]:
        return self._vote_key().uniforms(self._points(X, points))

    def _scores_and_uniforms(self, X: Any, points: Any) -> tuple[Scores, NDArray[np.float64]]:
        """Let the blocks vote while the thresholds are hashed, which takes about as long."""
        if n_rows(X) < FEWEST_ROWS_PER_TASK or effective_n_jobs(self.n_jobs) == 1:
            return self._scores(X), self._uniforms(X, points)
        keyed, key = self._points(X, points), self._vote_key()
        return side_by_side(lambda: self._scores(X), lambda: key.uniforms(keyed))

    def _scores(self, X: Any) -> Scores:
        made = self.plan_
        if made.vote == "soft":
            shares = self._panel.soft_scores(X, n_jobs=self.n_jobs)
            # theorem: soft-votes
            return Scores(None, shares, made.law.at(shares).mean(axis=1))
        votes = self._panel.vote_counts(X, n_jobs=self.n_jobs)
        law = mean_law(law_values(made.law, votes), made.n_partitions)
        return Scores(votes, votes / made.n_blocks, law)

    def _class_shares(self, X: Any) -> NDArray[np.float64]:
        """Vote shares of the partitions, (n, partitions, classes)."""
        count = self._panel.soft_scores if self.plan_.vote == "soft" else self._panel.vote_counts
        weights = count(X, n_jobs=self.n_jobs).astype(np.float64)
        return weights / weights.sum(axis=2, keepdims=True)

    def _class_votes(self, X: Any, points: Any) -> ClassVotes:
        gumbels = self._vote_key().gumbels(self._points(X, points), self.classes_.tolist())
        return ClassVotes(self._class_shares(X), gumbels, self._heavy(X))

    def _heavy(self, X: Any) -> HeavyView | None:
        """What the heavy stage says; always about the features, never about ids."""
        heavy = getattr(self, "heavy_", None)
        return None if heavy is None else heavy.view(as_points(X, decimals=self.plan_.decimals))

    def _codes(self, scores: Scores, uniforms: NDArray[np.float64]) -> NDArray[np.intp]:
        if scores.votes is None:
            ones = uniforms < scores.law
        else:
            values = law_values(self.plan_.law, scores.votes)
            ones = hard_answers(values, self.plan_.n_partitions, uniforms)
        return ones.astype(np.intp)

    def _flips(self, X: Any, scores: Scores, uniforms: NDArray[np.float64]) -> NDArray[np.float64]:
        votes, view = scores.votes, self._heavy(X)
        if votes is None:
            # A score is steadier than the coin of the same mean: this overstates flips.
            votes = np.rint(scores.shares * self.plan_.n_blocks).astype(np.intp)
        flips = flip_estimate(self.plan_.law, votes, uniforms)
        if view is None:
            return flips
        codes = self._codes(scores, uniforms)
        return view.flips(with_flips(codes, flips), codes)

    def _hard_votes(self, scores: Scores, method: str) -> NDArray[np.integer]:
        if scores.votes is None:
            raise ValueError(f'{method} needs vote="hard"; this learner was fitted with "soft".')
        return scores.votes

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            base = get_tags(self.estimator).input_tags
            tags.input_tags.sparse = base.sparse
            tags.input_tags.allow_nan = base.allow_nan
        else:
            tags.input_tags.sparse = True
        return tags
