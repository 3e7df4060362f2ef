"""Blocks from which a base estimator can learn: what its parameters need, what its models show.

Histogram boosting that wants 20 rows in each leaf cannot split a block of 39, and predicts a
constant without a word. A plan must not depend on the data, but it may depend on the estimator:
blocks are made as large as `rows_needed` says, or leaves as small as `adapted_to_blocks` says; how
many partitions a plan has by default follows from the family of the estimator. What the parameters
do not say, the fitted models show, and a warning says so.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from fractions import Fraction
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags

from replearn.exceptions import ConstantBlocksWarning, warn_user
from replearn.execution import ConstantVote, one_thread
from replearn.randomness import SharedKey
from replearn.tables import copy_rows, n_rows, take_rows

LEAVES_TO_LEARN = 4
"""A tree that may have this many leaves is worth training; with one it is a constant."""

LEAF_NAMES = ("min_samples_leaf", "min_child_samples")
"""Rows of a leaf: scikit-learn, and LightGBM's classifiers."""

DEFAULT_FOLDS = 5


class BlockNeed(NamedTuple):
    """Rows below which the model is a constant, rows from which it is useful, and the reason."""

    least: int
    useful: int
    reason: str


def rows_needed(base: Any) -> BlockNeed | None:
    """Return what a base estimator needs; None if its parameters say nothing about it."""
    inner = innermost(base)
    estimator = inner.estimator
    share = inner.share
    params = own_params(estimator)
    neighbors = params.get("n_neighbors")
    if isinstance(neighbors, int | np.integer):
        reason = f"{type(estimator).__name__} with n_neighbors={neighbors}"
        return _scaled(BlockNeed(int(neighbors) + 1, 2 * int(neighbors) + 1, reason), share)
    name = next((name for name in LEAF_NAMES if name in params), None)
    leaf = 1 if name is None else params[name]
    split = params.get("min_samples_split", 2)
    if name is None or not isinstance(leaf, int | np.integer):  # a fraction fits every block
        return None
    held_out = params.get("validation_fraction")
    if params.get("early_stopping") is True and isinstance(held_out, float):
        share *= 1 - Fraction(held_out).limit_denominator(1000)
    least = 2 * int(leaf)
    reason = f"{name}={leaf}"
    if isinstance(split, int | np.integer) and split > least:
        least = int(split)
        reason = f"min_samples_split={split}"
    useful = max(least, LEAVES_TO_LEARN * int(leaf))
    return _scaled(BlockNeed(least, useful, f"{type(estimator).__name__} with {reason}"), share)


class Innermost(NamedTuple):
    """The estimator at the end of pipelines and inside others, its share of the rows, its name."""

    estimator: Any
    share: Fraction
    prefix: str  # of its parameters, as in set_params


def innermost(base: Any) -> Innermost:
    """Return the estimator that learns, with the share of the rows that it gets."""
    share = Fraction(1)
    prefix = ""
    for _ in range(10):
        params = own_params(base)
        if params.get("steps"):
            name, base = params["steps"][-1]
            prefix += f"{name}__"
        elif params.get("estimator") is not None and not isinstance(base, FrozenEstimator):
            share *= _share_of_rows(params)
            base = params["estimator"]
            prefix += "estimator__"
        else:
            break
    return Innermost(base, share, prefix)


def _share_of_rows(params: dict[str, Any]) -> Fraction:
    """Part of the rows that the estimator inside another one is trained on."""
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


