"""What compiled code of scikit-learn takes for granted about a model, checked before it runs.

It follows indices and sizes of trees, encoders and boosting without looking: a forged model makes
it read or write foreign memory. Every such number is computed again here from the arrays. What is
not listed here predicts by numpy and scipy alone, which check shapes themselves.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn import ensemble, preprocessing
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import BaseDecisionTree

from replearn.compat import shared_base
from replearn.exceptions import ModelFileError
from replearn.persistence._packed_types import is_array_check
from replearn.persistence._parts import children, type_name

CHECKED_TYPES = (
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
)
_GRADIENT_BOOSTING = shared_base(
    ensemble.GradientBoostingClassifier, ensemble.GradientBoostingRegressor
)
_HISTOGRAM_BOOSTING = shared_base(
    ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor
)
_CHECK_WIDTH_FOR_TREES = (
    *shared_base(
        ensemble.RandomForestClassifier,
        ensemble.RandomForestRegressor,
        ensemble.ExtraTreesClassifier,
        ensemble.ExtraTreesRegressor,
        ensemble.RandomTreesEmbedding,
    ),
    *_GRADIENT_BOOSTING,
)
_CATEGORIES = 256
_PLAIN_OUTPUT = {"transform": "default"}


def reset_jobs(state: Any) -> None:
    """Let no model inside start processes or print."""
    for model in _models(state):
        if isinstance(model, BaseEstimator) and type(model).__module__.startswith("sklearn."):
            quiet = {"n_jobs": None, "verbose": False}
            vars(model).update({name: quiet[name] for name in quiet if name in vars(model)})


def check_models(state: Any, name: str) -> None:
    """Refuse a state with a model whose parts do not fit together."""
    for model in _models(state):
        for kinds, is_valid in _VALIDATORS:
            if isinstance(model, kinds) and not _holds(is_valid, model):
                raise ModelFileError(
                    f"{name} contains a {type_name(model)} whose parts do not fit together; it "
                    "was not written by save()."
                )


def _models(state: Any) -> Iterator[Any]:
    """Yield everything inside, once."""
    waiting = [state]
    seen: set[int] = set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or type(value) in (str, int, float, bool, type(None)):
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, _HISTOGRAM_BOOSTING):  # its many trees are checked with it
            waiting.append(getattr(value, "_preprocessor", None))
        else:
            waiting.extend(children(value))


def _holds(is_valid: Callable[[Any], bool], model: Any) -> bool:
    try:
        return bool(is_valid(model))
    except Exception:  # a part that is missing, or of another type
        return False


# -- trees: indices of children and features, bit sets of categories ------------------------------
def check_trees(state: Any, name: str) -> None:
    """Raise if indices of a tree lead outside of the tree, the table or the categories."""
    for owner, n_features in _tree_owners(state, None):
        if not _is_valid(owner, n_features):
            raise ModelFileError(
                f"{name} contains a tree whose indices lead outside of it, or which no estimator "
                "known here owns; it was not written by save()."
            )


def _tree_owners(value: Any, n_features: int | None) -> Iterable[tuple[Any, int]]:
    """Find everything that holds trees, with the number of features it predicts from.

    A forest checks the width of a table once and hands it to its trees unseen, so that its own
    number counts; every other estimator checks for itself. A tree that is reached without its
    estimator (whose attributes may have other names in another scikit-learn) is returned itself.
    """
    if isinstance(value, _HISTOGRAM_BOOSTING) and hasattr(value, "_predictors"):
        yield value, _width(value)
        return
    if isinstance(value, _CHECK_WIDTH_FOR_TREES) and hasattr(value, "estimators_"):
        n_features = _width(value)
    if isinstance(value, BaseDecisionTree) and hasattr(value, "tree_"):
        yield value, _width(value) if n_features is None else n_features
        return
    if type_name(value) in CHECKED_TYPES:
        yield value, -1
        return
    for child in children(value):
        yield from _tree_owners(child, n_features)


def _is_valid(owner: Any, n_features: int) -> bool:
    if isinstance(owner, _HISTOGRAM_BOOSTING):
        return n_features > 0 and _boosting_is_valid(owner, n_features)
    return isinstance(owner, BaseDecisionTree) and _tree_is_valid(owner.tree_, n_features)


def _width(estimator: Any) -> int:
    # Without this attribute scikit-learn does not check the width of a table: no tree fits -1.
    return int(getattr(estimator, "n_features_in_", -1))


def _tree_is_valid(tree: Any, n_features: int) -> bool:
    if not 0 < tree.node_count <= tree.capacity:  # before any of its arrays is looked at
        return False
    inner = np.flatnonzero(tree.children_left != -1)
    children = np.stack([tree.children_left[inner], tree.children_right[inner]])
    features = tree.feature[inner]
    return bool(
        tree.n_features == n_features
        # Trees are grown depth first: children stand behind their parents, so no walk is endless.
        and (children > inner).all()
        and (children < tree.node_count).all()
        and (features >= 0).all()
        and (features < n_features).all()
    )


def _boosting_is_valid(model: Any, n_features: int) -> bool:
    """Check the trees of a boosting, all of them at once: there may be a hundred in each model."""
    if not _width_is_valid(model, n_features):
        return False
    trees = list(itertools.chain(*model._predictors))
    if not trees or any(not len(tree.nodes) for tree in trees):
        return not trees
    sizes = np.array([len(tree.nodes) for tree in trees])
    nodes = np.concatenate([tree.nodes for tree in trees])
    owner = np.repeat(np.arange(len(trees)), sizes)
    indices = np.arange(len(nodes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    inner = nodes["is_leaf"] == 0
    nodes = nodes[inner]
    owner = owner[inner]
    indices = indices[inner]
    features = nodes["feature_idx"].astype(np.int64)
    children = np.stack([nodes["left"], nodes["right"]]).astype(np.int64)
    return bool(
        ((features >= 0) & (features < n_features)).all()
        and (children > indices).all()
        and (children < sizes[owner]).all()
        and _categories_are_valid(model, trees, nodes, owner, n_features)
    )


def _width_is_valid(model: Any, n_features: int) -> bool:
    """Check that trees get tables of this width, whatever the table has.

    With categories a transformer of columns stands in front: the categories in order, then the
    numbers. ``_in_fit`` would hand the table over as it is.
    """
    if "_in_fit" in vars(model) or getattr(model, "_n_features", n_features) != n_features:
        return False
    transformer = getattr(model, "_preprocessor", None)
    if transformer is None:
        return True
    if type(transformer) is not ColumnTransformer or transformer.n_features_in_ != n_features:
        return False
    (_, encoder, codes), (_, checker, numbers), *rest = transformer.transformers_
    masks = [np.asarray(codes), np.asarray(numbers)]
    return (
        type(encoder) is OrdinalEncoder
        and is_array_check(checker)
        and all(mask.shape == (n_features,) and mask.dtype == bool for mask in masks)
        and bool((masks[0] != masks[1]).all())
        and all(name == "remainder" and step == "drop" for name, step, _ in rest)
        and getattr(transformer, "_sklearn_output_config", _PLAIN_OUTPUT) == _PLAIN_OUTPUT
    )


def _categories_are_valid(model: Any, trees: Any, nodes: Any, owner: Any, n_features: int) -> bool:
    """Check splits by categories: their features have them, and their bit sets are there."""
    split = nodes["is_categorical"] != 0
    if not split.any():
        return True
    categorical = _categorical_features(model)
    if categorical.shape != (n_features,):
        return False
    bitsets = [np.asarray(trees[tree].raw_left_cat_bitsets) for tree in owner[split]]
    known = np.array([len(sets) for sets in bitsets])
    return bool(
        categorical[nodes["feature_idx"][split]].all()
        and (nodes["bitset_idx"][split].astype(np.int64) < known).all()
        and all(sets.shape[1:] == (_CATEGORIES // 32,) for sets in bitsets)
    )


def _categorical_features(model: Any) -> Any:
    mapper = getattr(model, "_bin_mapper", None)
    if mapper is None or getattr(mapper, "is_categorical_", None) is None:
        return np.zeros(1, dtype=bool)
    flags = np.asarray(mapper.is_categorical_, dtype=bool)
    in_range = [
        not flag or bool(((np.asarray(values) >= 0) & (np.asarray(values) < _CATEGORIES)).all())
        for flag, values in zip(flags, mapper.bin_thresholds_, strict=True)
    ]
    return flags & in_range


# -- one-hot encoders: indices of a sparse matrix that is written densely --------------------------
def _encoder_is_valid(encoder: Any) -> bool:
    if not hasattr(encoder, "categories_"):
        return True  # not fitted
    sizes = list(map(len, encoder.categories_))
    if encoder._infrequent_enabled:
        mappings = encoder._default_to_infrequent_mappings
        pairs = zip(sizes, mappings, strict=True)
        sizes = [size if one is None else _n_groups(one, size) for size, one in pairs]
    dropped = encoder._drop_idx_after_grouping
    dropped = [None] * len(sizes) if dropped is None else dropped.tolist()
    if any(d is not None and not 0 <= d < n for d, n in zip(dropped, sizes, strict=True)):
        return False
    n_columns = [n - (d is not None) for d, n in zip(dropped, sizes, strict=True)]
    return (
        list(encoder._n_features_outs) == n_columns
        and encoder.n_features_in_ == len(sizes)
        and all(map(_is_sorted, encoder.categories_))
    )


def _n_groups(mapping: Any, n_categories: int) -> int:
    """Return how many groups a mapping of categories has; -1 if it leads elsewhere."""
    cells = np.asarray(mapping)
    is_valid = cells.dtype.kind in "iu" and cells.shape == (n_categories,) and cells.min() >= 0
    return int(cells.max()) + 1 if is_valid else -1


def _is_sorted(categories: Any) -> bool:
    """Tell whether numbers are in order, as the search among them needs; NaN comes last."""
    if categories.ndim != 1:
        return False
    if categories.dtype.kind in "US":  # found by a table
        return True
    if categories.dtype != object:
        cells = categories[:-1] if len(categories) and np.isnan(categories[-1]) else categories
        return bool((cells[:-1] < cells[1:]).all())
    cells = [cell for cell in categories.tolist() if cell is not None and cell == cell]
    if not any(isinstance(cell, int | float | np.number) for cell in cells):
        return True
    return all(one < two for one, two in pairwise(cells))


# -- gradient boosting: one column of predictions for each tree of a stage -------------------------
def _stages_are_sound(model: Any) -> bool:
    if not hasattr(model, "estimators_"):
        return True
    n_columns = model.n_trees_per_iteration_
    if isinstance(model, ensemble.GradientBoostingRegressor):
        expected = 1
    else:
        expected = 1 if len(model.classes_) == 2 else len(model.classes_)
    return (
        model.estimators_.ndim == 2
        and model.estimators_.shape[1] == n_columns == expected
        and _n_initial_columns(model) == n_columns
    )


def _n_initial_columns(model: Any) -> int:
    """Return how many columns the predictions have to which the trees add theirs."""
    if isinstance(model.init_, str) or not hasattr(model, "classes_"):
        return int(model.n_trees_per_iteration_)
    if not model._loss.is_multiclass:
        return 1  # the probability of one class
    check_models(model.init_, "init_")  # it predicts now
    rows = np.zeros((1, model.n_features_in_), dtype=np.float32)
    return int(model.init_.predict_proba(rows).shape[1])


_VALIDATORS: tuple[tuple[Any, Callable[[Any], bool]], ...] = (
    (preprocessing.OneHotEncoder, _encoder_is_valid),
    (_GRADIENT_BOOSTING, _stages_are_sound),
)
