"""Warnings about data and models that make the promise void or the model useless.

A transformer in front of the classifier changes every point at every retraining. Block models with
too few rows may answer a constant: histogram boosting that wants 20 rows in each leaf cannot split
a block of 39, and fits without a word.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from replearn.exceptions import ConstantBlocksWarning, PreprocessingWarning
from replearn.execution import ConstantVote, one_thread
from replearn.randomness import SharedKey
from replearn.tables import take_rows

Column = NDArray[np.floating[Any]]

# Frames of these packages are not where the user can change anything.
_LIBRARIES = frozenset({"joblib", "replearn", "sklearn"})

# A transformer fitted on these very rows leaves its mark to within rounding; data that arrive
# standardised by a published table do not. Fewer rows than this prove nothing.
_TOLERANCE = 1e-9
_SHORT_FLOAT_TOLERANCE = 1e-4
_FEWEST_ROWS = 30
_FIRST_ROWS = 128

PROBES = 256
"""Training rows that models are asked about."""

ASKED = 16
"""Models that are asked, the first ones of the first partition; half of them can clear all."""

NOTABLE = 0.05
"""Where all other labels together are rarer, the most frequent one is a plausible answer to all."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the place of the nearest caller outside the libraries."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _package(frame) in _LIBRARIES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


# -- a transformer in front ------------------------------------------------------------------------
def warn_if_preprocessed(X: Any) -> None:
    """Warn when the features carry the mark of a transformer that was fitted on these very rows."""
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


def _mark(X: Any) -> str | None:
    """Name the transformer whose mark the columns carry, if any."""
    known = [pair for pair in float_columns(X) if len(pair[0]) >= _FEWEST_ROWS]
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
    if all(_is_whole(column) for column in columns):  # codes in whole numbers
        return None
    fitting = (name for name, fits in _RANGES.items() if all(map(fits, columns)))
    return next(fitting, None)


def float_columns(X: Any) -> Iterator[tuple[Column, float]]:
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


def _columns(X: Any) -> list[Any]:
    """Return the columns of a frame (pandas allows several of one name)."""
    if hasattr(X, "iloc"):
        return [X.iloc[:, place] for place in range(X.shape[1])]
    return X.get_columns() if hasattr(X, "get_columns") else []


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


# -- models that cannot tell rows apart ------------------------------------------------------------
class Constant(NamedTuple):
    """How many of the models that were asked are constant, and what they were asked."""

    n_constant: int
    n_asked: int
    n_probes: int
    others: float

    @property
    def asked_about(self) -> str:
        """What the models were asked, and why a constant is no good answer."""
        return (
            f"to all {self.n_probes} training rows they were asked about, although "
            f"{self.others:.0%} of the labels differ from the most frequent one"
        )


def find_constant(
    models: Sequence[Any], base: Any, X: Any, codes: NDArray[np.intp], rows: NDArray[np.intp]
) -> Constant | None:
    """Return what is known if most models do not tell any two of some training rows apart.

    A model counts as constant if its scores are, not only its answers: where one label prevails,
    a learner may answer it to everybody for good reason. ``rows`` are in keyed order, so that the
    file's order does not matter.
    """
    others = 1.0 - np.bincount(codes).max() / len(codes)
    if others < NOTABLE or _is_dummy(base):
        return None
    probes, asked = take_rows(X, rows[:PROBES]), models[:ASKED]
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")  # whoever predicts hears them
        n_constant = _count_constant(asked, probes)
        # Equal rows nobody can tell apart.
        if n_constant == 0 or len(np.unique(SharedKey(0).hashes(probes))) == 1:
            return None
    return Constant(n_constant, len(asked), len(rows[:PROBES]), float(others))


def warn_if_constant(
    models: Sequence[Any], base: Any, sample: Any, blocks: Any, block_size: int, unit: str = "rows"
) -> None:
    """Warn if most block models are constant; ``blocks`` are those of the first partition."""
    rows = np.concatenate(blocks)
    constant = find_constant(models[: len(blocks)], base, sample.X, sample.codes, rows)
    if constant is None:
        return
    size = f"{block_size} {unit if block_size > 1 else unit.removesuffix('s')}"
    warn_user(
        f"most blocks cannot tell rows apart: {constant.n_constant} of the {constant.n_asked} "
        f"models of {_one_line(base)} that were asked, each trained on {size}, give one and the "
        f"same score {constant.asked_about}. Either {size} per block are too few for this learner "
        "as it is set, or the features say nothing about the labels. What is promised holds, but "
        "of a model that hardly looks at the features. Try a learner that splits small blocks "
        "(boosting: min_samples_leaf=5), a simpler or less regularised one, fewer blocks (n_blocks "
        f"below {len(blocks)}), or more {unit}.",
        ConstantBlocksWarning,
    )


def warn_if_all_constant(searched: Sequence[Constant | None], base: Any, train_size: int) -> None:
    """Warn if no configuration of a search tells rows apart."""
    constant = searched[0] if searched else None
    if constant is None or None in searched:
        return
    warn_user(
        f"no configuration of {_one_line(base)} can tell rows apart: of each, most of the first "
        f"{constant.n_asked} models give one and the same score {constant.asked_about}. Either "
        f"train_size={train_size} is too small for this learner as it is configured, or the "
        "features say nothing about the labels. What is promised holds, but the choice hardly "
        "depends on the sample. Try a larger train_size, or configurations for few rows (boosting: "
        "min_samples_leaf=5).",
        ConstantBlocksWarning,
    )


def _is_dummy(base: Any) -> bool:
    """Whether a learner says of itself that it is no good, as DummyClassifier does."""
    tags = get_tags(base).classifier_tags if hasattr(base, "__sklearn_tags__") else None
    return tags is not None and tags.poor_score


def _count_constant(models: Sequence[Any], probes: Any) -> int:
    """Count the models that are constant; 0 as soon as it is clear that they are not the most."""
    n_constant = 0
    for place, model in enumerate(models):
        n_constant += not _tells_apart(model, probes)
        if 2 * (place + 1 - n_constant) >= len(models):
            return 0
    return n_constant


def _tells_apart(model: Any, probes: Any) -> bool:
    if isinstance(model, ConstantVote):
        return False
    names = ("decision_function", "predict_proba", "predict")
    try:
        ask = next(getattr(model, name) for name in names if hasattr(model, name))
        answers = np.asarray(ask(probes))
    except Exception:
        return True  # nothing is known; a fit does not fail over a question nobody asked
    return bool((answers != answers[:1]).any())


def _one_line(base: Any) -> str:
    return " ".join(repr(base).split())
