"""Fit a plain logistic regression to the same bits as scikit-learn, in half its time.

On a block of a few hundred rows most of scikit-learn's time goes into checks, repeated in each of
the twenty steps of the optimiser. The rows of a block were checked with the table they come from,
so here the same optimiser runs on the same arithmetic without them. What is not the plain case is
left to scikit-learn, and everything is when its bits are not met on a small problem (another
version of scikit-learn may compute in another order).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn import config_context, get_config
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from replearn import compat
from replearn.fastpaths.linear import is_plain_table
from replearn.fastpaths.rowwise import transformers_of

PLAIN = {
    "class_weight": None,
    "dual": False,
    "fit_intercept": True,
    "n_jobs": None,
    "solver": "lbfgs",
    "verbose": 0,
    "warm_start": False,
}
"""Parameters of the plain case; C, tol and max_iter are free, intercept_scaling has no effect."""


EPSILON = float(np.finfo(float).eps)


def fit_plain_logistic(model: Any, X: Any, y: NDArray[Any]) -> bool:
    """Fit ``model`` if it is a plain logistic regression on a plain table of two classes.

    A pipeline that ends with one is fitted, too: its transformers by scikit-learn. The result says
    whether it was done; if not, ``model`` is as it was.
    """
    if type(model) is Pipeline:
        return _is_plain_pipeline(model, y) and _fit_pipeline(model, X, y)
    return _is_plain(model, y) and is_plain_table(X) and _fit(model, X, y)


def _is_plain(model: Any, y: NDArray[Any]) -> bool:
    if type(model) is not LogisticRegression or compat.HalfBinomialLoss is None:
        return False
    own = vars(model)
    return (
        all(own.get(name, value) == value for name, value in PLAIN.items())
        and own.get("l1_ratio", 0) == 0
        and own.get("penalty", "deprecated") == "deprecated"
        and 0 < own["C"] < np.inf
        and not any(name.endswith("_") or name.startswith("_") for name in own)
        and y.ndim == 1
        and y.dtype.kind in "biu"
        and _same_bits_here()
    )


def _is_plain_pipeline(model: Pipeline, y: NDArray[Any]) -> bool:
    return (
        model.memory is None
        and model.transform_input is None
        and not model.verbose
        and not get_config()["enable_metadata_routing"]
        and all(hasattr(step, "fit_transform") for step in transformers_of(model))
        and _is_plain(model.steps[-1][1], y)
    )


def _fit_pipeline(model: Pipeline, X: Any, y: NDArray[Any]) -> bool:
    for step in transformers_of(model):
        X = step.fit_transform(X, y)
    last = model.steps[-1][1]
    if not fit_plain_logistic(last, X, y):
        last.fit(X, y)
    return True


@cache
def _same_bits_here() -> bool:
    """Compare both ways on a small problem, once in each process; it depends on nothing else."""
    angles = np.arange(1.0, 3301.0).reshape(300, 11)  # long enough for last bits to show
    X, y = np.sin(angles**2), (np.sin(angles.sum(axis=1) ** 2) > 0).astype(int)
    ours, theirs = LogisticRegression(), LogisticRegression()
    with config_context(skip_parameter_validation=True):
        theirs.fit(X, y)
    try:
        return _fit(ours, X, y) and _bits(ours) == _bits(theirs)
    except (AttributeError, TypeError):  # pragma: no cover - the private loss is called otherwise
        return False


def _bits(model: Any) -> dict[str, bytes]:
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {name: np.asarray(value).tobytes() for name, value in sorted(fitted.items())}


def _fit(model: Any, X: NDArray[np.float64], y: NDArray[Any]) -> bool:
    """Minimise as scikit-learn does; give up where scikit-learn would warn or raise."""
    classes = np.unique(y)
    if len(classes) != 2:
        return False
    objective = _objective(X, (y == classes[1]).astype(np.float64), 1.0 / (model.C * len(X)))
    start: Any = np.zeros(X.shape[1] + 1)
    options: Any = {"maxiter": model.max_iter, "maxls": 50, "gtol": model.tol}
    options["ftol"] = 64 * EPSILON
    result = minimize(objective, start, method="L-BFGS-B", jac=True, options=options)
    if not result.success:
        return False
    model.n_features_in_ = X.shape[1]
    model.classes_ = classes
    model.n_iter_ = np.array([min(result.nit, model.max_iter)], dtype=np.int32)
    model.coef_ = result.x[np.newaxis, :-1].copy()
    model.intercept_ = result.x[-1:].copy()
    return True


def _objective(X: NDArray[np.float64], target: NDArray[np.float64], strength: float) -> Any:
    """Mean loss plus penalty and its gradient, in the order of scikit-learn's operations."""
    loss_gradient = compat.HalfBinomialLoss().closs.loss_gradient
    n, d = X.shape
    losses, slopes = np.empty(n), np.empty(n)

    def value_and_gradient(coef: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weights = coef[:-1]
        raw = X @ weights
        raw += coef[-1]
        loss_gradient(
            y_true=target,
            raw_prediction=raw,
            sample_weight=None,
            loss_out=losses,
            gradient_out=slopes,
            n_threads=1,
        )
        value = float(losses.sum() / n) + float(0.5 * strength * (weights @ weights))
        np.divide(slopes, n, out=slopes)
        gradient = np.empty(d + 1)
        gradient[:d] = X.T @ slopes + strength * weights
        gradient[-1] = slopes.sum()
        return value, gradient

    return value_and_gradient
