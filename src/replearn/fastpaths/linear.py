"""Linear models vote by one product with all their weights, and plain ones are fitted faster.

*Votes.* Each row is multiplied on its own (a matrix-vector product per row, looped inside numpy),
so that its scores cannot depend on the other rows, on their number or on its index among them: a
product of matrices would round differently for different shapes. The scores are computed in float64
and may differ from the model's own ``decision_function`` in the last bit, which differs from itself
in the last bit when the batch changes. These votes are the definition; they agree with ``predict``
except where a score is zero up to rounding.

*Fits.* On a block of a few hundred rows most of scikit-learn's time goes into checks, repeated in
each of the twenty steps of the optimiser. The rows of a block were checked with the table they come
from, so here the same optimiser runs on the same arithmetic without them. What is not the plain
case is left to scikit-learn, and everything is when its bits are not met on a small problem
(another version of scikit-learn may compute in another order).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn import config_context
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.extmath import softmax
from sklearn.utils.validation import validate_data

from replearn import compat
from replearn.execution.plugins import BlockModel, Predictor, fit_steps, fits_step_by_step
from replearn.execution.voting import add_codes
from replearn.tables.rows import is_sparse, n_rows, row_chunks

LOGISTIC = frozenset({LogisticRegression, LogisticRegressionCV})
LINEAR = LOGISTIC | {
    LinearDiscriminantAnalysis,
    LinearSVC,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
}
"""Exact types: a subclass may predict in its own way."""

SCORES_PER_CHUNK = 2**18
"""Scores computed before they are counted: enough that threads seldom wait for the interpreter."""


Form = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Weights, one column per score, and intercepts."""


