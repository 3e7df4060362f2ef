"""Retrain a regressor, and keep the predicted number unless the new one is far from it."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.linear_model import Ridge
from sklearn.utils.validation import check_is_fitted

from replearn.compat import HasMethods, Interval, StrOptions
from replearn.execution.context import RunContext, fit_in_context
from replearn.learners.chain import (
    FIXED_MEMORY,
    MAX_MEMORY,
    KeepsChain,
    Step,
    calibration_report,
    chain_of,
    check_columns,
    extended,
    held_out_rows,
    keep_number,
    mix,
    new_rows_of,
    remember_or_forget,
    replay_numbers,
    score_of,
    why_numbers_worse,
)
from replearn.learners.inputs import (
    all_or_nothing,
    check_features,
    check_ids,
    checked_fit,
    refuse_classifier,
    with_base_tags,
)
from replearn.learners.regressor import check_numbers
from replearn.learners.row_sketch import sketch_rows
from replearn.tables.rows import take_rows


class IncumbentRegressor(RegressorMixin, KeepsChain):
    """Retrain, and keep the predicted number unless the running mean is far from it.

    After a retraining the mean of a point is ``memory`` times its mean before and ``1 - memory``
    times the prediction of the new estimator. The old prediction stays while it is within ``band``
    of this mean; otherwise the mean is the prediction. Next month this model is the incumbent.

    Parameters
    ----------
    estimator : regressor, default=None
        The estimator that is trained anew; ``Ridge()`` if None.
    incumbent : fitted regressor, default=None
        The model in use; None for the first fit. It is not changed, and ``clone`` keeps it.
    memory : float or "auto", default="auto"
        Weight of the remembered mean, from 0 to 0.8. With "auto" it is 0.7, or 0.5, or nothing is
        remembered: the first of these whose squared errors and mean no test shows to be worse than
        those of the new estimator alone, on rows of the new sample that it has not seen (five more
        fits on four fifths of the sample). Where the sample cannot show it (fewer than 100 new
        rows, or rows of the incumbent's sample) memory is 0.5, and ``fit`` warns.
    band : float, default=0.0
        How far the mean must be from the old prediction to change it, in units of y.

    Attributes
    ----------
    estimator_ : regressor
        The estimator, trained on the new sample.
    chain_ : tuple of Step
        The start of the chain and its latest 16 retrainings.
    history_ : list of dict
        One entry of plain values for the start and for each of the latest retrainings, up to 120,
        as in `IncumbentClassifier`; an alarm is "squared_error" or "mean".
    row_sketch_ : RowSketch or None
        Keyed hashes of at most 512 training rows.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` had names.

    See Also
    --------
    IncumbentClassifier : The same for labels.
    PointwiseReplicableRegressor : Two labs without a common model.

    Notes
    -----
    There is no certificate. The theory page incumbent-band bounds how often a prediction changes.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn import IncumbentRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(900, 3))
    >>> y = X[:, 0] + rng.normal(size=900)
    >>> may = IncumbentRegressor().fit(X[:300], y[:300])
    >>> june = IncumbentRegressor(incumbent=may, band=0.3).fit(X[300:600], y[300:600])
    >>> float((june.predict(X[600:]) != may.predict(X[600:])).mean()) < 0.05
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), None],
        "incumbent": [HasMethods(["predict"]), None],
        "memory": [Interval(Real, 0, MAX_MEMORY, closed="both"), StrOptions({"auto"})],
        "band": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, estimator=None, incumbent=None, *, memory="auto", band=0.0):
        self.estimator = estimator
        self.incumbent = incumbent
        self.memory = memory
        self.band = band

    @checked_fit
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        new_rows: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        context: RunContext | None = None,
        **fit_params: Any,
    ):
        """Train the estimator on a new sample; the incumbent is not trained.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The new sample.
        y : array-like of shape (n,)
            Numbers.
        new_rows : array-like of bool of shape (n,), default=None
            Rows that no model of the chain has been trained on, if samples overlap: memory is
            decided on these. If None, all rows are new.
        groups : array-like of shape (n,), default=None
            Rows that belong together: they are left out together when memory is decided.
        context : RunContext, default=None
            How to run, for estimators whose ``fit`` takes it. It does not change the result.
        **fit_params
            Arguments of the estimator's ``fit``, such as ``sample_weight``.

        Returns
        -------
        self : object
            The fitted estimator.

        Warns
        -----
        RetrainingWarning
            If a test shows that what is remembered is worse than the new estimator alone, or if the
            sample cannot show it.
        """
        self._refuse_itself()
        with all_or_nothing(self):
            refuse_classifier(self._base())
            refuse_classifier(self.incumbent, "incumbent")
            values = check_numbers(X, y)
            X = check_features(self, X, reset=True)
            if self.incumbent is not None:
                check_columns(self.incumbent, X, getattr(self, "feature_names_in_", None))
            rows = held_out_rows(new_rows, len(values))
            self.estimator_ = fit_in_context(clone(self._base()), X, values, context, **fit_params)
            entry = {"rows": len(values), "memory": 0.0, "band": 0.0}
            if self.incumbent is None:
                self.chain_ = (Step(self.estimator_, 0.0, 0.0, None),)
            else:
                entry |= self._retrain(X, values, rows, groups, fit_params)
            self._record(entry)
            self.row_sketch_ = sketch_rows(X)
        return self

    def _retrain(
        self,
        X: Any,
        y: NDArray[np.float64],
        rows: NDArray[np.intp],
        groups: Any,
        fit_params: dict[str, Any],
    ) -> dict[str, Any]:
        """Decide the memory, extend the chain, and return what ``history_`` says about it."""
        chain = chain_of(self.incumbent)
        assert chain is not None
        every, untested = None, None
        if self.memory == "auto":
            base = self._base()
            every, untested = self._cross_fitted(base, X, y, rows, groups, fit_params)
        points = take_rows(X, rows)
        found = replay_numbers(chain, points, None)
        score = score_of(self.estimator_, points, None) if every is None else every[rows]
        tested = new_rows_of(X, y, score, rows, groups, fit_params)
        memory = FIXED_MEMORY if self.memory == "auto" else float(self.memory)
        band, alarm = float(self.band), None
        if every is not None:
            memory, band, alarm = remember_or_forget(found, tested, band, why_numbers_worse)
        step = Step(self.estimator_, memory, band, None)
        self.chain_ = extended(chain, step)
        mixed = mix(found.score, score, memory)
        changes = keep_number(mixed, found.prediction, step) - found.prediction
        entry = {
            "memory": memory,
            "band": band,
            "alarm": alarm,
            "untested": untested,
            "changed": float((changes != 0.0).mean()),
            "mean_change": float(np.abs(changes).mean()),
        }
        if every is not None:
            entry |= {"tested": len(rows), **calibration_report(tested, found.score, mixed)}
        return entry

    def predict(self, X: Any, *, ids: Any = None) -> NDArray[np.float64]:
        """Predict numbers: the remembered ones, unless the mean is far from them.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The points.
        ids : array-like of shape (n,), default=None
            Ids, for estimators of this library that are keyed by them.

        Returns
        -------
        ndarray of shape (n,)
            Predictions.
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        if ids is not None:
            check_ids(X, ids)
        prediction: NDArray[np.float64] = replay_numbers(self.chain_, X, ids).prediction
        return prediction

    def _base(self) -> Any:
        return Ridge() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        return with_base_tags(super().__sklearn_tags__(), self._base())
