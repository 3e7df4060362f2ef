"""Which module holds a task or a class that a plan, a certificate or a model file names.

Modules are imported when one of their names is looked up, so that a plan does not wait for
estimators, and the core imports nothing of `replearn.paper`.
"""

from importlib import import_module
from typing import Any

PLANNED = {
    "pointwise": "replearn.guarantees.votes",
    "approximate": "replearn.guarantees.votes",
    "selection": "replearn.guarantees.selection",
    "regression": "replearn.guarantees.regression",
    "score": "replearn.guarantees.score",
    "complete": "replearn.paper.complete",
    "thresholds": "replearn.paper.thresholds",
    "realizable": "replearn.paper.realizable",
    "semi": "replearn.paper.semi_replicable",
    "semi-private": "replearn.paper.semi_private",
    "finite randomness": "replearn.paper.finite_randomness",
    "heavy": "replearn.paper.heavy_hitters",
    "heavy, whole set": "replearn.paper.heavy_hitters",
    "coins": "replearn.paper.coins",
}
"""Tasks of `replearn.plan`."""

TASKS = PLANNED | {
    "heavy, small mass": "replearn.paper.heavy_hitters",
    "heavy labels": "replearn.paper.heavy_labels",
    "heavy labels, several classes": "replearn.paper.heavy_labels",
    "heavy labels, whole set": "replearn.paper.heavy_labels",
    "heavy labels, small mass": "replearn.paper.heavy_labels",
    "signs": "replearn.paper.signs",
    "correlated sampling": "replearn.paper.correlated_sampling",
}
"""All tasks, also those that only certificates have."""

ESTIMATORS = {
    "IncumbentClassifier": "replearn.learners.incumbent",
    "IncumbentRegressor": "replearn.learners.incumbent_regressor",
    "PointwiseReplicableClassifier": "replearn.learners.pointwise",
    "PointwiseReplicableRegressor": "replearn.learners.regressor",
    "ReplicableSearchCV": "replearn.learners.search",
    "ScoreReplicableClassifier": "replearn.learners.score",
    "CompleteLearner": "replearn.paper.complete",
    "FiniteRandomnessClassifier": "replearn.paper.finite_randomness",
    "RealizableReplicableClassifier": "replearn.paper.realizable",
    "ReplicableThresholdClassifier": "replearn.paper.thresholds",
    "SemiPrivateClassifier": "replearn.paper.semi_private",
    "SemiReplicableClassifier": "replearn.paper.semi_replicable",
}
"""Estimators that have model files."""

DOCUMENTS = {
    "Hypothesis": "replearn.paper.hypotheses.documents",
    "HypothesisClass": "replearn.paper.hypotheses.documents",
}
"""Values that write themselves as JSON (``to_dict``, ``document_kind``), and who reads them."""


def estimator_class(name: str) -> Any:
    """Return an estimator of this library by its name.

    >>> estimator_class("ReplicableThresholdClassifier").__name__
    'ReplicableThresholdClassifier'
    """
    return getattr(import_module(ESTIMATORS[name]), name)


def read_document(kind: str, content: Any) -> Any:
    """Read a value that wrote itself as JSON."""
    return import_module(DOCUMENTS[kind]).read_document(kind, content)


def entries_of(table: dict[str, str]) -> dict[str, Any]:
    """Return the tasks of a table with all that is known about them; imports their modules."""
    entries = {
        entry.name: entry
        for module in dict.fromkeys(table.values())
        for entry in import_module(module).TASKS
    }
    return {task: entries[task] for task in table}
