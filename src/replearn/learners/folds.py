"""Folds, names, scale and promise of a replicable search over configurations."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from replearn.bounds.selection import selection_scale, stable_scale
from replearn.execution import keyed_seeds, make_blocks, random_state_names, set_seeds
from replearn.guarantees.search import folds_error
from replearn.randomness import SharedKey, as_points
from replearn.tables import take_rows

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def keyed_folds(
    key: SharedKey, X: Any, codes: NDArray[np.intp], cv: int, n_repeats: int
) -> tuple[NDArray[np.intp], list[tuple[NDArray[np.intp], NDArray[np.intp]]]]:
    """Return the rows in keyed order, and (train, test) positions in that order for every fold.

    Surplus rows are in no fold.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.randomness import SharedKey
    >>> order, folds = keyed_folds(SharedKey(0), np.arange(10.0)[:, None], np.zeros(10), 3, 2)
    >>> [(len(train), len(test)) for train, test in folds]
    [(6, 3), (6, 3), (6, 3), (6, 3), (6, 3), (6, 3)]
    """
    size = len(codes) // cv
    if size < 1:
        raise ValueError(f"cv={cv} folds need at least {cv} rows, got n_samples={len(codes)}.")
    points = as_points(X)
    order = key.child("rows").order(points, codes)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    folds = []
    for repeat in range(n_repeats):
        # theorem: content-keyed-partition
        blocks = [place[b] for b in make_blocks(key, points, codes, cv, size, partition=repeat)]
        folds += [
            (np.concatenate([*blocks[:fold], *blocks[fold + 1 :]]), blocks[fold])
            for fold in range(cv)
        ]
    return order, folds


def in_order(value: Any, order: NDArray[np.intp], n_rows: int | None = None) -> Any:
    """Return a parameter of ``fit`` in keyed order, if it has one entry for each row.

    ``n_rows`` says how many rows there are where the order leaves some out.

    Examples
    --------
    >>> import numpy as np
    >>> in_order([0.1, 0.2], np.array([1, 0])), in_order("balanced", np.array([1, 0]))
    ([0.2, 0.1], 'balanced')
    """
    n_rows = len(order) if n_rows is None else n_rows
    if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != n_rows:
        return value
    return take_rows(value, order)


def seeded(estimator: Any, key: SharedKey) -> Any:
    """Return a clone whose random states follow from the key.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn.randomness import SharedKey
    >>> seeded(DecisionTreeClassifier(), SharedKey(0)).random_state is None
    False
    """
    model = clone(estimator)
    set_seeds(model, keyed_seeds(random_state_names(model), key.child("seed")))
    return model


def configured(estimator: Any, params: Mapping[str, Any], key: SharedKey) -> Any:
    """Return a seeded clone with these parameters, or with them on the estimator inside it.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn.randomness import SharedKey
    >>> bag = BaggingClassifier(DecisionTreeClassifier())
    >>> configured(bag, {"max_depth": 3}, SharedKey(0)).estimator.max_depth
    3
    """
    model = seeded(estimator, key)
    known = model.get_params(deep=True)
    return model.set_params(
        **{name if name in known else f"estimator__{name}": value for name, value in params.items()}
    )


def configuration_name(params: Mapping[str, Any]) -> str:
    """Return what a configuration is, whatever the order of its parameters.

    Examples
    --------
    >>> import numpy as np
    >>> configuration_name({"b": np.float64(0.5), "a": None})
    'a=None, b=0.5'
    """
    plain = {
        name: value.item() if hasattr(value, "item") else value for name, value in params.items()
    }
    return ", ".join(f"{name}={_ADDRESS.sub('', repr(plain[name]))}" for name in sorted(plain))


def results_of_errors(grid: list[dict[str, Any]], errors: NDArray[np.float64]) -> dict[str, Any]:
    """Return errors of configurations as scikit-learn's table of results.

    Examples
    --------
    >>> import numpy as np
    >>> table = results_of_errors([{"C": 1}, {"C": 2}], np.array([0.3, 0.2]))
    >>> table["rank_test_score"].tolist(), table["param_C"].tolist()
    ([2, 1], [1, 2])
    """
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


def search_scale(
    count: int, n_test: int, rho: float, alpha: float, beta: float, drift: float | None
) -> float:
    """Return the scale t: the largest that keeps rho if that is accurate enough, else alpha's.

    Examples
    --------
    >>> round(search_scale(18, 5000, 0.1, 0.05, 0.05, None), 1)
    174.4
    """
    if count == 1:
        return 0.0
    if drift is not None:
        stable = stable_scale(rho, count, n_test, drift=drift)
        if folds_error(sharpness=stable, n_hypotheses=count, n_test=n_test, alpha=alpha) <= beta:
            return stable
    pairs = count * (count - 1)
    accurate = selection_scale(pairs + 1, alpha, beta, n_test)
    return math.log(pairs / beta) / alpha if accurate is None else accurate
