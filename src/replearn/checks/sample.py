"""What the rows of a sample alone refute: a scaler fitted on them, numbered rows, copies, ids.

A transformer in front of the classifier changes every point at every retraining. A scaler that was
fitted on these very rows shows in their moments or their range to within rounding; data that were
scaled by a published table do not. What leaves no mark in one table (a scaler fitted on more rows,
rounding) is a condition of the promise, and found by a probe (`encode_probe`).

Copies are not independent draws. Equal rows refute nothing by themselves: tables of a few
categories are full of them. What no population gives is a pattern of multiplicities: many rows that
occur exactly c times, hardly any that occur once less or once more, or a common divisor of them all
(theorem: repeated-rows).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from replearn.bounds.repeats import least_log_tail
from replearn.exceptions import NotCertifiedWarning, PreprocessingWarning, warn_user
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points
from replearn.tables.kinds import names_persons
from replearn.tables.rows import as_floats, as_numbers, frame_columns, is_sparse, number_columns

EQUAL_ROWS = SharedKey("equal rows")
"""Hashes that bring equal rows together."""

MIN_ROWS = 30
"""Fewer rows prove nothing about columns."""

_TOLERANCE = 1e-9
_SHORT_FLOAT_TOLERANCE = 1e-4
_FIRST_ROWS = 128


def failed_by_sample(
    X: Any, codes: NDArray[Any], groups: NDArray[Any] | None = None, label_index: Any = None
) -> tuple[str, ...]:
    """Return what the rows refute of the conditions of a certificate, and warn about it.

    With groups only groups are independent, and copies are not looked for. ``label_index`` is the
    index of a pandas series of labels.
    """
    # Hashed texts of unit length have columns that end at 1.
    failed = preprocessing_conditions([] if has_unit_rows(X) else moments(X), len(codes))
    if groups is not None or len(codes) < MIN_DRAWS:
        return failed
    return failed + say_copies(copied_rows(X, codes) or repeated_id(X, label_index))


# -- scalers and row numbers -----------------------------------------------------------------------
class Moments(NamedTuple):
    """What is known of a column of numbers."""

    name: Any
    n: int  # known cells
    mean: float
    std: float
    low: float
    high: float
    is_float: bool = True
    is_long: bool = True  # doubles
    is_whole: bool = False
    few_decimals: bool = False

    @property
    def tolerance(self) -> float:
        """How exact a mark has to be in numbers of this kind."""
        return _TOLERANCE if self.is_long else _SHORT_FLOAT_TOLERANCE

    @property
    def is_centred(self) -> bool:
        """Whether the mean is zero."""
        return abs(self.mean) <= self.tolerance * self.std

    @property
    def has_unit_spread(self) -> bool:
        """Whether the standard deviation is one, of more than two balanced values."""
        return abs(self.std - 1) <= self.tolerance and self.high - self.low > 2.0 + _TOLERANCE

    @property
    def has_unit_range(self) -> bool:
        """Whether the cells reach from 0 to 1, or are all equal."""
        unit = self.low == 0 and abs(self.high - 1) <= self.tolerance
        return self.low == self.high or unit

    @property
    def has_unit_size(self) -> bool:
        """Whether the largest absolute value is 1, or all cells are equal."""
        size = max(-self.low, self.high)
        return self.low == self.high or abs(size - 1) <= self.tolerance

    def numbers_rows(self, n_rows: int) -> bool:
        """Whether the cells are whole numbers with the moments of low, low + 1, ..., high."""
        if not self.is_whole or self.n != n_rows or self.high - self.low != n_rows - 1:
            return False
        middle = (self.low + self.high) / 2
        variance = (n_rows**2 - 1) / 12
        return (
            abs(self.mean - middle) <= _TOLERANCE * max(1.0, abs(middle))
            and abs(self.std**2 - variance) <= _TOLERANCE * variance
        )


def moments(X: Any) -> list[Moments]:
    """Return the moments of the columns of numbers.

    >>> found, = moments(np.arange(40.0)[:, np.newaxis])
    >>> found.mean, found.numbers_rows(40)
    (19.5, True)
    """
    with np.errstate(invalid="ignore", over="ignore"):
        return [
            Moments(
                name,
                len(cells),
                float(cells.mean(dtype=np.float64)),
                float(cells.std(dtype=np.float64)),
                float(cells.min()),
                float(cells.max()),
                is_float,
                cells.dtype == np.float64,
                _are_whole(cells),
                bool((np.round(cells[:_FIRST_ROWS], 6) == cells[:_FIRST_ROWS]).mean() > 0.5),
            )
            for name, cells, is_float in _known_numbers(as_numbers(X))
            if len(cells) >= MIN_ROWS
        ]


def has_unit_rows(X: Any) -> bool:
    """Whether the rows of a sparse table have length one or zero."""
    if not is_sparse(X):
        return False
    cells = abs(X.tocsr().astype(np.float64))
    sizes = (np.asarray(cells.power(power).sum(axis=1)) for power in (1, 2))
    return any(bool((np.abs(size * (size - 1)) <= 1e-6).all()) for size in sizes)


def added(pieces: Sequence[Sequence[Moments]]) -> list[Moments]:
    """Return the moments of columns of which pieces are known."""
    return [_added(parts) for parts in zip(*pieces, strict=True)]


def _added(parts: Sequence[Moments]) -> Moments:
    n = sum(part.n for part in parts)
    mean = math.fsum(part.n * part.mean for part in parts) / n
    squares = math.fsum(part.n * (part.std**2 + (part.mean - mean) ** 2) for part in parts)
    return parts[0]._replace(
        n=n,
        mean=mean,
        std=math.sqrt(squares / n),
        low=min(part.low for part in parts),
        high=max(part.high for part in parts),
        is_whole=all(part.is_whole for part in parts),
        few_decimals=all(part.few_decimals for part in parts),
    )


def _are_whole(cells: NDArray[Any]) -> bool:
    first = cells[:_FIRST_ROWS]
    return bool((np.round(first) == first).all() and (np.round(cells) == cells).all())


def _known_numbers(X: Any) -> Iterator[tuple[Any, NDArray[Any], bool]]:
    """Yield name, known cells and whether they are floats, for each column of numbers."""
    if isinstance(X, np.ndarray):
        if X.ndim == 2 and X.dtype.kind in "fiu":
            for index, column in enumerate(X.T):
                yield index, _known(np.ascontiguousarray(column)), X.dtype.kind == "f"
        return
    for name, column in zip(getattr(X, "columns", ()), frame_columns(X), strict=False):
        cells = as_floats(column)
        if cells is not None:
            yield name, _known(cells), True
        elif _holds_integers(column):
            pandas = {"dtype": np.float64, "na_value": np.nan} if hasattr(column, "iloc") else {}
            yield name, _known(column.to_numpy(**pandas)), False


def _holds_integers(column: Any) -> bool:
    kind = getattr(column.dtype, "kind", None)
    return kind in ("i", "u") or str(column.dtype).startswith(("Int", "UInt"))


def _known(cells: NDArray[Any]) -> NDArray[Any]:
    missing = np.isnan(cells)
    return cells[~missing] if missing.any() else cells


def scaler_mark(columns: Sequence[Moments]) -> str | None:
    """Name the scaler whose mark the columns of floats carry, if any.

    >>> X = np.random.default_rng(0).normal(3, 2, (100, 2))
    >>> scaler_mark(moments(X)), scaler_mark(moments((X - X.mean(axis=0)) / X.std(axis=0)))
    (None, 'a StandardScaler')
    """
    floats = [column for column in columns if column.is_float]
    scaled = [column for column in floats if column.has_unit_spread]
    # One column of doubles is proof enough; of short floats only all of them.
    if any(c.is_long and (c.is_centred or not c.few_decimals) for c in scaled):
        return "a StandardScaler"
    if scaled and all(c.is_centred and (c.has_unit_spread or c.low == c.high) for c in floats):
        return "a StandardScaler"
    if not any(column.low < column.high and not column.is_whole for column in floats):
        return None  # codes in whole numbers
    if all(column.has_unit_range for column in floats):
        return "a MinMaxScaler"
    return "a MaxAbsScaler" if all(column.has_unit_size for column in floats) else None


def preprocessing_conditions(columns: Sequence[Moments], n_rows: int) -> tuple[str, ...]:
    """Say that a scaler was fitted on the columns, or that one numbers the rows; warn about it."""
    numbered = next((column.name for column in columns if column.numbers_rows(n_rows)), None)
    return _say_preprocessing(scaler_mark(columns), numbered)


def _say_preprocessing(scaler: str | None, numbered: Any) -> tuple[str, ...]:
    """Say in words that a scaler was fitted or a column numbers the rows, and warn about it."""
    failed = []
    if scaler is not None:
        failed.append(f"X looks as if {scaler} had been fitted on it before")
        warn_user(
            f"{failed[0]}. A fitted transformer in front of a replicable classifier changes every "
            "point at every retraining, and with it every threshold: the promise does not hold. "
            "Put it inside: estimator=make_pipeline(StandardScaler(), LogisticRegression()).",
            PreprocessingWarning,
        )
    if numbered is not None:
        failed.append(
            f"column {numbered!r} numbers the rows, so that the rows are not independent and no "
            "point occurs in two samples"
        )
        warn_user(f"{failed[-1]}. Leave it out of X.", PreprocessingWarning)
    return tuple(failed)


# -- copies of rows --------------------------------------------------------------------------------
FALSE_ALARM = 1e-9
"""Probability that multiplicities of independent draws are called copies, all views together."""

MIN_DRAWS = 100
"""Fewer rows prove nothing about copies."""

MIN_REPEATED = 0.1
"""Part of the different rows of a class that occur more than once, where rows have unique cells."""

_MIN_VALUES = 20
_FIRST_COLUMNS = 3
_LOOKED_AT = 1024
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

Found = tuple[str, str] | None
"""What was found, and what to do about it."""

_ONCE = (
    "Give each row once: let the base estimator resample or weight its block instead (a pipeline "
    "that oversamples in fit, or class_weight), which leaves blocks independent. Rows of one "
    "person go together as groups: fit(X, y, groups=...)."
)


def say_copies(found: Found) -> tuple[str, ...]:
    """Return what was found as a failed condition, and warn about it."""
    if found is None:
        return ()
    condition, remedy = found
    warn_user(f"{condition}. {remedy}", NotCertifiedWarning)
    return (condition,)


def copied_rows(X: Any, codes: NDArray[Any], n_views: int = 1) -> Found:
    """Find rows that occur as often as copies do; so many parts of a table might be looked at."""
    if any(map(_is_distinct, number_columns(X, _FIRST_COLUMNS))):
        return None
    _, first, counts = np.unique(_hash_rows(X, codes), return_index=True, return_counts=True)
    if len(first) == len(codes):
        return None
    labels = codes[first]
    classes = np.unique(labels)
    if len(classes) > len(codes) // _MIN_VALUES:  # numbers, not classes
        labels = np.zeros(len(first))
        classes = labels[:1]
    views = [("rows", counts)]
    views += [("rows of one class", counts[labels == label]) for label in classes]
    limit = math.log(FALSE_ALARM / (2 * n_views * len(views)))
    for what, of_view in views:
        words = _say_multiplicities(what, of_view, limit)
        if words is not None:
            return words, _ONCE
    return _copies_of_unique_cells(X, first, counts, labels)


def _is_distinct(column: NDArray[np.float64]) -> bool:
    """Whether a column tells all rows apart: a sort is cheaper than a hash."""
    cells = np.sort(column)
    return bool((cells[1:] > cells[:-1]).all())


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


def _copies_of_unique_cells(
    X: Any, first: NDArray[np.intp], counts: NDArray[np.intp], labels: NDArray[Any]
) -> Found:
    """Find rows that occur more than once although a column tells all different rows apart."""
    # theorem: repeated-rows (section "Unique cells")
    repeated = [float((counts[labels == label] > 1).mean()) for label in np.unique(labels)]
    share = max(repeated)
    alone = getattr(X, "shape", (0,))[1:] in ((), (1,))  # one column is unique by definition
    if share < MIN_REPEATED or len(first) < MIN_DRAWS or alone or not _has_unique_cells(X, first):
        return None
    start = (
        f"rows are not independent draws: {share:.0%} of the different rows of one class occur "
        "more than once, with numbers that no other row has"
    )
    others = [part for part in repeated if part < MIN_REPEATED]
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
        some = cells[first[:_LOOKED_AT]]
        rounded = np.isnan(some) | (np.round(some, 6) == some)
        if rounded.mean() < 0.5 and len(np.unique(cells[first])) == len(first):
            return True
    return False


def _hash_rows(X: Any, codes: NDArray[Any]) -> NDArray[np.uint64]:
    """Hash rows with their labels; numbers by their bits: ten times as fast as hashes of points."""
    labels = np.unique(codes, return_inverse=True)[1].astype(np.uint64)
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiub":
        return mixed_bits((labels, *X.T), len(X))
    return mixed_bits((labels, EQUAL_ROWS.hashes(as_points(X))), len(labels))


def mixed_bits(columns: Any, n: int) -> NDArray[np.uint64]:
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


# -- columns and indexes that are named as ids -----------------------------------------------------
MIN_ROWS_PER_PERSON = 1.5


def index_of(table: Any) -> Any:
    """Return the index of a pandas frame or series; None for everything else."""
    return table.index if hasattr(table, "iloc") else None


def repeated_id(X: Any, label_index: Any = None) -> Found:
    """Find a column or index that is named after persons and has several rows of each."""
    levels = (
        [(index_of(X), "X")]
        if label_index is index_of(X)
        else [
            (index_of(X), "X"),
            (label_index, "y"),
        ]
    )
    named = [
        (f"column {name!r}", f"X[{name!r}]", X[name])
        for name in getattr(X, "columns", ())
        if names_persons(name)
    ]
    named += [
        (f"index {name!r}", f"{owner}.index.get_level_values({at})", index.get_level_values(at))
        for index, owner in levels
        for at, name in enumerate(getattr(index, "names", ()))
        if names_persons(name)
    ]
    found = (
        repeated_persons(where, persons, len(cells), len(set(np.asarray(cells).tolist())))
        for where, persons, cells in named
    )
    return next(filter(None, found), None)


def repeated_persons(where: str, persons: str, n_rows: int, n_persons: int) -> Found:
    """Say that these are several rows of one person; None if they are not.

    >>> repeated_persons("column 'patient_id'", "X['patient_id']", 300, 100)[0]
    "rows are not independent draws: column 'patient_id' names 100 persons in 300 rows"
    >>> repeated_persons("column 'patient_id'", "X['patient_id']", 300, 300)
    """
    if n_persons < _MIN_VALUES or n_rows < MIN_ROWS_PER_PERSON * n_persons:
        return None
    return (
        f"rows are not independent draws: {where} names {n_persons} persons in {n_rows} rows",
        f"Keep several rows of one person together: fit(X, y, groups={persons}), with a plan that "
        "counts groups.",
    )
