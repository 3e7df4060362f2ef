"""Replicable model selection: like GridSearchCV, with the same choice on a fresh sample."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from replearn.binding import (
    ConstantModels,
    Fingerprint,
    bind_estimator,
    certify_choice,
    find_constant,
    warn_if_all_constant,
)
from replearn.compat import HasMethods, Interval
from replearn.execution import RunContext, accepts_context, fit_in_context
from replearn.learners.agreement import (
    Agreement,
    measure_agreement,
    warn_if_alpha_is_too_small,
)
from replearn.learners.configurations import (
    Folds,
    configuration_name,
    configured,
    cut_trainings,
    describe_scoring,
    in_order,
    keyed_folds,
    results_of_errors,
    search_scale,
    seeded,
    training_errors,
    uncovered_scoring,
)
from replearn.learners.inputs import (
    all_or_nothing,
    check_features,
    check_labels,
    checked_fit,
    refuse_one_class,
    with_base_tags,
)
from replearn.learners.training import COUNT, FollowsPlan, warn_if_not_certified
from replearn.primitives import choice_scale, choose_by_errors, names_digest, sample_key
from replearn.randomness import SharedKey, as_points
from replearn.tables import n_rows, take_rows

Errors = tuple[NDArray[np.intp], dict[str, Any], int]
"""Rows in keyed order, scikit-learn's table of results, and the number of trainings."""


def _best_has(method: str):
    def check(search: Any) -> bool:
        if not search.refit:
            return False
        return hasattr(getattr(search, "best_estimator_", search.estimator), method)

    return check


