"""Which types a model file may contain, and what is checked inside them.

What can be is packed into columns (`replearn.persistence._packing`), from a closed list of types;
the rest is written by skops, which builds no object whose type is not trusted by name; estimators
of scikit-learn without a validator must be named as well (`_skops_types`). Loading thus runs no
code of the file's choosing. Trees are a case of their own: scikit-learn follows their
indices without looking, and a crafted file could make it read foreign memory. Their indices are
therefore checked here.
"""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn import ensemble
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import BaseDecisionTree

from replearn.compat import shared_base
from replearn.persistence._budget import Budget
from replearn.persistence._container import PACKED, SKOPS, ModelFileError, Parts
from replearn.persistence._packed_types import is_array_check
from replearn.persistence._packing import (
    NotPackedError,
    native_types,
    pack_values,
    refuse_untrusted,
    unpack_values,
)
from replearn.persistence._parts import OWN_TYPES, children, type_name
from replearn.persistence._skops_archive import check_skops_archive
from replearn.persistence._skops_types import unvalidated_types
from replearn.persistence._validators import check_models

CHECKED_TYPES = (
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
)
TRUSTED_TYPES = OWN_TYPES + CHECKED_TYPES
"""Trusted beyond what skops trusts itself: scikit-learn's estimators, numpy, scipy, builtins."""

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
    *shared_base(ensemble.GradientBoostingClassifier, ensemble.GradientBoostingRegressor),
)
_CATEGORIES = 256
_PLAIN_OUTPUT = {"transform": "default"}


def dump(state: dict[str, Any]) -> Parts:
    """Write the models' state: each item packed if it can be, otherwise by skops."""
    try:
        return {PACKED: pack_values([state])}
    except NotPackedError:
        packed = {name: value for name, value in state.items() if not why_not_packed(value)}
    rest = {name: value for name, value in state.items() if name not in packed}
    written = _skops_io().dumps(rest, compression=zipfile.ZIP_DEFLATED, compresslevel=1)
    return {PACKED: pack_values([packed]), SKOPS: bytes(written)}


def why_not_packed(value: Any) -> str | None:
    """Say why a model cannot be packed into arrays, and is written one by one by skops.

    Parameters
    ----------
    value : object
        A base estimator, or any value of a model file.

    Returns
    -------
    str or None
        The type that is not packed; None if everything is.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn.persistence import why_not_packed
    >>> why_not_packed(DecisionTreeClassifier()) is None, why_not_packed(SVC())
    (True, 'sklearn.svm._classes.SVC is not packed')
    """
    try:
        pack_values([value])
    except NotPackedError as error:
        return str(error)
    return None


def _skops_io() -> Any:
    try:
        import skops.io.exceptions
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Model files of this base estimator require skops: "
            "pip install 'replicable-learn[files]'."
        ) from None
    return skops.io


def load_trusted(
    models: Parts, trusted_types: Sequence[str], name: str, max_bytes: int | None = None
) -> dict[str, Any]:
    """Rebuild the models' state; raise if it has types that are not trusted."""
    budget = Budget(name, sum(map(len, models.values())), max_bytes)
    state: dict[str, Any] = {}
    for part, read in ((PACKED, _read_packed), (SKOPS, _read_skops)):
        try:
            content = read(models[part], trusted_types, budget) if part in models else {}
            check_trees(content, name)
            check_models(content, name)
        except (ModelFileError, ModuleNotFoundError):
            raise
        except Exception as error:
            # What a broken state raises is not documented; none of it is the caller's mistake.
            raise ModelFileError(f"{name} cannot be rebuilt here: {error}") from error
        if not isinstance(content, dict) or set(content) & set(state):
            raise ModelFileError(f"{name} has two values for one item.")
        state |= content
    return state


def _read_packed(models: bytes, trusted_types: Sequence[str], budget: Budget) -> Any:
    [state] = unpack_values(models, budget, trusted_types)
    return state


def _read_skops(models: bytes, trusted_types: Sequence[str], budget: Budget) -> Any:
    skops_io = _skops_io()
    check_skops_archive(models, budget)
    check_types({SKOPS: models}, trusted_types, budget.name)
    return skops_io.loads(models, trusted=[*TRUSTED_TYPES, *trusted_types])


def untrusted_types(models: Parts) -> set[str]:
    """Return the names of the types that `load` trusts only by name."""
    native = native_types(models[PACKED]) if PACKED in models else set()
    if SKOPS not in models:
        return native
    untrusted = set(_skops_io().get_untrusted_types(data=models[SKOPS])) - set(TRUSTED_TYPES)
    return native | untrusted | unvalidated_types(models[SKOPS])


def check_types(models: Parts, trusted_types: Sequence[str], name: str) -> None:
    """Raise if a state has types that are not trusted; nothing is built."""
    refuse_untrusted(untrusted_types(models) - set(trusted_types), name)


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
