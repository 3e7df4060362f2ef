"""The rows of an audit: columns as text, subgroups, and what the rows show before any model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from time import strftime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from replearn.auditing.design import Rows, draw_rows, in_time_order
from replearn.auditing.groups import Groups
from replearn.learners.inputs import check_groups, check_labels, refuse_one_class
from replearn.learners.regressor import check_numbers
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points
from replearn.records.checks import check_positive
from replearn.tables.kinds import names_ids, names_persons, names_sites
from replearn.tables.rows import data_digest, is_frame, is_sparse, n_rows, take_rows

# -- columns, their values as text, subgroups, and facts before any model --------------------------
MAX_COLUMNS = 200
"""Wider tables are looked at by their first columns only."""

MAX_LEVELS = 12
MAX_SUBGROUP_COLUMNS = 6
LONGEST_TEXT = 200

MIN_GROUPS = 20
"""A column of people names more of them than a category has levels."""

MIN_IDS = 50
MAX_ROWS_EACH = 20
"""Other ids: with fewer values, or more rows each, the column is a category such as a store."""

MIN_DRIFT = 0.1
DRIFT_ALARM = 1e-6
"""False-alarm probability of the drift tests over all columns together."""

MAX_FACT_ROWS = 30_000
FACT_PIECE = 1000
"""Longer files are looked at by pieces: what matters shows in this many rows."""

MAX_DISTINCT_LEVELS = 200


def columns(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield name and values of the columns of a frame or of a dense array."""
    if is_frame(X):
        for name in list(X.columns)[:MAX_COLUMNS]:
            yield str(name), np.asarray(X[name])
    elif not is_sparse(X) and getattr(np.asarray(X), "ndim", 1) == 2:
        values = np.asarray(X)
        for index in range(min(values.shape[1], MAX_COLUMNS)):
            yield f"column {index}", values[:, index]


def is_numeric(values: NDArray[Any]) -> bool:
    """Tell whether a column holds numbers (not booleans)."""
    return values.dtype.kind in "iuf"


