"""Flips by subgroup and by intersections of two columns, corrected for looking at many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from replearn.auditing._row_limits import Floats, Mask, RowLimits, clustered_share
from replearn.auditing._statistics import MIN_GROUP_ROWS, Estimate, GroupFlips
from replearn.auditing._table import Subgroups
from replearn.bounds import binomial_limits, equal_share_tail

MIN_CLUSTERS = 10
"""With fewer groups of rows inside or outside a subgroup, no test is made."""

JOINED = " × "


@dataclass(frozen=True)
class SubgroupFlips(GroupFlips):
    """Share of predictions that change in one subgroup, next to the other rows.

    Parameters
    ----------
    value, lower, upper : float
        The share and its limits, for this subgroup alone.
    subgroup, level : str
        The column (or two), and the value that these rows have.
    rows : int
        Number of these rows.
    negative, positive : float or None
        Shares of these rows that become wrong, and that become right.
    joint : Estimate
        Limits that hold for all listed subgroups at once, except with probability delta.
    p_value : float or None
        That the share is the same in the other rows, corrected by Holm's method for the number of
        subgroups; None where no test is possible.
    """

    negative: float | None
    positive: float | None
    joint: Estimate
    p_value: float | None


@dataclass(frozen=True, eq=False)
class RowChanges:
    """Which rows change, and which of them for the worse and for the better."""

    changed: Mask
    worse: Mask | None
    better: Mask | None


@dataclass(frozen=True, eq=False)
class _Cell:
    """Counts of one subgroup: its rows and flips in each group of rows (in all, without groups)."""

    subgroup: str
    level: str
    rows: int
    flips: int
    negative: float | None
    positive: float | None
    clusters: NDArray[np.intp]  # those that have rows of this subgroup
    totals: Floats  # flips in each of them
    sizes: Floats  # rows in each of them

    def limits(self, delta: float, clustered: bool) -> Estimate:
        if clustered:
            return clustered_share(self.totals, self.sizes, delta)
        lower, upper = binomial_limits(self.flips, self.rows, delta)
        return Estimate(self.flips / self.rows, float(lower), float(upper))


def subgroup_flips(
    subgroups: Subgroups, changes: RowChanges, limits: RowLimits
) -> tuple[tuple[SubgroupFlips, ...], tuple[SubgroupFlips, ...]]:
    """Return flips by the values of each column, and by those of two columns at once.

    Intersections with fewer than ten rows are left out.

    >>> codes = {"town": (["Rom", "Ulm"], np.arange(40) % 2)}
    >>> changes = RowChanges(np.arange(40) % 2 == 0, None, None)
    >>> single, _ = subgroup_flips(codes, changes, RowLimits(0.05))
    >>> [(group.level, group.value, group.p_value < 1e-9) for group in single]
    [('Rom', 1.0, True), ('Ulm', 0.0, True)]
    """
    single = [
        cell
        for name, coded in subgroups.items()
        for cell in _cells(name, *coded, changes, limits.groups)
    ]
    double = [
        cell
        for one, two in combinations(subgroups.items(), 2)
        for cell in _cells(*_joined(one, two), changes, limits.groups)
        if cell.rows >= MIN_GROUP_ROWS
    ]
    cells = single + double
    p_values = holm(_p_values(cells, changes.changed, limits.groups))
    clustered = limits.groups is not None
    found = [
        SubgroupFlips(
            **vars(cell.limits(limits.delta, clustered)),
            subgroup=cell.subgroup,
            level=cell.level,
            rows=cell.rows,
            negative=cell.negative,
            positive=cell.positive,
            joint=cell.limits(limits.delta / len(cells), clustered),
            p_value=p_value,
        )
        for cell, p_value in zip(cells, p_values, strict=True)
    ]
    return tuple(found[: len(single)]), tuple(found[len(single) :])


Coded = tuple[list[str], NDArray[np.intp]]


def _joined(one: tuple[str, Coded], two: tuple[str, Coded]) -> tuple[str, list[str], NDArray]:
    """Return name, levels and codes of the intersections of two columns."""
    name, (levels, codes) = one
    other, (other_levels, other_codes) = two
    joined = [f"{a}{JOINED}{b}" for a in levels for b in other_levels]
    return f"{name}{JOINED}{other}", joined, codes * len(other_levels) + other_codes


def _cells(
    name: str,
    levels: list[str],
    codes: NDArray[np.intp],
    changes: RowChanges,
    groups: NDArray[np.intp] | None,
) -> Iterator[_Cell]:
    """Count rows and flips of the levels that occur."""
    n_levels = len(levels)
    sizes = np.bincount(codes, minlength=n_levels)

    def counts(which: Mask | None) -> NDArray[np.intp] | None:
        return None if which is None else np.bincount(codes[which], minlength=n_levels)

    flips = counts(changes.changed)
    assert flips is not None, "there is a mask"
    sides = counts(changes.worse), counts(changes.better)
    by_cluster = _by_cluster(codes, changes.changed, groups, n_levels)
    for index in np.flatnonzero(sizes).tolist():
        rows = int(sizes[index])
        worse, better = (None if side is None else float(side[index] / rows) for side in sides)
        parts = by_cluster[index]
        yield _Cell(name, levels[index], rows, int(flips[index]), worse, better, *parts)


def _by_cluster(
    codes: NDArray[np.intp], changed: Mask, groups: NDArray[np.intp] | None, n_levels: int
) -> list[tuple[NDArray[np.intp], Floats, Floats]]:
    """Return, for each level, its groups of rows with their flips and sizes."""
    if groups is None:
        nothing = np.empty(0, dtype=np.intp), np.empty(0), np.empty(0)
        return [nothing] * n_levels
    n_groups = int(groups.max()) + 1
    cells, indices = np.unique(codes * n_groups + groups, return_inverse=True)
    sizes = np.bincount(indices).astype(np.float64)
    totals = np.asarray(np.bincount(indices, weights=changed), dtype=np.float64)
    ends = np.searchsorted(cells, np.arange(n_levels + 1) * n_groups)
    spans = [slice(*pair) for pair in pairwise(ends.tolist())]
    return [(cells[span] % n_groups, totals[span], sizes[span]) for span in spans]


def _p_values(
    cells: Sequence[_Cell], changed: Mask, groups: NDArray[np.intp] | None
) -> list[float | None]:
    """Test for each subgroup that its share of flips is that of the other rows."""
    n_rows = len(changed)
    n_flips = int(np.count_nonzero(changed))
    if groups is None:
        return [
            equal_share_tail(cell.flips, cell.rows, n_flips - cell.flips, n_rows - cell.rows)
            if cell.rows < n_rows
            else None
            for cell in cells
        ]
    sizes = np.bincount(groups).astype(np.float64)
    totals = np.asarray(np.bincount(groups, weights=changed), dtype=np.float64)
    return [_clustered_p_value(cell, totals, sizes) for cell in cells]


def _clustered_p_value(cell: _Cell, totals: Floats, sizes: Floats) -> float | None:
    """Student's test of the difference of two shares, whose groups of rows may overlap."""
    rest_totals = totals.copy()
    rest_totals[cell.clusters] -= cell.totals
    rest_sizes = sizes.copy()
    rest_sizes[cell.clusters] -= cell.sizes
    n_inside = len(cell.clusters)
    n_outside = int(np.count_nonzero(rest_sizes))
    if min(n_inside, n_outside) < MIN_CLUSTERS:
        return None
    inside = cell.totals.sum() / cell.sizes.sum()
    outside = rest_totals.sum() / rest_sizes.sum()
    parts = -(rest_totals - outside * rest_sizes) / rest_sizes.sum()
    parts[cell.clusters] += (cell.totals - inside * cell.sizes) / cell.sizes.sum()
    n_groups = int(np.count_nonzero(sizes))
    error = (n_groups / (n_groups - 1) * float((parts**2).sum())) ** 0.5
    if error == 0:
        return 1.0 if inside == outside else 0.0
    return float(2 * stats.t.sf(abs(inside - outside) / error, min(n_inside, n_outside) - 1))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values for their number by Holm's method; missing ones are not counted.

    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    known = [index for index, p_value in enumerate(p_values) if p_value is not None]
    ranked = sorted(known, key=lambda index: p_values[index] or 0.0)
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, index in enumerate(ranked):
        largest = max(largest, (len(ranked) - rank) * (p_values[index] or 0.0))
        corrected[index] = min(1.0, largest)
    return corrected
