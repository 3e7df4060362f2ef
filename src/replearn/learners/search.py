"""Choose among configurations by noisy errors: like GridSearchCV, with a choice that replicates."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from replearn.compat import HasMethods, Interval
from replearn.execution.fitting import keyed_seeds, make_blocks, random_state_names, set_seeds
from replearn.guarantees.selection import choice_scale
from replearn.learners.inputs import (
    FittedState,
    all_or_nothing,
    check_features,
    check_labels,
    checked_fit,
    refuse_one_class,
    with_base_tags,
)
from replearn.learners.training import FRACTION
from replearn.primitives.selection import choose_by_errors
from replearn.randomness.key import HoldsKey, SharedKey
from replearn.randomness.points import as_points
from replearn.tables.rows import take_rows

BETA = 0.05
"""Probability with which the choice may be worse than the best by more than alpha."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def _best_has(method: str):
    def check(search: Any) -> bool:
        if not search.refit:
            return False
        return hasattr(getattr(search, "best_estimator_", search.estimator), method)

    return check


class ReplicableSearchCV(FittedState, HoldsKey, MetaEstimatorMixin, BaseEstimator):
    """Search over configurations, and choose the same one on a fresh sample more often.

    The errors of all configurations come from keyed folds, as in ``GridSearchCV``; the choice
    adds shared random numbers that are keyed by the configuration. Where several configurations
    are about equally good, two samples then still agree on one of them. Nothing is certified,
    because nothing is known about how much the error of a configuration moves between trainings;
    `replearn.select_hypothesis` is the certified choice among models that are fitted already.

    Parameters
    ----------
    estimator : classifier
        The estimator to configure, with its preprocessing inside, as a pipeline.
    param_grid : dict or list of dict
        As in ``GridSearchCV``.
    rho : float, default=0.1
        Probability that two runs may choose different configurations, if the errors of each
        configuration were those of one fixed model.
    alpha : float, default=0.1
        Error by which the choice may be worse than the best configuration. The smaller, the
        closer the choice is to that of ``GridSearchCV``, and the less it replicates.
    cv : int, default=5
        Number of keyed folds.
    scoring : str or callable, default="accuracy"
        What is compared, as in ``GridSearchCV``.
    refit : bool or estimator, default=True
        Whether to train the chosen configuration on all rows. If an estimator is given that has
        the parameters, itself or in its ``estimator``, it is configured and trained instead.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness. It must be the same in both runs, and fixed before the data
        are seen.
    n_jobs : int, default=None
        Number of joblib workers.

    Attributes
    ----------
    best_params_, best_estimator_, best_index_, best_score_, cv_results_, n_splits_, refit_time_
        As in ``GridSearchCV``; ``best_score_`` is the score of the chosen configuration.
    sharpness_ : float
        Scale of the errors relative to the shared random numbers.
    margin_ : float
        Distance to the second best configuration, in ``sharpness * error - Gumbel``.
    classes_ : ndarray
        The labels.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn import ReplicableSearchCV
    >>> X, y = make_classification(2000, random_state=0)
    >>> search = ReplicableSearchCV(
    ...     DecisionTreeClassifier(), {"max_depth": [1, 2, 4, 8]}, alpha=0.02, shared_key="k"
    ... )
    >>> search.fit(X, y).best_params_
    {'max_depth': 2}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "param_grid": [Mapping, Sequence],
        "rho": [FRACTION],
        "alpha": [Interval(Real, 0, 1, closed="right")],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "scoring": [str, callable],
        "refit": ["boolean", HasMethods(["fit", "predict"])],
        "shared_key": [str, bytes, Integral, SharedKey, None],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        estimator,
        param_grid,
        *,
        rho=0.1,
        alpha=0.1,
        cv=5,
        scoring="accuracy",
        refit=True,
        shared_key=None,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.rho = rho
        self.alpha = alpha
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.shared_key = shared_key
        self.n_jobs = n_jobs

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, **params: Any):
        """Choose a configuration and fit it.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The sample.
        y : array-like of shape (n,)
            Labels.
        **params
            Passed to the estimator's ``fit``, such as ``sample_weight``. Groups are not supported.

        Returns
        -------
        self : object
            The fitted search.
        """
        with all_or_nothing(self):
            params = _without_groups(params)
            X = check_features(self, X, reset=True)
            key = self._key_for_fit()
            codes, self.classes_ = check_labels(X, y, None)
            refuse_one_class(self.classes_)
            order, folds = keyed_folds(key, X, codes, self.cv)
            labels = self.classes_[codes[order]]
            rows = take_rows(X, order)
            params = {name: _in_order(value, order) for name, value in params.items()}
            inner = GridSearchCV(
                seeded(self.estimator, key),
                self.param_grid,
                scoring=self.scoring,
                cv=folds,
                refit=False,
                error_score="raise",
                n_jobs=self.n_jobs,
            )
            inner.fit(rows, labels, **params)
            self.cv_results_ = inner.cv_results_
            self.n_splits_ = inner.n_splits_
            self._choose(len(codes) // self.cv, key)
            if self.refit:
                source = self.estimator if isinstance(self.refit, bool) else self.refit
                self.best_estimator_ = configured(source, self.best_params_, key)
                start = time.perf_counter()
                self.best_estimator_.fit(rows, labels, **params)
                self.refit_time_ = time.perf_counter() - start
        return self

    def _choose(self, n_test: int, key: SharedKey) -> None:
        """Choose by errors and shared random numbers."""
        grid = self.cv_results_["params"]
        scores = self.cv_results_["mean_test_score"]
        self.sharpness_ = float(choice_scale(len(grid), n_test, self.rho, self.alpha, BETA))
        # theorem: hypothesis-selection
        self.best_index_, self.margin_ = choose_by_errors(
            1.0 - scores,
            [configuration_name(params) for params in grid],
            sharpness=self.sharpness_,
            key=key,
        )
        self.best_score_ = float(scores[self.best_index_])
        self.best_params_ = grid[self.best_index_]

    def _best(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    @available_if(_best_has("predict"))
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels with the chosen configuration, trained on all rows."""
        return self._best().predict(X)

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities with the chosen configuration."""
        return self._best().predict_proba(X)

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Decision values of the chosen configuration."""
        return self._best().decision_function(X)

    @available_if(_best_has("score"))
    def score(self, X: Any, y: ArrayLike) -> float:
        """Score of the chosen configuration: accuracy, or what ``scoring`` names."""
        return float(check_scoring(self._best(), self.scoring)(self._best(), X, y))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_params_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        base = get_tags(self.estimator)
        tags.estimator_type = base.estimator_type
        tags.classifier_tags = base.classifier_tags
        return with_base_tags(tags, self.estimator)


