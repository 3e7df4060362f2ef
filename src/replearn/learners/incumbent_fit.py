"""What a retraining with an incumbent checks and measures: labels, columns, cross-fitted scores."""

from __future__ import annotations

import warnings
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GroupKFold
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from replearn.learners.incumbent_chain import (
    MAX_MEMORY,
    Chain,
    ChainScores,
    ModelScore,
    Retraining,
    model_score,
    predict_with,
    replay_scores,
)
from replearn.tables import n_rows, take_rows

N_FOLDS = 5
"""Folds of the cross-fitted scores from which memory and band are decided."""

N_LABEL_ROWS = 256
"""Training rows that show which labels an incumbent without ``classes_`` predicts."""

N_HISTORY_ROWS = 2000
"""Rows of the new sample on which changes are counted for ``history_``."""


FEW_ROWS = (
    'memory="auto" and budgets decide on rows that are left out of the training in turn; give '
    "memory and band as numbers (memory=0.5), and no budget."
)
"""What to do where a sample is too small to leave rows out."""


def check_incumbent(incumbent: Any, X: Any, classes: NDArray[Any], names: Any) -> None:
    """Raise if the incumbent is not fitted, or has other columns or labels than the new sample."""
    if hasattr(incumbent, "__sklearn_tags__"):  # others only need to predict
        check_is_fitted(incumbent)
    check_columns(incumbent, X, names)
    labels = getattr(incumbent, "classes_", None)
    is_complete = labels is not None
    if labels is None:
        some = take_rows(X, np.arange(min(n_rows(X), N_LABEL_ROWS)))
        labels = predict_with(incumbent, some, None)
    known = set(np.asarray(labels).tolist())
    present = set(classes.tolist())
    only_incumbent = sorted(known - present, key=str)
    only_sample = sorted(present - known, key=str) if is_complete else []
    if only_incumbent or only_sample:
        raise ValueError(
            "labels of incumbent and y must match: "
            f"incumbent has {sorted(known, key=str)[:5]}, y has {sorted(present, key=str)[:5]}; "
            f"not in y: {only_incumbent[:5]}, unknown to incumbent: {only_sample[:5]}. Use one "
            "coding of the labels in both; if a class has no rows or is new, start a new chain "
            "(incumbent=None)."
        )


def check_columns(incumbent: Any, X: Any, names: Any) -> None:
    """Raise if the incumbent was trained on other columns."""
    known = getattr(incumbent, "feature_names_in_", None)
    if known is not None and names is not None:
        missing = [name for name in known.tolist() if name not in set(names.tolist())]
        if missing:
            raise ValueError(
                f"X lacks the columns {missing[:5]}, on which incumbent was trained: give both "
                "the same columns."
            )
    n_features = getattr(X, "shape", (0, 1))[1] if getattr(X, "ndim", 2) == 2 else 1
    expected = getattr(incumbent, "n_features_in_", n_features)
    if expected != n_features:
        raise ValueError(
            f"incumbent was trained on {expected} features, X has {n_features}: give both the "
            "same columns."
        )


def chain_of(incumbent: Any) -> Chain | None:
    """Return the chain that an incumbent continues; any other model is the start of one."""
    if incumbent is None:
        return None
    chain = getattr(incumbent, "chain_", None)
    if isinstance(chain, Chain):
        return chain
    return Chain(Retraining(incumbent, 0.0, 0.0, None))


def memory_of(memory: float | str, chain: Chain) -> float:
    """Return the weight of the remembered score; "all": the mean of all models, up to a limit."""
    if memory == "all":
        n_models = 1 + len(chain.recent)
        return min(n_models / (n_models + 1.0), MAX_MEMORY)
    return float(memory)


def held_out_rows(new_rows: Any, n: int) -> NDArray[np.intp]:
    """Return the rows on which memory and band are decided: all, or those that are new."""
    if new_rows is None:
        return np.arange(n)
    mask = np.asarray(new_rows)
    if mask.shape != (n,) or mask.dtype != bool:
        raise ValueError(
            f"new_rows must hold one bool for each of the {n} rows of X, got an array of shape "
            f"{mask.shape} and type {mask.dtype}."
        )
    if not mask.any():
        raise ValueError("new_rows selects no row: leave it out, or mark the rows that are new.")
    return np.flatnonzero(mask)


def cross_fitted(
    base: Any,
    X: Any,
    y: NDArray[Any],
    rows: NDArray[np.intp],
    n_classes: int,
    band_unit: str,
    fit_params: dict[str, Any],
    groups: Any = None,
) -> ModelScore:
    """Return scores of the new estimator at some rows, each by a model that has not seen it."""
    n = len(y)
    values: Any = None
    scale: Any = None
    kind = ""
    for train, test in _folds(y, groups):
        wanted = test[np.isin(test, rows)]
        if not len(wanted):
            continue
        params = {name: _rows_of(value, train, n) for name, value in fit_params.items()}
        model = _fit_fold(base, take_rows(X, train), y[train], params, n_classes)
        found = model_score(model, take_rows(X, wanted), None, n_classes, band_unit)
        kind = found.kind
        assert found.score is not None
        if values is None:
            values = np.zeros((n, *found.score.shape[1:]))
            scale = np.ones(n)
        values[wanted] = found.score
        scale[wanted] = found.scale
    return ModelScore(kind, values[rows], scale[rows])


