"""How an audit splits the file: which rows are tested, and which rows each run learns from.

The test rows are drawn once and stay. For each pair the other rows are shuffled by the audit's key
and samples are cut from them. Everything follows from the key and the sizes, so that an audit that
was interrupted continues with the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.randomness.key import SharedKey
from replearn.records.checks import check_choice, check_count, check_fraction

# -- what differs between the two runs of a pair ---------------------------------------------------
NEW_ROWS = "new rows"
SEED = "seed"
ROW_ORDER = "row order"
NEXT_PERIOD = "next period"
ANY_PERIOD = "next period, rows shuffled"
"""As many new rows as `NEXT_PERIOD`, in random order: what differs between both is drift."""

PERIODS_OF_WINDOW = 6
"""The next window drops a sixth of its rows, and has as many later ones."""

VARIANTS = (NEW_ROWS, f"10 % {NEW_ROWS}", SEED, ROW_ORDER, NEXT_PERIOD)
_SHARE = re.compile(rf"(\d+(?:\.\d+)?) ?% {NEW_ROWS}")


def new_share(variant: str) -> float | None:
    """Return the share of new rows that a variant names; None if it names no share.

    >>> new_share("new rows"), new_share("10 % new rows"), new_share("seed")
    (1.0, 0.1, None)
    """
    if variant == NEW_ROWS:
        return 1.0
    found = _SHARE.fullmatch(variant)
    return None if found is None else float(found[1]) / 100


def check_variants(vary: str | Sequence[str], *, has_time: bool) -> tuple[str, ...]:
    """Return the variants once each; the first is what a report is about.

    >>> check_variants(["new rows", "seed"], has_time=False)
    ('new rows', 'seed')
    """
    given = (vary,) if isinstance(vary, str) else tuple(vary)
    names = tuple(dict.fromkeys((*given, NEXT_PERIOD) if has_time else given))
    for name in names:
        share = new_share(name)
        known = name in VARIANTS if share is None else 0 < share <= 1
        if not known:
            raise ValueError(f"vary: {name!r} is not one of {', '.join(map(repr, VARIANTS))}.")
    if not names or names[0] == NEXT_PERIOD:
        raise ValueError(f"vary={vary!r}: the first must be another one than {NEXT_PERIOD!r}.")
    if NEXT_PERIOD in names and not has_time:
        raise ValueError(f"vary: {NEXT_PERIOD!r} requires the time of each row (time=).")
    return (*names, ANY_PERIOD) if NEXT_PERIOD in names else names


# -- which rows are tested, and which rows each run learns from ------------------------------------
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
    vary : tuple of str, default=("new rows",)
        What differs between the two runs of a pair; the first is what the report is about.
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
    vary: tuple[str, ...] = (NEW_ROWS,)

    @property
    def independent_pairs(self) -> bool:
        """Whether no two pairs share a training row.

        If so, limits hold for fresh samples of the population; otherwise for random splits of this
        file.
        """
        return self.sample == "disjoint" and 2 * self.train_size * self.n_drawn <= self.n_pool

    @property
    def period(self) -> int:
        """Rows by which the next window is later."""
        return max(1, self.train_size // PERIODS_OF_WINDOW)

    @property
    def limits_hold_for(self) -> str:
        """What the confidence limits are about, in words."""
        if self.independent_pairs:
            return "fresh samples of the population (no two pairs share a training row)"
        if self.vary[0] != NEW_ROWS:
            return "random samples of this file (pairs share rows)"
        how = "random splits" if self.sample == "disjoint" else "bootstrap samples"
        return f"{how} of this file (pairs share training rows)"


@dataclass(frozen=True, eq=False)
class Rows:
    """Positions of the test rows, and what is needed to draw the samples."""

    test: NDArray[np.intp]
    pool_units: NDArray[np.intp]
    unit_of_row: NDArray[np.intp] | None  # None: a unit is a row
    by_time: NDArray[np.intp] | None = None  # rows of the pool in the order of their time

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
    vary: tuple[str, ...] = (NEW_ROWS,),
) -> AuditDesign:
    """Check the sizes and fix the design."""
    check_choice("sample", sample, SAMPLES)
    if vary != (NEW_ROWS,) and sample == "bootstrap":
        raise ValueError(f'vary={vary!r} requires sample="disjoint".')
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
    for variant in vary:
        share = new_share(variant)
        if share is not None and round(share * int(size)) < 1:
            raise ValueError(f"vary: {variant!r} of {size} {unit} is less than one.")
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
        vary=vary,
    )


class Run(NamedTuple):
    """One training of a pair: what it learns from, and the run that it is compared with."""

    variant: str  # empty: a first run
    rows: NDArray[np.intp]
    first: int  # its place among the runs of the pair
    has_own_seed: bool = False


def runs_of_pair(design: AuditDesign, rows: Rows, key: SharedKey, pair: int) -> list[Run]:
    """Draw the trainings of one pair: the first, one for each variant, and windows in time.

    With some new rows the second sample is the first without some rows and with as many others.
    Where all pairs fit side by side, they are cut from one shuffle and share no row. Otherwise the
    pool is shuffled anew for each pair: given the file, pairs are then independent draws.
    """
    size = design.train_size
    if design.sample == "bootstrap":
        rng = np.random.default_rng(key.child("pair", pair).seed_for("bootstrap"))
        one, two = (rows.of_units(drawn) for drawn in rng.choice(rows.pool_units, (2, size)))
        return [Run("", one, 0), Run(NEW_ROWS, two, 0)]
    shuffle, index = (0, pair) if design.independent_pairs else (pair, 0)
    rng = np.random.default_rng(key.child("pair", shuffle).seed_for("permutation"))
    order = rng.permutation(rows.pool_units)[2 * size * index :]

    def moved_by(count: int) -> NDArray[np.intp]:
        # The new rows come last, and as many of the first ones go: as a window moves in time.
        return rows.of_units(order[count : size + count])

    first = moved_by(0)
    runs = [Run("", first, 0)]
    for variant in design.vary:
        share = new_share(variant)
        if share is not None:
            runs.append(Run(variant, moved_by(round(share * size)), 0))
        elif variant == SEED:
            runs.append(Run(variant, first, 0, has_own_seed=True))
        elif variant == ROW_ORDER:
            own = key.child("source", "row order", pair)
            runs.append(Run(variant, first[np.argsort(own.uniforms(np.arange(len(first))))], 0))
        elif variant == ANY_PERIOD:
            runs.append(Run(variant, moved_by(design.period), 0))
        else:
            window, later = windows(design, rows, pair)
            runs += [Run("", window, len(runs)), Run(variant, later, len(runs))]
    return runs


def windows(
    design: AuditDesign, rows: Rows, pair: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of a window in time and of the next one; pairs are spread over the file."""
    assert rows.by_time is not None, "the time is known"
    last = len(rows.by_time) - design.train_size - design.period
    start = round(last * pair / max(1, design.n_drawn - 1))
    end = start + design.train_size
    return rows.by_time[start:end], rows.by_time[start + design.period : end + design.period]


