"""Scores of twelve monthly models on test rows and on the samples that follow, with drift.

One cell is one chain: what every model says about the test rows and about the rows of later
samples, cross-fitted scores of each sample, and scores of the peers. Rules of an incumbent are then
compared on these arrays without training anything again.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _base_learners import base_estimator
from _data import Table
from _incumbent_tables import FRESH, PEERS, ROLLING
from sklearn.ensemble import BaggingClassifier

from replearn.learners.incumbent_retraining import interleaved_folds

MONTHS = 12
CHANGE = 6
"""Month of a sudden change, counted from 0."""

WINDOW = 12
DRIFTS = ("none", "prevalence", "concept", "slow", "broken")
REVERSED = 0.8
SLOWLY_REVERSED = 0.5
GROWTH = 0.5
N_FOLDS = 5


class Fits:
    """Models that have been fitted: before a sudden change they are those without drift."""

    def __init__(self) -> None:
        self._models: dict[str, Any] = {}

    def fit(self, world: World, model: str, month: int, X: np.ndarray, y: np.ndarray) -> Any:
        digest = hashlib.blake2b(X.tobytes() + y.tobytes(), digest_size=16).hexdigest()
        key = f"{world.table.name} {model} {month} {X.shape} {digest}"
        if key not in self._models:
            self._models[key] = base_estimator(model, world.table, seed=month).fit(X, y)
        return self._models[key]


class World(NamedTuple):
    """A table whose rows change from month to month."""

    table: Table
    drift: str
    group: np.ndarray  # rows whose labels may be reversed
    chance: np.ndarray  # one number per row: below which chance its label is reversed
    column: int  # the feature that breaks

    def features(self, rows: np.ndarray, month: int) -> np.ndarray:
        X = self.table.X[rows]
        if self.drift == "broken" and month >= CHANGE:
            X = X.copy()
            X[:, self.column] = np.nanmedian(self.table.X[:, self.column])
        return X

    def labels(self, rows: np.ndarray, month: int | np.ndarray) -> np.ndarray:
        """Return labels as they were in the month in which a row was drawn."""
        y = self.table.y[rows]
        drawn = np.broadcast_to(month, y.shape)
        share = np.zeros(len(y))
        if self.drift == "concept":
            share = REVERSED * (drawn >= CHANGE)
        if self.drift == "slow":
            share = SLOWLY_REVERSED * drawn / (MONTHS - 1)
        return np.where(self.group[rows] & (self.chance[rows] < share), 1 - y, y)

    def positives(self, month: int) -> float:
        """Share of positive labels: from the file's to half as many again."""
        share = float(self.table.y.mean())
        return share * (1 + GROWTH * month / (MONTHS - 1)) if self.drift == "prevalence" else share


def make_world(table: Table, drift: str, chain: int) -> World:
    rng = np.random.default_rng([11, chain])
    first = table.X[:, 0]
    cells = np.nan_to_num(table.X)
    related = [abs(np.corrcoef(column, table.y)[0, 1]) for column in cells.T if column.std() > 0]
    return World(
        table,
        drift,
        first >= np.nanmedian(first),
        rng.random(len(table.y)),
        int(np.argmax(related)),
    )


def draw_samples(world: World, kind: str, rows: int, chain: int) -> list[np.ndarray]:
    """Return the rows of each month: fresh ones, or a window that moves by a twelfth.

    No row is drawn in two months: a remembered model has not seen the rows on which it is compared
    with a new one.
    """
    rng = np.random.default_rng([7, chain])
    rest = rng.permutation(world.table.rest)
    if kind == ROLLING:
        step = rows // 6
        return [rest[month * step : (month + WINDOW) * step] for month in range(MONTHS)]
    rows = fresh_rows(world.table, rows)
    y = world.table.y[rest]
    ones = rest[y == 1]
    zeros = rest[y == 0]
    found = []
    for month in range(MONTHS):
        n_ones = min(rng.binomial(rows, world.positives(month)), len(ones))
        n_zeros = min(rows - n_ones, len(zeros))
        found.append(rng.permutation(np.concatenate([ones[:n_ones], zeros[:n_zeros]])))
        ones = ones[n_ones:]
        zeros = zeros[n_zeros:]
    return found


def fresh_rows(table: Table, rows: int) -> int:
    """Return how many rows a month has: as many as the file has for a year with most positives."""
    share = float(table.y.mean())
    n_ones = int(table.y[table.rest].sum())
    n_zeros = len(table.rest) - n_ones
    months = MONTHS * (1.0 + GROWTH / 2.0)
    largest = min(n_ones / (share * months), n_zeros / (MONTHS - share * months))
    return min(rows, int(0.97 * largest))  # numbers of positives are drawn


def months_of(sample: np.ndarray, month: int, kind: str) -> np.ndarray | int:
    """Return the month in which each row of a sample was drawn."""
    if kind == FRESH:
        return month
    drawn = month - WINDOW + 1 + np.arange(len(sample)) // (len(sample) // WINDOW)
    return np.clip(drawn, 0, month)


