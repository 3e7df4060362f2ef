"""What the blocks, the heavy stage and the key say of each point, before anything is asked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from replearn.execution import FEWEST_ROWS_PER_TASK, side_by_side
from replearn.heavy import HeavyView
from replearn.learners._class_votes import ClassVotes
from replearn.learners._inputs import check_features, check_points
from replearn.learners._rule import hard_answers, law_values, mean_law
from replearn.learners._traps import warn_if_precision_changed
from replearn.randomness import SharedKey, as_points
from replearn.tables import n_rows


class Scores(NamedTuple):
    """What the blocks say of each point (two classes)."""

    votes: NDArray[np.integer] | None  # (n, partitions): votes for class 1; None when soft
    shares: NDArray[np.float64]  # (n, partitions): share or mean score of class 1
    law: NDArray[np.float64]  # (n,): mean over partitions of G(share)


class VoteScores(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A fitted learner's view of points: votes of its blocks, thresholds of its key."""

    def _check(self, X: Any, two_classes: str | None = None) -> Any:
        check_is_fitted(self)
        if two_classes and len(self.classes_) > 2:
            raise ValueError(
                f"{two_classes} is defined for two classes; this learner has {len(self.classes_)}."
            )
        return check_features(self, X, reset=False)

    def _vote_key(self) -> SharedKey:
        key = SharedKey(self.shared_key)
        if key.fingerprint != self.certificate_.key_fingerprint:
            raise ValueError(
                "shared_key was changed after fit: the blocks were cut and trained by another key. "
                "Fit again."
            )
        return key.child("vote")

    def _points(self, X: Any, points: Any) -> Any:
        if points is not None:
            return check_points(points, n_rows(X))
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
