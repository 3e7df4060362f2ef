"""What compiled code of scikit-learn takes for granted about a model, checked before it runs.

It follows indices and sizes of a fitted model without looking: a forged model makes it read or
write foreign memory. Every such number is computed again here from the arrays themselves. Trees
are checked in `replearn.persistence._trust`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import ensemble, neighbors, preprocessing, svm
from sklearn.feature_extraction import text

from replearn.compat import shared_base
from replearn.persistence._container import ModelFileError
from replearn.persistence._parts import children, type_name

_GRADIENT_BOOSTING = shared_base(
    ensemble.GradientBoostingClassifier, ensemble.GradientBoostingRegressor
)
_HISTOGRAM_BOOSTING = shared_base(
    ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor
)
_SUPPORT_VECTORS = (svm.SVC, svm.NuSVC, svm.SVR, svm.NuSVR, svm.OneClassSVM)
_NEIGHBORS = (
    neighbors.KNeighborsClassifier,
    neighbors.KNeighborsRegressor,
    neighbors.NearestNeighbors,
    neighbors.RadiusNeighborsClassifier,
    neighbors.RadiusNeighborsRegressor,
)


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


# -- support vectors and neighbours: rows of the training sample -----------------------------------
def _support_is_valid(model: Any) -> bool:
    if not hasattr(model, "support_"):
        return True
    n_vectors = len(model.support_)
    n_classes = len(model.classes_) if hasattr(model, "classes_") else 2
    n_pairs = n_classes * (n_classes - 1) // 2
    per_class = np.asarray(model._n_support)
    # A regression counts all of its vectors in the first of two classes.
    n_counted = per_class.sum() if hasattr(model, "classes_") else per_class[0]
    return bool(
        model.support_.shape == (n_vectors,)
        and "_impl" not in vars(model)
        and len(per_class) == n_classes
        and (per_class >= 0).all()
        and n_counted == n_vectors
        and all(
            part.shape == (n_classes - 1, n_vectors)
            for part in map(_sound_matrix, (model._dual_coef_, model.dual_coef_))
        )
        and model._intercept_.shape == model.intercept_.shape == (n_pairs,)
        and all(part.shape in ((0,), (n_pairs,)) for part in (model._probA, model._probB))
        and _vectors_are_sound(model, n_vectors)
    )


def _vectors_are_sound(model: Any, n_vectors: int) -> bool:
    vectors = _sound_matrix(model.support_vectors_)
    if isinstance(model.kernel, str) and model.kernel != "precomputed":
        return bool(vectors.shape == (n_vectors, model.n_features_in_))
    n_rows = model.shape_fit_[0]  # of which a kernel computes one column each
    return bool(((model.support_ >= 0) & (model.support_ < n_rows)).all())


def _neighbors_are_sound(model: Any) -> bool:
    if not hasattr(model, "_fit_X"):
        return True
    rows = _sound_matrix(model._fit_X)
    n_rows = model.n_samples_fit_
    if rows.shape != (n_rows, model.n_features_in_) or n_rows < 1:
        return False
    if not hasattr(model, "_y"):
        return True
    if len(model._y) != n_rows or not hasattr(model, "classes_"):
        return len(model._y) == n_rows
    codes = np.asarray(model._y).reshape(n_rows, -1)
    classes = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
    return codes.shape[1] == len(classes) and all(
        column.dtype.kind in "iu" and column.min() >= 0 and column.max() < len(labels)
        for column, labels in zip(codes.T, classes, strict=True)
    )


def _sound_matrix(matrix: Any) -> Any:
    """Return a matrix; a sparse one only if its indices lead inside."""
    is_sparse: bool = sparse.issparse(matrix)
    if not is_sparse:
        return np.asarray(matrix)
    if matrix.format != "csr":  # what scikit-learn keeps
        raise ModelFileError(f"a matrix has the format {matrix.format!r} instead of 'csr'.")
    matrix.check_format(full_check=True)
    return matrix


# -- text: a vocabulary numbers the columns of a sparse matrix ------------------------------------
def _vocabulary_is_valid(vectorizer: Any) -> bool:
    vocabulary = getattr(vectorizer, "vocabulary_", {})
    return sorted(vocabulary.values()) == list(range(len(vocabulary)))


_VALIDATORS: tuple[tuple[Any, Callable[[Any], bool]], ...] = (
    (preprocessing.OneHotEncoder, _encoder_is_valid),
    (_GRADIENT_BOOSTING, _stages_are_sound),
    (_SUPPORT_VECTORS, _support_is_valid),
    (_NEIGHBORS, _neighbors_are_sound),
    (text.CountVectorizer, _vocabulary_is_valid),
)
