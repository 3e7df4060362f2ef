"""Audits, comparisons, and what comes back from a model file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from . import calls_choice as calls, tables
from .calls import Facts, fit_approximate, fit_pointwise
from .cases_rules import CLASSES, pair_of_columns

FORMER_CONTENDERS = ["baseline", "bagging", "replicable"]
SMALL = {"n_blocks": 6, "n_partitions": 1, "rho": 0.5}


def _pair(table: tables.Table, **settings: Any) -> tuple[Any, Any]:
    half = len(table.y) // 2
    one, two = (
        tables.Table(table.X[rows], table.y[rows], None, None)
        for rows in (np.arange(0, 2 * half, 2), np.arange(1, 2 * half, 2))
    )
    return tuple(fit_pointwise(part, GaussianNB(), **SMALL, **settings) for part in (one, two))


def audit_of_one_estimator() -> Facts:
    tree = DecisionTreeClassifier(max_depth=3)
    return calls.audit_facts(
        calls.audit(tree, tables.answers(), n_pairs=2, contenders=FORMER_CONTENDERS)
    )


def audit_of_several_contenders() -> Facts:
    table = tables.answers()
    contenders = {
        "bayes": GaussianNB(),
        "replicable": fit_pointwise(table, GaussianNB(), **SMALL),
    }
    pairs = {"n_pairs": 3, "train_size": 60}
    return calls.audit_facts(calls.audit(contenders, table, test_size=50, **pairs))


def audit_of_three_classes() -> Facts:
    table = tables.wines()
    contenders = {"replicable": fit_pointwise(table, GaussianNB(), **SMALL)}
    return calls.audit_facts(calls.audit(contenders, table, n_pairs=2, sample="bootstrap"))


def audit_of_groups() -> Facts:
    table = tables.answers()
    patients = np.arange(len(table.y)) // 3
    return calls.audit_facts(
        calls.audit({"bayes": GaussianNB()}, table, n_pairs=2, groups=patients)
    )


def comparison() -> Facts:
    table = tables.answers()
    subgroups = {"third": np.arange(len(table.new)) % 3}
    return calls.compare_facts(*_pair(table), table, subgroups=subgroups)


def comparison_of_three_classes() -> Facts:
    table = tables.wines()
    return calls.compare_facts(*_pair(table), table)


def comparison_of_plain_models() -> Facts:
    table = tables.answers()
    models = (
        DecisionTreeClassifier(max_depth=2, random_state=0).fit(table.X, table.y),
        GaussianNB().fit(table.X, table.y),
    )
    return calls.compare_facts(*models, table)


SAVED: dict[str, tuple[Callable[[], tables.Table], Callable[[tables.Table], Any]]] = {
    "votes": (tables.answers, lambda t: fit_pointwise(t, GaussianNB(), **SMALL)),
    "votes of three classes": (
        tables.wines,
        lambda t: fit_pointwise(t, GaussianNB(), **SMALL),
    ),
    "approximate": (tables.answers, lambda t: fit_approximate(t, GaussianNB(), **SMALL)),
    "threshold": (tables.answers, lambda t: calls.fit_threshold(t, feature=0)),
    "semi": (
        pair_of_columns,
        lambda t: calls.fit_semi(t, CLASSES["boxes"], pool=t.new[:7]),
    ),
    "realizable": (pair_of_columns, lambda t: calls.fit_realizable(t, max_error_limit=0.9)),
    "few bits": (tables.answers, lambda t: calls.fit_few_bits(t, GaussianNB(), n_blocks=4)),
}


def model_files() -> Facts:
    facts: Facts = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (table_of, fit) in SAVED.items():
            table = table_of()
            before = fit(table)
            after = calls.saved_and_loaded(before, Path(folder) / "model")
            answers = after.predict(table.new)
            facts[f"{name}: answers"] = answers
            facts[f"{name}: as before"] = bool((answers == before.predict(table.new)).all())
            facts[f"{name}: same promise"] = after.certificate_ == before.certificate_
            if hasattr(after, "flip_probability"):
                flips = [model.flip_probability(table.new) for model in (before, after)]
                facts[f"{name}: same flips"] = bool((flips[0] == flips[1]).all())
    return facts