class LinearPredictor(Predictor):
    """Linear models that vote together."""

    stops_early = False

    def __init__(self, block_models: list[BlockModel], forms: list[Form] | None = None) -> None:
        forms = forms or [_own_form(block_model.model) for block_model in block_models]
        self._first = block_models[0].model
        # Models of two classes have one score and come first: their votes are counted at once.
        order = sorted(
            range(len(block_models)), key=lambda index: len(block_models[index].codes) > 2
        )
        self.binary = [
            block_models[index] for index in order if len(block_models[index].codes) == 2
        ]
        self.wide = [block_models[index] for index in order if len(block_models[index].codes) > 2]
        self._weights = np.ascontiguousarray(np.hstack([forms[index][0] for index in order]))
        self._intercepts = np.concatenate([forms[index][1] for index in order])
        self._tallies: dict[tuple[int, int], Tally] = {}
        self._chunk = max(1, SCORES_PER_CHUNK // self._weights.shape[1])

    @staticmethod
    def supports(model: Any, soft: bool) -> bool:
        """Tell whether the model is linear and, for soft votes, logistic."""
        return type(model) in (LOGISTIC if soft else LINEAR) and isinstance(model.coef_, np.ndarray)

    def prepare(self, X: Any) -> Any:
        """Validate the table once, as any of the models would."""
        table = checked_table(self._first, X, accept_sparse="csr")
        if is_sparse(table) and not table.has_sorted_indices:
            return table.sorted_indices()  # a row's sum must not depend on their order
        return table

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows: the second class iff the score is above zero."""
        shape = counts.shape[1], counts.shape[2]
        if shape not in self._tallies:
            self._tallies[shape] = Tally(self.binary, shape)
        tally = self._tallies[shape]
        n_binary = len(self.binary)
        # A rounded sum a + b is above zero iff a > -b: the intercepts need not be added. They are
        # repeated for every row of a chunk, as numpy compares whole arrays twice as fast.
        borders = np.tile(-self._intercepts[:n_binary], (min(self._chunk, n_rows(X)), 1))
        for start, stop, products in self._products(X):
            predictions = products[:, :n_binary] > borders[: stop - start]
            tally.add(predictions, counts[start:stop])
            if self.wide:
                scores = products[:, n_binary:] + self._intercepts[n_binary:]
                add_wide_votes(self.wide, scores, counts[start:stop])

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the logistic probabilities, model by model in a fixed order."""
        n_binary = len(self.binary)
        for start, stop, products in self._products(X):
            part = totals[start:stop]
            products += self._intercepts
            second = expit(products[:, :n_binary])
            scores = products[:, n_binary:]
            for index, block_model in enumerate(self.binary):
                part[:, block_model.partition, block_model.codes[0]] += 1.0 - second[:, index]
                part[:, block_model.partition, block_model.codes[1]] += second[:, index]
            for block_model, columns in _wide_columns(self.wide):
                part[:, block_model.partition, block_model.codes] += softmax(
                    scores[:, columns], copy=True
                )

    def _products(self, X: Any) -> Any:
        """Yield the scores of all models without their intercepts, some rows at a time."""
        length = n_rows(X)
        if length <= self._chunk:
            yield 0, length, _row_products(X, self._weights)
            return
        for start, stop in row_chunks(length, self._chunk):
            yield start, stop, _row_products(X[start:stop], self._weights)


def _wide_columns(block_models: list[BlockModel]) -> Iterator[tuple[BlockModel, slice]]:
    """Yield models with several scores, and where these stand when they follow each other."""
    start = 0
    for block_model in block_models:
        yield block_model, slice(start, start + len(block_model.codes))
        start += len(block_model.codes)


def add_wide_votes(block_models: list[BlockModel], scores: Any, counts: NDArray[np.int32]) -> None:
    """Add the votes of models with one score for each class: the first of the largest."""
    for block_model, columns in _wide_columns(block_models):
        add_codes(counts, block_model, block_model.codes[scores[:, columns].argmax(axis=1)])


class Tally:
    """Count the predictions of models with two classes, as a product of small whole numbers.

    They are exact in float32, and so is their sum in any order.
    """

    def __init__(self, block_models: list[BlockModel], shape: tuple[int, ...]) -> None:
        first = np.zeros((len(block_models), *shape), dtype=np.float32)
        second = np.zeros_like(first)
        for index, block_model in enumerate(block_models):
            first[index, block_model.partition, block_model.codes[0]] = 1
            second[index, block_model.partition, block_model.codes[1]] = 1
        # Everybody votes for the first class; a prediction moves one vote to the second.
        self._if_nobody = first.sum(axis=0).astype(np.int32)
        # What the other classes win, class 0 loses: its own column need not be multiplied.
        self._moves = (second - first)[..., 1:].reshape(
            len(block_models), shape[0] * (shape[1] - 1)
        )

    def add(self, predictions: NDArray[np.bool_], counts: NDArray[np.int32]) -> None:
        """Add a vote for the second class where the prediction is true, else for the first."""
        moved = (predictions.astype(np.float32) @ self._moves).astype(np.int32)
        others = moved.reshape(counts[..., 1:].shape)
        counts += self._if_nobody
        counts[..., 1:] += others
        counts[..., 0] -= others.sum(axis=2)


def is_plain_table(X: Any) -> bool:
    """Tell whether there is nothing to convert and nothing to refuse in a table."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype == np.float64
        and X.flags.c_contiguous
        and bool(np.isfinite(X).all())
    )


def checked_table(model: Any, X: Any, **options: Any) -> Any:
    """Validate a table as ``model`` would, unless nothing is left to check but finite numbers.

    The estimator has checked the shape and the names; a plain table of numbers needs no copy.
    """
    unnamed = not hasattr(model, "feature_names_in_")
    if unnamed and is_plain_table(X) and X.shape[1] == model.n_features_in_:
        return X
    return validate_data(model, X, reset=False, dtype=np.float64, order="C", **options)


def _own_form(model: Any) -> Form:
    weights = np.atleast_2d(model.coef_).T.astype(float)
    return weights, np.broadcast_to(model.intercept_, weights.shape[1]).astype(float)


def _row_products(X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply each row by the weights, independently of the other rows."""
    if is_sparse(X):
        return np.asarray(X @ weights)  # scipy adds up row by row
    products: NDArray[np.float64] = np.matmul(X[:, np.newaxis, :], weights)[:, 0, :]
    return products


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
        if not (fits_step_by_step(model) and _is_plain(model.steps[-1][1], y)):
            return False
        fit_steps(model, X, y, fit_plain_logistic)
        return True
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


@cache
def _same_bits_here() -> bool:
    """Compare both ways on a small problem, once in each process; it depends on nothing else."""
    angles = np.arange(1.0, 3301.0).reshape(300, 11)  # long enough for last bits to show
    X = np.sin(angles**2)
    y = (np.sin(angles.sum(axis=1) ** 2) > 0).astype(int)
    ours = LogisticRegression()
    theirs = LogisticRegression()
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
    losses = np.empty(n)
    slopes = np.empty(n)

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