def seeded(estimator: Any, key: SharedKey) -> Any:
    """Return a clone whose random states follow from the key."""
    model = clone(estimator)
    set_seeds(model, keyed_seeds(random_state_names(model), key.child("seed")))
    return model


def configured(estimator: Any, params: Mapping[str, Any], key: SharedKey) -> Any:
    """Return a seeded clone with these parameters, or with them on the estimator inside it."""
    model = seeded(estimator, key)
    known = model.get_params(deep=True)
    return model.set_params(
        **{name if name in known else f"estimator__{name}": value for name, value in params.items()}
    )


def configuration_name(params: Mapping[str, Any]) -> str:
    """Return what a configuration is, whatever the order of its parameters.

    >>> configuration_name({"b": np.float64(0.5), "a": None})
    'a=None, b=0.5'
    """
    plain = {
        name: value.item() if hasattr(value, "item") else value for name, value in params.items()
    }
    return ", ".join(f"{name}={_ADDRESS.sub('', repr(plain[name]))}" for name in sorted(plain))


def keyed_folds(
    key: SharedKey, X: Any, codes: NDArray[np.intp], cv: int
) -> tuple[NDArray[np.intp], list[tuple[NDArray[np.intp], NDArray[np.intp]]]]:
    """Return the rows in keyed order, and (train, test) positions in that order for every fold.

    Surplus rows are in no fold.

    >>> order, folds = keyed_folds(SharedKey(0), np.arange(10.0)[:, None], np.zeros(10), 3)
    >>> [(len(train), len(test)) for train, test in folds]
    [(6, 3), (6, 3), (6, 3)]
    """
    size = len(codes) // cv
    if size < 1:
        raise ValueError(f"cv={cv} folds need at least {cv} rows, got n_samples={len(codes)}.")
    points = as_points(X)
    order = key.child("rows").order(points, codes)
    index = np.argsort(order)
    # theorem: content-keyed-partition
    blocks = [index[block] for block in make_blocks(key, points, codes, cv, size, partition=0)]
    folds = [
        (np.concatenate(blocks[:fold] + blocks[fold + 1 :]), test)
        for fold, test in enumerate(blocks)
    ]
    return order, folds


def _in_order(value: Any, order: NDArray[np.intp]) -> Any:
    """Return a parameter of ``fit`` in keyed order, if it has one entry for each row."""
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != len(order):
        return value
    return take_rows(value, order)


def _without_groups(params: dict[str, Any]) -> dict[str, Any]:
    """Refuse groups, which ``GridSearchCV`` takes: keyed folds do not keep them together."""
    if params.get("groups") is not None:
        raise TypeError(
            "fit: groups are not supported. Folds are cut by key and would separate rows of one "
            "group: give one row per group, or use GridSearchCV with GroupKFold."
        )
    return {name: value for name, value in params.items() if name != "groups"}
