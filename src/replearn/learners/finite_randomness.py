"""Replicable learning with a number of shared random bits that does not depend on the domain."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from replearn.compat import HasMethods, Interval, fit_context
from replearn.execution import Panel, fit_blocks, make_blocks
from replearn.guarantees import Certificate, certify
from replearn.learners._choice_plan import FollowsChoicePlan
from replearn.learners._constant_blocks import warn_if_constant
from replearn.learners._global_thresholds import (
    THRESHOLD_BITS,
    above,
    check_unseen_rows,
    count_bits,
    held_out,
    shared_thresholds,
)
from replearn.learners._inputs import check_features, describe_learner
from replearn.learners._single_rule import (
    check_two_labels,
    forget_fit,
    warn_if_not_certified,
)
from replearn.primitives import choose_by_errors
from replearn.randomness import SharedKey, as_points
from replearn.tables import take_rows


class FiniteRandomnessClassifier(
    FollowsChoicePlan, MetaEstimatorMixin, ClassifierMixin, BaseEstimator
):
    """Blocks vote; one of a few shared global thresholds decides for every point.

    `PointwiseReplicableClassifier` has a random threshold for each point, a random function.
    Here a handful of thresholds is drawn, each makes a candidate, and a replicable choice on rows
    that were held out picks one. The number of shared random bits is finite and reported.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner; ``LogisticRegression(max_iter=1000)`` if None. Preprocessing inside.
    n_candidates : int, default=8
        Number of shared thresholds, R.
    n_blocks : int, default=32
        Number of voting blocks, T.
    rho, gamma : float, default=0.1, 0.1
        Asked for: two models differ on a mass above gamma with probability at most rho; gamma None:
        they answer one fixed point differently with probability at most rho. At
        practical sizes this is not certified (see Notes).
    alpha, beta : float, default=0.1, 0.05
        Scale of the choice: see `t`.
    t : float, default=None
        Scale of the errors in the choice; None: ``ln(n_candidates / beta) / alpha``.
    test_share : float, default=0.3
        Share of the rows held out for the choice.
    classes : array-like, default=None
        The two labels; None: those found in ``y``.
    sample_size : int, default=None
        Rows that every run fits on, as a plan fixes them: a surplus is left out by key, fewer are
        refused. None: all rows.
    shared_key : str, bytes, int or SharedKey, default=0
        Where the shared bits come from; the same in both runs.
    n_jobs : int, default=None
        Number of joblib workers.

    Attributes
    ----------
    random_bits_ : dict of str to int
        Number of shared random bits by purpose.
    n_random_bits_ : int
        Their sum. It depends on R, T and the base learner, not on the data or the domain.
    threshold_ : float
        The chosen threshold on the vote share.
    thresholds_ : ndarray of int
        All thresholds, in units of 2**-30.
    errors_ : ndarray
        Errors of the candidates on the rows held out.
    estimators_ : list of classifier
        The fitted base learners.
    certificate_ : Certificate
        What is promised; at practical sizes "not certified".
    classes_ : ndarray
        The labels.

    Notes
    -----
    The bound needs about ``(n_candidates (1 / gamma + t / 2) / rho)**2 / pi`` blocks, 2.5 million
    by default: nobody has them, so the certificate says "not certified". A point near the
    threshold flips with every retraining, and all such points flip together.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import make_classification
    >>> from replearn import NotCertifiedWarning
    >>> from replearn.learners import FiniteRandomnessClassifier
    >>> X, y = make_classification(3000, random_state=0)
    >>> model = FiniteRandomnessClassifier(n_candidates=4, n_blocks=16, shared_key="k")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", NotCertifiedWarning)
    ...     model = model.fit(X, y)
    >>> model.random_bits_
    {'thresholds': 120, 'choice': 208, 'partition': 128, 'seeds': 512}
    >>> model.certificate_.certified
    False
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "n_blocks": [Interval(Integral, 1, None, closed="left")],
        "rho": [Interval(Real, 0, 1, closed="right")],
        "gamma": [Interval(Real, 0, 1, closed="right"), None],
        "alpha": [Interval(Real, 0, 1, closed="right")],
        "beta": [Interval(Real, 0, 1, closed="right")],
        "t": [Interval(Real, 0, None, closed="left"), None],
        "test_share": [Interval(Real, 0, 1, closed="neither")],
        "classes": ["array-like", None],
        "sample_size": [Interval(Integral, 1, None, closed="left"), None],
        "shared_key": [str, bytes, Integral, SharedKey],
        "n_jobs": [Integral, None],
    }

    def __init__(  # noqa: PLR0913
        self,
        estimator=None,
        *,
        n_candidates=8,
        n_blocks=32,
        rho=0.1,
        gamma=0.1,
        alpha=0.1,
        beta=0.05,
        t=None,
        test_share=0.3,
        classes=None,
        sample_size=None,
        shared_key=0,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_candidates = n_candidates
        self.n_blocks = n_blocks
        self.rho = rho
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.t = t
        self.test_share = test_share
        self.classes = classes
        self.sample_size = sample_size
        self.shared_key = shared_key
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: ArrayLike):
        """Train the blocks and choose a threshold.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The sample.
        y : array-like of shape (n,)
            Labels, two kinds.

        Returns
        -------
        self : object
            The fitted learner.
        """
        forget_fit(self)
        try:
            X = check_features(self, X, reset=True)
            codes, classes = check_two_labels(X, y, self.classes)
            rows = self._planned_rows(X, codes)
            if rows is not None:
                X, codes = take_rows(X, rows), codes[rows]
            fitted = self._fit(X, codes)
        except BaseException:
            forget_fit(self)
            raise
        self.classes_ = classes
        self.__dict__.update(fitted)
        warn_if_not_certified(self.certificate_, depth=3)
        return self

    def _fit(self, X: Any, codes: NDArray[np.intp]) -> dict[str, Any]:
        base = LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator
        key = SharedKey(self.shared_key)
        train, test = held_out(key, X, codes, self.test_share)
        size = len(train) // self.n_blocks
        if size < 1 or len(test) < 1:
            raise ValueError(
                f"n_blocks={self.n_blocks} and test_share={self.test_share} need more than "
                f"n_samples={len(codes)} rows."
            )
        rows = take_rows(X, train)
        blocks = make_blocks(key, as_points(rows), codes[train], self.n_blocks, size)
        keys = [key.child("seed", 0, block) for block in range(self.n_blocks)]
        models = fit_blocks(base, rows, codes[train], blocks, keys, n_jobs=self.n_jobs)
        check_unseen_rows(rows, blocks, models)
        warn_if_constant(models, base, rows, codes[train], blocks, block_size=size)
        panel = Panel(models, np.arange(2))
        thresholds = shared_thresholds(key, self.n_candidates)
        votes = panel.vote_counts(take_rows(X, test), n_jobs=self.n_jobs)[:, 0]
        answers = above(votes, thresholds[:, np.newaxis], self.n_blocks)
        errors = (answers != (codes[test] == 1)).mean(axis=1)
        t = math.log(self.n_candidates / self.beta) / self.alpha if self.t is None else self.t
        chosen, _ = choose_by_errors(errors, np.arange(self.n_candidates), sharpness=t, key=key)
        return {
            "certificate_": self._certify(key, base, len(codes), len(test), float(t)),
            "estimators_": models,
            "thresholds_": thresholds,
            "errors_": errors,
            "threshold_": float(thresholds[chosen] / 2**THRESHOLD_BITS),
            **count_bits(base, self.n_candidates, self.n_blocks),
            "_panel": panel,
            "_units": int(thresholds[chosen]),
        }

    def _certify(self, key: SharedKey, base: Any, n: int, n_test: int, t: float) -> Certificate:
        return certify(
            "finite randomness",
            key.fingerprint,
            n=n,
            n_test=n_test,
            n_blocks=int(self.n_blocks),
            n_candidates=int(self.n_candidates),
            sharpness=t,
            rho=float(self.rho),
            gamma=None if self.gamma is None else float(self.gamma),
            learner=describe_learner(base)[1],
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Answer each point by its vote share and the one chosen threshold.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        votes = self._votes(X)
        codes = above(votes, np.int64(self._units), self._panel.n_blocks).astype(np.intp)
        return self.classes_[np.minimum(codes, len(self.classes_) - 1)]

    def vote_share(self, X: Any) -> NDArray[np.float64]:
        """Share of the blocks that vote for the second class.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n,)
            Shares in [0, 1].
        """
        return self._votes(X) / self._panel.n_blocks

    def _votes(self, X: Any) -> NDArray[np.int32]:
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        return self._panel.vote_counts(X, n_jobs=self.n_jobs)[:, 0]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        if self.estimator is not None:
            base = get_tags(self.estimator).input_tags
            tags.input_tags.sparse = base.sparse
            tags.input_tags.allow_nan = base.allow_nan
        return tags
