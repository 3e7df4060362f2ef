"""Which types a model file may contain, and what is checked inside them.

skops builds no object whose type is not trusted by name, so loading runs no code of the file's
choosing. Trees are a case of their own: scikit-learn follows their indices without looking, and a
crafted file could make it read foreign memory. Their indices are therefore checked here.
"""

from __future__ import annotations

import itertools
import zipfile
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn import ensemble
from sklearn.tree import BaseDecisionTree

from replearn.compat import shared_base
from replearn.persistence._container import ModelFileError
from replearn.persistence._parts import OWN_TYPES, children, type_name

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


def dump(state: Any) -> bytes:
    """Write the models' state."""
    return bytes(_skops_io().dumps(state, compression=zipfile.ZIP_DEFLATED, compresslevel=1))


def _skops_io() -> Any:
    try:
        import skops.io.exceptions
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Model files need skops: pip install 'replicable-learn[files]'."
        ) from None
    return skops.io


def load_trusted(models: bytes, trusted: Sequence[str], name: str) -> Any:
    """Rebuild the models' state; a type that nobody trusts is refused by name."""
    skops_io = _skops_io()
    try:
        state = skops_io.loads(models, trusted=[*TRUSTED_TYPES, *trusted])
        check_trees(state, name)
    except ModelFileError:
        raise
    except skops_io.exceptions.UntrustedTypesFoundException:  # before anything was built
        check_types(models, trusted, name)
        raise
    except Exception as error:
        # What a broken state raises is not documented; none of it is the caller's mistake.
        raise ModelFileError(f"{name} cannot be rebuilt here: {error}") from error
    return state


def check_types(models: bytes, trusted: Sequence[str], name: str) -> None:
    """Refuse a state with types that nobody trusts; nothing is built."""
    unknown = set(_skops_io().get_untrusted_types(data=models)) - set(TRUSTED_TYPES) - set(trusted)
    if unknown:
        raise ModelFileError(
            f"{name} contains types that are not trusted: {', '.join(sorted(unknown))}. If you "
            "know where the file comes from and what these types do, name them: "
            f"trusted={sorted(unknown)!r} in Python, --trust TYPE on the command line."
        )


def check_trees(state: Any, name: str) -> None:
    """Refuse trees whose indices lead outside of the tree, the table or the categories."""
    for owner, n_features in _tree_owners(state, None):
        if not _is_sound(owner, n_features):
            raise ModelFileError(
                f"{name} contains a tree whose indices lead outside of it, or which no estimator "
                "known here owns; it was not written by save()."
            )


def _tree_owners(value: Any, n_features: int | None) -> Iterable[tuple[Any, int]]:
    """Find everything that holds trees, with the number of features it is asked about.

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


def _is_sound(owner: Any, n_features: int) -> bool:
    if isinstance(owner, _HISTOGRAM_BOOSTING):
        return n_features > 0 and _boosting_is_sound(owner, n_features)
    return isinstance(owner, BaseDecisionTree) and _tree_is_sound(owner.tree_, n_features)


def _width(estimator: Any) -> int:
    # Without this attribute scikit-learn does not check the width of a table: no tree fits -1.
    return int(getattr(estimator, "n_features_in_", -1))


def _tree_is_sound(tree: Any, n_features: int) -> bool:
    inner = np.flatnonzero(tree.children_left != -1)
    children = np.stack([tree.children_left[inner], tree.children_right[inner]])
    features = tree.feature[inner]
    return bool(
        tree.node_count > 0
        and tree.n_features == n_features
        # Trees are grown depth first: children stand behind their parents, so no walk is endless.
        and (children > inner).all()
        and (children < tree.node_count).all()
        and (features >= 0).all()
        and (features < n_features).all()
    )


def _boosting_is_sound(model: Any, n_features: int) -> bool:
    categorical = np.broadcast_to(_categorical_features(model), n_features)
    trees = itertools.chain(*model._predictors)
    return all(_predictor_is_sound(tree, n_features, categorical) for tree in trees)


def _categorical_features(model: Any) -> Any:
    mapper = getattr(model, "_bin_mapper", None)
    if mapper is None or getattr(mapper, "is_categorical_", None) is None:
        return np.zeros(1, dtype=bool)
    flags = np.asarray(mapper.is_categorical_, dtype=bool)
    sound = [
        not flag or bool(((np.asarray(values) >= 0) & (np.asarray(values) < _CATEGORIES)).all())
        for flag, values in zip(flags, mapper.bin_thresholds_, strict=True)
    ]
    return flags & sound


def _predictor_is_sound(tree: Any, n_features: int, categorical: Any) -> bool:
    nodes = tree.nodes
    places = np.flatnonzero(nodes["is_leaf"] == 0)
    inner = nodes[places]
    features = inner["feature_idx"].astype(np.int64)
    if not len(nodes) or not ((features >= 0) & (features < n_features)).all():
        return False
    children = np.stack([inner["left"], inner["right"]]).astype(np.int64)
    split = inner["is_categorical"] != 0
    bitsets = np.asarray(tree.raw_left_cat_bitsets)
    return bool(
        (children > places).all()
        and (children < len(nodes)).all()
        and (inner["bitset_idx"][split].astype(np.int64) < len(bitsets)).all()
        and categorical[features[split]].all()
        and (not split.any() or bitsets.shape[1:] == (_CATEGORIES // 32,))
    )
