"""What the features alone refute: numbered rows, and marks of a transformer fitted on them.

A transformer in front of the classifier changes every point at every retraining. One that was
fitted on these very rows leaves its mark to within rounding; data that arrive standardised by a
published table do not. What leaves no mark in one table (a power transform of continuous columns)
is stated as a condition, and found by a probe (`replearn.learners.encode_probe`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.binding.schema import row_number_column
from replearn.exceptions import PreprocessingWarning, warn_user

Column = NDArray[np.floating[Any]]

IMPUTER = "an imputer that fills in the mean"
CUT = "a cut at quantiles (winsorising)"
ORTHOGONAL = "TruncatedSVD, or another transformer that makes columns orthogonal,"

TOLERANCE = 1e-9
FIRST_ROWS = 128
MIN_IMPUTED = 3
MIN_CUT = 20
_SHORT_FLOAT_TOLERANCE = 1e-4
ROUGH = 1e-6
MIN_ROWS = 30
"""Fewer rows prove nothing."""

_CELLS_TOGETHER = 1 << 17
"""Cells of a small table that are looked at together: a megabyte."""

MAX_ORTHOGONAL = 4
NORMAL_END = 5.199337582605575
"""Normal scores of scikit-learn's QuantileTransformer end here."""

_SINGLE_MARKS = ("a StandardScaler(with_mean=False)", "a QuantileTransformer", IMPUTER)
"""Marks that one column shows, in the order in which they are reported."""


def sample_conditions(X: Any) -> tuple[str, ...]:
    """Return what the features refute, and warn about it."""
    return say_conditions(preprocessing_mark(X), row_number_column(X))


def say_conditions(mark: str | None, numbered: Any) -> tuple[str, ...]:
    """Say in words that a mark was found or a column numbers the rows, and warn about it."""
    failed = []
    if mark:
        failed.append(mark)
        warn_user(
            f"{mark}. A fitted transformer in front of a replicable classifier changes every point "
            "at every retraining, and with it every threshold: the promise does not hold. Put it "
            "inside: estimator=make_pipeline(StandardScaler(), LogisticRegression()).",
            PreprocessingWarning,
        )
    if numbered is not None:
        failed.append(
            f"column {numbered!r} numbers the rows, so that the rows are not independent and no "
            "point occurs in two samples"
        )
        warn_user(f"{failed[-1]}. Leave it out of X.", PreprocessingWarning)
    return tuple(failed)


def preprocessing_mark(X: Any) -> str | None:
    """Say in words if the features carry the mark of a transformer fitted on these very rows.

    >>> X = np.random.default_rng(0).normal(3, 2, (100, 2))
    >>> preprocessing_mark(X), preprocessing_mark((X - X.mean(axis=0)) / X.std(axis=0))
    (None, 'X looks as if a StandardScaler had been fitted on it before')
    """
    with np.errstate(invalid="ignore", over="ignore"):
        cleared = _cleared_columns(X)
        pairs = zip(float_columns(X), cleared, strict=False)
        known = [_Cells(*pair, flag) for pair, flag in pairs if len(pair[0]) >= MIN_ROWS]
        return say_mark(mark_of_columns(known, _are_orthogonal))


def say_mark(mark: str | None) -> str | None:
    """Say that a transformer has left its mark."""
    return f"X looks as if {mark} had been fitted on it before" if mark else None