def _fit_fold(base: Any, X: Any, y: NDArray[Any], params: dict[str, Any], n_classes: int) -> Any:
    """Fit the estimator on all folds but one; errors say that the sample is too small for it."""
    if len(np.unique(y)) < n_classes:
        raise ValueError(
            "all rows of one class of y belong to a few groups that are left out together, so that "
            f"a fold has none: {FEW_ROWS}"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the fit on the whole sample warns
            return clone(base).fit(X, y, **params)
    except ValueError as error:
        raise ValueError(
            f"{type(base).__name__} cannot be fitted on a part of the sample ({len(y)} rows): "
            f"{error} If the rows are too few: {FEW_ROWS}"
        ) from error


def takes_groups(base: Any) -> bool:
    """Tell whether ``fit`` of an estimator, or of the one inside it, has the argument groups."""
    inner = getattr(base, "estimator", None)
    return any(has_fit_parameter(one, "groups") for one in (base, inner) if hasattr(one, "fit"))


def _folds(y: NDArray[Any], groups: Any) -> Any:
    if groups is not None:
        n_groups = len(np.unique(groups))
        if n_groups < 2:
            raise ValueError(f"all rows are of one group: {FEW_ROWS}")
        return GroupKFold(min(N_FOLDS, n_groups)).split(np.zeros(len(y)), y, groups)
    counts = np.unique(y, return_counts=True)[1]
    n_folds = min(N_FOLDS, int(counts[counts > 1].min()))
    fold = np.where(may_be_left_out(y, None), interleaved_folds(y, n_folds), -1)
    return [(np.flatnonzero(fold != n), np.flatnonzero(fold == n)) for n in range(n_folds)]


def may_be_left_out(y: NDArray[Any], groups: Any) -> NDArray[np.bool_]:
    """Tell which rows a fold may leave out: the only row of a class is always trained on.

    >>> may_be_left_out(np.array(["a", "a", "b"]), None).tolist()
    [True, True, False]
    """
    if groups is not None:
        return np.ones(len(y), dtype=bool)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    is_possible: NDArray[np.bool_] = counts[codes] > 1
    if not is_possible.any():
        raise ValueError(f"every class of y has a single row: {FEW_ROWS}")
    return is_possible


def interleaved_folds(y: NDArray[Any], n_folds: int) -> NDArray[np.intp]:
    """Return the fold of each row: rows of a class are dealt out in turn, as they come.

    Folds of neighbouring rows would leave out the newest months of a rolling window all at once.

    >>> interleaved_folds(np.array([0, 0, 1, 0, 1, 1]), 2).tolist()
    [0, 1, 0, 0, 1, 0]
    """
    fold = np.zeros(len(y), dtype=np.intp)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        fold[rows] = np.arange(len(rows)) % n_folds
    return fold


def _rows_of(value: Any, rows: NDArray[np.intp], n: int) -> Any:
    """Return the rows of an argument of ``fit`` that has one value per row."""
    is_per_row = hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n
    return take_rows(np.asarray(value), rows) if is_per_row else value


def row_weights(fit_params: dict[str, Any]) -> NDArray[np.float64] | None:
    """Return the weights of the rows; those of a pipeline carry the name of a step.

    >>> row_weights({"ridge__sample_weight": [1, 2]}).tolist()
    [1.0, 2.0]
    """
    names = [name for name in fit_params if name.split("__")[-1] == "sample_weight"]
    given = [fit_params[name] for name in names if np.ndim(fit_params[name]) == 1]
    return np.asarray(given[0], dtype=np.float64) if given else None


def spread_rows(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return at most `N_HISTORY_ROWS` of these rows, evenly spaced: their indices among them."""
    count = min(len(rows), N_HISTORY_ROWS)
    return np.linspace(0, len(rows) - 1, count).astype(np.intp)


def take_score(score: ModelScore, rows: NDArray[np.intp]) -> ModelScore:
    """Return the scores of some of the points."""
    values = None if score.score is None else score.score[rows]
    scale = score.scale if np.ndim(score.scale) == 0 else np.asarray(score.scale)[rows]
    return ModelScore(score.kind, values, scale)


def take_scores(found: ChainScores, rows: NDArray[np.intp]) -> ChainScores:
    """Return the scores of a chain at some of the points."""
    return ChainScores(found.start_codes[rows], tuple(take_score(s, rows) for s in found.scores))


def count_dropped(extended: Chain, found: ChainScores, new: ModelScore) -> int:
    """Count the rows whose prediction changes because old retrainings are dropped."""
    bounded = extended.bounded()
    n_dropped = len(extended.recent) - len(bounded.recent)
    if n_dropped == 0:
        return 0
    scores = (*found.scores, new)
    kept = ChainScores(found.start_codes, (scores[0], *scores[1 + n_dropped :]))
    full = replay_scores(extended, ChainScores(found.start_codes, scores))
    return int((replay_scores(bounded, kept).prediction != full.prediction).sum())


def today() -> str:
    """Return the date of a retraining, for ``history_``."""
    return datetime.now(UTC).date().isoformat()
