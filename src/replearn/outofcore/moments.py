"""Moments of the columns of a file, from sums that pieces add up, and the marks they show.

`replearn.binding.sample` looks for the marks of a transformer in front; here are columns of which
it gets sums instead of cells. What a mean, a spread, a range, repeated ends, products of columns or
a column of row numbers show is found as in memory. Cells that are the mean of their column are
looked for in some of the rows. A RobustScaler is not looked for: its mark are exact quartiles,
which no sum gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.binding import (
    MAX_ORTHOGONAL,
    MIN_ROWS,
    mark_of_columns,
    products_vanish,
    repeats_inside,
)
from replearn.outofcore.pieces import column_array
from replearn.tables import row_chunks

_FIRST_ROWS = 128
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Moments:
    """What is remembered of the numbers of one column."""

    name: str | int
    dtype: str
    n: int  # known cells
    rows: int  # all cells
    mean: float
    squares: float  # sum of squared distances from the mean
    low: float
    high: float
    between: bool  # whether a cell lies between the ends
    whole: bool
    few_decimals: bool
    numbers: int  # sum of hashes of whole numbers
    at_low: int = 0  # cells at each end
    at_high: int = 0
    filled: int = 0  # cells that are not zero
    cells: Any = None  # some of them, when all pieces are added up

    # What the marks look at beside the numbers above: as columns in memory have it.
    may_be_centred = True
    has_unit_quartiles = False
    is_cleared = False

    @property
    def std(self) -> float:
        """Standard deviation."""
        return float(np.sqrt(self.squares / self.n))

    @property
    def moves(self) -> bool:
        """Whether there are more than two values."""
        return self.low < self.high and self.between

    @property
    def rough_variance(self) -> float:
        """Variance."""
        return self.squares / self.n

    @property
    def repeated_ends(self) -> tuple[int, int] | None:
        """Cells at each end; None if cells between them are repeated as well."""
        return None if repeats_inside(self.cells) else (self.at_low, self.at_high)

    def side_by_side(self) -> Moments:
        """Return the column itself."""
        return self


def moments_of(arrow: Any, container: str) -> list[Moments]:
    """Return the moments of the columns of numbers of a pyarrow table.

    >>> import pyarrow as pa
    >>> [m] = moments_of(pa.table({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]}), "polars")
    >>> m.mean, m.squares, m.moves
    (2.0, 2.0, True)
    """
    found = []
    for index, name in enumerate(arrow.column_names):
        values = column_array(arrow.column(name))
        if values.dtype.kind in "iuf":
            values = values.astype(np.float64) if container == "numpy" else values
            found.append(_moments(index if container == "numpy" else name, values))
    return found


def _moments(name: str | int, values: NDArray[Any]) -> Moments:
    rows = len(values)
    if values.dtype.kind == "f" and np.isnan(values).any():
        values = values[~np.isnan(values)]
    if not len(values):
        ends = (np.inf, -np.inf)
        return Moments(name, values.dtype.str, 0, rows, 0.0, 0.0, *ends, False, True, False, 0)
    first = values[:_FIRST_ROWS]
    low = values.min()
    high = values.max()
    mean = float(values.mean(dtype=np.float64))
    away = values - mean
    whole = values.dtype.kind != "f" or bool((values == np.round(values)).all())
    is_low = values == low
    is_high = values == high
    return Moments(
        name,
        values.dtype.str,
        len(values),
        rows,
        mean,
        float(np.einsum("i,i->", away, away)),
        float(low),
        float(high),
        not bool((is_low | is_high).all()),
        whole,
        bool((np.round(first, 6) == first).mean() > 0.5),
        _hash_sum(values) if whole and np.isfinite([low, high]).all() else 0,
        int(np.count_nonzero(is_low)),
        int(np.count_nonzero(is_high)),
        int(np.count_nonzero(values)),
    )


def add_moments(one: Moments, two: Moments) -> Moments:
    """Add up two pieces of a column."""
    if not one.n or not two.n:
        return replace(two if one.n == 0 else one, rows=one.rows + two.rows)
    n = one.n + two.n
    gap = two.mean - one.mean
    low = min(one.low, two.low)
    high = max(one.high, two.high)
    ends = {one.low, one.high, two.low, two.high}
    return Moments(
        one.name,
        one.dtype,
        n,
        one.rows + two.rows,
        one.mean + gap * two.n / n,
        one.squares + two.squares + gap**2 * one.n * two.n / n,
        low,
        high,
        one.between or two.between or bool(ends - {low, high}),
        one.whole and two.whole,
        one.few_decimals,
        (one.numbers + two.numbers) & _MASK,
        sum(part.at_low for part in (one, two) if part.low == low),
        sum(part.at_high for part in (one, two) if part.high == high),
        one.filled + two.filled,
    )


def products_of(arrow: Any) -> NDArray[np.float64]:
    """Return the sums of products of the first columns of doubles.

    >>> import pyarrow as pa
    >>> products_of(pa.table({"a": [1.0, 2.0], "b": [2.0, -1.0], "c": ["x", "y"]}))
    array([[5., 0.],
           [0., 5.]])
    """
    doubles = [column for column in arrow.columns if str(column.type) == "double"]
    matrix = np.array([column_array(column) for column in doubles[:MAX_ORTHOGONAL]])
    # As everywhere here, without the threads of a matrix library.
    products = np.einsum("ai,bi->ab", matrix, matrix) if len(matrix) else np.zeros((0, 0))
    return np.nan_to_num(products)


def add_columns(pieces: Sequence[Sequence[Moments]]) -> list[Moments]:
    """Add up the columns of all pieces."""
    return [reduce(add_moments, columns) for columns in zip(*pieces, strict=True)]


def mark_of(
    columns: Sequence[Moments], products: NDArray[np.float64], some_rows: Any
) -> str | None:
    """Name the transformer whose mark the columns carry, if any.

    ``some_rows`` is a pyarrow table of some of the rows.
    """
    known = [
        replace(column, cells=_cells_of(column, some_rows))
        for column in columns
        if np.dtype(column.dtype).kind == "f" and column.n >= MIN_ROWS
    ]
    return mark_of_columns(known, lambda long: _are_orthogonal(long, products))


def _are_orthogonal(columns: Sequence[Moments], products: NDArray[np.float64]) -> bool:
    full = all(c.n == c.rows and c.filled > c.n / 2 and not c.whole for c in columns)
    return 1 < len(columns) == len(products) and full and products_vanish(products)


def _cells_of(column: Moments, rows: Any) -> NDArray[np.floating[Any]]:
    """Return the known cells of a column in some rows, with its ends, which these may lack."""
    cells = column_array(rows.column(column.name))
    return np.append(cells[~np.isnan(cells)], (column.low, column.high))


def numbered_column(columns: Sequence[Moments], container: str) -> str | int | None:
    """Return a column that numbers the rows; None if there is none."""
    for column in columns:
        if container == "polars" and np.dtype(column.dtype).kind == "f":
            continue  # as in memory
        full = column.n == column.rows >= MIN_ROWS and column.whole
        if full and column.high - column.low == column.n - 1 and _is_range(column):
            return column.name
    return None


def _is_range(column: Moments) -> bool:
    """Whether the whole numbers from the lowest to the highest are all there."""
    first = int(column.low)
    parts = (first + np.arange(*ends, dtype=np.int64) for ends in row_chunks(column.n, 1 << 20))
    return column.numbers == sum(map(_hash_sum, parts)) & _MASK


def _hash_sum(values: NDArray[Any]) -> int:
    """Add up hashes of whole numbers (SplitMix64): different sets have different sums."""
    with np.errstate(over="ignore", invalid="ignore"):
        mixed = values.astype(np.int64).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return int((mixed ^ (mixed >> np.uint64(31))).sum(dtype=np.uint64))