def compute(
    path: Path,
    table: Table,
    model: str,
    drift: str,
    kind: str,
    rows: int,
    chain: int,
    fits: Fits | None = None,
    *,
    with_peers: bool = True,
) -> None:
    """Write the scores of one chain, unless they are there; fits are shared between drifts."""
    if path.exists():
        return
    with_peers = with_peers and drift == "none" and kind == FRESH
    fits = Fits() if fits is None else fits
    world = make_world(table, drift, chain)
    samples = draw_samples(world, kind, rows, chain)
    held_out = [s[-(rows // 6) :] if kind == ROLLING else s for s in samples]
    variants = (0, CHANGE) if drift == "broken" else (0,)
    n_held = max(map(len, held_out))
    test = np.zeros((len(variants), MONTHS, len(table.test)), dtype=np.float32)
    seen = np.full((MONTHS, MONTHS, n_held), np.nan, dtype=np.float32)
    cross = np.full((MONTHS, n_held), np.nan, dtype=np.float32)
    peers = {name: np.zeros((MONTHS, len(table.test)), dtype=np.float32) for name in PEERS}
    models: list[Any] = []
    window: list[np.ndarray] = []
    window_labels: list[np.ndarray] = []
    for month, sample in enumerate(samples):
        X = world.features(sample, month)
        y = world.labels(sample, months_of(sample, month, kind))
        models.append(fits.fit(world, model, month, X, y))
        for number, variant in enumerate(variants):
            test[number, month] = _score(models[-1], world.features(table.test, variant))
        rows_now = world.features(held_out[month], month)
        for older in range(month):
            seen[month, older, : len(rows_now)] = _score(models[older], rows_now)
        left_out = _cross_fitted(X, y, world, model, month, fits)
        cross[month, : len(rows_now)] = left_out[-len(rows_now) :]
        if kind == ROLLING:
            window.append(left_out.astype(np.float32))
            window_labels.append(y.astype(np.int8))
        if with_peers:
            _fit_peers(peers, world, model, samples, month)
    labels = np.full((MONTHS, n_held), -1, dtype=np.int8)
    for month, rows_of in enumerate(held_out):
        labels[month, : len(rows_of)] = world.labels(rows_of, month)
    share = float(table.y.mean())
    now = np.array([world.positives(month) for month in range(MONTHS)])[:, np.newaxis]
    y_test = np.array([world.labels(table.test, month) for month in range(MONTHS)], dtype=np.int8)
    weights = np.where(table.y[table.test] == 1, now / share, (1 - now) / (1 - share))
    unfinished = path.with_suffix(".part.npz")
    np.savez_compressed(
        unfinished,
        test=test,
        y_test=y_test,
        weights=weights,
        seen=seen,
        cross=cross,
        labels=labels,
        **(peers if with_peers else {}),
        **({"window": window, "window_labels": window_labels} if kind == ROLLING else {}),
    )
    unfinished.replace(path)


def _score(model: Any, X: np.ndarray) -> np.ndarray:
    return model.predict_proba(X)[:, 1]


def _cross_fitted(
    X: np.ndarray, y: np.ndarray, world: World, model: str, month: int, fits: Fits
) -> np.ndarray:
    scores = np.zeros(len(y))
    fold = interleaved_folds(y, N_FOLDS)  # every fold has rows of every month of a window
    for number in range(N_FOLDS):
        train = fold != number
        test = fold == number
        fitted = fits.fit(world, model, month, X[train], y[train])
        scores[test] = _score(fitted, X[test])
    return scores


def _fit_peers(peers: dict, world: World, model: str, samples: list, month: int) -> None:
    X_test = world.features(world.table.test, month)
    base = base_estimator(model, world.table, seed=month)
    X, y = world.features(samples[month], month), world.labels(samples[month], month)
    bagging = BaggingClassifier(base, 5, random_state=month).fit(X, y)
    peers[PEERS[0]][month] = _score(bagging, X_test)
    last = range(max(0, month - 3), month + 1)
    pooled = np.concatenate([samples[one] for one in last])
    labels = np.concatenate([world.labels(samples[one], one) for one in last])
    fitted = base_estimator(model, world.table, seed=month).fit(world.table.X[pooled], labels)
    peers[PEERS[1]][month] = _score(fitted, X_test)
    old = peers.get("model")
    soft = y.astype(float)
    if old is not None:
        soft = 0.8 * _score(old, X) + 0.2 * y
    twice = np.concatenate([X, X])
    codes = np.repeat([1, 0], len(X))
    weights = np.concatenate([soft, 1.0 - soft])
    distilled = base_estimator(model, world.table, seed=month)
    name = "logisticregression__sample_weight" if model == "logreg" else "sample_weight"
    kept = weights > 0
    peers["model"] = distilled.fit(twice[kept], codes[kept], **{name: weights[kept]})
    peers[PEERS[2]][month] = _score(peers["model"], X_test)
    if month == MONTHS - 1:
        del peers["model"]
