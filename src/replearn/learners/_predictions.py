"""From votes to answers: everything a fitted block-voting learner can be asked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.heavy import TwoLabels, with_flips
from replearn.learners._class_votes import ClassVotes
from replearn.learners._explanation import ClassExplanation, Explanation
from replearn.learners._flips import FlipRate, flip_estimate, flip_limits, flip_rate
from replearn.learners._foresight import whole_votes
from replearn.learners._vote_scores import Scores, VoteScores
from replearn.records.checks import check_fraction


class VotePredictions(VoteScores):
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
        check_fraction("delta", delta, one=False)
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
        check_fraction("delta", delta, one=False)
        X = self._check(X, two_classes="flip_rate")
        votes = self._hard_votes(self._scores(X), "flip_rate")
        return flip_rate(self.plan_.law, votes, delta, self._heavy(X), joint=self.joint_variance_)

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
        check_fraction("max_flip", max_flip, zero=True)
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
            classes=tuple([*self.classes_.tolist(), "any other label"][:2]),
        )

    def _flips(self, X: Any, scores: Scores, uniforms: NDArray[np.float64]) -> NDArray[np.float64]:
        votes, view = scores.votes, self._heavy(X)
        if votes is None:
            votes = whole_votes(scores.shares, self.plan_.n_blocks)
        flips = flip_estimate(self.plan_.law, votes, uniforms, joint=self.joint_variance_)
        if view is None:
            return flips
        codes = self._codes(scores, uniforms)
        return view.flips(with_flips(codes, flips), codes)

    def _hard_votes(self, scores: Scores, method: str) -> NDArray[np.integer]:
        if scores.votes is None:
            raise ValueError(f'{method} needs vote="hard"; this learner was fitted with "soft".')
        return scores.votes
