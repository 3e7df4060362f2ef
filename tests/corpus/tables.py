"""Small tables that never change: real data that ship with scikit-learn, and integer arithmetic.

No random generator is used, because its stream may change from one version to the next.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine


class Table(NamedTuple):
    """Rows to learn from, and other rows to ask about."""

    X: Any
    y: Any
    new: Any
    truth: Any


def _cut(X: Any, y: Any, every: int) -> Table:
    """Set each ``every``-th row aside; the file is ordered by class, so all classes are in both."""
    aside = np.arange(len(y)) % every == every - 1
    return Table(X[~aside], y[~aside], X[aside], y[aside])


@cache
def tumours() -> Table:
    """Two classes, 427 rows, six numbers."""
    X, y = load_breast_cancer(return_X_y=True)
    return _cut(X[:, [0, 1, 4, 6, 8, 21]], y, 4)


@cache
def answers() -> Table:
    """The same with labels in words, and every seventh label wrong."""
    table = tumours()
    return Table(table.X, _words(table.y), table.new, _words(table.truth))


def _words(y: Any) -> Any:
    wrong = np.arange(len(y)) % 7 == 3
    return np.where((y == 1) ^ wrong, "yes", "no")


@cache
def flowers() -> Table:
    """Three classes, 112 rows, four numbers."""
    data = load_iris()
    return _cut(data.data, data.target_names[data.target].astype(str), 4)


@cache
def wines() -> Table:
    """Three classes, 133 rows, thirteen numbers."""
    X, y = load_wine(return_X_y=True)
    return _cut(X, y, 4)


@cache
def digits(*kept: int) -> Table:
    """Pixels (whole numbers from 0 to 16) of some digits."""
    X, y = load_digits(return_X_y=True)
    rows = np.isin(y, kept)
    return _cut(X[rows][:400], y[rows][:400], 4)


@cache
def discrete(copies: int = 1) -> Table:
    """Sixteen different rows, each many times; copies have the same rows and other labels."""
    X, y = load_breast_cancer(return_X_y=True)
    cuts = [(0, 13.0), (1, 19.0), (4, 0.095), (6, 0.06)]
    coarse = np.column_stack([X[:, column] > cut for column, cut in cuts]).astype(np.int64)
    rows = np.tile(coarse, (copies, 1))
    labels = np.tile(y, copies) ^ (np.arange(len(rows)) * 7919 % 11 == 0)
    table = _cut(rows, labels.astype(np.int64), 4)
    return Table(table.X, table.y, table.new[:160], table.truth[:160])


@cache
def coarse(copies: int = 1) -> Table:
    """Four different rows: each carries much mass."""
    table = discrete(copies)
    return Table(table.X[:, :2], table.y, table.new[:, :2], table.truth)


@cache
def coarse_levels(copies: int = 1) -> Table:
    """The coarse rows with three labels."""
    table = coarse(copies)
    return Table(table.X, _levels(table.X, table.y), table.new, _levels(table.new, table.truth))


def _levels(X: Any, y: Any) -> Any:
    return np.array(["high", "low", "middle"])[np.where(X[:, 0] == 1, y, 2)]


@cache
def mixed() -> Table:
    """Frame with numbers, whole numbers, truth values, text, categories, dates, missing cells."""
    X, y = load_breast_cancer(return_X_y=True)
    row = np.arange(len(y))
    towns = np.array(["Ulm", "Rom", "Bern", "Oslo", "Køge"], dtype=object)
    town = towns[(row * row + 3 * y) % 5]
    town[row % 13 == 5] = None
    grades = np.array(["low", "middle", "high"])[(X[:, 1] > 17).astype(int) + (X[:, 1] > 21)]
    grade = pd.Categorical(grades, categories=["low", "middle", "high"])
    frame = pd.DataFrame(
        {
            "radius": np.where(row % 11 == 2, np.nan, X[:, 0]),
            "visits": row * 31 % 9,
            "smoker": row * 17 % 7 < 2,
            "town": town,
            "grade": grade,
            "note": [f"visit {number % 4} of room {number % 3}" for number in row],
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(row * 53 % 900, unit="D"),
        }
    )
    aside = row % 4 == 3
    truth = _words(y)
    return Table(
        frame[~aside].reset_index(drop=True),
        truth[~aside],
        frame[aside].reset_index(drop=True),
        truth[aside],
    )


@cache
def texts() -> Table:
    """One text per row, made from its digits."""
    words = np.array(["red", "blue", "small", "large", "old", "new", "warm"])
    table = digits(0, 1)

    def write(X: Any) -> Any:
        return [" ".join(words[(line[[10, 20, 28, 36, 50]] % 7).astype(int)]) for line in X]

    return Table(write(table.X), table.y, write(table.new), table.truth)


@cache
def many(copies: int) -> Table:
    """One column of the tumours, repeated: rows enough for promises about whole rules."""
    table = tumours()
    X, y = np.tile(table.X[:, 5:], (copies, 1)), np.tile(table.y, copies)
    return Table(X, y, table.new[:, 5:], table.truth)


@cache
def throws(n: int = 600, coins: int = 5) -> Any:
    """Zeros and ones: a row is a throw of all coins; their chances lie between 0.1 and 0.9."""
    row, coin = np.arange(n)[:, np.newaxis], np.arange(coins)
    return ((row * 7919 + coin * 104729) * 31 % 1009 < (coin + 1) * 1009 // (coins + 1)).astype(int)
