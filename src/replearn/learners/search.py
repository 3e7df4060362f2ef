"""Choose the same configuration on a fresh sample: a replicable drop-in for GridSearchCV."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from replearn.compat import HasMethods, Interval, fit_context
from replearn.guarantees import certify
from replearn.learners._choice_plan import FollowsChoicePlan
from replearn.learners._constant_blocks import Constant, find_constant, warn_if_all_constant
from replearn.learners._folds import (
    configuration_name,
    configured,
    in_order,
    keyed_folds,
    results_of_errors,
    search_scale,
    seeded,
)
from replearn.learners._inputs import check_features, check_labels, describe_learner
from replearn.learners._single_rule import forget_fit, warn_if_not_certified
from replearn.learners._trainings import cut_trainings, training_errors
from replearn.primitives import choice_scale, choose_by_errors, names_digest, sample_key
from replearn.randomness import SharedKey, as_points
from replearn.tables import take_rows


def _best_has(method: str):
    def check(search: Any) -> bool:
        if not search.refit:
            return False
        return hasattr(getattr(search, "best_estimator_", search.estimator), method)

    return check


class ReplicableSearchCV(FollowsChoicePlan, MetaEstimatorMixin, BaseEstimator):
    """Search over configurations that picks the same one on a fresh sample.

    The errors of all configurations come from keyed folds, as in ``GridSearchCV``; the choice
    adds shared random numbers that are keyed by the configuration. Where several configurations
    are about equally good, two samples then still agree on one of them. With ``train_size`` the
    errors come from many small trainings instead, and the promise holds for every learner.

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
    train_size : int, default=None
        Train on so many rows, again and again on fresh rows of the sample, and test on rows that
        train nothing: one promise for all learners, without any assumption. It needs
        `smallest_sample_search` rows, and chooses the best configuration for trainings of this
        size, for example the block size of the learner in ``refit``. None: folds.
    drift : float, default=None
        With folds: how much a configuration's true error may move between trainings on two
        samples, an assumption. Without it folds certify nothing, since training itself may be as
        unstable as it likes; they agree as often.
    t : float, default=None
        Scale of the errors against the shared random numbers; None: from alpha, beta and the
        number of rows, and from rho where that can be kept.
    cv : int, default=5
        Number of folds, cut by key; unused with ``train_size``.
    n_repeats : int, default=1
        In how many keyed ways the rows are cut into folds. More never weaken the promise.
    refit : bool or estimator, default=True
        Train the chosen configuration on all rows. Any other estimator that has the parameters,
        itself or in its ``estimator``, is configured and trained instead: for example
        ``PointwiseReplicableClassifier(DecisionTreeClassifier())``.
    sample_size : int, default=None
        Rows that every run fits on, as a plan fixes them: a surplus is left out by key, fewer are
        refused. None: all rows.
    shared_key : str, bytes, int or SharedKey, default=0
        All randomness; the same in both runs, fixed before the data.
    n_jobs : int, default=None
        Number of joblib workers.

    Attributes
    ----------
    best_params_, best_estimator_, best_index_, best_score_, cv_results_, n_splits_, refit_time_
        As in ``GridSearchCV``; ``best_score_`` is the accuracy of the chosen configuration.
        With ``train_size``, ``n_splits_`` is the number of trainings and ``cv_results_`` has
        parameters, mean scores and ranks only.
    t_ : float
        The scale in force.
    margin_ : float
        How far the next configuration was behind, in units of ``t * error - Gumbel``.
    certificate_ : Certificate
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
        "train_size": [Interval(Integral, 1, None, closed="left"), None],
        "drift": [Interval(Real, 0, 1, closed="both"), None],
        "t": [Interval(Real, 0, None, closed="left"), None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "n_repeats": [Interval(Integral, 1, None, closed="left")],
        "refit": ["boolean", HasMethods(["fit", "predict"])],
        "sample_size": [Interval(Integral, 1, None, closed="left"), None],
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
        train_size=None,
        drift=None,
        t=None,
        cv=5,
        n_repeats=1,
        refit=True,
        sample_size=None,
        shared_key=0,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.rho = rho
        self.alpha = alpha
        self.beta = beta
        self.train_size = train_size
        self.drift = drift
        self.t = t
        self.cv = cv
        self.n_repeats = n_repeats
        self.refit = refit
        self.sample_size = sample_size
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
        key, rows = SharedKey(self.shared_key), self._planned_rows(X, codes)
        if rows is not None:
            params = {name: in_order(value, rows, len(codes)) for name, value in params.items()}
            X, codes = take_rows(X, rows), codes[rows]
        if self.train_size is None:
            order, results, n_splits = self._by_folds(X, codes, classes, key, params)
        else:
            order, results, n_splits = self._by_trainings(X, codes, key, params)
        fitted = self._choose(results, len(codes), n_splits, key)
        fitted["best_params_"] = results["params"][fitted["best_index_"]]
        if self.refit:
            plain = isinstance(self.refit, bool)
            model = configured(self.estimator if plain else self.refit, fitted["best_params_"], key)
            params = {name: in_order(value, order) for name, value in params.items()}
            start = time.perf_counter()
            model.fit(take_rows(X, order), classes[codes[order]], **params)
            fitted["best_estimator_"] = model
            fitted["refit_time_"] = time.perf_counter() - start
        return {**fitted, "cv_results_": results, "n_splits_": n_splits, "classes_": classes}

    def _by_folds(
        self, X: Any, codes: NDArray[np.intp], classes: Any, key: SharedKey, params: dict[str, Any]
    ) -> tuple[NDArray[np.intp], dict[str, Any], int]:
        # An assumption about the drift is made for samples that are cut independently.
        cut = key if self.drift is None else sample_key(key, X, codes)
        order, folds = keyed_folds(cut, X, codes, self.cv, self.n_repeats)
        inner = GridSearchCV(
            seeded(self.estimator, key),
            self.param_grid,
            scoring="accuracy",
            cv=folds,
            refit=False,
            n_jobs=self.n_jobs,
            error_score="raise",
        )
        params = {name: in_order(value, order) for name, value in params.items()}
        inner.fit(take_rows(X, order), classes[codes[order]], **params)
        return order, inner.cv_results_, inner.n_splits_

    def _by_trainings(
        self, X: Any, codes: NDArray[np.intp], key: SharedKey, params: dict[str, Any]
    ) -> tuple[NDArray[np.intp], dict[str, Any], int]:
        if self.drift is not None or params:
            given = "drift" if self.drift is not None else ", ".join(params)
            raise ValueError(f"{given} is for folds: leave it out, or leave train_size out.")
        grid = list(ParameterGrid(self.param_grid))
        cut = cut_trainings(key, X, codes, self.train_size)
        models = [seeded(self.estimator, key).set_params(**item) for item in grid]
        found: list[Constant | None] = []

        def look(model: Any, fitted: list[Any]) -> None:
            if None not in found:  # one configuration that tells rows apart is enough
                found.append(find_constant(fitted, model, X, codes, cut[0].ravel()))

        errors = training_errors(models, X, codes, cut, key, self.n_jobs, look)
        warn_if_all_constant(found, self.estimator, self.train_size)
        order = key.child("rows").order(as_points(X), codes)
        return order, results_of_errors(grid, errors), len(cut[1])

    def _choose(
        self, results: dict[str, Any], n: int, n_splits: int, key: SharedKey
    ) -> dict[str, Any]:
        names = [configuration_name(params) for params in results["params"]]
        scores = results["mean_test_score"]
        asked = (float(self.rho), float(self.alpha), float(self.beta))
        if self.train_size is None:
            task, n_test = "search by folds", n // self.cv
            scale = search_scale(len(names), n_test, *asked, self.drift)
            drift = None if self.drift is None else float(self.drift)
            design = {"n_test": n_test, "n_repeats": int(self.n_repeats), "drift": drift}
        else:
            task = "search"
            scale = choice_scale(len(names), n_splits, *asked)
            design = {"train_size": int(self.train_size), "n_trainings": n_splits}
        t = float(scale if self.t is None else self.t)
        index, margin = choose_by_errors(1.0 - scores, names, sharpness=t, key=key)
        certificate = certify(
            task,
            key.fingerprint,
            n=n,
            **design,
            n_hypotheses=len(names),
            sharpness=t,
            **dict(zip(("rho", "alpha", "beta"), asked, strict=True)),
            candidates=names_digest(names, len(names)),
            learner=describe_learner(self.estimator)[1],
        )
        return {
            "best_index_": index,
            "best_score_": float(scores[index]),
            "t_": t,
            "margin_": margin,
            "certificate_": certificate,
        }

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
