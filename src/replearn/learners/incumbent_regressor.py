"""Retrain a regressor, and keep the predicted number unless the new one is far from it."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, clone
from sklearn.linear_model import Ridge
from sklearn.utils.validation import check_is_fitted

from replearn.compat import HasMethods, Interval, StrOptions
from replearn.execution import RunContext, fit_in_context
from replearn.learners.incumbent_chain import (
    MAX_MEMORY,
    Chain,
    Floats,
    KeepsChain,
    Retraining,
    mix,
    predict_with,
)
from replearn.learners.incumbent_retraining import (
    chain_of,
    check_columns,
    memory_of,
    spread_rows,
    today,
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
from replearn.tables import take_rows


class NumberReplay(NamedTuple):
    """The chain after its last retraining."""

    score: Floats  # the running mean
    remembered: Floats  # predictions before the last retraining
    prediction: Floats


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
    memory : float or "all", default=0.5
        Weight of the remembered mean, from 0 to 0.8. "all" is the mean of all models, up to that
        weight. There is no "auto", the default of `IncumbentClassifier`: its rule compares labels
        on the rows on which two rules decide differently, and no such rule has been measured for
        numbers. After a sudden change, start a new chain (``incumbent=None``).
    band : float, default=0.0
        How far the mean must be from the old prediction to change it, in units of y.

    Attributes
    ----------
    estimator_ : regressor
        The estimator, trained on the new sample.
    chain_ : Chain
        The start of the chain and its latest 16 retrainings.
    history_ : list of dict
        One entry for each of the latest 120 retrainings: date, rows, memory, band, share of
        predictions changed and mean size of a change, on training rows.
    n_retrainings_ : int
        Number of incumbents in the chain.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` had names.

    See Also
    --------
    IncumbentClassifier : The same for labels, with budgets and automatic memory.
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
        "memory": [Interval(Real, 0, MAX_MEMORY, closed="both"), StrOptions({"all"})],
        "band": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, estimator=None, incumbent=None, *, memory=0.5, band=0.0):
        self.estimator = estimator
        self.incumbent = incumbent
        self.memory = memory
        self.band = band

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, *, context: RunContext | None = None, **fit_params: Any):
        """Train the estimator on a new sample; the incumbent is not trained.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The new sample.
        y : array-like of shape (n,)
            Numbers.
        context : RunContext, default=None
            How to run, for estimators whose ``fit`` takes it. It does not change the result.
        **fit_params
            Arguments of the estimator's ``fit``, such as ``sample_weight``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._refuse_itself()
        with all_or_nothing(self):
            refuse_classifier(self._base())
            refuse_classifier(self.incumbent, "incumbent")
            values = check_numbers(X, y)
            X = check_features(self, X, reset=True)
            previous = chain_of(self.incumbent)
            if previous is not None:
                check_columns(self.incumbent, X, getattr(self, "feature_names_in_", None))
            self.estimator_ = fit_in_context(clone(self._base()), X, values, context, **fit_params)
            entry = {"date": today(), "rows": len(values), "memory": 0.0, "band": 0.0}
            if previous is None:
                self.chain_ = Chain(Retraining(self.estimator_, 0.0, 0.0, 0.0))
            else:
                memory = memory_of(self.memory, previous)
                new = Retraining(self.estimator_, memory, float(self.band), 0.0)
                extended = previous.extended(new)
                self.chain_ = extended.bounded()
                some = take_rows(X, spread_rows(np.arange(len(values))))
                entry |= {"memory": memory, "band": new.band, **_changes(extended, some)}
            self._record(entry)
        return self

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
        return replay_numbers(self.chain_, X, ids).prediction

    def _base(self) -> Any:
        return Ridge() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        return with_base_tags(super().__sklearn_tags__(), self._base())


def replay_numbers(chain: Chain, X: Any, ids: Any) -> NumberReplay:
    """Repeat the retrainings of a chain at some points, from the oldest to the newest."""
    score = np.asarray(predict_with(chain.start.model, X, ids), dtype=np.float64)
    prediction = score
    remembered = score
    for one in chain.recent:
        new = np.asarray(predict_with(one.model, X, ids), dtype=np.float64)
        score = mix(score, new, one.memory)
        remembered = prediction
        # theorem: incumbent-band (section 9: a change travels further than the band)
        prediction = np.where(np.abs(score - remembered) > one.band, score, remembered)
    return NumberReplay(score, remembered, prediction)


def _changes(extended: Chain, X: Any) -> dict[str, Any]:
    """Return what the last retraining changes at some points, and what dropping old ones does."""
    found = replay_numbers(extended, X, None)
    changed = found.prediction != found.remembered
    entry = {
        "changed": float(changed.mean()),
        "mean_change": float(np.abs(found.prediction - found.remembered).mean()),
        "dropped_weight": extended.dropped_weight(),
    }
    if len(extended.bounded().recent) < len(extended.recent):
        kept = replay_numbers(extended.bounded(), X, None)
        entry["dropped_changes"] = float((kept.prediction != found.prediction).mean())
    return entry
