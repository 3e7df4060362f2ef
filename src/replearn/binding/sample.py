"""What the rows of a sample alone refute: numbered rows, a transformer fitted on them, copies.

A transformer in front of the classifier changes every point at every retraining. One that was
fitted on these very rows leaves its mark to within rounding; data that arrive standardised by a
published table do not. What leaves no mark in one table (a power transform of continuous columns)
is stated as a condition, and found by a probe (`replearn.learners.encode_probe`).

Copies, copies but for jitter, and several rows of one person are not independent draws. Equal rows
refute nothing by themselves: tables of a few categories are full of them. What no population gives
is a pattern of multiplicities: many rows that occur exactly c times, hardly any that occur once
less or once more, or a common divisor of them all (theorem: repeated-rows). It holds for whole
rows, for the rows of one class, for the cells of one column, and for numbers that are rounded to a
grid. Two rules need more than multiplicities: rows with numbers that no other row has, and columns
that are named after persons.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from replearn.binding.point_masses import EQUAL_ROWS
from replearn.binding.schema import row_number_column
from replearn.bounds import least_log_tail
from replearn.exceptions import NotCertifiedWarning, PreprocessingWarning, warn_user
from replearn.randomness import as_points
from replearn.tables import (
    as_floats,
    as_numbers,
    frame_columns,
    names_persons,
    number_columns,
)

Column = NDArray[np.floating[Any]]

IMPUTER = "an imputer that fills in the mean"
CUT = "a cut at quantiles (winsorising)"
BINS = "a KBinsDiscretizer (bins of equal counts)"
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
    return say_conditions(preprocessing_mark(X), row_number_column(as_numbers(X)))


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
    has_unit_rows = sparse.issparse(X) and _has_unit_rows(X)
    X = as_numbers(X)
    bins = mark_of_bins(list(_counts_of_bins(X)))
    if bins is not None or has_unit_rows:
        return say_mark(bins)  # hashed texts of unit length have columns that end at 1
    with np.errstate(invalid="ignore", over="ignore"):
        cleared = _cleared_columns(X)
        pairs = zip(float_columns(X), cleared, strict=False)
        known = [_Cells(*pair, flag) for pair, flag in pairs if len(pair[0]) >= MIN_ROWS]
        return say_mark(mark_of_columns(known, _are_orthogonal))


def _has_unit_rows(X: Any) -> bool:
    """Whether the rows of a sparse table have length one or zero."""
    cells = abs(X.tocsr().astype(np.float64))
    sizes = (np.asarray(cells.power(power).sum(axis=1)) for power in (1, 2))
    return any(bool((np.abs(size * (size - 1)) <= ROUGH).all()) for size in sizes)


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
        columns = (as_floats(column) for column in frame_columns(X))
        pairs = ((c, c.sum(dtype=np.float64)) for c in columns if c is not None)
    for column, total in pairs:
        if np.isnan(total):
            column = column[~np.isnan(column)]
            total = column.sum(dtype=np.float64)
        yield column, float(total)


# -- the marks themselves; a column is `_Cells`, or `Moments` of the pieces of a file ------------
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
        # one of them is more than a code in whole numbers, or a constant
        if all(map(fits, known)) and any(c.low < c.high and not c.whole for c in known):
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


# -- bins of equal counts --------------------------------------------------------------------------
_MIN_BINS = 3
_MAX_BINS = 64
_BINS_ALARM = 1e-6
_COLUMN_ALARM = 1e-4


def mark_of_bins(columns: Sequence[NDArray[np.intp]]) -> str | None:
    """Name the transformer that leaves equally many cells in each bin, by counts of all values.

    Independent draws from k values, however likely each is, fall into counts that differ by one at
    most with a probability of at most C(k, r) n!/prod(c! (n/c)^c), where r counts are larger. Few
    rows need several such columns.

    >>> mark_of_bins([np.array([500, 500, 500, 500, 500])])
    'a KBinsDiscretizer (bins of equal counts)'
    >>> mark_of_bins([np.array([500, 490, 510, 500, 500])])
    """
    n_columns = math.log(max(1, len(columns)))
    tails = [_log_equal_counts(c) for c in columns if _MIN_BINS <= len(c) <= _MAX_BINS]
    small = [tail + n_columns for tail in tails if tail <= math.log(_COLUMN_ALARM)]
    return BINS if math.fsum(small) <= math.log(_BINS_ALARM) else None


def _log_equal_counts(counts: NDArray[np.intp]) -> float:
    """Return the logarithm of the bound on the probability of equal counts; 0 if they are not."""
    n = int(counts.sum())
    k = len(counts)
    if counts.min() < _MIN_REPEATS or counts.max() - counts.min() > 1:
        return 0.0
    ways = math.lgamma(k + 1) - math.lgamma(n % k + 1) - math.lgamma(k - n % k + 1)
    each = (math.lgamma(c + 1) - c * math.log(c / n) for c in counts.tolist())
    return ways + math.lgamma(n + 1) - math.fsum(each)


def _counts_of_bins(X: Any) -> Iterator[NDArray[np.intp]]:
    """Yield how often each value occurs in columns of a few whole numbers, and in indicators."""
    n_ones: list[int] = []
    n_rows = 0
    for column in _columns_of_few(X):
        n_ones.append(0)
        if column is None:
            continue
        n_rows = len(column)
        values, counts = np.unique(column, return_counts=True)
        yield counts
        if values.tolist() == [0, 1]:
            n_ones[-1] = int(counts[-1])
    yield from _counts_of_indicators(np.array(n_ones), n_rows)


def _columns_of_few(X: Any) -> Iterator[NDArray[Any] | None]:
    """Yield columns whose first cells are a few whole numbers, and None for all others."""
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "iuf":
        first = X[:FIRST_ROWS]
        is_whole_number = (first == np.round(first)).all(axis=0).tolist()
        columns: Any = (X[:, i] if whole else None for i, whole in enumerate(is_whole_number))
    else:
        columns = map(np.asarray, frame_columns(X))
    for column in columns:
        kept = column is not None and column.dtype.kind in "iuf" and is_whole(column[:FIRST_ROWS])
        yield column if kept and len(np.unique(column[:FIRST_ROWS])) <= _MAX_BINS else None


def _counts_of_indicators(n_ones: NDArray[np.intp], n_rows: int) -> Iterator[NDArray[np.intp]]:
    """Yield the counts of neighbouring indicators of which each row has one."""
    start = 0
    while start < len(n_ones):
        total = np.cumsum(n_ones[start : start + _MAX_BINS])
        ends = np.flatnonzero(total == n_rows)
        if n_ones[start] and len(ends):
            yield n_ones[start : start + ends[0] + 1]
            start += int(ends[0])
        start += 1


# -- rows that are not independent draws -----------------------------------------------------------
FALSE_ALARM = 1e-9
"""Probability that multiplicities of independent draws are called copies, all views together."""

MIN_DRAWS = 100
"""Fewer rows prove nothing."""

MIN_REPEATED = 0.1
"""Part of the different rows of a class that occur more than once, where rows have unique cells."""

MIN_ROWS_PER_PERSON = 1.5
_MIN_VALUES = 20
_MIN_NUMBERS = 50
_MAX_ROWS_EACH = 20
_MIN_BEHIND = 0.8
_LOOKED_AT = 256
_MIN_REPEATS = 5
_FIRST_COLUMNS = 3
GRID_COLUMNS = 6
GRID_BITS = range(1, 27, 2)
_EXPONENTS = 2100  # of doubles: the grid of a column follows its spread
_CLEARLY_DIFFERENT = 0.9
_MIN_NEAR = 50
_ROUNDING = 1e-12
_MAX_PARTS = 0.35
_ONE_LABEL = 0.99
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
Hashes = NDArray[np.uint64]


def copy_conditions(
    X: Any, codes: NDArray[Any], groups: NDArray[Any] | None = None, label_index: Any = None
) -> tuple[str, ...]:
    """Say in words that rows cannot be independent draws, and warn about it; empty if they can.

    With groups only groups are independent, and nothing is checked. ``label_index`` is the index of
    a pandas series of labels.
    """
    if groups is not None or len(codes) < MIN_DRAWS:
        return ()
    return say_copies(
        copied_rows(X, codes)
        or repeated_column(X, label_index)
        or jittered_rows(number_columns(X, GRID_COLUMNS), codes)
    )


Found = tuple[str, str] | None
"""What was found, and what to do about it."""


def say_copies(found: Found) -> tuple[str, ...]:
    """Return what was found as a failed condition, and warn about it."""
    if found is None:
        return ()
    condition, remedy = found
    warn_user(f"{condition}. {remedy}", NotCertifiedWarning)
    return (condition,)


_ONCE = (
    "Give each row once: let the base estimator resample or weight its block instead (a pipeline "
    "that oversamples in fit, or class_weight), which leaves blocks independent. Rows of one "
    "person go together as groups: fit(X, y, groups=...)."
)


# -- copies of rows ------------------------------------------------------------------------------
def copied_rows(X: Any, codes: NDArray[Any], n_parts: int = 1) -> Found:
    """Find rows that occur as often as copies do; these are one of several possible parts."""
    if any(map(_is_distinct, number_columns(X, _FIRST_COLUMNS))):
        return None
    hashes = _hash_rows(X, codes)
    _, first, counts = np.unique(hashes, return_index=True, return_counts=True)
    if len(first) == len(codes):
        return None
    labels = codes[first]
    classes = np.unique(labels)
    if len(classes) > len(codes) // _MIN_VALUES:  # numbers, not classes
        labels = np.zeros(len(first))
        classes = labels[:1]
    limit = _log_share(n_parts * (1 + len(classes)))
    words = _say_multiplicities("rows", counts, limit)
    if words is not None:
        return words, _ONCE
    for label in classes:
        words = _say_multiplicities("rows of one class", counts[labels == label], limit)
        if words is not None:
            return words, _ONCE
    return _copies_of_unique_cells(X, first, counts, labels)


def _is_distinct(column: NDArray[np.float64]) -> bool:
    cells = np.sort(column)
    return bool((cells[1:] > cells[:-1]).all())


def _copies_of_unique_cells(
    X: Any,
    first: NDArray[np.intp],
    counts: NDArray[np.intp],
    labels: NDArray[Any],
) -> Found:
    """Find rows that occur more than once although a column tells all different rows apart."""
    # theorem: repeated-rows (section "Unique cells")
    repeated = {
        label: float((counts[labels == label] > 1).mean()) for label in np.unique(labels).tolist()
    }
    copied = [label for label, share in repeated.items() if share >= MIN_REPEATED]
    alone = getattr(X, "shape", (0,))[1:] in ((), (1,))  # one column is unique by definition
    if not copied or len(first) < MIN_DRAWS or alone or not _has_unique_cells(X, first):
        return None
    share = max(repeated.values())
    start = (
        f"rows are not independent draws: {share:.0%} of the different rows of one class occur "
        "more than once, with numbers that no other row has"
    )
    others = [share for share in repeated.values() if share < MIN_REPEATED]
    if others and max(others) < MIN_REPEATED / 10:
        return (
            f"{start}, and rows of other classes do not: the class was oversampled before fit",
            "Resample inside the base estimator, where every block resamples its own rows (an "
            "imblearn pipeline as estimator, or class_weight='balanced'): that keeps the promise.",
        )
    return f"{start}: they are copies", _ONCE


def _has_unique_cells(X: Any, first: NDArray[np.intp]) -> bool:
    """Whether some column of unrounded numbers has another cell in every different row.

    Rows that differ in the label alone have the same cells: no copies, but repeated points.
    """
    for cells in number_columns(X, 64):
        some = cells[first[: 4 * _LOOKED_AT]]
        rounded = np.isnan(some) | (np.round(some, 6) == some)
        if rounded.mean() < 0.5 and len(np.unique(cells[first])) == len(first):
            return True
    return False


def _hash_rows(X: Any, codes: NDArray[Any]) -> Hashes:
    """Hash rows with their labels; numbers by their bits: ten times as fast as hashes of points."""
    labels = np.unique(codes, return_inverse=True)[1].astype(np.uint64)
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub":
        return mixed_bits((labels, *X.T), len(X))
    return mixed_bits((labels, EQUAL_ROWS.hashes(as_points(X))), len(labels))


def mixed_bits(columns: Any, n: int) -> Hashes:
    """Hash rows by the bits of their cells, column by column; for tests of equality only.

    >>> a = np.array([1.0, 2.0, 1.0])
    >>> hashes = mixed_bits((a, a), 3)
    >>> bool(hashes[0] == hashes[2] != hashes[1])
    True
    """
    total = np.zeros(n, dtype=np.uint64)
    for column in columns:
        whole = np.ascontiguousarray(column)
        total ^= whole.view(f"u{whole.dtype.itemsize}")
        total *= _MULTIPLIER
        total ^= total >> np.uint64(29)
    return total


# -- several rows of one person ------------------------------------------------------------------
def repeated_column(X: Any, label_index: Any = None) -> Found:
    """Find a column in which values occur as often as persons in a panel do; say what to do."""
    n_columns = max(getattr(X, "shape", (1,)))  # at least the number of columns
    index = index_of(X)
    levels = chain(
        _index_levels(index, "X"),
        () if label_index is index else _index_levels(label_index, "y"),
    )
    for name, values in chain(_discrete_columns(X), levels):
        counts = np.unique(values, return_counts=True)[1]
        found = repeated_values(name, counts, len(values), len(counts), n_columns)
        if found is not None:
            return found
    return _repeated_numbers(index, "X") or _repeated_numbers(label_index, "y")


def _repeated_numbers(index: Any, owner: str) -> Found:
    """Find an index of numbers without a name where rows of one number stand together.

    Frames that were put together repeat numbers as well, but not in rows that follow each other.
    """
    plain = index is not None and index.nlevels == 1 and index.dtype.kind in "iu"
    if not plain or index.name is not None or index.is_unique:
        return None
    numbers = index.to_numpy()
    n_rows = len(numbers)
    n_numbers = len(np.unique(numbers))
    n_behind = int(np.count_nonzero(numbers[1:] == numbers[:-1]))
    rows_each = n_rows / n_numbers
    is_panel = MIN_ROWS_PER_PERSON <= rows_each <= _MAX_ROWS_EACH and n_numbers >= _MIN_NUMBERS
    if not is_panel or n_behind < _MIN_BEHIND * (n_rows - n_numbers):
        return None
    level = _Level(None, 0, owner)
    words = f"{_where(level)} has {n_numbers} numbers for {n_rows} rows that stand together"
    remedy = f"{_keep_together(level)} An index that means nothing: {owner}.reset_index(drop=True)."
    return f"rows are not independent draws: {words}", remedy


def repeated_values(
    name: Any, counts: NDArray[np.intp], n_rows: int, n_values: int, n_views: int
) -> Found:
    """Say that values of a column occur as often as persons in a panel do; None if they do not.

    ``counts`` are those of all values, or of a part that a hash chooses; this many columns and
    parts might have been looked at.

    >>> repeated_values("machine", np.full(60, 3), 180, 60, 1)[0][:60]
    "rows are not independent draws: 60 values of column 'machine"
    """
    if n_values < _MIN_VALUES:
        return None
    words = None
    if len(counts) >= _MIN_VALUES:
        words = _say_multiplicities(f"values of {_where(name)}", counts, _log_share(n_views))
    return (
        repeated_persons(name, n_rows, n_values) if words is None else (words, _keep_together(name))
    )


class _Level(NamedTuple):
    """A level of the index of a frame, or of the labels."""

    name: Any
    position: int
    owner: str


def index_of(table: Any) -> Any:
    """Return the index of a pandas frame or series; None for everything else."""
    return table.index if hasattr(table, "iloc") else None


def _index_levels(index: Any, owner: str) -> Iterator[tuple[_Level, NDArray[Any]]]:
    """Yield the levels of an index, which often names persons, as codes.

    Whole numbers without a name are left out: pandas numbers rows so, and numbers them again where
    two frames are put together.
    """
    if index is None or (index.nlevels == 1 and index.is_unique):
        return
    for position, name in enumerate(index.names):
        level = index.get_level_values(position)
        if name is not None or level.dtype.kind not in "iu":
            yield _Level(name, position, owner), level.factorize()[0]


def _where(name: Any) -> str:
    if not isinstance(name, _Level):
        return f"column {name!r}"
    words = "the index" if name.name is None else f"index {name.name!r}"
    return words if name.owner == "X" else f"{words} of y"


def repeated_persons(name: Any, n_rows: int, n_persons: int) -> Found:
    """Say that this many rows of a column are several rows of one person; None if they are not.

    >>> repeated_persons("patient_id", 300, 100)[0]
    "rows are not independent draws: column 'patient_id' names 100 persons in 300 rows"
    >>> repeated_persons("patient_id", 101, 100), repeated_persons("age", 300, 100)
    (None, None)
    """
    is_panel = n_persons >= _MIN_VALUES and n_rows >= MIN_ROWS_PER_PERSON * n_persons
    if not is_panel or not names_persons(name.name if isinstance(name, _Level) else name):
        return None
    words = f"{_where(name)} names {n_persons} persons in {n_rows} rows"
    return f"rows are not independent draws: {words}", _keep_together(name)


def _keep_together(name: Any) -> str:
    persons = f"X[{name!r}]"
    if isinstance(name, _Level):
        persons = f"{name.owner}.index.get_level_values({name.position})"
    return (
        "If these are several rows of one person (one machine, one day), keep them together: "
        f"fit(X, y, groups={persons}), with a plan that counts groups."
    )


def _discrete_columns(X: Any) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Yield columns in which values are repeated, each as an array of codes or numbers."""
    if sparse.issparse(X) or type(X) is np.ndarray:
        yield from _discrete_columns_of_array(as_numbers(X) if sparse.issparse(X) else X)
    elif hasattr(X, "iloc"):
        for name, column in zip(X.columns, frame_columns(X), strict=True):
            if column.dtype.kind not in "biuf":
                codes = column.factorize()[0]
                yield name, codes[codes >= 0]
            elif column.dtype.kind != "b":
                cells = column.to_numpy(dtype=np.float64, na_value=np.nan)
                if _repeats(cells):
                    yield name, _known(cells)
    else:
        for column in frame_columns(X):
            if not column.dtype.is_float():
                yield column.name, column.drop_nulls().rank("dense").to_numpy()
            elif _repeats(cells := column.to_numpy()):
                yield column.name, _known(cells)


