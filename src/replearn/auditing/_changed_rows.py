"""The rows whose prediction changes, the worst first, with what is unusual about them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._table import as_text, cells, columns, is_numeric
from replearn.tables import take_rows

MAX_ROWS = 500
"""So many rows that change are listed."""

MAX_TYPICAL = 10_000
"""This many of the other rows tell what is usual."""

MAX_REASONS = 3
MAX_USUAL_SHARE = 0.2
"""A value is unusual if at most this share of the other rows is as far out, or has it."""

RIGHT_TO_WRONG = "right to wrong"
WRONG_TO_RIGHT = "wrong to right"
WRONG_TO_WRONG = "wrong to wrong"
RIGHT_TO_RIGHT = "right to right"
CHANGES = "changes"


@dataclass(frozen=True)
class ChangedRow:
    """A row whose prediction changes.

    Parameters
    ----------
    row : int
        Its position.
    id : str
        Its id, or its position.
    a, b : str
        Old and new prediction.
    truth : str or None
        The true label.
    change : str
        "right to wrong", "wrong to right", "wrong to wrong", "right to right" (quantities only),
        or "changes" without the truth.
    score_a, score_b : float or None
        Old and new score.
    reason : str
        Which features spoke for the new prediction (of models that explain themselves), or which
        values are unusual among the rows that keep the same old prediction.
    cells : tuple of str
        Features.
    """

    row: int
    id: str
    a: str
    b: str
    truth: str | None
    change: str
    score_a: float | None
    score_b: float | None
    reason: str
    cells: tuple[str, ...]


def ranked_rows(
    changed: NDArray[np.bool_], worse: NDArray[np.bool_] | None, moved: NDArray[np.float64] | None
) -> NDArray[np.intp]:
    """Return the rows that change: those that become wrong first, then by how far scores move.

    >>> changed = np.array([True, True, False, True])
    >>> ranked_rows(changed, np.array([False, True, False, False]), None).tolist()
    [1, 0, 3]
    """
    rows = np.flatnonzero(changed)
    becomes_wrong = np.zeros(len(rows)) if worse is None else worse[rows]
    distance = np.zeros(len(rows)) if moved is None else moved[rows]
    return rows[np.lexsort((rows, -distance, -1.0 * becomes_wrong))]


def row_reasons(
    model: Any, X: Any, rows: NDArray[np.intp], labels: NDArray[Any], changed: NDArray[np.bool_]
) -> list[str]:
    """Say for each row why: by the model's own explanation, else by its unusual features."""
    if not len(rows):
        return []
    explained = _explained(model, X, rows, changed)
    return explained if explained is not None else list(_unusual(X, rows, labels, changed))


def _explained(
    model: Any, X: Any, rows: NDArray[np.intp], changed: NDArray[np.bool_]
) -> list[str] | None:
    """Return the features that spoke for the new predictions; None if the model cannot tell."""
    explain = getattr(model, "explain", None)
    if explain is None or "reference" not in inspect.signature(explain).parameters:
        return None
    typical = _some(np.flatnonzero(~changed))
    if not len(typical) or not list(columns(take_rows(X, typical[:1]))):
        return None
    reference = take_rows(X, typical)
    found = explain(take_rows(X, rows), style="plain", reference=reference).reasons
    return [f"for it: {text}" if text else "" for text in found.columns()["for"].tolist()]


def _unusual(
    X: Any, rows: NDArray[np.intp], labels: NDArray[Any], changed: NDArray[np.bool_]
) -> Iterator[str]:
    """Name the values of each row that are rare among rows that keep its old prediction."""
    typical: dict[Any, list[tuple[str, NDArray[Any]]]] = {}
    for label in set(labels[rows].tolist()):
        kept = _some(np.flatnonzero(~changed & (labels == label)))
        if not len(kept):
            kept = _some(np.flatnonzero(~changed))
        typical[label] = list(columns(take_rows(X, kept))) if len(kept) else []
    own = dict(columns(take_rows(X, rows)))
    for index, label in enumerate(labels[rows].tolist()):
        found = [(*_rarity(own[name][index], others), name) for name, others in typical[label]]
        rare = sorted((share, name, text) for share, text, name in found if share is not None)
        yield ", ".join(
            f"{name} {text}" for share, name, text in rare[:MAX_REASONS] if share < MAX_USUAL_SHARE
        )


def _rarity(value: Any, others: NDArray[Any]) -> tuple[float | None, str]:
    """Return the share of rows that are as far out (or have the same text), and words."""
    shown = as_text(value.item() if isinstance(value, np.generic) else value)
    if not is_numeric(others):
        share = float(np.mean(others == value))
        return share, f"{shown} ({100 * share:.0f} % of the others)"
    numbers = others.astype(np.float64)
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers) or np.isnan(float(value)):
        return None, ""
    middle = float(np.median(numbers))
    share = float(np.mean(np.abs(numbers - middle) >= abs(float(value) - middle)))
    return share, f"{float(value):.4g} (usually {middle:.4g})"


def _some(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Take some rows, evenly spread."""
    if len(rows) <= MAX_TYPICAL:
        return rows
    return rows[np.linspace(0, len(rows) - 1, MAX_TYPICAL).astype(np.intp)]


def features_of(X: Any, rows: NDArray[np.intp]) -> tuple[list[str], list[list[str]]]:
    """Return names and cells of the features of some rows; nothing where X has no columns."""
    if getattr(X, "shape", (0, 1))[1:] == (0,):
        return [], [[] for _ in rows]
    return cells(X, rows)
