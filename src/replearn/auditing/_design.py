"""Which rows are tested, and which rows each run learns from.

The test rows are drawn once and stay. For each pair the other rows are shuffled by the audit's key
and two samples are cut from them. Everything follows from the key and the sizes, so that an audit
that was interrupted continues with the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.randomness import SharedKey
from replearn.records import check_choice, check_count, check_fraction

SAMPLES = ("disjoint", "bootstrap")
MAX_TEST_SHARE = 0.3
DEFAULT_TEST_ROWS = 2000
"""Enough for twenty rows in the last percent; more rows cost prediction time."""

MIN_SAMPLE = 10


@dataclass(frozen=True)
class AuditDesign:
    """How an audit splits the file.

    Parameters
    ----------
    n_rows : int
        Rows of the file.
    n_test : int
        Test rows, drawn once.
    n_pairs : int
        Pairs of runs per contender.
    n_drawn : int
        Pairs for which the rows were drawn; more than were run if the audit was cut short.
    train_size : int
        Units (rows, or groups) that each run learns from.
    sample : {"disjoint", "bootstrap"}
        Whether the samples of a pair are cut from the file or drawn from it with replacement.
    unit : {"rows", "groups"}
        What is drawn.
    n_pool : int
        Units outside the test set.
    key_fingerprint : str
        Fingerprint of the key that drew the rows.
    new_rows : float, default=1.0
        Share of the second sample of a pair that the first does not have.
    other_shares : tuple of float, default=()
        Smaller shares of new rows, for which each pair has a further sample.
    rows_per_unit : float, default=1.0
        Rows of a unit outside the test set, on average; 1 unless units are groups.
    """

    n_rows: int
    n_test: int
    n_pairs: int
    n_drawn: int
    train_size: int
    sample: str
    unit: str
    n_pool: int
    key_fingerprint: str
    new_rows: float = 1.0
    other_shares: tuple[float, ...] = ()
    rows_per_unit: float = 1.0

    @property
    def independent_pairs(self) -> bool:
        """Whether no two pairs share a training row.

        If so, limits hold for fresh samples of the population; otherwise for random splits of this
        file.
        """
        return self.sample == "disjoint" and 2 * self.train_size * self.n_drawn <= self.n_pool

    @property
    def limits_hold_for(self) -> str:
        """What the confidence limits are about, in words."""
        if self.independent_pairs:
            return "fresh samples of the population (no two pairs share a training row)"
        if self.new_rows < 1:
            return "random samples of this file and random new rows from it (pairs share rows)"
        how = "random splits" if self.sample == "disjoint" else "bootstrap samples"
        return f"{how} of this file (pairs share training rows)"


@dataclass(frozen=True, eq=False)
class Rows:
    """Positions of the test rows, and what is needed to draw the samples."""

    test: NDArray[np.intp]
    pool_units: NDArray[np.intp]
    unit_of_row: NDArray[np.intp] | None  # None: a unit is a row

    @property
    def used(self) -> NDArray[np.intp]:
        """Positions of all rows that are tested or may be learned from."""
        return np.sort(np.concatenate([self.test, self.of_units(self.pool_units)]))

    def of_units(self, units: NDArray[np.intp]) -> NDArray[np.intp]:
        """Turn drawn units into row positions."""
        if self.unit_of_row is None:
            return units
        order = np.argsort(self.unit_of_row, kind="stable")
        rows_of_unit = np.split(order, np.cumsum(np.bincount(self.unit_of_row))[:-1])
        return np.concatenate([rows_of_unit[unit] for unit in units])


def draw_rows(
    n_rows: int,
    test_size: int | float | None,
    groups: NDArray[Any] | None,
    key: SharedKey,
    *,
    max_rows: int | None = None,
) -> Rows:
    """Draw the test rows once, and the others up to ``max_rows``; with groups, whole groups."""
    n_used = n_rows if max_rows is None else min(max_rows, n_rows)
    wanted = n_test_rows(n_used, test_size)
    rng = np.random.default_rng(key.child("test rows").seed_for("permutation"))
    if groups is None:
        order = rng.permutation(n_rows)[:n_used]
        return Rows(np.sort(order[:wanted]), np.sort(order[wanted:]), None)
    names, unit_of_row = np.unique(groups, return_inverse=True)
    order = rng.permutation(len(names))
    ends = np.cumsum(np.bincount(unit_of_row)[order])
    n_units = min(int(np.searchsorted(ends, wanted)) + 1, len(names) - 1)
    last = len(names) if n_used == n_rows else int(np.searchsorted(ends, n_used, side="right"))
    test = np.flatnonzero(np.isin(unit_of_row, order[:n_units]))
    return Rows(test, np.sort(order[n_units:last]), unit_of_row.astype(np.intp))


def n_test_rows(n_rows: int, test_size: int | float | None) -> int:
    """Turn a number, a share or None into a number of test rows.

    >>> n_test_rows(50_000, None), n_test_rows(1000, None), n_test_rows(1000, 0.1)
    (2000, 300, 100)
    """
    if test_size is None:
        wanted = min(DEFAULT_TEST_ROWS, int(MAX_TEST_SHARE * n_rows))
    elif isinstance(test_size, Integral):
        wanted = check_count("test_size", test_size, least=0)
    else:
        wanted = round(check_fraction("test_size", test_size, one=False) * n_rows)
    if not 1 <= wanted <= n_rows - 2 * MIN_SAMPLE:
        raise ValueError(
            f"test_size={test_size!r} gives {wanted} test rows of {n_rows}: at least 1 is needed, "
            f"and {2 * MIN_SAMPLE} rows must remain to learn from."
        )
    return wanted


def make_design(
    n_rows: int,
    rows: Rows,
    n_pairs: int,
    key: SharedKey,
    sample: str = "disjoint",
    train_size: Any = None,
    new_rows: float | Sequence[float] = 1.0,
) -> AuditDesign:
    """Check the sizes and fix the design."""
    check_choice("sample", sample, SAMPLES)
    *others, largest_share = _checked_shares(new_rows)
    if (others or largest_share < 1) and sample == "bootstrap":
        raise ValueError(f'new_rows={new_rows!r} requires sample="disjoint".')
    pool = len(rows.pool_units)
    unit = "rows" if rows.unit_of_row is None else "groups"
    largest = pool // 2 if sample == "disjoint" else pool
    size = largest if train_size is None else train_size
    if largest < MIN_SAMPLE:
        raise ValueError(
            f"{pool} {unit} are left beside the test rows, and two samples of at least "
            f"{MIN_SAMPLE} {unit} each are required: use more data, or a smaller test_size"
            + (" or a column of groups with more values." if unit == "groups" else ".")
        )
    if not isinstance(size, Integral) or not MIN_SAMPLE <= int(size) <= largest:
        raise ValueError(
            f"train_size={train_size!r}: each run needs between {MIN_SAMPLE} and {largest} "
            f"{unit}; {pool} {unit} are outside the test set."
        )
    if round(min([*others, largest_share]) * int(size)) < 1:
        raise ValueError(
            f"new_rows={new_rows!r} of {size} {unit} is less than one: use a larger share."
        )
    check_count("n_pairs", n_pairs, least=2)
    return AuditDesign(
        n_rows=n_rows,
        n_test=len(rows.test),
        n_pairs=n_pairs,
        n_drawn=n_pairs,
        train_size=int(size),
        sample=sample,
        unit=unit,
        n_pool=pool,
        key_fingerprint=key.fingerprint,
        new_rows=largest_share,
        other_shares=tuple(others),
        rows_per_unit=len(rows.of_units(rows.pool_units)) / pool,
    )


def _checked_shares(new_rows: float | Sequence[float]) -> list[float]:
    """Return shares of new rows once each, the largest last."""
    shares = [new_rows] if np.ndim(new_rows) == 0 else list(new_rows)  # type: ignore[arg-type]
    if not shares:
        raise ValueError("new_rows is empty: give at least one share.")
    return sorted({check_fraction("new_rows", share) for share in shares})


def draw_pair(design: AuditDesign, rows: Rows, key: SharedKey, pair: int) -> list[NDArray[np.intp]]:
    """Draw the training rows of one pair: two samples, and one for each of the other shares.

    With ``new_rows`` below 1 the second sample is the first without some rows and with as many
    others. Where all pairs fit side by side, they are cut from one shuffle and share no row.
    Otherwise the pool is shuffled anew for each pair: given the file, pairs are then independent
    draws.
    """
    size = design.train_size
    if design.sample == "bootstrap":
        rng = np.random.default_rng(key.child("pair", pair).seed_for("bootstrap"))
        return [rows.of_units(drawn) for drawn in rng.choice(rows.pool_units, (2, size))]
    shuffle, index = (0, pair) if design.independent_pairs else (pair, 0)
    rng = np.random.default_rng(key.child("pair", shuffle).seed_for("permutation"))
    order = rng.permutation(rows.pool_units)[2 * size * index :]
    # The new rows come last, and as many of the first ones go: as a window moves in time.
    starts = [round(share * size) for share in (0.0, design.new_rows, *design.other_shares)]
    return [rows.of_units(order[start : size + start]) for start in starts]
