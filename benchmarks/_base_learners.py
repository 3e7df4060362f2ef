"""The base learners of the benchmarks, with everything that is learned inside them."""

from __future__ import annotations

from typing import Any

from _data import Table
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

MODELS = ("logreg", "forest", "boosting", "tree")
VARIANTS = {
    "boosting_shallow": "boosting",
    "boosting_short": "boosting",
    "boosting_leaf5": "boosting",
    "boosting_small": "boosting",
    "forest_for_boosting": "boosting",
    "logreg_c01": "logreg",
    "tree_leaf10": "tree",
}
"""Learners for small blocks, and the model whose single fit they are compared with."""

FOREST_TREES = 50


def base_learner(model: str, table: Table, seed: int = 0) -> Any:
    """Return an unfitted classifier; trees take categories by their number."""
    boosting = HistGradientBoostingClassifier(random_state=seed)
    if model in ("logreg", "logreg_c01"):
        return make_pipeline(_columns(table), _logistic(model))
    if model in ("forest", "forest_for_boosting"):
        return RandomForestClassifier(FOREST_TREES, random_state=seed)
    if model in ("tree", "tree_leaf10"):
        leaf = 10 if model == "tree_leaf10" else 1
        return DecisionTreeClassifier(min_samples_leaf=leaf, random_state=seed)
    return boosting.set_params(**_BOOSTING[model])


_BOOSTING: dict[str, dict[str, Any]] = {
    "boosting": {},
    "boosting_shallow": {"max_depth": 3},
    "boosting_short": {"max_iter": 30},
    "boosting_leaf5": {"min_samples_leaf": 5, "max_leaf_nodes": 8, "max_iter": 50},
    "boosting_small": {"max_depth": 2, "max_iter": 60, "min_samples_leaf": 5},
}


def _logistic(model: str) -> LogisticRegression:
    return LogisticRegression(C=0.1 if model == "logreg_c01" else 1.0, max_iter=1000)


def _columns(table: Table) -> ColumnTransformer:
    numbers = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    )
    categories = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return ColumnTransformer(
        [("numbers", numbers, table.numeric), ("categories", categories, list(table.categorical))],
        sparse_threshold=0,
    )
