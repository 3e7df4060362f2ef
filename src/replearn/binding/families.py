"""Families of base estimators for which a plan has default numbers of partitions."""

from __future__ import annotations

from typing import Any

from replearn.binding.useful_blocks import innermost

FAMILY_OF_CLASS = {
    "RandomForestClassifier": "forest",
    "ExtraTreesClassifier": "forest",
    "HistGradientBoostingClassifier": "boosting",
    "GradientBoostingClassifier": "boosting",
    "XGBClassifier": "boosting",
    "LGBMClassifier": "boosting",
    "CatBoostClassifier": "boosting",
}
"""By names of classes, so that no package is imported for them."""


def family_of(base: Any) -> str:
    """Return the family of a base estimator: the class decides, also inside of pipelines.

    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> family_of(make_pipeline(StandardScaler(), HistGradientBoostingClassifier()))
    'boosting'
    >>> family_of(DecisionTreeClassifier())
    'any'
    """
    names = (kind.__name__ for kind in type(innermost(base).estimator).__mro__)
    return next((FAMILY_OF_CLASS[name] for name in names if name in FAMILY_OF_CLASS), "any")