def own_params(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator, without those of estimators inside it."""
    try:
        return dict(estimator.get_params(deep=False))
    except Exception:  # not a scikit-learn estimator: nothing is known
        return {}


PROBES = 256
"""Training rows on which models are compared with a constant."""

MODELS_CHECKED = 16
"""Models that are checked, the first ones of the first partition; half of them can clear all."""

NOTABLE = 0.05
"""Where all other labels together are rarer, the most frequent one is plausible for all rows."""


# -- models that are constant ----------------------------------------------------------------------
class ConstantModels(NamedTuple):
    """How many of the models that were checked are constant, and on which rows."""

    n_constant: int
    n_models: int
    n_probes: int
    others: float

    @property
    def rows(self) -> str:
        """The rows that were predicted, and why a constant is wrong for some of them."""
        return (
            f"for all of {self.n_probes} training rows, although {self.others:.0%} of the labels "
            "differ from the most frequent one"
        )


def find_constant(
    models: Sequence[Any], base: Any, X: Any, codes: NDArray[np.intp], rows: NDArray[np.intp]
) -> ConstantModels | None:
    """Return what is known if most models are constant on some training rows; None otherwise.

    A model is constant if its scores are, not only its predictions: if one label prevails, an
    estimator may have good reason to predict it for every row. ``rows`` are in keyed order, so that
    the order of the file does not matter.
    """
    return constant_models(models, base, take_rows(X, rows[:PROBES]), np.bincount(codes))


def constant_models(
    models: Sequence[Any], base: Any, probes: Any, label_counts: NDArray[np.intp]
) -> ConstantModels | None:
    """Do what `find_constant` does, for rows that were taken already."""
    others = 1.0 - label_counts.max() / label_counts.sum()
    if others < NOTABLE or says_it_is_poor(base):
        return None
    checked = models[:MODELS_CHECKED]
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")  # predictions will show them
        n_constant = _count_constant(checked, probes)
        # No model can distinguish equal rows.
        if n_constant == 0 or len(np.unique(SharedKey(0).hashes(probes))) == 1:
            return None
    return ConstantModels(n_constant, len(checked), n_rows(probes), float(others))


def warn_if_constant(
    models: Sequence[Any],
    base: Any,
    probes: Any,
    label_counts: NDArray[np.intp],
    block_size: int,
    unit: str = "rows",
) -> bool:
    """Warn if most models of the first partition are constant, and return whether it did."""
    constant = constant_models(models, base, probes, label_counts)
    if constant is None:
        return False
    n_blocks = len(models)
    size = f"{block_size} {unit if block_size > 1 else unit.removesuffix('s')}"
    warn_user(
        f"most block estimators are constant: {constant.n_constant} of the {constant.n_models} "
        f"models of {_one_line(base)} that were checked, each trained on {size}, give the same "
        f"score {constant.rows}. Either {size} per block are too few for these parameters of the "
        "estimator, or the features are unrelated to the labels. The promise holds, but for a "
        "model that hardly uses the features. Try an estimator that splits small blocks "
        "(boosting: min_samples_leaf=5), a simpler or less regularised one, fewer blocks (n_blocks "
        f"below {n_blocks}), or more {unit}.",
        ConstantBlocksWarning,
    )
    return True


def warn_if_all_constant(
    searched: Sequence[ConstantModels | None], base: Any, train_size: int
) -> None:
    """Warn if all configurations of a search give constant models."""
    constant = searched[0] if searched else None
    if constant is None or None in searched:
        return
    warn_user(
        f"all configurations of {_one_line(base)} are constant: of each, most of the first "
        f"{constant.n_models} models give the same score {constant.rows}. Either "
        f"train_size={train_size} is too small for these configurations, or the features are "
        "unrelated to the labels. The promise holds, but the choice hardly depends on the "
        "sample. Try a larger train_size, or configurations for few rows (boosting: "
        "min_samples_leaf=5).",
        ConstantBlocksWarning,
    )


def says_it_is_poor(base: Any) -> bool:
    """Whether the tags of an estimator say that it predicts poorly, such as DummyClassifier."""
    tags = get_tags(base).classifier_tags if hasattr(base, "__sklearn_tags__") else None
    return tags is not None and tags.poor_score


def _count_constant(models: Sequence[Any], probes: Any) -> int:
    """Count the models that are constant; 0 as soon as it is clear that most are not."""
    n_constant = 0
    for index, model in enumerate(models):
        n_constant += not _varies(model, probes)
        if 2 * (index + 1 - n_constant) >= len(models):
            return 0
    return n_constant


def _varies(model: Any, probes: Any) -> bool:
    if isinstance(model, ConstantVote):
        return False
    names = ("decision_function", "predict_proba", "predict")
    try:
        score = next(getattr(model, name) for name in names if hasattr(model, name))
        scores = np.asarray(score(copy_rows(probes)))
    except Exception:
        return True  # nothing is known, and a fit does not fail because of this check
    return bool((scores != scores[:1]).any())


def _one_line(base: Any) -> str:
    return " ".join(repr(base).split())


# -- families of base estimators -------------------------------------------------------------------
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
    """Return the family of a base estimator by its class, also inside pipelines.

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


# -- settings that follow from the size of the blocks ----------------------------------------------
ROWS_PER_LEAF_ROW = 8
"""Rows of a block for each row of a leaf: a leaf has at most an eighth of the rows."""

MIN_LEAF = 2

ROWS_PER_BIN = 4
"""Histogram boosting that has fewer rows for each of its bins gets `BINS_OF_SMALL_BLOCKS`."""

BINS_OF_SMALL_BLOCKS = 63
"""As accurate as 255 in small blocks, and two thirds of the time of a fit (docs/speed.md)."""


def leaf_rows(block_size: int) -> int:
    """Return how many rows a leaf may be required to have in blocks of this many rows.

    >>> leaf_rows(25), leaf_rows(160), leaf_rows(8)
    (3, 20, 2)
    """
    return max(MIN_LEAF, block_size // ROWS_PER_LEAF_ROW)


def adapted_to_blocks(base: Any, block_size: int) -> Any:
    """Return the base estimator with leaf sizes and bins that suit blocks of this many rows.

    Only parameters that have their default value are made smaller. If nothing changes, the
    estimator itself is returned.

    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> small = adapted_to_blocks(HistGradientBoostingClassifier(), 25)
    >>> small.min_samples_leaf, small.max_bins
    (3, 63)
    >>> adapted_to_blocks(HistGradientBoostingClassifier(min_samples_leaf=5), 25).min_samples_leaf
    5
    """
    inner = innermost(base)
    rows = math.floor(block_size * inner.share)
    params = own_params(inner.estimator)
    smaller = {name: leaf_rows(rows) for name in LEAF_NAMES if name in params}
    bins = params.get("max_bins")
    if isinstance(bins, int) and rows < ROWS_PER_BIN * bins:
        smaller["max_bins"] = BINS_OF_SMALL_BLOCKS
    changed = {
        f"{inner.prefix}{name}": value
        for name, value in smaller.items()
        if isinstance(params.get(name), int)
        and params[name] > value
        and params[name] == _default(inner.estimator, name)
    }
    return clone(base).set_params(**changed) if changed else base


def _default(estimator: Any, name: str) -> Any:
    """Return the default value of a parameter; ``Parameter.empty`` if it has none."""
    parameters = signature(type(estimator)).parameters
    return parameters[name].default if name in parameters else Parameter.empty
