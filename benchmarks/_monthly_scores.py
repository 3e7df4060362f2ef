"""Scores of twelve monthly models, from which rules of an incumbent are replayed without a fit.

One cell is one chain of one model on one file with one kind of drift: the score of every model on
the test rows and on the new rows of all later months, cross-fitted scores of each month, and the
labels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _base_learners import base_estimator
from _data import Table
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

MONTHS = 12
CHANGE = 6
"""Month of a sudden change, counted from 0."""

FRESH = "fresh"
WINDOW = "window"
GROUPED = "grouped"
"""Each person has three rows."""

ROWS_OF_PERSON = 3
DRIFTS = ("none", "rate, slow", "rate, sudden", "concept", "segment", "inverted")
GROWTH = 0.5
SUDDEN_GROWTH = 2.5
REVERSED = 0.8
EXTRA = 0.4
"""Share of the negative labels of the segment that become positive."""

MONTHS_IN_WINDOW = 12


class World(NamedTuple):
    """A table whose labels change from month to month."""

    table: Table
    drift: str
    segment: np.ndarray  # rows whose labels may change
    chance: np.ndarray  # one number per row: below which chance its label changes

    def labels(self, rows: np.ndarray, month: int | np.ndarray) -> np.ndarray:
        """Return labels as they are in the month in which a row is drawn."""
        y = self.table.y[rows]
        changed = np.broadcast_to(np.asarray(month) >= CHANGE, y.shape) & self.segment[rows]
        chance = self.chance[rows]
        if self.drift == "concept":
            return np.where(changed & (chance < REVERSED), 1 - y, y)
        if self.drift == "segment":
            return np.where(changed & (chance < EXTRA), 1, y)
        return np.where(changed, 1 - y, y) if self.drift == "inverted" else y

    def positives(self, month: int) -> float:
        """Return the share of positive labels that is drawn in a month."""
        share = float(self.table.y.mean())
        if self.drift == "rate, slow":
            return share * (1 + GROWTH * month / (MONTHS - 1))
        if self.drift == "rate, sudden" and month >= CHANGE:
            return min(SUDDEN_GROWTH * share, (1 + share) / 2)
        return share


def make_world(table: Table, drift: str, chain: int) -> World:
    """Choose the rows that change: half of them, a tenth, or all."""
    chance = np.random.default_rng([11, chain]).random(len(table.y))
    column = np.nan_to_num(table.X[:, table.numeric[0] if table.numeric else 0])
    rank = np.argsort(np.argsort(column + 1e-9 * chance)) / len(column)
    first = {"concept": 0.5, "inverted": 0.0}.get(drift, 0.9)
    return World(table, drift, rank >= first, chance)


def draw_samples(world: World, kind: str, rows: int, chain: int) -> list[np.ndarray]:
    """Return the rows of each month: fresh ones, or a window that moves by a twelfth."""
    rng = np.random.default_rng([7, chain])
    rest = rng.permutation(world.table.rest)
    if kind == WINDOW:
        step = min(rows // 6, len(rest) // (MONTHS + MONTHS_IN_WINDOW))
        return [rest[month * step : (month + MONTHS_IN_WINDOW) * step] for month in range(MONTHS)]
    shares = [world.positives(month) for month in range(MONTHS)]
    ones = rest[world.table.y[rest] == 1]
    zeros = rest[world.table.y[rest] == 0]
    most = min(len(ones) / sum(shares), len(zeros) / (MONTHS - sum(shares)))
    rows = min(rows, int(0.97 * most))  # numbers of positives are drawn
    copies = ROWS_OF_PERSON if kind == GROUPED else 1
    rows = rows // copies
    found = []
    for share in shares:
        n_ones = rng.binomial(rows, share)
        drawn = rng.permutation(np.concatenate([ones[:n_ones], zeros[: rows - n_ones]]))
        found.append(np.repeat(drawn, copies))
        ones = ones[n_ones:]
        zeros = zeros[rows - n_ones :]
    return found


class Fits:
    """Models of one chain: kinds of drift share those of the months before the change."""

    def __init__(self, table: Table, model: str) -> None:
        self._table = table
        self._model = model
        self._known: dict[Any, Any] = {}

    def fit(self, month: int, rows: np.ndarray, y: np.ndarray) -> Any:
        key = (month, rows.tobytes(), y.tobytes())
        if key not in self._known:
            base = base_estimator(self._model, self._table, seed=month)
            self._known[key] = base.fit(self._table.X[rows], y)
        return self._known[key]

    def score(self, model: Any, rows: np.ndarray) -> np.ndarray:
        return model.predict_proba(self._table.X[rows])[:, 1]


def folds_of(y: np.ndarray, kind: str) -> Any:
    """Return folds as an incumbent makes them; rows of one person stay together."""
    if kind == GROUPED:
        folds = StratifiedGroupKFold(5, shuffle=True, random_state=0)
        return folds.split(y, y, np.arange(len(y)) // ROWS_OF_PERSON)
    return StratifiedKFold(5, shuffle=True, random_state=0).split(y, y)


def compute(path: Path, world: World, kind: str, rows: int, chain: int, fits: Fits) -> None:
    """Write the scores of one chain."""
    table = world.table
    samples = draw_samples(world, kind, rows, chain)
    models: list[Any] = []
    arrays: dict[str, np.ndarray] = {}
    test = []
    for month, sample in enumerate(samples):
        drawn: int | np.ndarray = month
        n_new = len(sample)
        if kind == WINDOW:
            n_new = len(sample) // MONTHS_IN_WINDOW
            drawn = month - MONTHS_IN_WINDOW + 1 + np.arange(len(sample)) // n_new
        y = world.labels(sample, drawn)
        models.append(fits.fit(month, sample, y))
        test.append(fits.score(models[-1], table.test))
        cross = np.zeros(len(sample))
        for train, left_out in folds_of(y, kind):
            cross[left_out] = fits.score(fits.fit(month, sample[train], y[train]), sample[left_out])
        new = sample[-n_new:]
        arrays[f"cross{month}"] = cross.astype(np.float32)
        arrays[f"labels{month}"] = y.astype(np.int8)
        seen = [fits.score(older, new) for older in models[:-1]]
        arrays[f"seen{month}"] = np.array(seen, dtype=np.float32)
    share = float(table.y.mean())
    now = np.array([world.positives(month) for month in range(MONTHS)])[:, np.newaxis]
    arrays["weights"] = np.where(table.y[table.test] == 1, now / share, (1 - now) / (1 - share))
    arrays["test"] = np.array(test, dtype=np.float32)
    arrays["y_test"] = np.array(
        [world.labels(table.test, month) for month in range(MONTHS)], dtype=np.int8
    )
    arrays["segment"] = world.segment[table.test]
    unfinished = path.with_suffix(".part.npz")
    np.savez_compressed(unfinished, **arrays)
    unfinished.replace(path)
