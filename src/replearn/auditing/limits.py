"""Numbers with limits: means over pairs and rows, differences, single rows, quantiles of rows.

A table has one line per pair and one column per test row; an entry is the probability, over shared
thresholds, that something happens to the row in the pair (0 or 1 without thresholds). Every measure
is written as such a table, whose mean is the measure (for ratios and ranks: its linear part), so
that one function gives limits of all.

Which limits are valid. Given the file and the test rows, pairs are independent draws: limits over
pairs hold for random splits of this file, and for fresh samples of the population only if no two
pairs share a training row. Test rows are a sample of the people to be predicted. All rows of a
pair share the two training samples, so nothing here treats rows of a pair as independent. Two
models that exist are one pair: limits are then over rows alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from replearn.bounds.numeric import binomial_limits, kl_lower, kl_upper

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Range = tuple[float, float]

DELTA = 0.05
"""Each pair of limits fails with probability at most this much, unless another delta is set."""

FEW_ROWS = 30
"""With fewer rows (groups of rows) in which something ever happens, the normal approximation over
rows is not trusted."""

MIN_GROUP_ROWS = 10
"""Subgroups with fewer rows are left out."""

SHARES = (0.0, 1.0)
SIGNED = (-1.0, 1.0)
POSITIVE = (0.0, float("inf"))
ANY = (-float("inf"), float("inf"))


def percent(value: float | None, digits: int = 2) -> str:
    """Write a share in percent.

    >>> percent(0.0191), percent(None)
    ('1.91 %', '')
    """
    return "" if value is None else f"{100 * value:.{digits}f} %"


@dataclass(frozen=True)
class Estimate:
    """A measured number with its confidence limits.

    Parameters
    ----------
    value : float
        The estimate.
    lower, upper : float
        Limits.
    """

    value: float
    lower: float
    upper: float

    def percent(self, digits: int = 1) -> str:
        """Write a share and its limits in percent.

        >>> Estimate(0.2, 0.13, 0.44).percent(0)
        '20 % (13 to 44 %)'
        """
        return f"{percent(self.value, digits)} ({self.range(digits)})"

    def range(self, digits: int = 1) -> str:
        """Write the limits of a share in percent.

        >>> Estimate(0.2, 0.13, 0.44).range(0)
        '13 to 44 %'
        """
        return f"{100 * self.lower:.{digits}f} to {100 * self.upper:.{digits}f} %"

    def number(self, digits: int = 3) -> str:
        """Write a number and its limits.

        >>> Estimate(0.738, 0.7, 0.77).number()
        '0.738 (0.700 to 0.770)'
        """
        return f"{self.value:.{digits}f} ({self.lower:.{digits}f} to {self.upper:.{digits}f})"

    def __str__(self) -> str:
        return self.percent(2)


# -- means -----------------------------------------------------------------------------------------
def limits(
    table: Floats,
    delta: float = DELTA,
    clusters: NDArray[np.intp] | None = None,
    *,
    rows: Mask | None = None,
    within: Range | None = None,
) -> Estimate:
    """Mean of a table: exact limits for events in independent rows of one pair, else two-way ones.

    >>> str(limits(np.arange(400)[np.newaxis] < 8))
    '2.00 % (0.87 to 3.90 %)'
    """
    if len(table) == 1 and clusters is None and within is None and np.isin(table, (0, 1)).all():
        events = table[0] if rows is None else table[0, rows]
        lower, upper = binomial_limits(int(events.sum()), len(events), delta)
        return Estimate(float(events.mean()), float(lower), float(upper))
    return mean_limits(table, delta, clusters, rows=rows, within=within)


def mean_limits(
    table: Floats,
    delta: float,
    clusters: NDArray[np.intp] | None = None,
    *,
    rows: Mask | None = None,
    within: Range | None = None,
    pair_variance: float = 0.0,
) -> Estimate:
    """Mean over pairs and (some) rows with two-way limits that respect clusters of rows.

    Student's limits with the variance of pair means and the variance of row means added: pairs
    and rows are both samples. Approximate: they need means that are nearly normal. Numbers are
    shares in [0, 1]; otherwise ``within`` says between which numbers their mean lies. The variance
    of the mean over pairs is at least ``pair_variance``.

    >>> str(mean_limits(np.tile([0.0, 0.1, 0.0, 0.1], (20, 25)), 0.05))
    '5.00 % (4.00 to 6.00 %)'
    """
    if rows is not None:
        table = table[:, rows]
        clusters = None if clusters is None else clusters[rows]
    n_rows = table.shape[1]
    value = float(table.mean())
    by_pair = table.mean(axis=1)
    totals, sizes = _totals(table.mean(axis=0), clusters)
    n_units = len(totals)
    parts = []
    if len(by_pair) > 1:
        variance_of_pairs = max(by_pair.var(ddof=1) / len(by_pair), pair_variance)
        parts.append((variance_of_pairs, len(by_pair) - 1))
    if n_units > 1:
        deviations = totals - value * sizes
        parts.append((deviations.var(ddof=1) * n_units / n_rows**2, n_units - 1))
    variance = sum(v for v, _ in parts)
    reach = 0.0
    if variance > 0:
        freedom = variance**2 / sum(v**2 / f for v, f in parts)
        reach = float(stats.t.ppf(1 - delta / 2, freedom) * variance**0.5)
    lower = value - reach
    upper = value + reach
    # Few rows ever flip (or ever do not): what others may do is limited by their number only.
    if within is None and _n_units_with((table > 0).any(axis=0), clusters) < FEW_ROWS:
        upper = max(upper, _strict_upper(value, sizes, delta))
    if within is None and _n_units_with((table < 1).any(axis=0), clusters) < FEW_ROWS:
        lower = min(lower, 1.0 - _strict_upper(1.0 - value, sizes, delta))
    lowest, highest = SHARES if within is None else within
    return Estimate(value, max(lowest, lower), min(highest, upper))


def _totals(values: Floats, clusters: NDArray[np.intp] | None) -> tuple[Floats, Floats]:
    """Sum values within clusters, and count rows; single rows are clusters of one."""
    if clusters is None:
        return values, np.ones(len(values))
    _, indices = np.unique(clusters, return_inverse=True)
    totals = np.asarray(np.bincount(indices, weights=values), dtype=np.float64)
    return totals, np.bincount(indices).astype(np.float64)


def _n_units_with(event: Any, clusters: NDArray[np.intp] | None) -> int:
    """Count the rows, or clusters of rows, in which something happens."""
    return int(event.sum()) if clusters is None else len(np.unique(clusters[event]))


def _strict_upper(value: float, sizes: Floats, delta: float) -> float:
    """Upper limit of a mean of independent clusters that count by their sizes.

    # theorem: binomial-limits
    Shares of the clusters times their sizes over the largest size lie in [0, 1].
    """
    stretch = len(sizes) * float(sizes.max() / sizes.sum())
    share = min(1.0, max(0.0, value) / stretch)
    return stretch * float(kl_upper(share, len(sizes), delta / 2))


# -- a difference of two models on the same rows ---------------------------------------------------
SHARE_OF_DELTA = 0.1


def exact_difference(n_gained: int, n_lost: int, n_rows: int, delta: float) -> Estimate:
    """Estimate the share of gains minus that of losses, with exact limits.

    The difference is the share q of rows that change times 2 p - 1, p the share of gains among
    them. McNemar's test at level delta decides on which side of 0 it lies; limits of q fail with
    probability delta / 10 and those of p with 4/5 delta. A difference that is not 0 is put on the
    wrong side with probability at most delta / 2, and for the side on which it lies the limits of
    p and q leave delta / 2: together they fail with probability at most delta.

    >>> print(exact_difference(6, 0, 100, 0.05))
    6.00 % (0.06 to 15.84 %)
    >>> print(exact_difference(5, 0, 100, 0.05))
    5.00 % (-1.23 to 14.41 %)
    """
    n_changed = n_gained + n_lost
    few, many = map(float, binomial_limits(n_changed, n_rows, SHARE_OF_DELTA * delta))
    low = -1.0
    high = 1.0
    if n_changed:
        shares = binomial_limits(n_gained, n_changed, (1.0 - 2.0 * SHARE_OF_DELTA) * delta)
        low, high = (2.0 * float(share) - 1.0 for share in shares)
    lower = low * (few if low > 0 else many)
    upper = high * (many if high > 0 else few)
    mcnemar = stats.binomtest(n_lost, n_changed).pvalue if n_changed else 1.0
    if mcnemar <= delta:
        lower = max(lower, 0.0) if n_gained > n_lost else lower
        upper = min(upper, 0.0) if n_gained < n_lost else upper
    return Estimate((n_gained - n_lost) / n_rows, lower, upper)


def difference_limits(
    table: Floats,
    delta: float,
    clusters: NDArray[np.intp] | None = None,
    *,
    rows: Mask | None = None,
) -> Estimate:
    """Mean of a table of gains minus losses in [-1, 1]; exact limits where single rows change.

    >>> gained = np.where(np.arange(100) < 6, 1.0, 0.0)[np.newaxis]
    >>> print(difference_limits(gained, 0.05))
    6.00 % (0.06 to 15.84 %)
    """
    found = mean_limits(table, delta, clusters, rows=rows, within=SIGNED)
    if len(table) > 1:
        return found
    values = table[0] if rows is None else table[0, rows]
    gained, lost = np.maximum(values, 0.0), np.maximum(-values, 0.0)
    if clusters is None and np.isin(values, (-1, 0, 1)).all():
        return exact_difference(int(gained.sum()), int(lost.sum()), len(gained), delta)
    clusters = clusters if clusters is None or rows is None else clusters[rows]
    if _n_units_with(values != 0, clusters) >= FEW_ROWS:
        return found
    # Few rows (groups of rows) change: limits that follow from those of gains and losses.
    up, down = (mean_limits(part[np.newaxis], delta / 2, clusters) for part in (gained, lost))
    lower = min(found.lower, up.lower - down.upper)
    return Estimate(found.value, lower, max(found.upper, up.upper - down.lower))


# -- single rows -----------------------------------------------------------------------------------
def row_limits(flips: Floats, delta: float) -> tuple[Floats, Floats, Floats]:
    """Flip frequency of each row, with lower and upper limits for each row separately.

    Clopper-Pearson limits for flips that are 0 or 1, otherwise Chernoff's.

    >>> frequency, lower, upper = row_limits(np.zeros((20, 1)), 0.05)
    >>> float(lower[0]), round(float(upper[0]), 3)
    (0.0, 0.168)
    """
    pairs = len(flips)
    frequency = flips.mean(axis=0)
    if np.isin(flips, (0.0, 1.0)).all():
        lower, upper = binomial_limits(flips.sum(axis=0), pairs, delta)
        return frequency, np.asarray(lower), np.asarray(upper)
    frequency = np.clip(frequency, 0.0, 1.0)
    lower = np.maximum(kl_lower(frequency, pairs, delta / 2), 0.0)
    return frequency, lower, np.asarray(kl_upper(frequency, pairs, delta / 2))


def quantile_limits(flips: Floats, q: float, delta: float) -> Estimate:
    """Quantile over rows of the rows' flip probabilities.

    The observed quantile overstates the true one, because rows with bad luck gather at the top.
    The limits allow for that, however rows depend on each other: with limits that fail for each
    row with probability delta * a, more than a share a of them fails with probability at most
    delta (Markov), so that the true q-quantile lies between the (q - a)-quantile of the lower and
    the (q + a)-quantile of the upper limits. For the maximum: a union bound over rows.

    >>> p90 = quantile_limits(np.zeros((20, 1000)), 0.9, 0.05)
    >>> p90.value, p90.lower, round(p90.upper, 2)
    (0.0, 0.0, 0.28)
    """
    n_rows = flips.shape[1]
    slack = (1.0 - q) / 2.0 if (1.0 - q) / 2.0 * n_rows >= 1 else 1.0 / n_rows
    whole = q + slack >= 1.0
    # "At most a share a fails" means "none fails" once a is below one row.
    per_row = delta / n_rows if whole else delta * slack
    frequency, lower, upper = row_limits(flips, per_row)
    low, high = (q, q) if whole else (q - slack, q + slack)
    return Estimate(
        _order_statistic(frequency, q), _order_statistic(lower, low), _order_statistic(upper, high)
    )


def _order_statistic(values: Floats, q: float) -> float:
    return float(np.quantile(values, q, method="inverted_cdf"))
