"""What changes in the explanation of a model: importances of columns, signs of coefficients.

Both are taken from models that are trained anyway. The importance of a column is how far
predictions move when its cells are exchanged between rows: the same rows and the same exchange in
all runs, so that nothing but the model differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline

from replearn.auditing._statistics import Estimate, row_limits
from replearn.randomness import SharedKey
from replearn.tables import exchange_column, is_frame, n_rows, take_rows

MAX_ROWS = 200
MAX_COLUMNS = 200
"""Rows whose cells are exchanged, and columns up to which that is done."""

MAX_TOP = 5
"""The most important columns are this many, and at most half of all."""

SHOWN_COEFFICIENTS = 20

Floats = NDArray[np.float64]
Coefficients = tuple[dict[str, float], ...]


# -- of one fitted model ---------------------------------------------------------------------------
def column_names(X: Any) -> list[str]:
    """Return the names of the columns; none if it is no table, or a wide one."""
    if not is_frame(X) and not (isinstance(X, np.ndarray) and X.ndim == 2):
        return []
    if X.shape[1] > MAX_COLUMNS:
        return []
    return [str(name) for name in getattr(X, "columns", map("column {}".format, range(X.shape[1])))]


def column_importances(model: Any, points: Any, key: SharedKey) -> Floats | None:
    """Return how far predictions move when the cells of one column are exchanged between rows.

    The mean change of the predicted probabilities; without probabilities the share of changed
    labels, and for a quantity the mean change.

    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(99, 2))
    >>> model = LinearRegression().fit(X, 3 * X[:, 1])
    >>> unused, used = column_importances(model, X, SharedKey("k"))
    >>> bool(unused < 1e-9), bool(used > 1)
    (True, True)
    """
    names = column_names(points)
    if not names:
        return None
    total = n_rows(points)
    chosen = np.linspace(0, total - 1, min(total, MAX_ROWS)).round().astype(np.intp)
    rows = take_rows(points, chosen)
    before = _scores(model, rows)
    found = np.empty(len(names))
    for column, name in enumerate(names):
        order = np.argsort(key.child("importance", name).uniforms(np.arange(len(chosen))))
        after = _scores(model, exchange_column(rows, column, take_rows(rows, order)))
        found[column] = _distance(before, after)
    return found


def _scores(model: Any, rows: Any) -> NDArray[Any]:
    if hasattr(model, "predict_proba") and not is_regressor(model):
        return np.asarray(model.predict_proba(rows), dtype=np.float64)
    return np.asarray(model.predict(rows))


def _distance(before: NDArray[Any], after: NDArray[Any]) -> float:
    if before.ndim == 2:
        return float(np.abs(after - before).sum(axis=1).mean() / 2)
    if before.dtype.kind == "f":
        return float(np.abs(after - before).mean())
    return float((after != before).mean())


def coefficients_of(model: Any, points: Any) -> dict[str, float]:
    """Return the coefficients of a linear model by the names of its features; empty for others.

    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.eye(3)[:, :2]
    >>> found = coefficients_of(LinearRegression().fit(X, X @ [1.0, -2.0]), X)
    >>> {name: round(value, 6) for name, value in found.items()}
    {'column 0': 1.0, 'column 1': -2.0}
    """
    model = getattr(model, "estimator_", model)  # inside a decision threshold
    names = column_names(points)
    last = model
    if isinstance(model, Pipeline):
        last = model.steps[-1][1]
        try:
            names = model[:-1].get_feature_names_out(names).tolist()
        except (AttributeError, ValueError):  # a step that does not name its features
            return {}
    coefficients = np.atleast_2d(getattr(last, "coef_", np.zeros((0, 0))))
    if coefficients.shape != (1, len(names)) or coefficients.dtype.kind != "f":
        return {}
    rounded = map(float, coefficients[0])
    return dict(zip(map(str, names), rounded, strict=True))


# -- of all pairs ----------------------------------------------------------------------------------
@dataclass(frozen=True)
class ColumnRank:
    """Importance of one column over all runs.

    Parameters
    ----------
    name : str
        The column.
    importance : float
        Mean change of predictions when its cells are exchanged between rows.
    rank : int
        1 for the column with the largest mean importance.
    best_rank, worst_rank : int
        Over all runs.
    in_top : float
        Share of runs in which it is among the most important ones.
    """

    name: str
    importance: float
    rank: int
    best_rank: int
    worst_rank: int
    in_top: float


@dataclass(frozen=True)
class SignChange(Estimate):
    """Share of pairs in which a coefficient changes its sign, with exact limits.

    ``size`` is its mean absolute value.
    """

    name: str
    size: float


@dataclass(frozen=True)
class Explanation:
    """What changes in the explanation of the baseline when it is retrained.

    Parameters
    ----------
    n_top : int
        How many columns are called the most important ones.
    top_overlap : Estimate
        Share of them that both runs of a pair have in common.
    first_changes : Estimate
        Share of pairs whose runs differ in the most important column of all.
    columns : tuple of ColumnRank
        By mean importance.
    signs : tuple of SignChange
        Coefficients of a linear model, the largest first; empty for other models.
    n_coefficients : int
        Number of coefficients that were compared.
    sign_changes : Estimate or None
        Share of the coefficients that change their sign; None for other models.
    """

    n_top: int
    top_overlap: Estimate
    first_changes: Estimate
    columns: tuple[ColumnRank, ...]
    signs: tuple[SignChange, ...]
    n_coefficients: int
    sign_changes: Estimate | None


@dataclass(frozen=True, eq=False)
class ExplanationRuns:
    """Importances and coefficients of both runs of each pair.

    Parameters
    ----------
    names : list of str
        The columns.
    importances : ndarray of shape (pairs, 2, columns)
        Of each run.
    coefficients : list of pairs of dict
        By name; empty for models without.
    """

    names: Sequence[str]
    importances: Floats
    coefficients: Sequence[Coefficients]

    def summary(self, delta: float) -> Explanation:
        """Compare the two runs of each pair; limits over pairs fail with probability delta."""
        n_top = min(MAX_TOP, (len(self.names) + 1) // 2)
        # Ties keep the order of the columns: what is never used does not change its rank.
        ranks = np.argsort(np.argsort(-self.importances, axis=2, kind="stable"), axis=2)
        in_top = ranks < n_top
        shared = (in_top[:, 0] & in_top[:, 1]).sum(axis=1) / n_top
        first = ranks.argmin(axis=2)
        signs = self._signs(delta)
        changed = self._changed_signs()
        return Explanation(
            n_top=n_top,
            top_overlap=over_pairs(shared, delta),
            first_changes=over_pairs(first[:, 0] != first[:, 1], delta),
            columns=self._columns(ranks, in_top),
            signs=signs[:SHOWN_COEFFICIENTS],
            n_coefficients=len(signs),
            sign_changes=over_pairs(np.array(changed), delta) if changed else None,
        )

    def _columns(
        self, ranks: NDArray[np.intp], in_top: NDArray[np.bool_]
    ) -> tuple[ColumnRank, ...]:
        means = self.importances.mean(axis=(0, 1))
        return tuple(
            ColumnRank(
                name=self.names[column],
                importance=float(means[column]),
                rank=rank,
                best_rank=int(ranks[..., column].min()) + 1,
                worst_rank=int(ranks[..., column].max()) + 1,
                in_top=float(in_top[..., column].mean()),
            )
            for rank, column in enumerate(np.argsort(-means, kind="stable"), start=1)
        )

    def _changed_signs(self) -> list[float]:
        """Return the share of coefficients whose sign differs, for each pair that has some."""
        both = [(a, b, a.keys() & b.keys()) for a, b in self.coefficients]
        return [
            float(np.mean([a[name] * b[name] < 0 for name in names]))
            for a, b, names in both
            if names
        ]

    def _signs(self, delta: float) -> tuple[SignChange, ...]:
        """Return how often each coefficient changes its sign, the largest coefficients first."""
        values: dict[str, list[tuple[float, float]]] = {}
        for one, two in self.coefficients:
            for name in one.keys() & two.keys():
                values.setdefault(name, []).append((one[name], two[name]))
        found = [
            SignChange(
                **vars(over_pairs(np.array([a * b < 0 for a, b in pairs]), delta)),
                name=name,
                size=float(np.abs(pairs).mean()),
            )
            for name, pairs in values.items()
        ]
        return tuple(sorted(found, key=lambda item: (-item.size, item.name)))


def over_pairs(values: NDArray[Any], delta: float) -> Estimate:
    """Mean of one number in [0, 1] for each pair, with limits that assume no distribution.

    >>> over_pairs(np.array([False] * 20), 0.05).percent(0)
    '0 % (0 to 17 %)'
    """
    limits = row_limits(np.asarray(values, dtype=np.float64)[:, np.newaxis], delta)
    return Estimate(*(float(limit[0]) for limit in limits))