class _Cells:
    """A column in memory; each statistic is computed when it is used first."""

    def __init__(self, cells: Column, total: float, is_cleared: bool = False) -> None:
        self.mean = total / len(cells)
        self.cells = cells
        self.dtype = cells.dtype
        self.is_cleared = is_cleared  # whether it surely shows no mark of single columns

    @property
    def may_be_centred(self) -> bool:
        # The first rows tell the scale well enough to clear nearly every column by its sum.
        scale = np.abs(self.cells[:FIRST_ROWS]).max()
        return bool(abs(self.mean) <= 1e3 * tolerance_of(self) * scale)

    @cached_property
    def std(self) -> float:
        return float(self.cells.std(dtype=np.float64))

    @property
    def rough_variance(self) -> float:  # in one pass
        return _product(self.cells, self.cells) / len(self.cells) - self.mean**2

    @cached_property
    def low(self) -> Any:
        return self.cells.min()

    @cached_property
    def high(self) -> Any:
        return self.cells.max()

    @cached_property
    def moves(self) -> bool:
        ends = (self.cells == self.low) | (self.cells == self.high)
        return bool(self.low < self.high) and not bool(ends.all())

    @cached_property
    def whole(self) -> bool:
        return is_whole(self.cells)

    @property
    def few_decimals(self) -> bool:
        first = self.cells[:FIRST_ROWS]
        return bool((np.round(first, 6) == first).mean() > 0.5)

    @property
    def has_unit_quartiles(self) -> bool:
        tolerance = tolerance_of(self)
        half = (len(self.cells) + 1) // 2
        below = np.count_nonzero(self.cells < -tolerance)
        above = np.count_nonzero(self.cells > tolerance)
        if max(below, above) > half:
            return False  # the median is not zero, and quartiles take long
        first, middle, third = np.percentile(self.cells, (25, 50, 75))
        return bool(abs(middle) <= tolerance and abs(third - first - 1) <= tolerance)

    @property
    def repeated_ends(self) -> tuple[int, int] | None:
        # The first rows clear nearly every column.
        if min(_at_ends(self.cells[: 8 * FIRST_ROWS])) < 2 or repeats_inside(self.cells):
            return None
        return _at_ends(self.cells)

    def side_by_side(self) -> _Cells:
        # Several passes over a column cost a fifth with its cells side by side; all columns at
        # once would take as much memory as the table.
        cells = np.ascontiguousarray(self.cells)
        return _Cells(cells, float(cells.sum()))