def _discrete_columns_of_array(X: NDArray[Any]) -> Iterator[tuple[int, NDArray[Any]]]:
    if X.ndim == 2 and X.dtype.kind in "fiu":
        for index in np.flatnonzero(_repeats(X)).tolist():
            yield index, _known(X[:, index])
    elif X.ndim == 2 and X.dtype == object:
        for index, column in enumerate(X.T):
            cells = column.tolist()
            if all(kind.__hash__ for kind in set(map(type, cells))):
                yield index, _codes_of_objects(cells)


def _codes_of_objects(cells: list[Any]) -> NDArray[np.intp]:
    """Number the different cells; missing ones are left out."""
    codes: dict[Any, int] = {}
    known = (cell for cell in cells if cell is not None and cell == cell)
    return np.array([codes.setdefault(cell, len(codes)) for cell in known], dtype=np.intp)


def _known(cells: NDArray[Any]) -> NDArray[Any]:
    return cells[~np.isnan(cells)] if cells.dtype.kind == "f" else cells


def _repeats(table: NDArray[Any]) -> Any:
    """Whether the cells of a column are values that may occur twice, by a look at some rows.

    Some cells are equal and many are not, or all are whole numbers and nearly all of them
    different: ids of persons whose rows stand anywhere in the table. Rows from the beginning and
    from all over the table, which may be sorted.
    """
    found: Any = False
    for rows in (table[:_LOOKED_AT], table[:: 1 + len(table) // _LOOKED_AT]):
        cells = np.sort(rows.T.copy(), axis=-1)
        n_repeated = (cells[..., 1:] == cells[..., :-1]).sum(axis=-1)
        is_whole_number = (cells == np.floor(cells)).all(axis=-1) & (n_repeated <= _MIN_REPEATS)
        some = (n_repeated > _MIN_REPEATS) & (n_repeated < cells.shape[-1] - _MIN_REPEATS)
        found |= some | is_whole_number
    return found


# -- rows that are equal but for jitter ----------------------------------------------------------
def jittered_rows(
    columns: Iterable[NDArray[np.float64]],
    codes: NDArray[Any],
    exponents: Sequence[int | None] | None = None,
    all_bits: Sequence[int] = GRID_BITS,
    n_parts: int = 1,
) -> Found:
    """Find rows that fall into the same cells of a grid as copies with small noise do.

    The grid is that of the columns, or of a table of which these rows are one of several parts:
    those of some cells of the coarsest grid.
    """
    columns = list(columns)
    exponents = grid_exponents(columns) if exponents is None else exponents
    wide = [(c, e) for c, e in zip(columns, exponents, strict=True) if e is not None]
    if not wide:
        return None
    n_rows = len(codes)
    limit = _log_share(n_parts * len(GRID_BITS)) - len(wide) * math.log(_EXPONENTS)
    coarser: list[Hashes] = []
    before = 0
    for bits in all_bits:
        cells = grid_cells(wide, bits)
        counts = _multiplicities(cells.copy())
        if len(counts) > _CLEARLY_DIFFERENT * n_rows:
            return None  # finer grids tell even more rows apart
        words = _say_multiplicities("rows, rounded to a grid,", counts, limit)
        if words is not None:
            return f"{words}: copies with small changes, or a design and not a sample", _ONCE
        if len(coarser) >= 2:
            words = _say_near_rows(coarser[-2], cells, [column for column, _ in wide], codes)
            if words is not None:
                return words, _ONCE
        if len(counts) == before == len(_multiplicities(mixed_bits((c for c, _ in wide), n_rows))):
            return None  # rows in one cell are equal
        before = len(counts)
        coarser.append(cells)
    return None


def grid_exponents(columns: Sequence[NDArray[np.float64]]) -> list[int | None]:
    """Return a power of two near the spread of each column; None where there is none."""
    if not columns:
        return []
    step = 1 + len(columns[0]) // (4 * _LOOKED_AT)
    spread = _spread(np.array([column[::step] for column in columns])).tolist()
    return [math.frexp(width)[1] if width > 0 else None for width in spread]


def grid_cells(columns: Sequence[tuple[NDArray[np.float64], int]], bits: int) -> Hashes:
    """Return hashes of the cells of a grid in which rows lie; finer grids divide its cells."""
    exponents = np.array([bits - exponent for _, exponent in columns])
    with np.errstate(over="ignore", invalid="ignore"):
        return mixed_bits(_on_grid([c for c, _ in columns], exponents), len(columns[0][0]))


def _say_near_rows(
    coarse: Hashes, fine: Hashes, columns: list[NDArray[np.float64]], codes: NDArray[Any]
) -> str | None:
    """Say that rows that share a cell of a grid share one of its much finer cells; None if not.

    Such rows have one label and differ in two columns or more. Along a line, and all the more where
    they fill more dimensions, r rows of a cell lie in 16 (1 - (15/16)^r) sixteenths of it (theorem:
    repeated-rows, section "Nearly equal rows").
    """
    order = np.lexsort((fine, coarse))
    wide = _starts(coarse[order])
    is_first = np.zeros(len(order), dtype=np.intp)
    narrow = _starts(fine[order])
    is_first[narrow] = 1
    differ = _n_differ(columns, order, wide) >= 2
    sizes = np.diff(np.append(wide, len(order)))[differ]
    expected = 16 * (1 - (15 / 16) ** sizes)
    n_parts = np.add.reduceat(is_first, wide)[differ]
    near = _n_differ(columns, order, narrow) >= 2
    n_near = int(np.count_nonzero(near))
    few = n_near < max(_MIN_NEAR, MIN_REPEATED * len(narrow))
    if few or (n_parts - 1).sum() > _MAX_PARTS * (expected - 1).sum():
        return None
    labels = codes[order]
    one_label = np.minimum.reduceat(labels, narrow) == np.maximum.reduceat(labels, narrow)
    if np.count_nonzero(one_label & near) < _ONE_LABEL * n_near:
        return None
    return (
        f"rows are not independent draws: of {len(narrow)} different rows, {n_near} have others "
        "beside them that are nearly equal in several columns and have the same label: copies with "
        "small changes"
    )


def _starts(ordered: NDArray[Any]) -> NDArray[np.intp]:
    """Return where each run of equal values begins."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))


def _n_differ(
    columns: list[NDArray[np.float64]], order: NDArray[np.intp], starts: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Count the columns in which the rows of a run differ by more than rounding."""
    n_differ = np.zeros(len(starts), dtype=np.intp)
    for column in columns:
        cells = column[order]
        low = np.minimum.reduceat(cells, starts)
        high = np.maximum.reduceat(cells, starts)
        with np.errstate(over="ignore", invalid="ignore"):
            n_differ += high - low > _ROUNDING * np.maximum(np.abs(low), np.abs(high))
    return n_differ


def _on_grid(
    columns: list[NDArray[np.float64]], exponents: NDArray[np.intp]
) -> Iterator[NDArray[np.float64]]:
    """Yield the columns in cells of a grid, one after another: a table of them would be large."""
    for column, width in zip(columns, np.ldexp(1.0, exponents).tolist(), strict=True):
        cells = column * width
        np.floor(cells, out=cells)
        cells += 0.0
        yield cells


def _multiplicities(hashes: Hashes) -> NDArray[np.intp]:
    """Count how often each hash occurs; the array is sorted."""
    hashes.sort()
    is_last = np.ones(len(hashes), dtype=bool)
    np.not_equal(hashes[1:], hashes[:-1], out=is_last[:-1])
    ends = np.flatnonzero(is_last)
    counts = ends + 1
    counts[1:] -= counts[:-1].copy()
    return counts


def _spread(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far half of the cells of each column are from its middle; 0 where unknown."""
    known = ~np.isnan(columns).any(axis=1)
    spread = np.zeros(len(columns))
    cells = columns[known]
    spread[known] = _medians(np.abs(cells - _medians(cells)[:, np.newaxis]))
    return np.where(np.isfinite(spread), spread, 0.0)


def _medians(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of each row: few cells are sorted faster than numpy's function starts."""
    ordered = np.sort(rows, axis=1)
    n_cells = rows.shape[1]
    return np.asarray((ordered[:, (n_cells - 1) // 2] + ordered[:, n_cells // 2]) / 2.0)


# -- words ---------------------------------------------------------------------------------------
def _log_share(n_views: int) -> float:
    """Return the logarithm of the false alarms of one view: three rules, two bounds in each."""
    return math.log(FALSE_ALARM / (3 * 2 * n_views))


def _say_multiplicities(what: str, counts: NDArray[np.intp], limit: float) -> str | None:
    """Say that no population gives these multiplicities; None if some does."""
    # theorem: repeated-rows
    log_tail, shown = least_log_tail(counts)
    if log_tail > limit:
        return None
    pattern = (
        f"all {what} occur a multiple of {-shown} times"
        if shown < 0
        else f"{int((counts == shown).sum())} {what} occur exactly {shown} times each"
    )
    return (
        f"rows are not independent draws: {pattern} ({int(counts.sum())} in all, {len(counts)} "
        f"different ones), which has a probability below {FALSE_ALARM:g} in every population"
    )
