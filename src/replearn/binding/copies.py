"""Rows that are not independent draws: copies, copies but for jitter, several rows of one person.

Equal rows refute nothing by themselves: tables of a few categories are full of them. What no
population gives is a pattern of multiplicities: many rows that occur exactly c times, hardly any
that occur once less or once more, or a common divisor of them all (theorem: repeated-rows). It
holds for whole rows, for the rows of one class, for the cells of one column, and for numbers that
are rounded to a grid. Two rules need more than multiplicities: rows with numbers that no other row
has, and columns that are named after persons.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.binding.marks import as_floats, columns_of
from replearn.binding.point_masses import EQUAL_ROWS
from replearn.bounds import least_log_tail
from replearn.exceptions import NotCertifiedWarning, warn_user
from replearn.randomness import as_points

FALSE_ALARM = 1e-9
"""Probability that multiplicities of independent draws are called copies, all views together."""

MIN_ROWS = 100
"""Fewer rows prove nothing."""

MIN_REPEATED = 0.1
"""Part of the different rows of a class that occur more than once, where rows have unique cells."""

MIN_ROWS_PER_PERSON = 1.5
_MIN_VALUES = 20
_LOOKED_AT = 256
_MIN_REPEATS = 5
_FIRST_COLUMNS = 3
_GRID_COLUMNS = 6
_GRID_BITS = range(1, 27, 2)
_EXPONENTS = 2100  # of doubles: the grid of a column follows its spread
_CLEARLY_DIFFERENT = 0.9
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_PERSONS = re.compile(
    r"(patient|person|customer|client|subject|participant|respondent|user|member|student|employee)"
    r"s?[ _.-]*(id|ids|nr|no|num|number|key|code)?",
    re.IGNORECASE,
)

Hashes = NDArray[np.uint64]


def copy_conditions(
    X: Any, codes: NDArray[Any], groups: NDArray[Any] | None = None
) -> tuple[str, ...]:
    """Say in words that rows cannot be independent draws, and warn about it; empty if they can.

    With groups only groups are independent, and nothing is looked at.
    """
    if groups is not None or len(codes) < MIN_ROWS:
        return ()
    found = _copied_rows(X, codes) or _repeated_column(X) or _jittered_rows(X)
    if found is None:
        return ()
    condition, remedy = found
    warn_user(f"{condition}. {remedy}", NotCertifiedWarning)
    return (condition,)


_Found = tuple[str, str] | None

_ONCE = (
    "Give each row once: let the base estimator resample or weight its block instead (a pipeline "
    "that oversamples in fit, or class_weight), which leaves blocks independent. Rows of one "
    "person go together as groups: fit(X, y, groups=...)."
)


# -- copies of rows --------------------------------------------------------------------------------
def _copied_rows(X: Any, codes: NDArray[Any]) -> _Found:
    if any(map(_is_distinct, _numbers(X, _FIRST_COLUMNS))):
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
    limit = _log_share(1 + len(classes))
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
) -> _Found:
    """Find rows that occur more than once although a column tells all different rows apart."""
    # theorem: repeated-rows (section "Unique cells")
    repeated = {
        label: float((counts[labels == label] > 1).mean()) for label in np.unique(labels).tolist()
    }
    copied = [label for label, share in repeated.items() if share >= MIN_REPEATED]
    alone = getattr(X, "shape", (0,))[1:] in ((), (1,))  # one column is unique by definition
    if not copied or len(first) < MIN_ROWS or alone or not _has_unique_cells(X, first):
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
    for cells in _numbers(X, 64):
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


# -- several rows of one person --------------------------------------------------------------------
def _repeated_column(X: Any) -> _Found:
    """Find a column in which values occur as often as persons in a panel do."""
    limit = _log_share(max(getattr(X, "shape", (1,))))  # at least the number of columns
    for name, values in _discrete_columns(X):
        counts = np.unique(values, return_counts=True)[1]
        if len(counts) < _MIN_VALUES:
            continue
        words = _say_multiplicities(f"values of column {name!r}", counts, limit)
        if (
            words is None
            and names_persons(name)
            and len(values) >= MIN_ROWS_PER_PERSON * len(counts)
        ):
            words = (
                f"rows are not independent draws: column {name!r} names {len(counts)} persons in "
                f"{len(values)} rows"
            )
        if words is not None:
            return words, (
                "If these are several rows of one person (one machine, one day), keep them "
                f"together: fit(X, y, groups=X[{name!r}]), with a plan that counts groups."
            )
    return None


def names_persons(name: Any) -> bool:
    """Whether a column is named after persons.

    >>> names_persons("patient_id"), names_persons("age")
    (True, False)
    """
    return isinstance(name, str) and _PERSONS.fullmatch(name.strip()) is not None


def _discrete_columns(X: Any) -> Iterator[tuple[Any, NDArray[Any]]]:
    """Yield columns in which values are repeated, each as an array of codes or numbers."""
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype.kind in "fiu":
        for index in np.flatnonzero(_repeats(X)).tolist():
            yield index, X[:, index]
    elif hasattr(X, "iloc"):
        for name, column in zip(X.columns, columns_of(X), strict=True):
            if column.dtype.kind not in "biuf":
                yield name, column.factorize()[0]
            elif column.dtype.kind != "b":
                cells = column.to_numpy(dtype=np.float64, na_value=np.nan)
                if _repeats(cells):
                    yield name, cells
    else:
        for column in columns_of(X):
            if not column.dtype.is_float():
                yield column.name, column.rank("dense").fill_null(0).to_numpy()


def _repeats(table: NDArray[Any]) -> Any:
    """Whether cells of a column occur twice, and many different ones do, by a look at some rows.

    Rows from the beginning and from all over the table: it may be sorted.
    """
    found: Any = False
    for rows in (table[:_LOOKED_AT], table[:: 1 + len(table) // _LOOKED_AT]):
        cells = np.sort(rows.T.copy(), axis=-1)
        n_repeated = (cells[..., 1:] == cells[..., :-1]).sum(axis=-1)
        found |= (n_repeated > _MIN_REPEATS) & (n_repeated < cells.shape[-1] - _MIN_REPEATS)
    return found


# -- rows that are equal but for jitter ------------------------------------------------------------
def _jittered_rows(X: Any) -> _Found:
    """Find rows that fall into the same cells of a grid as copies with small noise do."""
    columns = list(_numbers(X, _GRID_COLUMNS))
    if not columns:
        return None
    n_rows = len(columns[0])
    step = 1 + n_rows // (4 * _LOOKED_AT)
    spread = _spread(np.array([column[::step] for column in columns]))
    columns = [column for column, wide in zip(columns, spread > 0, strict=True) if wide]
    exponents = np.frexp(spread[spread > 0])[1]
    limit = _log_share(len(_GRID_BITS)) - len(columns) * math.log(_EXPONENTS)
    before = 0
    for bits in _GRID_BITS:
        with np.errstate(over="ignore", invalid="ignore"):
            counts = _multiplicities(mixed_bits(_on_grid(columns, bits - exponents), n_rows))
        if len(counts) > _CLEARLY_DIFFERENT * n_rows or len(counts) == before:
            return None  # finer grids tell even more rows apart
        before = len(counts)
        words = _say_multiplicities("rows, rounded to a grid,", counts, limit)
        if words is not None:
            return f"{words}: copies with small changes, or a design and not a sample", _ONCE
    return None


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


def _numbers(X: Any, most: int) -> Iterator[NDArray[np.float64]]:
    """Yield the first columns of floats as arrays, with NaN where a cell is missing."""
    if type(X) is np.ndarray:
        columns: Any = X.T[:most] if X.ndim == 2 and X.dtype.kind == "f" else ()
    else:
        columns = (cells for cells in map(as_floats, columns_of(X)) if cells is not None)
    for _, cells in zip(range(most), columns, strict=False):
        yield np.asarray(cells, dtype=np.float64)


# -- words -----------------------------------------------------------------------------------------
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
