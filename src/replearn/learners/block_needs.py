"""How many rows a base learner needs before it can learn anything, from its parameters alone.

Histogram boosting that wants 20 rows in each leaf cannot split 39, and answers a constant without a
word. A plan must not depend on the data, but it may depend on the learner: blocks are made as large
as these numbers say.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

LEAVES_TO_LEARN = 4
"""A tree with room for so many leaves is worth training; with one it is a constant."""

LEAF_NAMES = ("min_samples_leaf", "min_child_samples")
"""Rows of a leaf: scikit-learn, and LightGBM's classifiers."""

DEFAULT_FOLDS = 5


class BlockNeed(NamedTuple):
    """Rows below which the model is a constant, rows from which it is useful, and the reason."""

    least: int
    useful: int
    reason: str


def rows_needed(base: Any) -> BlockNeed | None:
    """Return what a base learner needs; None if its parameters say nothing about it.

    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> rows_needed(HistGradientBoostingClassifier())[:2]
    (40, 80)
    """
    learner, share = _innermost(base)
    params = _params(learner)
    neighbors = params.get("n_neighbors")
    if isinstance(neighbors, int | np.integer):
        reason = f"{type(learner).__name__} with n_neighbors={neighbors}"
        return _scaled(BlockNeed(int(neighbors) + 1, 2 * int(neighbors) + 1, reason), share)
    name = next((name for name in LEAF_NAMES if name in params), None)
    leaf = 1 if name is None else params[name]
    split = params.get("min_samples_split", 2)
    if name is None or not isinstance(leaf, int | np.integer):  # a fraction fits every block
        return None
    held_out = params.get("validation_fraction")
    if params.get("early_stopping") is True and isinstance(held_out, float):
        share *= 1 - Fraction(held_out).limit_denominator(1000)
    least, reason = 2 * int(leaf), f"{name}={leaf}"
    if isinstance(split, int | np.integer) and split > least:
        least, reason = int(split), f"min_samples_split={split}"
    useful = max(least, LEAVES_TO_LEARN * int(leaf))
    return _scaled(BlockNeed(least, useful, f"{type(learner).__name__} with {reason}"), share)


def _innermost(base: Any) -> tuple[Any, Fraction]:
    """Return the learner at the end of pipelines and inside others, and its share of the rows."""
    share = Fraction(1)
    for _ in range(10):
        params = _params(base)
        if params.get("steps"):
            base = params["steps"][-1][1]
        elif params.get("estimator") is not None:
            share *= _share_of_rows(params)
            base = params["estimator"]
        else:
            break
    return base, share


def _share_of_rows(params: dict[str, Any]) -> Fraction:
    """Part of the rows that the learner inside another one is trained on."""
    if "cv" in params:
        folds = DEFAULT_FOLDS if params["cv"] is None else params["cv"]
        return Fraction(folds - 1, folds) if isinstance(folds, int) and folds > 1 else Fraction(1)
    part = params.get("max_samples")
    if isinstance(part, float) and 0.0 < part < 1.0:
        return Fraction(part).limit_denominator(1000)
    return Fraction(1)


def _scaled(need: BlockNeed, share: Fraction) -> BlockNeed:
    least, useful = (math.ceil(rows / share) for rows in (need.least, need.useful))
    return BlockNeed(least, useful, need.reason)


def _params(learner: Any) -> dict[str, Any]:
    try:
        return dict(learner.get_params(deep=False))
    except Exception:  # not a scikit-learn estimator: nothing is known
        return {}
