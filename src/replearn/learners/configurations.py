"""Configurations of a search: their names, clones with seeds, and errors on keyed rows.

By folds, or by many small trainings: every training then has its own rows and every test row trains
nothing, so that the errors of the trainings are independent and have one expectation in all runs,
whatever the estimator does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from replearn.bounds import selection_scale, stable_scale
from replearn.execution import (
    fit_blocks,
    keyed_seeds,
    make_blocks,
    predict_labels,
    random_state_names,
    set_seeds,
)
from replearn.guarantees import folds_error
from replearn.primitives import sample_order
from replearn.randomness import SharedKey, as_points
from replearn.tables import take_rows

GROUP = 64
"""Models that are trained and kept at a time."""

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


# -- what a configuration is -----------------------------------------------------------------------
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


# -- folds -----------------------------------------------------------------------------------------
class Folds(NamedTuple):
    """How often the rows are cut into how many folds, and what is assumed about drift."""

    folds: int
    repeats: int = 1
    drift: float | None = None


def keyed_folds(
    key: SharedKey, X: Any, codes: NDArray[np.intp], cv: int, n_repeats: int
) -> tuple[NDArray[np.intp], list[tuple[NDArray[np.intp], NDArray[np.intp]]]]:
    """Return the rows in keyed order, and (train, test) positions in that order for every fold.

    Surplus rows are in no fold.

    >>> order, folds = keyed_folds(SharedKey(0), np.arange(10.0)[:, None], np.zeros(10), 3, 2)
    >>> [(len(train), len(test)) for train, test in folds]
    [(6, 3), (6, 3), (6, 3), (6, 3), (6, 3), (6, 3)]
    """
    size = len(codes) // cv
    if size < 1:
        raise ValueError(f"cv={cv} folds need at least {cv} rows, got n_samples={len(codes)}.")
    points = as_points(X)
    order = key.child("rows").order(points, codes)
    index = np.argsort(order)
    folds = []
    for repeat in range(n_repeats):
        # theorem: content-keyed-partition
        blocks = [index[b] for b in make_blocks(key, points, codes, cv, size, partition=repeat)]
        for fold, test in enumerate(blocks):
            folds.append((np.concatenate(blocks[:fold] + blocks[fold + 1 :]), test))
    return order, folds


def in_order(value: Any, order: NDArray[np.intp], n_rows: int | None = None) -> Any:
    """Return a parameter of ``fit`` in keyed order, if it has one entry for each row.

    ``n_rows`` says how many rows there are where the order leaves some out.

    >>> in_order([0.1, 0.2], np.array([1, 0])), in_order("balanced", np.array([1, 0]))
    ([0.2, 0.1], 'balanced')
    """
    n_rows = len(order) if n_rows is None else n_rows
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != n_rows:
        return value
    return take_rows(value, order)


def search_scale(
    count: int, n_test: int, rho: float, alpha: float, beta: float, drift: float | None
) -> float:
    """Return the scale t: the largest that keeps rho if that is accurate enough, else alpha's."""
    if count == 1:
        return 0.0
    if drift is not None:
        stable = stable_scale(rho, count, n_test, drift=drift)
        if folds_error(sharpness=stable, n_hypotheses=count, n_test=n_test, alpha=alpha) <= beta:
            return stable
    pairs = count * (count - 1)
    accurate = selection_scale(pairs + 1, alpha, beta, n_test)
    return math.log(pairs / beta) / alpha if accurate is None else accurate


def describe_scoring(scoring: Any) -> str:
    """Return a scorer's name; of a function also where it comes from."""
    if isinstance(scoring, str):
        return scoring
    return " ".join(_ADDRESS.sub("", repr(scoring)).split())


def uncovered_scoring(scoring: Any, n_classes: int) -> tuple[str, ...]:
    """Say why the theorems do not cover a score; nothing if they do.

    They need a mean over rows of numbers in [0, 1].

    >>> uncovered_scoring("accuracy", 3), uncovered_scoring("neg_brier_score", 2)
    ((), ())
    """
    if scoring == "accuracy" or (scoring == "neg_brier_score" and n_classes == 2):
        return ()
    return (
        f"scoring {describe_scoring(scoring)!r} is not known to be a mean over rows of numbers in "
        '[0, 1], which the theorems are about ("accuracy" is, and "neg_brier_score" with two '
        "classes)",
    )


# -- many small trainings --------------------------------------------------------------------------
def cut_trainings(
    key: SharedKey, X: Any, codes: NDArray[np.intp], train_size: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of each training, and one test row for each; surplus rows are left out."""
    count = len(codes) // (train_size + 1)
    if count < 1:
        raise ValueError(
            f"train_size={train_size} needs at least {train_size + 1} rows, got "
            f"n_samples={len(codes)}."
        )
    # theorem: search-trainings
    cut = sample_order(key, X, codes)[: count * (train_size + 1)]
    return cut[count:].reshape(count, train_size), cut[:count]


def training_errors(
    models: Sequence[Any],
    X: Any,
    codes: NDArray[np.intp],
    cut: tuple[NDArray[np.intp], NDArray[np.intp]],
    key: SharedKey,
    n_jobs: int | None = None,
    look: Callable[[Any, list[Any]], None] | None = None,
) -> NDArray[np.float64]:
    """Return the mean error of each configuration over all trainings.

    Every model counts its own test row only. Testing all models on all rows would fluctuate less,
    but then the two runs are no longer exchangeable training by training, and the proof is gone.
    ``look`` is shown every configuration with its first fitted models.
    """
    trainings, tests = cut
    wrong = np.zeros(len(models), dtype=np.int64)
    for start in range(0, len(tests), GROUP):
        blocks = trainings[start : start + GROUP]
        held = tests[start : start + GROUP]
        # One seed for all trainings: given the key they are then identically distributed.
        keys = [key.child("seed")] * len(held)
        rows = take_rows(X, held)
        labels = codes[held]
        for index, model in enumerate(models):
            fitted = fit_blocks(model, X, codes, list(blocks), keys, n_jobs=n_jobs)
            # All rows are predicted, to cut the table once.
            predictions = [
                predict_labels(one, rows, f"training {start + own}")[own]
                for own, one in enumerate(fitted)
            ]
            wrong[index] += np.count_nonzero(predictions != labels)
            if look is not None and start == 0:
                look(model, fitted)
    return wrong / len(tests)


def results_of_errors(grid: list[dict[str, Any]], errors: NDArray[np.float64]) -> dict[str, Any]:
    """Return errors of configurations as scikit-learn's table of results."""
    columns: dict[str, Any] = {}
    for name in dict.fromkeys(name for item in grid for name in item):
        values = np.empty(len(grid), dtype=object)
        values[:] = [item.get(name) for item in grid]
        columns[f"param_{name}"] = np.ma.MaskedArray(values, [name not in item for item in grid])
    ranks = 1 + (errors[:, np.newaxis] > errors).sum(axis=1)
    return {
        **columns,
        "params": grid,
        "mean_test_score": 1.0 - errors,
        "rank_test_score": ranks.astype(np.int32),
    }
