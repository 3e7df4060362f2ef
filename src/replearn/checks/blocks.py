"""The base estimator on its blocks: fitted twice alike, scored row by row, with enough rows.

An estimator that depends on a counter, a clock or a global generator does not give two labs the
same model from the same rows. So one block, by a keyed choice, is fitted again in this process, and
a few rows are scored alone and together: the promise is about a point, whatever else is scored with
it.

Blocks must be large enough to learn from. Histogram boosting that requires 20 rows in each leaf
cannot split a block of 39, and predicts a constant without a word. A plan must not depend on the
data, but it may depend on the estimator: blocks are made as large as `rows_needed` says, or leaves
as small as `adapted_to_blocks` says. What the parameters do not say, the fitted models show, and a
warning says so.
"""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags

from replearn.checks.fingerprint import fingerprint, in_words
from replearn.exceptions import ConstantBlocksWarning, warn_user
from replearn.execution.constant import ConstantVote
from replearn.execution.context import no_autologging
from replearn.execution.fitting import Block, fit_one_block, keyed_seeds, random_state_names
from replearn.execution.plugins import fit_functions
from replearn.execution.voting import one_thread
from replearn.randomness.key import SharedKey
from replearn.tables.rows import copy_rows, n_rows, take_rows

_CLOSE = 1e-6
_METHODS = ("predict", "decision_function", "predict_proba")


# -- a block that is fitted again ------------------------------------------------------------------
def block_condition(
    base: Any,
    block: Callable[[int], tuple[Any, NDArray[np.intp]]],
    keys: Sequence[SharedKey],
    models: Sequence[Any],
    probes: Any,
) -> tuple[str, ...]:
    """Fit a block again and score rows alone and together; say in words what differs.

    ``block`` returns the rows of a block and the codes of their labels.
    """
    index = block_to_check(keys[0], len(keys))
    X, codes = block(index)
    seeds = keyed_seeds(random_state_names(base), keys[index])
    job = Block(X, codes, seeds, "a block that is fitted again", faster=fit_functions(base))
    with warnings.catch_warnings(), one_thread(), no_autologging():
        warnings.simplefilter("ignore")  # the first fit has said all this, and checked parameters
        with config_context(skip_parameter_validation=True):
            again = fit_one_block(base, job)
    if not _same_model(models[index], again, probes):
        return (
            f"block {index} gives other predictions when it is fitted again on the same rows: the "
            "base estimator depends on something besides its parameters, its rows and its seed (a "
            "counter, a global generator, a clock)",
        )
    # the model of a block of one class is a constant
    return batch_condition(next((m for m in models if type(m) is type(base)), again), probes)


def block_to_check(first_key: SharedKey, n_blocks: int) -> int:
    """Choose the block that is fitted again, by the key of the first block."""
    return first_key.seed_for("block that is fitted again") % n_blocks


