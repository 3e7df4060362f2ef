"""Settings of a base estimator that follow from the size of the blocks it is trained on.

Boosting with its default of 20 rows in each leaf cannot split a block of 39 rows. Its leaves are
made smaller in small blocks, by the number of rows in a block alone: a plan fixes it, no data do.
"""

from __future__ import annotations

import math
from inspect import Parameter, signature
from typing import Any

from sklearn.base import clone

from replearn.binding.useful_blocks import LEAF_NAMES, innermost, own_params

ROWS_PER_LEAF_ROW = 8
"""Rows of a block for each row of a leaf: a leaf has at most an eighth of the rows."""

MIN_LEAF = 2


def leaf_rows(block_size: int) -> int:
    """Return how many rows a leaf may be required to have in blocks of so many rows.

    >>> leaf_rows(25), leaf_rows(160), leaf_rows(8)
    (3, 20, 2)
    """
    return max(MIN_LEAF, block_size // ROWS_PER_LEAF_ROW)


def adapted_to_blocks(base: Any, block_size: int) -> Any:
    """Return the base estimator with leaves that suit blocks of so many rows.

    Only a leaf size that has its default value is made smaller; what was set stays as it is. The
    estimator itself is returned where nothing changes.

    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> adapted_to_blocks(HistGradientBoostingClassifier(), 25).min_samples_leaf
    3
    >>> adapted_to_blocks(HistGradientBoostingClassifier(min_samples_leaf=5), 25).min_samples_leaf
    5
    """
    inner = innermost(base)
    params = own_params(inner.estimator)
    name = next((name for name in LEAF_NAMES if name in params), None)
    if name is None or params[name] != _default(inner.estimator, name):
        return base
    leaf = leaf_rows(math.floor(block_size * inner.share))
    if not isinstance(params[name], int) or params[name] <= leaf:
        return base
    return clone(base).set_params(**{f"{inner.prefix}{name}": leaf})


def _default(estimator: Any, name: str) -> Any:
    """Return the default value of a parameter; ``Parameter.empty`` if it has none."""
    parameters = signature(type(estimator)).parameters
    return parameters[name].default if name in parameters else Parameter.empty