class ReplicableSearchCV(FollowsPlan, MetaEstimatorMixin, BaseEstimator):
    """Search over configurations, and choose the same one on a fresh sample.

    The errors of all configurations come from keyed folds, as in ``GridSearchCV``; the choice
    adds shared random numbers that are keyed by the configuration. Where several configurations
    are about equally good, two samples then still agree on one of them. With ``train_size`` the
    errors come from many small trainings instead, and the promise holds for every estimator.

    Parameters
    ----------
    estimator : classifier
        The estimator to configure, with its preprocessing inside, as a pipeline.
    param_grid : dict or list of dict
        As in ``GridSearchCV``.
    rho : float, default=0.1
        Probability that two runs choose different configurations.
    alpha, beta : float, default=0.1, 0.05
        Excess error over the best configuration, and its failure probability.
    train_size : int, default=None
        Train on this many rows, repeatedly on fresh rows of the sample, and test on rows that no
        training uses: the promise then holds for every estimator. The chosen configuration is the
        best one for trainings of this size, for example the block size of the estimator in
        ``refit``. If None, folds are used.
    cv : int, default=5
        Number of keyed folds. Unused with ``train_size``.
    n_repeats : int, default=1
        Number of times that the rows are cut into folds.
    drift : float, default=None
        By how much the true error of a configuration may differ between trainings on two samples.
        This is an assumption; without it nothing is certified with folds, although two runs agree
        as often.
    scoring : str or callable, default="accuracy"
        What is compared, as in ``GridSearchCV``, with folds only. The theorems are about means over
        rows of numbers in [0, 1]: accuracy, and with two classes "neg_brier_score". With any other
        metric (AUC, F1, balanced accuracy, log loss) the choice is made in the same way, but
        nothing is certified.
    refit : bool or estimator, default=True
        Whether to train the chosen configuration on all rows. If an estimator is given that has
        the parameters, itself or in its ``estimator``, it is configured and trained instead.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness. It must be the same in both runs, and fixed before the data
        are seen.
    plan : Plan, default=None
        A plan shared between labs. It sets ``rho``, ``alpha``, ``beta``, and ``train_size`` or
        ``cv`` and ``drift``, which must then keep their defaults here, and the number of rows: a
        surplus is left out by key.
    n_jobs : int, default=None
        Number of joblib workers.

    Attributes
    ----------
    best_params_, best_estimator_, best_index_, best_score_, cv_results_, n_splits_, refit_time_
        As in ``GridSearchCV``; ``best_score_`` is the score of the chosen configuration.
        With ``train_size``, ``n_splits_`` is the number of trainings and ``cv_results_`` has
        parameters, mean scores and ranks only.
    sharpness_ : float
        Scale of the errors relative to the shared random numbers.
    margin_ : float
        Distance to the second best configuration, in ``sharpness * error - Gumbel``.
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
        **FollowsPlan._parameter_constraints,
        "train_size": [COUNT, None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "n_repeats": [COUNT],
        "drift": [Interval(Real, 0, 1, closed="both"), None],
        "scoring": [str, callable],
        "refit": ["boolean", HasMethods(["fit", "predict"])],
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
        cv=5,
        n_repeats=1,
        drift=None,
        scoring="accuracy",
        refit=True,
        shared_key=None,
        plan=None,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.param_grid = param_grid
        self.rho = rho
        self.alpha = alpha
        self.beta = beta
        self.train_size = train_size
        self.cv = cv
        self.n_repeats = n_repeats
        self.drift = drift
        self.scoring = scoring
        self.refit = refit
        self.shared_key = shared_key
        self.plan = plan
        self.n_jobs = n_jobs

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, *, context: RunContext | None = None, **params: Any):
        """Choose a configuration and fit it.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The sample.
        y : array-like of shape (n,)
            Labels.
        context : RunContext, default=None
            How to run, for estimators whose ``fit`` takes it: a store of finished blocks, a time
            limit. It does not change the result.
        **params
            Passed to the estimator's ``fit``, such as ``sample_weight``. Groups are not supported.

        Returns
        -------
        self : object
            The fitted search.
        """
        with all_or_nothing(self):
            in_force = self._in_force()
            params = _without_groups(params)
            X = check_features(self, X, reset=True)
            key = self._key_for_fit()
            fingerprint = bind_estimator(self.estimator)
            codes, self.classes_ = check_labels(X, y, None)
            refuse_one_class(self.classes_)
            sample = X, y
            X, codes, rows = self._planned_rows(X, codes)
            if rows is not None:
                given = n_rows(sample[0])
                params = {name: in_order(value, rows, given) for name, value in params.items()}
            errors_of = self._by_folds if in_force.train_size is None else self._by_trainings
            if in_force.train_size is None:
                warn_if_alpha_is_too_small(
                    self.param_grid, len(codes), in_force.alpha, in_force.beta
                )
            order, self.cv_results_, self.n_splits_ = errors_of(X, codes, key, params, context)
            self._choose(X, codes, key, fingerprint, sample)
            if self.refit:
                params = {name: in_order(value, order) for name, value in params.items()}
                source = self.estimator if isinstance(self.refit, bool) else self.refit
                self.best_estimator_ = configured(source, self.best_params_, key)
                start = time.perf_counter()
                labels = self.classes_[codes[order]]
                fit_in_context(self.best_estimator_, take_rows(X, order), labels, context, **params)
                self.refit_time_ = time.perf_counter() - start
        warn_if_not_certified(self.certificate_)
        return self

    def agreement(self, X: Any, y: ArrayLike, n_splits: int = 10) -> Agreement:
        """Measure on these rows how often two samples choose the same configuration.

        Cuts the rows into two random halves, several times, and searches both with this search's
        settings under a key of the split: ``2 * n_splits`` searches on half of the rows.

        Parameters
        ----------
        X, y : container of rows, array-like of shape (n,)
            The sample, or any other of the same population.
        n_splits : int, default=10
            Number of half splits.

        Returns
        -------
        Agreement
            Prints as "8 of 10 half splits chose the same configuration". It is also kept as
            ``agreement_`` if the search is fitted. It is a measurement, and never part of the
            certificate.
        """
        found = measure_agreement(self, X, y, n_splits)
        if hasattr(self, "best_params_"):
            self.agreement_ = found
        return found

    def _folds(self) -> Folds:
        params = self._in_force()
        drift = None if params.drift is None else float(params.drift)
        return Folds(int(params.cv), int(params.n_repeats), drift)

    def _by_folds(
        self,
        X: Any,
        codes: NDArray[np.intp],
        key: SharedKey,
        params: dict[str, Any],
        context: RunContext | None,
    ) -> Errors:
        # An assumption about the drift is made for samples that are cut independently.
        wanted = self._folds()
        cut = key if wanted.drift is None else sample_key(key, X, codes)
        order, folds = keyed_folds(cut, X, codes, wanted.folds, wanted.repeats)
        setting = {"scoring": self.scoring, "refit": False, "error_score": "raise"}
        model = seeded(self.estimator, key)
        inner = GridSearchCV(model, self.param_grid, cv=folds, n_jobs=self.n_jobs, **setting)
        params = {name: in_order(value, order) for name, value in params.items()}
        if context is not None and effective_n_jobs(self.n_jobs) == 1 and accepts_context(model):
            params["context"] = context  # worker processes of the search keep no blocks
        inner.fit(take_rows(X, order), self.classes_[codes[order]], **params)
        return order, inner.cv_results_, inner.n_splits_

    def _by_trainings(
        self,
        X: Any,
        codes: NDArray[np.intp],
        key: SharedKey,
        params: dict[str, Any],
        context: RunContext | None,
    ) -> Errors:
        for_folds = [*params, *(["scoring"] if self.scoring != "accuracy" else [])]
        for_folds += ["drift"] if self._folds().drift is not None else []
        if for_folds:
            given = ", ".join(for_folds)
            raise ValueError(f"{given} is for folds: leave it out, or leave train_size out.")
        grid = list(ParameterGrid(self.param_grid))
        train_size = int(self._in_force().train_size)
        cut = cut_trainings(key, X, codes, train_size)
        models = [seeded(self.estimator, key).set_params(**item) for item in grid]
        constant: list[ConstantModels | None] = []

        def look(model: Any, fitted: list[Any]) -> None:
            if None not in constant:  # one configuration that tells rows apart is enough
                constant.append(find_constant(fitted, model, X, codes, cut[0].ravel()))

        errors = training_errors(models, X, codes, cut, key, self.n_jobs, look)
        warn_if_all_constant(constant, self.estimator, train_size)
        order = key.child("rows").order(as_points(X), codes)
        return order, results_of_errors(grid, errors), len(cut[1])

    def _choose(
        self,
        X: Any,
        codes: NDArray[np.intp],
        key: SharedKey,
        fingerprint: Fingerprint,
        sample: tuple[Any, Any],
    ) -> None:
        """Choose by errors and shared random numbers, and certify the choice."""
        n = len(codes)
        grid = self.cv_results_["params"]
        scores = self.cv_results_["mean_test_score"]
        names = [configuration_name(params) for params in grid]
        targets = self._targets()
        train_size = self._in_force().train_size
        if train_size is None:
            folds = self._folds()
            task = "search by folds"
            n_test = n // folds.folds
            t = float(search_scale(len(names), n_test, **targets, drift=folds.drift))
            design: dict[str, Any] = {
                "n_test": n_test,
                "n_repeats": folds.repeats,
                "drift": folds.drift,
            }
            if self.scoring != "accuracy":  # two runs that compare other scores are no pair
                design["scoring"] = describe_scoring(self.scoring)
        else:
            task = "search"
            t = float(choice_scale(len(names), self.n_splits_, **targets))
            design = {"train_size": int(train_size), "n_trainings": self.n_splits_}
        # theorem: search-blocks, search-trainings
        index, self.margin_ = choose_by_errors(1.0 - scores, names, sharpness=t, key=key)
        self.best_score_ = float(scores[index])
        self.best_index_ = index
        self.best_params_ = grid[index]
        self.sharpness_ = t
        self.certificate_ = certify_choice(
            task,
            key,
            X,
            codes,
            fingerprints={"learner": fingerprint},
            sample=sample,
            failed=uncovered_scoring(self.scoring, len(self.classes_)),
            n=n,
            **design,
            n_hypotheses=len(names),
            sharpness=t,
            **targets,
            candidates=names_digest(names, len(names)),
        )

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


def _without_groups(params: dict[str, Any]) -> dict[str, Any]:
    """Refuse groups, which ``GridSearchCV`` takes: keyed folds do not keep them together."""
    if params.get("groups") is not None:
        raise TypeError(
            "fit: groups are not supported. Folds are cut by key and would separate rows of one "
            "group: give one row per group, or use GridSearchCV with GroupKFold."
        )
    return {name: value for name, value in params.items() if name != "groups"}
