"""Families of base estimators for which a plan has default numbers of blocks of its own."""

from __future__ import annotations

from typing import Any

from replearn.binding.useful_blocks import innermost

BOOSTING = frozenset(
    {
        *("HistGradientBoostingClassifier", "GradientBoostingClassifier"),
        *("XGBClassifier", "LGBMClassifier", "CatBoostClassifier"),
    }
)
"""Names of classes, so that no package is imported for them."""


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
    kinds = {kind.__name__ for kind in type(innermost(base).estimator).__mro__}
    return "boosting" if kinds & BOOSTING else "any"