def levels(values: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct values as text, and the index of each row's value among them."""
    distinct, codes = factorize(values)
    texts = np.array([as_text(value) for value in distinct])
    names, indices = np.unique(texts, return_inverse=True)
    return names.tolist(), indices[codes]


def factorize(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """Return the distinct values, and the index of each row's value among them.

    >>> factorize(np.array(["b", "a", "b"], dtype=object))[1].tolist()
    [0, 1, 0]
    """
    if values.dtype.kind in "biuf":
        distinct, codes = np.unique(values, return_inverse=True)
        return distinct.tolist(), codes
    cells = values.tolist()
    if set(map(type, cells)) == {str}:
        keys = cells
    else:  # True and 1 are equal, but not the same text
        keys = [(type(cell), cell if cell.__hash__ else str(cell)) for cell in cells]
    known = {key: index for index, key in enumerate(dict.fromkeys(keys))}
    codes = np.fromiter(map(known.__getitem__, keys), dtype=np.intp, count=len(keys))
    return [key if isinstance(key, str) else key[1] for key in known], codes


def as_text(value: Any) -> str:
    """Write one cell: short numbers, shortened texts.

    >>> as_text(0.123456789), as_text("x" * 300)[-3:]
    ('0.123457', 'xx…')
    """
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value)
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def cells(X: Any, rows: NDArray[np.intp]) -> tuple[list[str], list[list[str]]]:
    """Return column names and the cells of some rows as text."""
    some = take_rows(X, rows)
    named = list(columns(some))
    if not named:
        if is_sparse(X):
            return [], [[] for _ in rows]
        return ["text"], [[as_text(value)] for value in some]
    names = [name for name, _ in named]
    values = [column.tolist() for _, column in named]
    return names, [[as_text(v[i]) for v in values] for i in range(len(rows))]


def make_subgroups(X: Any, wanted: Any, test: NDArray[np.intp]) -> Groups:
    """Find the subgroups of the test rows: name to (levels, level of each test row).

    >>> named = make_subgroups(np.zeros((3, 1)), {"town": ["a", "b", "a"]}, np.array([0, 1]))
    >>> named["town"][0]
    ['a', 'b']
    """
    if wanted is None:
        return {}
    if isinstance(wanted, Mapping):
        return {str(name): levels(_column(v, n_rows(X), name)[test]) for name, v in wanted.items()}
    if isinstance(wanted, str) and wanted == "auto":
        return _automatic(X, test)
    if isinstance(wanted, str) or not isinstance(wanted, Sequence):
        raise ValueError(
            f"subgroups={wanted!r} must be 'auto', None, a list of column names, or a dict of "
            "name to one label per row."
        )
    known = dict(columns(X))
    missing = [name for name in wanted if str(name) not in known]
    if missing:
        raise ValueError(f"subgroups: X has no columns {missing}; it has {list(known)[:20]}.")
    return {str(name): levels(known[str(name)][test]) for name in wanted}


def _column(values: Any, n: int, name: Any) -> NDArray[Any]:
    column = np.asarray(values)
    if column.shape != (n,):
        raise ValueError(f"subgroups[{name!r}] has shape {column.shape}, but X has {n} rows.")
    return column


def _automatic(X: Any, test: NDArray[np.intp]) -> Groups:
    subgroups: dict[str, tuple[list[str], NDArray[np.intp]]] = {}
    for name, values in columns(X):
        if is_numeric(values) or len(subgroups) == MAX_SUBGROUP_COLUMNS:
            continue
        names, indices = levels(values[test])
        if 2 <= len(names) <= MAX_LEVELS:
            subgroups[name] = names, indices
    return subgroups


@dataclass(frozen=True)
class DataFacts:
    """What the rows show about the assumptions of audits and certificates."""

    repeated_test_share: float  # test rows whose features occur again among the other rows
    largest_point_share: float  # share of the file that one single point holds
    id_columns: tuple[tuple[str, int, float], ...]  # name, distinct values, mean rows per value
    drift: tuple[tuple[str, float], ...]  # distance between the first and the last third
    has_named_columns: bool  # whether ids could have been recognised at all


def data_facts(
    X: Any,
    codes: NDArray[Any],
    test: NDArray[np.intp],
    used: NDArray[np.intp] | None = None,
    groups: NDArray[np.intp] | None = None,
) -> DataFacts:
    """Look at the rows in file order, with labels as numbers and the positions of the test rows.

    Of a long file, pieces that are spread evenly over it are enough for its order, and the rows
    ``used`` (or some of them) for repeats. Rows of one group resemble each other and often stand
    together: of each group the first row shows the order of the file.

    >>> facts = data_facts(np.ones((100, 1)), np.arange(100) % 2, np.arange(10))
    >>> facts.repeated_test_share, facts.largest_point_share
    (1.0, 1.0)
    """
    used = np.arange(len(codes)) if used is None else used
    repeated, largest = _repeats(X, test, used)
    ids = repeated_ids(X)
    if groups is not None:
        first_rows = np.sort(np.unique(groups, return_index=True)[1])
        X = take_rows(X, first_rows)
        codes = codes[first_rows]
    pieces = _pieces(len(codes))
    if pieces is not None:
        X = take_rows(X, pieces)
        codes = codes[pieces]
    named = dict(columns(X))
    is_quantity = codes.dtype.kind == "f"
    watched = {**named, "the label": codes if is_quantity else codes.astype(object)}
    n = len(codes)
    third = len(codes) // 3
    drift = [(name, _drift(v[:third], v[n - third :], len(watched))) for name, v in watched.items()]
    return DataFacts(
        repeated_test_share=repeated,
        largest_point_share=largest,
        id_columns=ids,
        drift=tuple(item for item in drift if item[1] > 0),
        has_named_columns=hasattr(X, "columns"),
    )


def _pieces(n: int) -> NDArray[np.intp] | None:
    """Return positions of pieces of rows, evenly spread over a long file; None for all rows."""
    if n <= MAX_FACT_ROWS:
        return None
    starts = np.linspace(0, n - FACT_PIECE, MAX_FACT_ROWS // FACT_PIECE).astype(np.intp)
    return np.unique(starts[:, np.newaxis] + np.arange(FACT_PIECE))


def _repeats(X: Any, test: NDArray[np.intp], used: NDArray[np.intp]) -> tuple[float, float]:
    others = np.setdiff1d(used, test)
    if len(others) > MAX_FACT_ROWS:
        others = np.random.default_rng(0).permutation(others)[:MAX_FACT_ROWS]
    rows = np.concatenate([test, others])
    points = SharedKey("audit facts").hashes(as_points(take_rows(X, rows)))
    _, indices, counts = np.unique(points, return_inverse=True, return_counts=True)
    mine = indices[: len(test)]
    in_test = np.bincount(mine, minlength=len(counts))
    elsewhere = (counts - in_test)[mine] > 0
    return float(elsewhere.mean()), float(counts.max() / len(points))


def repeated_ids(X: Any) -> tuple[tuple[str, int, float], ...]:
    """Return columns and levels of an index that are named like ids, and whose values repeat.

    Name, different values, rows of each.
    """
    found = []
    for name, values in chain(columns(X), _index_levels(X)):
        person = names_persons(name)
        if person or names_sites(name) or (names_ids(name) and not _has_fractions(values)):
            distinct = len(set(values.tolist()))
            n = len(values)
            least, most = (MIN_GROUPS, n) if person else (MIN_IDS, MAX_ROWS_EACH)
            if least <= distinct <= n / 2 and n / distinct <= most:
                found.append((name, distinct, n / distinct))
    return tuple(found)


def _index_levels(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield name and values of the levels of a pandas index that have a name."""
    if not hasattr(X, "iloc") or (X.index.nlevels == 1 and X.index.is_unique):
        return
    for position, name in enumerate(X.index.names):
        if name is not None:
            yield str(name), np.asarray(X.index.get_level_values(position))


def _has_fractions(values: NDArray[Any]) -> bool:
    """Whether cells are no whole numbers: an index of prices, and not of rows."""
    if values.dtype.kind != "f":
        return False
    known = values[np.isfinite(values)]
    return bool((known != np.round(known)).any())


def _drift(first: NDArray[Any], last: NDArray[Any], n_columns: int) -> float:
    """Distance between two parts of a column; 0 unless it is both large and certain."""
    if is_numeric(first):
        kept = [part[~np.isnan(part.astype(float))] for part in (first, last)]
        if min(map(len, kept)) < 2:
            return 0.0
        test: Any = stats.ks_2samp(kept[0], kept[1], method="asymp")
        distance = float(test.statistic)
        chance = float(test.pvalue)
    else:
        names, indices = levels(np.concatenate([first, last]))
        if not 2 <= len(names) <= MAX_DISTINCT_LEVELS:
            return 0.0
        parts = indices[: len(first)], indices[len(first) :]
        table = np.array([np.bincount(part, minlength=len(names)) for part in parts])
        shares = table / table.sum(axis=1, keepdims=True)
        distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
        chance = float(stats.chi2_contingency(table).pvalue)
    return distance if distance > MIN_DRIFT and chance < DRIFT_ALARM / n_columns else 0.0


# -- the rows of one audit -------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Table:
    """The rows of an audit: what is predicted, which rows are tested, what they show."""

    X: Any
    labels: NDArray[Any]  # as the file has them
    codes: NDArray[Any]  # indices of classes, or the numbers
    classes: NDArray[Any] | None  # None: the target is a quantity
    groups: NDArray[Any] | None
    rows: Rows
    subgroups: Groups
    facts: DataFacts
    tolerance: float | None  # None: the target is a class

    @classmethod
    def of(
        cls,
        X: Any,
        y: ArrayLike,
        tolerance: float | None,
        groups: ArrayLike | None,
        subgroups: Any,
        key: SharedKey,
        test_size: int | float | None,
        max_rows: int | None,
        time: ArrayLike | None = None,
    ) -> Table:
        """Check the arguments, draw the test rows and look at all rows."""
        codes: NDArray[Any]
        classes: NDArray[Any] | None = None
        if tolerance is None:
            codes, classes = check_labels(X, y, None)
            refuse_one_class(classes)
        else:
            check_positive("tolerance", tolerance)
            codes = check_numbers(X, y)
        labels = codes if classes is None else classes[codes]
        group_of_row = check_groups(groups, n_rows(X))
        rows = draw_rows(n_rows(X), test_size, group_of_row, key, max_rows=max_rows)
        if time is not None:
            rows = replace(rows, by_time=in_time_order(time, rows, n_rows(X), key))
        levels = make_subgroups(X, subgroups, rows.test)
        facts = data_facts(X, codes, rows.test, rows.used, group_of_row)
        return cls(X, labels, codes, classes, group_of_row, rows, levels, facts, tolerance)

    @property
    def class_names(self) -> tuple[Any, ...]:
        """The classes; none if the target is a quantity."""
        return () if self.classes is None else tuple(self.classes.tolist())

    @property
    def rarer(self) -> int:
        """Index of the rarer of two classes; the second where both are as frequent."""
        return 0 if self.classes is not None and np.mean(self.codes == 0) < 0.5 else 1

    @property
    def truth(self) -> NDArray[Any]:
        """What the test rows have: indices of classes, or numbers."""
        return self.codes[self.rows.test]

    @property
    def clusters(self) -> NDArray[np.intp] | None:
        """Group of each test row."""
        unit_of_row = self.rows.unit_of_row
        return None if unit_of_row is None else unit_of_row[self.rows.test]

    @property
    def digest(self) -> str:
        """Digest of all rows."""
        bits = self.codes if self.classes is not None else self.codes.view(np.int64)
        return data_digest(self.X, bits, self.groups)

    def described(self, shown: NDArray[np.intp]) -> dict[str, Any]:
        """Return what a result says about the rows; ``shown`` are some of the test rows."""
        names, values = cells(self.X, self.rows.test[shown])
        return {
            "classes": self.class_names,
            "test": self.rows.test,
            "clusters": self.clusters,
            "subgroups": self.subgroups,
            "facts": self.facts,
            "shown_rows": shown,
            "columns": tuple(names),
            "cells": tuple(map(tuple, values)),
            "finished": strftime("%Y-%m-%d %H:%M"),
        }
