"""What the rows themselves say, before any model: repeats, ids, order of the file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from replearn.auditing._columns import columns, is_numeric, levels
from replearn.randomness import SharedKey, as_points

ID_NAME = re.compile(
    r"(^|[_\W])(id|ids|uid|uuid|patient|subject|person|customer|client|user|account|household|"
    r"family|hospital|clinic|school|store|device|session)([_\W]|$)|(?<=[a-z])(Id|ID)$",
    re.IGNORECASE,
)
LEAST_GROUPS = 20
"""A column of ids names more groups than a category has levels."""

LEAST_DRIFT = 0.1
LEAST_NEIGHBOURS = 0.1
DRIFT_ALARM = 1e-6
"""False-alarm probability of the drift tests over all columns together."""

NEIGHBOUR_SCORE = 6.0
MOST_DISTINCT_LEVELS = 200


@dataclass(frozen=True)
class DataFacts:
    """What the rows say about the assumptions of audits and certificates.

    Parameters
    ----------
    repeated_test_share : float
        Share of test rows whose features occur again among the other rows.
    largest_point_share : float
        Share of the file that one single point holds.
    id_columns : tuple of (str, int, float)
        Columns named like ids whose values repeat: name, distinct values, mean rows per value.
    drift : tuple of (str, float)
        Columns whose distribution differs between the first and the last third of the file:
        name, distance between the two distributions.
    neighbours : tuple of (str, float)
        Columns in which neighbouring rows are alike: name, correlation.
    has_named_columns : bool
        Whether ids could have been recognised at all.
    """

    repeated_test_share: float
    largest_point_share: float
    id_columns: tuple[tuple[str, int, float], ...]
    drift: tuple[tuple[str, float], ...]
    neighbours: tuple[tuple[str, float], ...]
    has_named_columns: bool


def look_at(X: Any, codes: NDArray[np.intp], test: NDArray[np.intp]) -> DataFacts:
    """Collect the facts.

    Parameters
    ----------
    X : container of rows
        The whole file, in file order.
    codes : ndarray of int
        Labels as numbers.
    test : ndarray of int
        Positions of the test rows.

    Returns
    -------
    DataFacts
        For the findings.

    Examples
    --------
    >>> facts = look_at(np.ones((100, 1)), np.arange(100) % 2, np.arange(10))
    >>> facts.repeated_test_share, facts.largest_point_share
    (1.0, 1.0)
    """
    repeated, largest = _repeats(X, test)
    named = dict(columns(X))
    watched = {**named, "the label": codes.astype(object)}
    n = len(codes)
    third = slice(0, n // 3), slice(n - n // 3, n)
    drift = [(name, _drift(v[third[0]], v[third[1]], len(watched))) for name, v in watched.items()]
    alike = [(name, _likeness(v)) for name, v in {**named, "the label": codes}.items()]
    return DataFacts(
        repeated_test_share=repeated,
        largest_point_share=largest,
        id_columns=tuple(_id_columns(named)),
        drift=tuple(item for item in drift if item[1] > 0),
        neighbours=tuple(item for item in alike if item[1] > 0),
        has_named_columns=hasattr(X, "columns"),
    )


def _repeats(X: Any, test: NDArray[np.intp]) -> tuple[float, float]:
    points = SharedKey("audit facts").hashes(as_points(X))
    _, places, counts = np.unique(points, return_inverse=True, return_counts=True)
    in_test = np.bincount(places[test], minlength=len(counts))
    elsewhere = (counts - in_test)[places[test]] > 0
    return float(elsewhere.mean()), float(counts.max() / len(points))


def _id_columns(named: dict[str, NDArray[Any]]) -> list[tuple[str, int, float]]:
    found = []
    for name, values in named.items():
        if not ID_NAME.search(name):
            continue
        distinct = len(set(values.tolist()))
        if LEAST_GROUPS <= distinct <= len(values) / 2:
            found.append((name, distinct, len(values) / distinct))
    return found


def _drift(first: NDArray[Any], last: NDArray[Any], n_columns: int) -> float:
    """Distance between two parts of a column; 0 unless it is both large and certain."""
    if is_numeric(first):
        kept = [part[~np.isnan(part.astype(float))] for part in (first, last)]
        if min(map(len, kept)) < 2:
            return 0.0
        test: Any = stats.ks_2samp(kept[0], kept[1], method="asymp")
        distance, chance = float(test.statistic), float(test.pvalue)
    else:
        names, places = levels(np.concatenate([first, last]))
        if not 2 <= len(names) <= MOST_DISTINCT_LEVELS:
            return 0.0
        parts = places[: len(first)], places[len(first) :]
        table = np.array([np.bincount(part, minlength=len(names)) for part in parts])
        shares = table / table.sum(axis=1, keepdims=True)
        distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
        chance = float(stats.chi2_contingency(table).pvalue)
    return distance if distance > LEAST_DRIFT and chance < DRIFT_ALARM / n_columns else 0.0


def _likeness(values: NDArray[Any]) -> float:
    """Correlation of neighbouring rows; 0 unless it is both large and certain."""
    if not is_numeric(values) or len(values) < 3:
        return 0.0
    ranks = stats.rankdata(values, nan_policy="omit")
    ranks = ranks[~np.isnan(ranks)] - np.nanmean(ranks)
    total = float((ranks**2).sum())
    if total == 0:
        return 0.0
    correlation = float((ranks[1:] * ranks[:-1]).sum() / total)
    certain = correlation * len(ranks) ** 0.5 > NEIGHBOUR_SCORE
    return correlation if certain and correlation > LEAST_NEIGHBOURS else 0.0
