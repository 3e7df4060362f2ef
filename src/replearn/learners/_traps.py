"""The trap in front of the classifier: what changes a point, and so its threshold, unnoticed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.exceptions import PreprocessingWarning
from replearn.learners._warn import warn_user

Column = NDArray[np.floating[Any]]

# A transformer fitted on these very rows leaves its mark to within rounding; data that arrive
# standardised by a published table do not. Fewer rows than this prove nothing.
_TOLERANCE = 1e-9
_SHORT_FLOAT_TOLERANCE = 1e-4
_FEWEST_ROWS = 30
_FIRST_ROWS = 128


def warn_if_preprocessed(X: Any) -> None:
    """Warn when the features carry the mark of a transformer that was fitted on these very rows.

    Such a transformer moves every point a little at each retraining, so that each point gets a new
    threshold: the promise is lost. It belongs inside the base estimator.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        mark = _mark(X)
    if mark:
        warn_user(
            f"X looks as if {mark} had been fitted on it before. A fitted transformer in front of "
            "a replicable classifier changes every point at every retraining, and with it every "
            "threshold: the promise does not hold. Put it inside: "
            "estimator=make_pipeline(StandardScaler(), LogisticRegression()).",
            PreprocessingWarning,
        )


def warn_if_precision_changed(X: Any, fitted: Any) -> None:
    """Warn when points come in another float precision than the training rows did.

    ``float32(0.1)`` is another number than ``0.1``: such points have thresholds of their own.
    """
    dtype = float_precision(X)
    if dtype is None or dtype == fitted or fitted != np.float64:
        return
    warn_user(
        f"X is {dtype}, but the training rows were float64: the same person has other numbers, and "
        "so another threshold, than in a float64 table. Use one precision, or decimals=6.",
        PreprocessingWarning,
    )


def float_precision(X: Any) -> np.dtype[Any] | None:
    """Return the shortest float type in a table, or None if it has no floats."""
    if hasattr(X, "columns"):
        found = [column.dtype for column, _ in _float_columns(X[:1])]
        return min(found, key=lambda dtype: dtype.itemsize, default=None)
    dtype = getattr(X, "dtype", None)
    return dtype if getattr(dtype, "kind", None) == "f" else None


def _mark(X: Any) -> str | None:
    """Name the transformer whose mark the columns carry, if any."""
    known = [pair for pair in _float_columns(X) if len(pair[0]) >= _FEWEST_ROWS]
    columns = [column for column, _ in known]
    suspects = [column for column, total in known if _is_centred(column, total)]
    long = [column for column in suspects if column.dtype == np.float64]
    # One column of doubles is proof enough; short floats only if all agree, and so for the others.
    if any(_has_unit_spread(column) for column in long if _moves(column)):
        return "a StandardScaler"
    moving = [column for column in suspects if _moves(column)]
    if moving and len(suspects) == len(columns):
        if all(_has_unit_spread(column) for column in moving):
            return "a StandardScaler"
        if not any(_is_whole(column) for column in moving):  # a balanced design is centred too
            return "PCA, or another transformer that centres columns,"
    for name, fits in _RANGES.items():
        if _all_fit(columns, fits):
            return name
    return None


def _all_fit(columns: list[Column], fits: Any) -> bool:
    """Whether all columns fit, and one of them is more than a code in whole numbers."""
    return all(fits(column) for column in columns) and any(not _is_whole(c) for c in columns)


def _float_columns(X: Any) -> Iterator[tuple[Column, float]]:
    """Yield the known values of each column of floats, and their sum."""
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.dtype.kind != "f":
            return
        pairs: Any = zip(X.T, X.sum(axis=0, dtype=np.float64), strict=True)
    else:
        columns = (_as_floats(column) for column in _columns(X))
        pairs = ((c, c.sum(dtype=np.float64)) for c in columns if c is not None)
    for column, total in pairs:
        if np.isnan(total):
            column = column[~np.isnan(column)]
            total = column.sum(dtype=np.float64)
        yield column, float(total)


def _columns(X: Any) -> Iterator[Any]:
    """Yield the columns of a frame (pandas allows several of one name)."""
    if hasattr(X, "iloc"):
        return (X.iloc[:, place] for place in range(X.shape[1]))
    return iter(X.get_columns() if hasattr(X, "get_columns") else ())


def _as_floats(column: Any) -> Column | None:
    """Return a column of a frame as an array if it holds floats; None for all others."""
    name = str(column.dtype).lower()  # pandas: float64, or Float64 with missing values; polars
    if name not in ("float16", "float32", "float64"):
        return None
    if hasattr(column, "iloc"):
        return np.asarray(column.to_numpy(dtype=name, na_value=np.nan))
    return np.asarray(column.to_numpy(), dtype=name)


def _tolerance(column: Column) -> float:
    return _TOLERANCE if column.dtype == np.float64 else _SHORT_FLOAT_TOLERANCE


def _is_centred(column: Column, total: float) -> bool:
    # The first rows tell the scale well enough to clear nearly every column by its sum.
    mean, tolerance = abs(total) / len(column), _tolerance(column)
    if not mean <= 1e3 * tolerance * np.abs(column[:_FIRST_ROWS]).max():
        return False
    return bool(mean <= tolerance * column.std(dtype=np.float64))


def _has_unit_spread(column: Column) -> bool:
    return bool(abs(column.std(dtype=np.float64) - 1) <= _tolerance(column))


def _moves(column: Column) -> bool:
    """Whether a column has more than two values: indicators prove nothing."""
    low, high = column.min(), column.max()
    return bool(low < high) and not bool(((column == low) | (column == high)).all())


def _is_whole(column: Column) -> bool:
    return bool((column == np.round(column)).all())


def _has_unit_range(column: Column) -> bool:
    low, high = column.min(), column.max()
    return bool(low == high or (low == 0 and abs(high - 1) <= _tolerance(column)))


def _has_unit_size(column: Column) -> bool:
    low, high = column.min(), column.max()
    return bool(low == high or abs(max(-low, high) - 1) <= _tolerance(column))


def _has_unit_quartiles(column: Column) -> bool:
    tolerance, half = _tolerance(column), (len(column) + 1) // 2
    if max(np.count_nonzero(column < -tolerance), np.count_nonzero(column > tolerance)) > half:
        return False  # the median is not zero, and quartiles take long
    first, middle, third = np.percentile(column, (25, 50, 75))
    return bool(abs(middle) <= tolerance and abs(third - first - 1) <= tolerance)


_RANGES = {
    "a MinMaxScaler": _has_unit_range,
    "a MaxAbsScaler": _has_unit_size,
    "a RobustScaler": _has_unit_quartiles,
}
