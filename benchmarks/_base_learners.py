"""The base learners of the benchmarks, with everything that is learned inside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from _data import Table
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    SplineTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

MODELS = ("logreg", "forest", "boosting", "tree")
VARIANTS = {
    "boosting_depth2": "boosting",
    "boosting_leaves8": "boosting",
    "boosting_leaves4": "boosting",
    "boosting_slow": "boosting",
    "boosting_categories": "boosting",
    "boosting_weighted": "boosting",
    "boosting_short": "boosting",
    "boosting_additive": "boosting",
    "boosting_growing": "boosting",
    "boosting_from_logreg": "boosting",
    "logreg_and_boosting": "boosting",
    "forest_for_boosting": "boosting",
    "forest_leaf5": "boosting",
    "extra_trees": "boosting",
    "extra_trees_leaf5": "boosting",
    "extra_trees_onehot": "boosting",
    "logreg_for_boosting": "boosting",
    "logreg_bins": "boosting",
    "logreg_bins_c01": "boosting",
    "logreg_splines": "boosting",
    "naive_bayes": "boosting",
    "naive_bayes_bins": "boosting",
    "logreg_c01": "logreg",
    "tree_leaf10": "tree",
}
"""Learners for small blocks, and the model whose single fit they are compared with."""

FOREST_TREES = 50
BINS = 8


def base_estimator(model: str, table: Table, seed: int = 0, rows: int = 0) -> Any:
    """Return an unfitted classifier; trees take categories by their number.

    ``rows`` is what the learner is going to see, for learners that depend on it.
    """
    if model in _BOOSTING or model == "boosting_growing":
        settings = _growing(rows) if model == "boosting_growing" else dict(_BOOSTING[model])
        if settings.pop("categories", False):
            settings["categorical_features"] = list(table.categorical)
        return HistGradientBoostingClassifier(random_state=seed, **settings)
    return _OTHERS[model](table, seed)


_SMALL = {"max_leaf_nodes": 8, "min_samples_leaf": 5, "max_iter": 50}
_BOOSTING: dict[str, dict[str, Any]] = {
    "boosting": {},
    "boosting_depth2": {"max_depth": 2, "max_iter": 60, "min_samples_leaf": 5},
    "boosting_leaves8": _SMALL,
    "boosting_leaves4": {**_SMALL, "max_leaf_nodes": 4, "max_iter": 60},
    "boosting_slow": {**_SMALL, "max_leaf_nodes": 6, "learning_rate": 0.05, "max_iter": 60},
    "boosting_categories": {**_SMALL, "max_leaf_nodes": 4, "max_iter": 60, "categories": True},
    "boosting_short": {**_SMALL, "max_leaf_nodes": 4, "max_iter": 30, "categories": True},
    "boosting_additive": {
        **_SMALL,
        "max_leaf_nodes": 4,
        "max_iter": 60,
        "categories": True,
        "interaction_cst": "no_interactions",
    },
    "boosting_weighted": {**_SMALL, "l2_regularization": 10.0, "max_features": 0.5},
}


def _growing(rows: int) -> dict[str, Any]:
    """Trees that grow with the block, from 4 leaves below 300 rows to 31 above 1,860."""
    return {
        "max_leaf_nodes": min(max(rows // 60, 4), 31),
        "min_samples_leaf": min(max(rows // 100, 5), 20),
        "max_iter": 60,
        "categories": True,
    }


def _boosting_from_logreg(table: Table, seed: int) -> Any:
    """Boost small trees on what logistic regression leaves over."""
    return GradientBoostingClassifier(
        init=base_estimator("logreg", table),
        max_depth=2,
        n_estimators=40,
        min_samples_leaf=5,
        random_state=seed,
    )


def _logreg_and_boosting(table: Table, seed: int) -> Any:
    """Take the mean probability of logistic regression and small boosted trees."""
    return VotingClassifier(
        [
            ("logreg", base_estimator("logreg", table)),
            ("boosting", base_estimator("boosting_categories", table, seed)),
        ],
        voting="soft",
    )


def _forest(kind: Any, **settings: Any) -> Callable[[Table, int], Any]:
    return lambda table, seed: kind(FOREST_TREES, random_state=seed, **settings)


def _tree(min_samples_leaf: int) -> Callable[[Table, int], Any]:
    return lambda table, seed: DecisionTreeClassifier(
        min_samples_leaf=min_samples_leaf, random_state=seed
    )


def _with_columns(learner: Any, numbers: Any = None) -> Callable[[Table, int], Any]:
    """Encode categories, prepare numbers (scaled unless told otherwise), then learn."""
    return lambda table, seed: make_pipeline(
        _columns(table, StandardScaler() if numbers is None else clone(numbers)), clone(learner)
    )


def _columns(table: Table, numbers: Any) -> ColumnTransformer:
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    categories = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(imputer, numbers), table.numeric),
            ("categories", categories, list(table.categorical)),
        ],
        sparse_threshold=0,
    )


def _logistic(C: float = 1.0) -> LogisticRegression:
    return LogisticRegression(C=C, max_iter=1000)


_BINNED = KBinsDiscretizer(
    BINS, encode="onehot-dense", strategy="quantile", quantile_method="averaged_inverted_cdf"
)
_OTHERS: dict[str, Callable[[Table, int], Any]] = {
    "logreg": _with_columns(_logistic()),
    "logreg_c01": _with_columns(_logistic(0.1)),
    "logreg_for_boosting": _with_columns(_logistic()),
    "logreg_bins": _with_columns(_logistic(), _BINNED),
    "logreg_bins_c01": _with_columns(_logistic(0.1), _BINNED),
    "logreg_splines": _with_columns(_logistic(0.1), SplineTransformer(4, knots="quantile")),
    "boosting_from_logreg": _boosting_from_logreg,
    "logreg_and_boosting": _logreg_and_boosting,
    "naive_bayes": _with_columns(GaussianNB()),
    "naive_bayes_bins": _with_columns(BernoulliNB(), _BINNED),
    "forest": _forest(RandomForestClassifier),
    "forest_for_boosting": _forest(RandomForestClassifier),
    "forest_leaf5": _forest(RandomForestClassifier, min_samples_leaf=5),
    "extra_trees": _forest(ExtraTreesClassifier),
    "extra_trees_leaf5": _forest(ExtraTreesClassifier, min_samples_leaf=5),
    "extra_trees_onehot": _with_columns(
        ExtraTreesClassifier(FOREST_TREES, min_samples_leaf=3, random_state=0)
    ),
    "tree": _tree(1),
    "tree_leaf10": _tree(10),
}
