"""Hypothesis classes: best rules, labellings of a pool, covers."""

from __future__ import annotations

from typing import Any

import numpy as np

from replearn.paper import hypotheses
from replearn.paper.hypotheses import make_box

from . import tables
from .calls import Facts
from .fingerprint import close

BOXES = [
    make_box([(0, 12.0, np.inf)]),
    make_box([(0, 14.0, np.inf), (1, -np.inf, 22.0)]),
    make_box([(1, 15.0, 25.0)]),
    make_box([]),
]
LISTED = [*BOXES, make_box([(0, -np.inf, 13.0)])]
CLASSES = {
    "thresholds": hypotheses.Thresholds(),
    "thresholds upwards": hypotheses.Thresholds(">"),
    "thresholds downwards": hypotheses.Thresholds("<="),
    "intervals": hypotheses.Intervals(),
    "stumps": hypotheses.Stumps(2),
    "stumps upwards": hypotheses.Stumps(2, ">"),
    "boxes": hypotheses.Boxes(2),
    "conjunctions": hypotheses.Conjunctions(2),
    "conjunctions, mixed": hypotheses.Conjunctions(2, (">", "<=")),
    "listed": hypotheses.FiniteClass(LISTED, 2),
}
POOL = 9


def pair_of_columns() -> tables.Table:
    """Two columns of the tumours, rounded so that ties occur."""
    table = tables.tumours()
    return tables.Table(np.round(table.X[:, :2]), table.y == 0, np.round(table.new[:, :2]), None)


def _asked(hypotheses: Any, table: tables.Table) -> Facts:
    width = hypotheses.n_features
    X, y, new = table.X[:60, :width], np.asarray(table.y[:60], dtype=bool), table.new[:, :width]
    weights = 1 + np.arange(len(y)) % 5
    best, weighted = hypotheses.erm(X, y), hypotheses.erm(X, y, weights)
    perfect = hypotheses.consistent(X[:4], y[:4])
    blocks = list(hypotheses.dichotomies(new[:POOL]))
    cover = hypotheses.cover(new[:POOL])
    return {
        "best rule": str(best),
        "its error": close(best.error(X, y)),
        "its answers": best.predict(new),
        "best rule with weights": str(weighted),
        "its weighted error": close(weighted.error(X, y, weights)),
        "rule without error": str(perfect),
        "dimension": hypotheses.vc_dimension,
        "most labellings of 12": hypotheses.growth_bound(12),
        "labellings": np.concatenate([block.labels for block in blocks]),
        "identities": np.concatenate([block.identity for block in blocks]),
        "rules": [(str(rule),) for block in blocks for rule in block.rules],
        "identities of the cover": cover.identity,
        "errors of the cover": close(cover.errors(X, y, weights)),
    }


def every_class() -> Facts:
    table = pair_of_columns()
    return {
        f"{name}: {item}": value
        for name, hypotheses in CLASSES.items()
        for item, value in _asked(hypotheses, table).items()
    }


def three_columns() -> Facts:
    table = tables.discrete()
    X, y = table.X[:80, :3].astype(float), table.y[:80] == 1
    classes = {
        "boxes": hypotheses.Boxes(3),
        "conjunctions": hypotheses.Conjunctions(3),
        "stumps": hypotheses.Stumps(3),
    }
    facts: Facts = {}
    for name, family in classes.items():
        best = family.erm(X, y)
        facts[f"{name}: best rule"] = str(best)
        facts[f"{name}: error"] = close(best.error(X, y))
        facts[f"{name}: candidates"] = len(family.cover(X[:8]))
    return facts


def shattered() -> Facts:
    own = {name: found for name, found in CLASSES.items() if name != "listed"}
    return {name: found.shattered_set() for name, found in own.items()} | {
        "listed": CLASSES["listed"].shattered_set(pair_of_columns().new[:20])
    }