def _same_model(one: Any, two: Any, probes: Any) -> bool:
    """Whether two models have the same state, or the same predictions if no state can be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a key inside it: these bytes do not leave memory
            if pickle.dumps(one) == pickle.dumps(two):
                return True
    except Exception:  # a class inside a function, a lambda
        known = fingerprint(one)
        if not known.unbound and known.digest == fingerprint(two).digest:
            return True
    mine = _predictions(one, probes)
    yours = _predictions(two, probes)
    return all(_same(name, mine[name], yours[name]) for name in mine if name in yours)


def _predictions(model: Any, probes: Any) -> dict[str, NDArray[Any]]:
    """Return what a model predicts with each method; nothing if it fails."""
    try:
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore")  # predictions will show them
            return {
                name: np.asarray(getattr(model, name)(copy_rows(probes)))
                for name in _METHODS
                if hasattr(model, name)
            }
    except Exception:
        return {}


def _same(name: str, one: NDArray[Any], two: NDArray[Any]) -> bool:
    if one.shape != two.shape:
        return False
    if (one == two).all():
        return True
    return name != "predict" and np.allclose(one, two, rtol=_CLOSE, atol=_CLOSE, equal_nan=True)


# -- the other rows of a batch ---------------------------------------------------------------------
ROWS_TOGETHER = 32
ROWS_ALONE = 4

_SCORES = ("predict_proba", "decision_function", "predict")


def batch_condition(model: Any, probes: Any) -> tuple[str, ...]:
    """Score rows alone and together; say if predictions depend on the other rows."""
    rows = take_rows(probes, np.arange(min(n_rows(probes), ROWS_TOGETHER)))
    predict = next((getattr(model, name) for name in _SCORES if hasattr(model, name)), None)
    if predict is None or not _depends_on_batch(predict, rows):
        return ()
    return (
        f"predictions of {_named_step(model, rows)} depend on the other rows of the batch: a row "
        "that is scored alone gets other ones, and so does the same row in another batch. Compute "
        "in fit what is computed from the rows of a batch",
    )


def _depends_on_batch(compute: Callable[[Any], Any], rows: Any) -> bool:
    """Whether a method gives some rows other results alone than together; False on an error."""
    try:
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore")  # predictions will show them
            together = _dense(compute(copy_rows(rows)))
            some = np.linspace(0, len(together) - 1, ROWS_ALONE).astype(np.intp)
            alone = [_dense(compute(copy_rows(take_rows(rows, some[k : k + 1])))) for k in range(4)]
    except Exception:  # nothing is known: a prediction will show it
        return False
    return not all(map(_same_results, alone, (together[row : row + 1] for row in some)))


def _dense(values: Any) -> NDArray[Any]:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _same_results(one: NDArray[Any], two: NDArray[Any]) -> bool:
    if one.shape != two.shape:
        return False
    if one.dtype.kind == "f" and two.dtype.kind == "f":
        return np.allclose(one, two, rtol=_CLOSE, atol=_CLOSE, equal_nan=True)
    return bool(((one == two) | ((one != one) & (two != two))).all())


def _named_step(model: Any, rows: Any) -> str:
    """Name the first step of a pipeline whose result depends on the batch, else the estimator."""
    for name, step in getattr(model, "steps", ())[:-1]:
        if not hasattr(step, "transform"):
            continue
        if _depends_on_batch(step.transform, rows):
            return f"step {name!r} ({type(step).__name__}) of the base estimator"
        rows = step.transform(copy_rows(rows))
    return f"the base estimator ({type(model).__name__})"


# -- what blocks a base estimator can learn from ---------------------------------------------------
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
def warn_if_constant(
    models: Sequence[Any],
    base: Any,
    probes: Any,
    label_counts: NDArray[np.int64],
    block_size: int,
    unit: str = "rows",
) -> bool:
    """Warn if most models of the first partition are constant, and return whether it did.

    A model is constant if its scores are, not only its predictions: if one label prevails, an
    estimator may have good reason to predict it for every row.
    """
    others = 1.0 - label_counts.max() / label_counts.sum()
    if others < NOTABLE or says_it_is_poor(base):
        return False
    checked = models[:MODELS_CHECKED]
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")  # predictions will show them
        n_constant = _count_constant(checked, probes)
        # No model can distinguish equal rows.
        if n_constant == 0 or len(np.unique(SharedKey(0).hashes(probes))) == 1:
            return False
    size = f"{block_size} {unit if block_size > 1 else unit.removesuffix('s')}"
    warn_user(
        f"most block estimators are constant: {n_constant} of the {len(checked)} models of "
        f"{in_words(base)} that were checked, each trained on {size}, give the same score for all "
        f"of {n_rows(probes)} training rows, although {others:.0%} of the labels differ from the "
        f"most frequent one. Either {size} per block are too few for these parameters of the "
        "estimator, or the features are unrelated to the labels. The promise holds, but for a "
        "model that hardly uses the features. Try an estimator that splits small blocks "
        "(boosting: min_samples_leaf=5), a simpler or less regularised one, fewer blocks (n_blocks "
        f"below {len(models)}), or more {unit}.",
        ConstantBlocksWarning,
    )
    return True


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

ROWS_PER_BIN = 16
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
    names = [name for name in LEAF_NAMES if name in own_params(inner.estimator)]
    return with_fewer_bins(_with_smaller(base, dict.fromkeys(names, leaf_rows(rows))), block_size)


def with_fewer_bins(base: Any, block_size: int) -> Any:
    """Return histogram boosting with bins that suit blocks of this many rows; others as they are.

    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> with_fewer_bins(HistGradientBoostingClassifier(), 2500).max_bins
    63
    """
    inner = innermost(base)
    rows = math.floor(block_size * inner.share)
    bins = own_params(inner.estimator).get("max_bins")
    if not isinstance(bins, int) or rows >= ROWS_PER_BIN * bins:
        return base
    return _with_smaller(base, {"max_bins": BINS_OF_SMALL_BLOCKS})


def _with_smaller(base: Any, smaller: dict[str, int]) -> Any:
    """Return the estimator with smaller values of parameters that have their default value."""
    inner = innermost(base)
    params = own_params(inner.estimator)
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
