"""Where faster ways to vote and to fit plug in; without any, the plain loop does everything.

A plug-in promises the bits that are defined by the plain way, or by its own documented order of
summation where the plain way has no fixed bits (products of matrices round differently for
different batches). Which models a plug-in may look at is decided here by exact type, so that a
plug-in that does not apply costs nothing.

All plug-ins are switched off by ``REPLEARN_FASTPATHS=off`` in the environment, or by `plain_loop`
for a few lines.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.pipeline import Pipeline

from replearn.execution.context import naming
from replearn.tables.rows import copy_rows, is_sparse, n_rows

_ROUNDING = 1e-6
"""So far outside of [0, 1] a probability may lie: sums of float32."""


@dataclass(frozen=True)
class BlockModel:
    """One model of the ensemble, and where its votes go."""

    model: Any
    partition: int
    codes: NDArray[np.intp]  # positions of model.classes_ in the list of all classes
    name: str = "a block"  # in errors
    threshold: float | None = None  # probability from which it votes for the second class


class Predictor:
    """A group of models that vote together; each row's votes are a function of the row alone."""

    stops_early = True
    """Whether half of the models take about half of the time."""

    def __init__(self, block_models: list[BlockModel]) -> None:
        self.block_models = block_models

    @staticmethod
    def supports(model: Any, soft: bool) -> Any:
        """Return something true if a model of the plug-in's types can be in such a group."""
        return True

    @classmethod
    def group(
        cls, block_models: list[BlockModel], supported: list[Any], soft: bool
    ) -> Predictor | None:
        """Make the group of these models, or return None to leave them to others."""
        return cls(block_models)

    def prepare(self, X: Any) -> Any:
        """Convert the whole table once, into something whose rows can be sliced cheaply."""
        if isinstance(X, np.ndarray):
            return np.ascontiguousarray(X)
        if is_sparse(X):  # a row's sum must not depend on the order of its indices
            X = X.tocsr()
            return X if X.has_sorted_indices else X.sorted_indices()
        return X

    def part(self, start: int, stop: int) -> Predictor:
        """Return some of the models as a group that takes the tables of this one."""
        return type(self)(self.block_models[start:stop])

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some prepared rows to ``counts[row, partition, class]``."""
        raise NotImplementedError

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the probabilities on some prepared rows to ``totals[row, partition, class]``."""
        raise NotImplementedError


@dataclass(frozen=True)
class Plugin:
    """A faster way to vote or to fit."""

    models: frozenset[type]  # exact types: a subclass may do anything
    last_steps: frozenset[type] | None = None  # of pipelines; None: any
    predictor: type[Predictor] | None = None  # how the models vote
    # fit(model, X, y) fits the model and returns True, or leaves it alone. A function of a module,
    # because it is sent to worker processes.
    fit: Callable[[Any, Any, NDArray[Any]], bool] | None = None

    def may_take(self, model: Any) -> bool:
        """Tell by type alone whether the plug-in should look at the model."""
        if type(model) not in self.models:
            return False
        if type(model) is not Pipeline or self.last_steps is None:
            return True
        return type(model.steps[-1][1]) in self.last_steps


_plugins: list[Plugin] = []
_enabled = os.environ.get("REPLEARN_FASTPATHS", "").strip().lower() not in ("off", "0", "false")


def register(*plugins: Plugin) -> None:
    """Add plug-ins; the first that takes a model has it."""
    _plugins.extend(plugins)


@contextlib.contextmanager
def plain_loop() -> Iterator[None]:
    """Do without plug-ins inside, in this process.

    Examples
    --------
    >>> from replearn.execution import plugins
    >>> from replearn.execution.plugins import plain_loop
    >>> with plain_loop():
    ...     plugins.active()
    []
    """
    global _enabled
    before = _enabled
    _enabled = False
    try:
        yield
    finally:
        _enabled = before


def active() -> list[Plugin]:
    """Return the plug-ins in order; none where they are switched off."""
    return list(_plugins) if _enabled else []


def fit_functions(estimator: Any) -> list[Callable[[Any, Any, NDArray[Any]], bool]]:
    """Return the faster ways to fit a base estimator, best first."""
    return [plugin.fit for plugin in active() if plugin.fit and plugin.may_take(estimator)]


def group_models(
    block_models: list[BlockModel], soft: bool
) -> tuple[list[Predictor], list[BlockModel]]:
    """Put models into the groups of plug-ins; return the groups and the other models."""
    predictors: list[Predictor] = []
    for plugin in active():
        if plugin.predictor is not None:
            predictor, block_models = _take_models(plugin, plugin.predictor, block_models, soft)
            predictors += [predictor] if predictor else []
    return predictors, block_models


