"""Which features speak for a prediction, and which against it: by exchange with other rows.

A feature's contribution is the score of the predicted class minus its mean when this feature alone
is replaced by the values that it has in reference rows. For a score that is linear in the features
that is coefficient times difference from the mean of the reference. It describes the fitted models,
not the world: correlated features share what they have in common, and nothing here is a cause.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.tables import exchange_column, is_nan, n_rows, take_rows

Floats = NDArray[np.float64]

MAX_REFERENCE = 100
"""Reference rows that are used, evenly spaced; each takes a prediction per feature and row."""

MIN_CONTRIBUTION = 0.005
"""Half a percentage point: what moves the score by less is not named."""

MAX_NAMED = 3


@dataclass(frozen=True, eq=False)
class Reasons:
    """Contributions of the features to the score of the predicted class.

    Parameters
    ----------
    names : list of str
        The features.
    contributions : ndarray of shape (n, n_features)
        Positive where a feature speaks for the prediction, compared with the reference rows.
    values : list of list of str
        The features of each row, as they are printed.
    n_reference : int
        Reference rows that were used.
    """

    names: list[str]
    contributions: Floats
    values: list[list[str]]
    n_reference: int

    def spoke_for(self, row: int) -> list[str]:
        """Return the features that speak most for the prediction, with the row's own values."""
        return self._named(row, self.contributions[row])

    def spoke_against(self, row: int) -> list[str]:
        """Return the features that speak most against it."""
        return self._named(row, -self.contributions[row])

    def sentences(self, row: int) -> list[str]:
        """Name the features that speak for the prediction, and those that speak against it."""
        compared = f"compared with {self.n_reference} other cases"
        spoke_for = self.spoke_for(row)
        spoke_against = self.spoke_against(row)
        sentences = [f"No single feature speaks for it, {compared}."]
        if spoke_for:
            sentences = [f"What spoke most for it, {compared}: {', '.join(spoke_for)}."]
        if spoke_against:
            sentences.append(f"What spoke most against it: {', '.join(spoke_against)}.")
        return sentences

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the reasons of each row as texts, in two columns."""
        every = range(len(self.contributions))
        texts = {
            "for": ["; ".join(self.spoke_for(row)) for row in every],
            "against": ["; ".join(self.spoke_against(row)) for row in every],
        }
        return {name: np.array(column, dtype=object) for name, column in texts.items()}

    def _named(self, row: int, weights: Floats) -> list[str]:
        order = np.argsort(-weights, kind="stable")[:MAX_NAMED]
        return [
            f"{self.names[column]} ({self.values[row][column]})"
            for column in order
            if weights[column] >= MIN_CONTRIBUTION
        ]


def reasons(
    score: Callable[[Any], Floats], X: Any, predicted: NDArray[np.intp], reference: Any
) -> Reasons:
    """Exchange each feature with the reference rows, and see how the score moves.

    ``score`` returns the score of each class, (n, classes).

    >>> X = np.array([[3.0, 1.0]])
    >>> linear = lambda rows: np.column_stack([1 - rows @ [0.1, 0.2], rows @ [0.1, 0.2]])
    >>> found = reasons(linear, X, np.array([1]), np.array([[1.0, 1.0], [2.0, 2.0]]))
    >>> found.contributions.round(3).tolist(), found.spoke_for(0), found.spoke_against(0)
    ([[0.15, -0.1]], ['feature 0 (3)'], ['feature 1 (1)'])
    """
    chosen = _evenly(n_rows(reference))
    reference = take_rows(reference, chosen)
    every = np.arange(n_rows(X))
    own = score(X)[every, predicted]
    each_person = np.repeat(every, len(chosen))
    repeated = take_rows(X, each_person)
    others = take_rows(reference, np.tile(np.arange(len(chosen)), len(every)))
    names = _names(X)
    contributions = np.empty((len(every), len(names)))
    for column in range(len(names)):
        exchanged = score(exchange_column(repeated, column, others))
        of_prediction = exchanged[np.arange(len(each_person)), predicted[each_person]]
        contributions[:, column] = own - of_prediction.reshape(len(every), -1).mean(axis=1)
    return Reasons(names, contributions, _printed(X, len(names)), len(chosen))


def _evenly(n_reference: int) -> NDArray[np.intp]:
    if n_reference == 0:
        raise ValueError("reference has no rows: pass rows of earlier cases.")
    n_used = min(n_reference, MAX_REFERENCE)
    return np.linspace(0, n_reference - 1, n_used).round().astype(np.intp)


def _names(X: Any) -> list[str]:
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    if getattr(X, "ndim", 0) != 2:
        raise ValueError("reference requires a table: reasons name features, and X has none.")
    return [f"feature {column}" for column in range(X.shape[1])]


def _printed(X: Any, n_columns: int) -> list[list[str]]:
    """Return the cells as they stand in a letter: numbers short, missing ones as such."""
    if hasattr(X, "columns"):
        columns = [X[name] for name in X.columns]
        return [list(cells) for cells in zip(*[map(_cell, c) for c in columns], strict=True)]
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return [[_cell(dense[row, column]) for column in range(n_columns)] for row in range(len(dense))]


def _cell(value: Any) -> str:
    """Print a cell.

    >>> _cell(1234.5678), _cell(1200000.0), _cell(None), _cell("owner"), _cell(np.int64(3))
    ('1,234.57', '1,200,000', 'not given', 'owner', '3')
    """
    if value is None or is_nan(value):
        return "not given"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if isinstance(value, float | np.floating):
        return f"{value:,.2f}".rstrip("0").rstrip(".")
    return str(value)