def _cleared_columns(X: Any) -> Iterator[bool]:
    """Tell for each column whether it surely shows no mark of single columns.

    Columns of an array are looked at together, several of a small table at once: with limits ten
    times as wide as those of the marks nearly all of them are cleared. Others are looked at singly.
    """
    is_table = type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64
    if not is_table or len(X) < MIN_ROWS:
        yield from repeat(False)
        return
    n_together = max(1, _CELLS_TOGETHER // len(X))
    for start in range(0, X.shape[1], n_together):
        rows = np.ascontiguousarray(X[:, start : start + n_together].T)
        yield from (~_may_show_mark(rows)).tolist()


def _may_show_mark(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which rows (columns of a table) may show a mark; those with missing cells may."""
    n_cells = rows.shape[1]
    means = rows.sum(axis=1) / n_cells
    variances = np.einsum("ij,ij->i", rows, rows) / n_cells - means**2
    ends = np.abs(rows.max(axis=1) - NORMAL_END) + np.abs(rows.min(axis=1) + NORMAL_END)
    found = ~np.isfinite(means) | (np.abs(variances - 1) <= 10 * ROUGH) | (ends <= 10 * ROUGH)
    first = rows[:, : 8 * FIRST_ROWS]
    at_low = first == first.min(axis=1, keepdims=True)
    at_high = first == first.max(axis=1, keepdims=True)
    distances = rows - means[:, np.newaxis]
    np.abs(distances, out=distances)
    is_near = distances <= 10 * TOLERANCE * np.maximum(1.0, np.abs(means))[:, np.newaxis]
    for index, parts in enumerate(zip(at_low, at_high, is_near, strict=True)):
        n_low, n_high, n_near = map(np.count_nonzero, parts)
        found[index] |= min(n_low, n_high) >= 2 or n_near >= MIN_IMPUTED
    return np.asarray(found)


def _at_ends(column: Column) -> tuple[int, int]:
    low, high = (np.count_nonzero(column == end) for end in (column.min(), column.max()))
    return int(low), int(high)


def _product(one: Column, two: Column) -> float:
    return float(np.einsum("i,i->", one, two))  # without the threads of a matrix library


def _are_orthogonal(measured: Sequence[_Cells]) -> bool:
    columns = [column.cells for column in measured]
    if len(columns) < 2 or len({len(column) for column in columns}) > 1:
        return False
    first, second = columns[:2]  # one pair clears nearly every table
    sizes = _product(first, first) * _product(second, second)
    if abs(_product(first, second)) > TOLERANCE * np.sqrt(sizes):
        return False
    matrix = np.column_stack(columns)
    filled = (matrix != 0).mean(axis=0) > 0.5
    if not filled.all() or any(map(is_whole, columns)):
        return False  # indicators of disjoint groups are orthogonal too
    return products_vanish(matrix.T @ matrix)


def float_columns(X: Any) -> Iterator[tuple[Column, float]]:
    """Yield the known values of each column of floats, and their sum."""
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.dtype.kind != "f":
            return
        pairs: Any = zip(X.T, X.sum(axis=0, dtype=np.float64), strict=True)
    else:
        columns = (as_floats(column) for column in columns_of(X))
        pairs = ((c, c.sum(dtype=np.float64)) for c in columns if c is not None)
    for column, total in pairs:
        if np.isnan(total):
            column = column[~np.isnan(column)]
            total = column.sum(dtype=np.float64)
        yield column, float(total)


def columns_of(X: Any) -> Iterator[Any]:
    """Yield the columns of a frame (pandas allows several of one name)."""
    if hasattr(X, "iloc"):
        return (X.iloc[:, index] for index in range(X.shape[1]))
    return iter(X.get_columns() if hasattr(X, "get_columns") else ())


def as_floats(column: Any) -> Column | None:
    """Return a column of a frame as an array if it holds floats; None for all others."""
    name = str(column.dtype).lower()  # pandas: float64, or Float64 with missing values; polars
    if name not in ("float16", "float32", "float64"):
        return None
    if hasattr(column, "iloc"):
        return np.asarray(column.to_numpy(dtype=name, na_value=np.nan))
    return np.asarray(column.to_numpy(), dtype=name)


# -- the marks themselves; a column is `_Cells`, or `Moments` of the pieces of a file --------------
def mark_of_columns(
    columns: Sequence[Any], are_orthogonal: Callable[[Sequence[Any]], bool]
) -> str | None:
    """Name the transformer whose mark the columns of floats carry, if any."""
    found = _mark_of_means(columns)
    if found is not None:
        return found
    if all(c.has_unit_quartiles for c in columns) and any(not c.whole for c in columns):
        return "a RobustScaler"
    long = [column for column in columns if is_long(column)]
    single: set[str] = set()
    ends = []
    for column in long:
        if column.is_cleared:
            continue
        close = column.side_by_side()
        single.update(_single_marks(close))
        ends.append(close.repeated_ends)
    for name in _SINGLE_MARKS:
        if name in single:
            return name
    if _were_cut([pair for pair in ends if pair is not None]):
        return CUT
    return ORTHOGONAL if are_orthogonal(long[:MAX_ORTHOGONAL]) else None


def _mark_of_means(known: Sequence[Any]) -> str | None:
    """Name a transformer that shows in means, spreads and ends."""
    suspects = [column for column in known if column.may_be_centred and _is_centred(column)]
    moving = [column for column in suspects if column.moves]
    # One column of doubles is proof enough; short floats only if all agree, and so for the others.
    if any(_has_unit_spread(column) for column in moving if is_long(column)):
        return "a StandardScaler"
    if moving and len(suspects) == len(known):
        if all(map(_has_unit_spread, moving)):
            return "a StandardScaler"
        if not any(column.whole for column in moving):  # a balanced design is centred too
            return "PCA, or another transformer that centres columns,"
    for name, fits in (("a MinMaxScaler", _has_unit_range), ("a MaxAbsScaler", _has_unit_size)):
        # one of them is more than a code in whole numbers
        if all(map(fits, known)) and any(not column.whole for column in known):
            return name
    return None


def _single_marks(column: Any) -> set[str]:
    """Name the transformers whose mark one column of doubles shows."""
    mean_is_there = has_imputed_mean(column.cells, column.mean)
    fits = _was_scaled(column), _has_normal_ends(column), mean_is_there
    return {name for name, is_there in zip(_SINGLE_MARKS, fits, strict=True) if is_there}


def is_long(column: Any) -> bool:
    """Whether a column holds doubles."""
    return bool(np.dtype(column.dtype) == np.float64)


def tolerance_of(column: Any) -> float:
    """How exact a mark has to be in numbers of this kind."""
    return TOLERANCE if is_long(column) else _SHORT_FLOAT_TOLERANCE


def _is_centred(column: Any) -> bool:
    return bool(abs(column.mean) <= tolerance_of(column) * column.std)


def _has_unit_spread(column: Any) -> bool:
    return bool(abs(column.std - 1) <= tolerance_of(column))


def _has_unit_range(column: Any) -> bool:
    unit = column.low == 0 and abs(column.high - 1) <= tolerance_of(column)
    return bool(column.low == column.high or unit)


def _has_unit_size(column: Any) -> bool:
    size = max(-column.low, column.high)
    return bool(column.low == column.high or abs(size - 1) <= tolerance_of(column))


def _was_scaled(column: Any) -> bool:
    """Whether the spread is one; numbers that look recorded, not computed, have it by chance."""
    if not abs(column.rough_variance - 1) <= ROUGH or column.few_decimals:
        return False
    return _has_unit_spread(column) and bool(column.moves)


def _has_normal_ends(column: Any) -> bool:
    """Whether a column is cut where scikit-learn cuts normal scores."""
    return bool(abs(column.high - NORMAL_END) + abs(column.low + NORMAL_END) <= ROUGH)


def _were_cut(ends: list[tuple[int, int]]) -> bool:
    """Whether the ends of columns are repeated as if they were the sample's own quantiles.

    Such a cut leaves equally many cells at both ends of all columns that are cut, while limits from
    elsewhere leave counts of chance. One column proves nothing: two certificates show it.
    """
    counts = [count for pair in ends for count in pair if min(pair) >= MIN_CUT]
    return len(counts) > 2 and max(counts) - min(counts) <= 1


def repeats_inside(column: Column) -> bool:
    """Whether many of the first cells between the ends are equal to others of them."""
    inner = column[(column > column.min()) & (column < column.max())][: 8 * FIRST_ROWS]
    return len(inner) == 0 or len(np.unique(inner)) < 0.9 * len(inner)


def has_imputed_mean(column: Column, mean: float) -> bool:
    """Whether several cells are the mean of the column, and the mean is no round number."""
    tolerance = TOLERANCE * max(1.0, abs(mean))
    if abs(mean - round(mean, 6)) <= tolerance or is_whole(column[:FIRST_ROWS]):
        return False
    is_near = np.abs(column - mean) <= tolerance
    near = column[is_near] if np.count_nonzero(is_near) >= MIN_IMPUTED else column[:0]
    return len(near) > 0 and bool((near == near[0]).all())


def products_vanish(products: NDArray[np.float64]) -> bool:
    """Whether the products of different columns are zero to within rounding."""
    scale = np.sqrt(np.outer(np.diag(products), np.diag(products)))
    rest = np.abs(products - np.diag(np.diag(products)))
    return bool((rest <= TOLERANCE * scale).all())


def is_whole(column: Column) -> bool:
    """Whether all cells are whole numbers."""
    return bool((column == np.round(column)).all())