def in_time_order(time: ArrayLike, rows: Rows, n_rows: int, key: SharedKey) -> NDArray[np.intp]:
    """Put the rows outside the test set in the order of their time, equal times in random order."""
    values = np.asarray(time)
    if rows.unit_of_row is not None:
        raise ValueError("time is not supported with groups.")
    if values.shape != (n_rows,):
        raise ValueError(f"time has shape {values.shape}, but X has {n_rows} rows.")
    missing = [value is None or value != value for value in values.tolist()]
    if any(missing) or (values.dtype.kind == "M" and bool(np.isnat(values).any())):
        raise ValueError("time has missing values: fill them in, or leave those rows out.")
    try:
        ranks = np.unique(values, return_inverse=True)[1]
    except TypeError:
        raise ValueError(
            "time has values of different types: use numbers, dates, or sortable texts."
        ) from None
    pool = rows.pool_units
    if len(np.unique(ranks[pool])) < PERIODS_OF_WINDOW:
        raise ValueError(
            f"time has {len(np.unique(ranks[pool]))} different values: at least "
            f"{PERIODS_OF_WINDOW} are required. Use a finer time (days instead of years)."
        )
    shuffled = pool[np.argsort(key.child("time rows").uniforms(pool), kind="stable")]
    return shuffled[np.argsort(ranks[shuffled], kind="stable")]
