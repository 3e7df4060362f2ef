"""What goes into a learner: features as they come, labels as codes, and the trap in front."""

from __future__ import annotations

import re
import warnings
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from replearn._sklearn_compat import validate_data
from replearn.exceptions import PreprocessingWarning

# A fitted scaler leaves its mark to within rounding; data that arrive standardised by a published
# table do not. Fewer rows than this prove nothing.
_MARK_TOLERANCE = 1e-9
_MARK_ROWS = 30
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def check_features(learner: Any, X: Any, *, reset: bool) -> Any:
    """Check shape and names, and leave the values to the base learner and the encoding."""
    if _is_text_column(X) or hasattr(X, "columns"):
        validate_data(learner, X, reset=reset, skip_check_array=True)
        return X
    return validate_data(
        learner,
        X,
        reset=reset,
        accept_sparse=True,
        dtype=None,
        ensure_all_finite=False,
        order="C",
    )


def _is_text_column(X: Any) -> bool:
    """A single column of documents, as text vectorisers take it."""
    if getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__") or len(X) == 0:
        return False
    first = X[0] if isinstance(X, list | tuple | np.ndarray) else next(iter(X))
    return isinstance(first, str)


def check_labels(X: Any, y: Any, classes: Any) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Labels as codes into the sorted list of classes.

    The list comes from the caller or the plan where one is given, because a list learned from the
    data may differ between two labs.
    """
    if y is None:
        raise ValueError("y is missing: requires y to be passed, but the target y is None.")
    y = column_or_1d(np.asarray(y), warn=True)
    check_consistent_length(X, y)
    check_classification_targets(y)
    found, codes = np.unique(y, return_inverse=True)
    if classes is None:
        return codes.astype(np.intp), found
    known = np.unique(np.asarray(classes))
    unknown = [label for label in found.tolist() if label not in set(known.tolist())]
    if unknown:
        raise ValueError(
            f"y has labels that are not in classes={known.tolist()}: {unknown[:5]}. "
            "Add them to classes, or leave those rows out."
        )
    return np.searchsorted(known, found)[codes].astype(np.intp), known


def check_groups(groups: Any, n_rows: int) -> NDArray[Any] | None:
    """One group id per row, or None."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    if groups.shape != (n_rows,):
        raise ValueError(f"groups has shape {groups.shape}, but there are {n_rows} rows.")
    return groups


def warn_if_preprocessed(X: Any) -> None:
    """Warn when the features carry the mark of a scaler that was fitted on these very rows.

    Such a scaler moves every point a little at each retraining, so that each point gets a new
    threshold: the promise is lost. It belongs inside the base estimator.
    """
    marks = _scaler_marks(X)
    if marks:
        warnings.warn(
            f"X looks as if {marks} had been fitted on it before. A fitted transformer in front of "
            "a replicable classifier changes every point at every retraining, and with it every "
            "threshold: the promise does not hold. Put it inside: "
            "estimator=make_pipeline(StandardScaler(), LogisticRegression()).",
            PreprocessingWarning,
            stacklevel=3,
        )


def warn_if_precision_changed(X: Any, fitted: Any) -> None:
    """Warn when points come in another float precision than the training rows did.

    ``float32(0.1)`` is another number than ``0.1``: such points have thresholds of their own.
    """
    dtype = getattr(X, "dtype", None)
    if dtype == fitted or getattr(dtype, "kind", None) != "f" or fitted != np.float64:
        return
    warnings.warn(
        f"X is {dtype}, but the training rows were float64: the same person has other numbers, and "
        "so another threshold, than in a float64 table. Use one precision, or decimals=6.",
        PreprocessingWarning,
        stacklevel=5,
    )


def _scaler_marks(X: Any) -> str | None:
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind != "f" or len(X) < _MARK_ROWS:
        return None
    tolerance = _MARK_TOLERANCE if X.dtype == np.float64 else 1e-4
    standard = unit_range = True
    moving = inner = False
    with np.errstate(invalid="ignore", over="ignore"):
        for column in X.T:  # nearly always the first column clears the table of both suspicions
            low, high = column.min(), column.max()
            if not low < high:  # constant, or with missing values
                continue
            moving = True
            unit_range = unit_range and low == 0 and high == 1
            inner = inner or (unit_range and not np.isin(column, (0.0, 1.0)).all())
            standard = standard and _is_standard(column, tolerance)
            if not (standard or unit_range):
                return None
    if moving and standard:
        return "a StandardScaler"
    return "a MinMaxScaler" if inner and unit_range else None


def _is_standard(column: NDArray[Any], tolerance: float) -> bool:
    return abs(column.mean()) <= tolerance and abs(column.std() - 1) <= tolerance


def describe_learner(estimator: Any) -> tuple[str, str]:
    """Describe the base learner in words and by a digest of all its parameters.

    Two labs belong to one promise only if they train the same learner.
    """
    params = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    # Objects without a repr of their own print an address, which differs between processes.
    lines = [f"{name}={_ADDRESS.sub('', repr(value))}" for name, value in sorted(params.items())]
    digest = sha256("\n".join([type(estimator).__qualname__, *lines]).encode()).hexdigest()
    return " ".join(_ADDRESS.sub("", repr(estimator)).split()), digest[:16]
