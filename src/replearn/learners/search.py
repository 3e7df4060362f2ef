"""Choose the same configuration on a fresh sample: a replicable drop-in for GridSearchCV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from replearn._sklearn_compat import HasMethods, Interval, fit_context
from replearn.learners._folds import (
    configuration_name,
    configured,
    in_order,
    keyed_folds,
    search_scale,
    seeded,
)
from replearn.learners._inputs import check_features, check_labels, describe_learner
from replearn.learners._single_rule import forget_fit, warn_if_not_certified
from replearn.primitives import choose_by_errors
from replearn.primitives._candidates import names_digest
from replearn.primitives._certificate import PrimitiveCertificate
from replearn.randomness import SharedKey
from replearn.tables import take_rows

_COPIED = (
    "best_estimator_",
    "best_params_",
    "best_index_",
    "cv_results_",
    "n_splits_",
    "refit_time_",
    "scorer_",
)


def _best_has(method: str):
    def check(search: Any) -> bool:
        if not search.refit:
            return False
        return hasattr(getattr(search, "best_estimator_", search.estimator), method)

    return check


class ReplicableSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Search over configurations that picks the same one on a fresh sample.

    The errors of all configurations come from keyed folds, as in ``GridSearchCV``; the choice
    adds shared random numbers that are keyed by the configuration. Where several configurations
    are about equally good, two samples then still agree on one of them.

    Parameters
    ----------
    estimator : classifier
        The learner to configure; preprocessing inside, as a pipeline.
    param_grid : dict or list of dict
        As in ``GridSearchCV``.
    rho : float, default=0.1
        Probability that two runs may choose different configurations.
    alpha, beta : float, default=0.1, 0.05
        How much worse than the best the chosen configuration may be, and with which probability
        it may be still worse. A smaller alpha is more accurate and less stable.
    drift : float, default=None
        How much a configuration's true error may move between trainings on two samples of this
        size: an assumption. Without it nothing is certified, since training itself may be as
        unstable as it likes; the choice is the same.
    t : float, default=None
        Scale of the errors against the shared random numbers; None: from alpha, beta and the
        number of rows, and from rho where that can be kept.
    cv : int, default=5
        Number of folds, cut by key.
    n_repeats : int, default=1
        In how many keyed ways the rows are cut into folds. More never weaken the promise.
    refit : bool or estimator, default=True
        Train the chosen configuration on all rows. Any other estimator that has the parameters,
        itself or in its ``estimator``, is configured and trained instead: for example
        ``PointwiseReplicableClassifier(DecisionTreeClassifier())``.
    shared_key : str, bytes, int or SharedKey, default=0
        All randomness; the same in both runs, fixed before the data.
    n_jobs : int, default=None
        Number of joblib workers.

    Attributes
    ----------
    best_params_, best_estimator_, best_index_, best_score_, cv_results_, scorer_, n_splits_
        As in ``GridSearchCV``; ``best_score_`` is the accuracy of the chosen configuration.
    t_ : float
        The scale in force.
    margin_ : float
        How far the next configuration was behind, in units of ``t * error - Gumbel``.
    certificate_ : PrimitiveCertificate
        What is promised.
    classes_ : ndarray
        The labels.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn import NotCertifiedWarning
    >>> from replearn.learners import ReplicableSearchCV
    >>> X, y = make_classification(2000, random_state=0)
    >>> search = ReplicableSearchCV(
    ...     DecisionTreeClassifier(), {"max_depth": [1, 2, 4, 8]}, alpha=0.02, shared_key="k"
    ... )
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", NotCertifiedWarning)
    ...     search.fit(X, y).best_params_
    {'max_depth': 2}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "param_grid": [Mapping, Sequence],
        "rho": [Interval(Real, 0, 1, closed="right")],
        "alpha": [Interval(Real, 0, 1, closed="right")],
        "beta": [Interval(Real, 0, 1, closed="right")],
        "drift": [Interval(Real, 0, 1, closed="both"), None],
        "t": [Interval(Real, 0, None, closed="left"), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "refit": ["boolean", HasMethods(["fit", "predict"])],
        "shared_key": [str, bytes, Integral, SharedKey],
        "n_jobs": [Integral, None],
    }

    def __init__(  # noqa: PLR0913
        self,
        estimator,
        param_grid,
        *,
        rho=0.1,
        alpha=0.1,
        beta=0.05,
        drift=None,
        t=None,
        cv=5,
        n_repeats=1,
        refit=True,
        shared_key=0,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.rho = rho
        self.alpha = alpha
        self.beta = beta
        self.drift = drift
        self.t = t
        self.cv = cv
        self.n_repeats = n_repeats
        self.refit = refit
        self.shared_key = shared_key
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: ArrayLike, **params: Any):
        """Choose a configuration and train it.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The sample.
        y : array-like of shape (n,)
            Labels.
        **params
            Passed to the estimator's ``fit``.

        Returns
        -------
        self : object
            The fitted search.
        """
        forget_fit(self)
        try:
            X = check_features(self, X, reset=True)
            fitted = self._search(X, y, params)
        except BaseException:
            forget_fit(self)
            raise
        self.__dict__.update(fitted)
        warn_if_not_certified(self.certificate_, depth=3)
        return self

    def _search(self, X: Any, y: ArrayLike, params: dict[str, Any]) -> dict[str, Any]:
        codes, classes = check_labels(X, y, None)
        key = SharedKey(self.shared_key)
        order, folds = keyed_folds(key, X, codes, self.cv, self.n_repeats)
        choice: dict[str, Any] = {}

        def choose(results: dict[str, Any]) -> int:
            choice.update(self._choose(results, len(codes), key))
            return choice["index"]

        inner = GridSearchCV(
            seeded(self.estimator, key),
            self.param_grid,
            scoring="accuracy",
            cv=folds,
            refit=choose,
            n_jobs=self.n_jobs,
            error_score="raise",
        )
        rows, labels = take_rows(X, order), classes[codes[order]]
        params = {name: in_order(value, order) for name, value in params.items()}
        inner.fit(rows, labels, **params)
        fitted = {name: getattr(inner, name) for name in _COPIED}
        if not self.refit:
            del fitted["best_estimator_"], fitted["refit_time_"]
        elif not isinstance(self.refit, bool):
            other = configured(self.refit, inner.best_params_, key)
            fitted["best_estimator_"] = other.fit(rows, labels, **params)
        scores = inner.cv_results_["mean_test_score"]
        return {
            **fitted,
            "best_score_": float(scores[inner.best_index_]),
            "classes_": classes,
            "t_": choice["t"],
            "margin_": choice["margin"],
            "certificate_": choice["certificate"],
        }

    def _choose(self, results: dict[str, Any], n: int, key: SharedKey) -> dict[str, Any]:
        names = [configuration_name(params) for params in results["params"]]
        errors = 1.0 - results["mean_test_score"]
        count, n_test = len(names), n // self.cv
        t = self.t
        if t is None:
            t = search_scale(count, n_test, self.rho, self.alpha, self.beta, self.drift)
        index, margin = choose_by_errors(errors, names, t=t, key=key)
        certificate = PrimitiveCertificate.issue(
            "search over configurations",
            key.fingerprint,
            n=n,
            n_test=n_test,
            n_repeats=int(self.n_repeats),
            n_hypotheses=count,
            t=float(t),
            drift=None if self.drift is None else float(self.drift),
            rho=float(self.rho),
            alpha=float(self.alpha),
            beta=float(self.beta),
            candidates=names_digest(names, count),
            learner=describe_learner(self.estimator)[1],
        )
        return {"index": index, "margin": margin, "t": float(t), "certificate": certificate}

    @available_if(_best_has("predict"))
    def predict(self, X: Any) -> NDArray[Any]:
        """Answer by the chosen configuration, trained on all rows."""
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities of the chosen configuration."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Decision values of the chosen configuration."""
        check_is_fitted(self)
        return self.best_estimator_.decision_function(X)

    @available_if(_best_has("score"))
    def score(self, X: Any, y: ArrayLike) -> float:
        """Accuracy of the chosen configuration."""
        check_is_fitted(self)
        return float(np.mean(np.asarray(self.predict(X)) == np.asarray(y)))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_params_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        base = get_tags(self.estimator)
        tags.estimator_type = base.estimator_type
        tags.classifier_tags = base.classifier_tags
        tags.input_tags.sparse = base.input_tags.sparse
        tags.input_tags.allow_nan = base.input_tags.allow_nan
        return tags