def _take_models(
    plugin: Plugin, kind: type[Predictor], block_models: list[BlockModel], soft: bool
) -> tuple[Predictor | None, list[BlockModel]]:
    looked_at = [plugin.may_take(m.model) and kind.supports(m.model, soft) for m in block_models]
    taken = [
        (block_model, found)
        for block_model, found in zip(block_models, looked_at, strict=True)
        if found
    ]
    predictor = (
        kind.group([m for m, _ in taken], [found for _, found in taken], soft) if taken else None
    )
    if predictor is None:
        return None, block_models
    return predictor, [
        block_model for block_model, found in zip(block_models, looked_at, strict=True) if not found
    ]


def predict_labels(model: Any, X: Any, name: str = "a block") -> NDArray[Any]:
    """Return one label per row.

    >>> from replearn.execution.constant import ConstantVote
    >>> predict_labels(ConstantVote(1), np.zeros((2, 1)))
    array([1, 1])
    """
    labels = _call(model, "predict", X, name)
    if labels.shape == (n_rows(X), 1):  # a column: CatBoost with three classes
        labels = labels[:, 0]
    return _of_shape(labels, (n_rows(X),), model, "predict", name)


def predict_codes(
    model: Any, X: Any, codes: NDArray[np.intp], name: str = "a block"
) -> NDArray[np.intp]:
    """Return one label per row as its index in the list of all classes.

    ``codes`` are the indices of ``model.classes_``.
    """
    labels = predict_labels(model, X, name)
    found = np.full(len(labels), -1, dtype=np.intp)
    for label, code in zip(model.classes_, codes, strict=True):
        found[labels == label] = code
    if (found < 0).any():
        raise ValueError(
            f"{type(model).__name__} of {name} predicted {labels[found < 0].tolist()[0]!r}, "
            f"which is not one of its classes {model.classes_!r}"
        )
    return found


def predict_probabilities(
    model: Any, X: Any, n_classes: int, name: str = "a block"
) -> NDArray[np.float64]:
    """Return the probability of each of a model's classes, row by row."""
    shares = _call(model, "predict_proba", X, name)
    shares = _of_shape(shares, (n_rows(X), n_classes), model, "predict_proba", name)
    if not (shares.min() >= -_ROUNDING and shares.max() <= 1 + _ROUNDING):  # NaN fails as well
        wrong = shares[~((shares >= -_ROUNDING) & (shares <= 1 + _ROUNDING))].tolist()[0]
        raise ValueError(
            f"{type(model).__name__} of {name} gives the probability {wrong!r}: predict_proba must "
            "return numbers in [0, 1]"
        )
    return shares


def predict_numbers(model: Any, X: Any, name: str = "a block") -> NDArray[np.float64]:
    """Return one finite number per row."""
    numbers = np.asarray(predict_labels(model, X, name), dtype=np.float64)
    if not np.isfinite(numbers).all():
        wrong = numbers[~np.isfinite(numbers)].tolist()[0]
        raise ValueError(
            f"{type(model).__name__} of {name} predicted {wrong!r}, which is not a number"
        )
    return numbers


def _call(model: Any, method: str, X: Any, name: str) -> NDArray[Any]:
    with naming(model, name):
        return np.asarray(getattr(model, method)(copy_rows(X)))


def _of_shape(
    predictions: NDArray[Any], shape: tuple[int, ...], model: Any, method: str, name: str
) -> NDArray[Any]:
    if predictions.shape != shape:
        raise ValueError(
            f"{method} of {type(model).__name__} of {name} returned an array of shape "
            f"{predictions.shape} for {shape[0]} rows: it must have shape {shape}"
        )
    return predictions


# -- pipelines whose last step is fitted faster; the other steps are scikit-learn's ----------------
def transformers_of(pipeline: Pipeline) -> list[Any]:
    """List the steps of a pipeline that change the table."""
    steps = [step for _, step in pipeline.steps[:-1]]
    return [step for step in steps if step is not None and step != "passthrough"]


def fits_step_by_step(pipeline: Pipeline) -> bool:
    """Tell whether fitting a pipeline is nothing but fitting its steps in turn."""
    return (
        pipeline.memory is None
        and pipeline.transform_input is None
        and not pipeline.verbose
        and not get_config()["enable_metadata_routing"]
        and all(hasattr(step, "fit_transform") for step in transformers_of(pipeline))
    )


def fit_steps(
    pipeline: Pipeline,
    X: Any,
    y: NDArray[Any],
    fit_last: Callable[[Any, Any, NDArray[Any]], bool],
) -> None:
    """Fit the steps in turn, the last by ``fit_last`` if it takes it."""
    for step in transformers_of(pipeline):
        X = step.fit_transform(X, y)
    last = pipeline.steps[-1][1]
    if not fit_last(last, X, y):
        last.fit(X, y)
