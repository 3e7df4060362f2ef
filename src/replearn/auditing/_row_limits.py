"""Limits over the rows that two models are compared on.

Rows are independent draws, and limits of shares are exact (Clopper and Pearson); or rows belong to
groups (one patient, one prompt), the groups are independent draws, and limits are Student's over
groups, widened by Chernoff's inequality where an event occurs in few of them.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from replearn.auditing._statistics import FEW_ROWS, Estimate
from replearn.bounds import binomial_limits, kl_upper

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RowLimits:
    """How limits of shares and means are computed.

    Parameters
    ----------
    delta : float
        Each pair of limits fails with probability at most delta.
    groups : ndarray of int or None
        The group of each row. If None, every row is its own group.
    """

    delta: float
    groups: NDArray[np.intp] | None = None

    def with_delta(self, delta: float) -> RowLimits:
        """Return the same with another failure probability."""
        return dataclasses.replace(self, delta=delta)

    def share(self, which: Mask, rows: Mask | None = None) -> Estimate | None:
        """Estimate the share of rows with a property, among some of them; None without rows.

        >>> RowLimits(0.05).share(np.arange(400) < 8).upper.__round__(4)
        0.039
        >>> by_group = RowLimits(0.05, np.arange(400) // 8).share(np.arange(400) < 8)
        >>> by_group.value, by_group.upper > 0.039
        (0.02, True)
        """
        if rows is None:
            rows = np.ones(len(which), dtype=np.bool_)
        n_rows = int(np.count_nonzero(rows))
        if n_rows == 0:
            return None
        count = int(np.count_nonzero(which & rows))
        if self.groups is None:
            lower, upper = binomial_limits(count, n_rows, self.delta)
            return Estimate(count / n_rows, float(lower), float(upper))
        totals, sizes = group_totals(which[rows].astype(np.float64), self.groups[rows])
        return clustered_share(totals, sizes, self.delta)

    def mean(self, values: Floats) -> tuple[Estimate, float | None]:
        """Estimate a mean with Student's limits; and test that it is 0 (None with one group).

        >>> estimate, p_value = RowLimits(0.05).mean(np.array([1.0, 2.0, 3.0]))
        >>> estimate.value, round(p_value, 4)
        (2.0, 0.0742)
        """
        n_rows = len(values)
        value = float(values.mean())
        residuals = values - value
        if self.groups is not None:
            residuals, _ = group_totals(residuals, self.groups)
        n_groups = len(residuals)
        if n_groups < 2:
            return Estimate(value, -np.inf, np.inf), None
        error = (n_groups / (n_groups - 1) * float((residuals**2).sum())) ** 0.5 / n_rows
        if error <= 1e-15 * max(1.0, abs(value)):
            return Estimate(value, value, value), 1.0 if value == 0 else 0.0
        reach = float(stats.t.ppf(1 - self.delta / 2, n_groups - 1)) * error
        p_value = float(2 * stats.t.sf(abs(value) / error, n_groups - 1))
        return Estimate(value, value - reach, value + reach), p_value


def group_totals(values: Floats, groups: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Sum values within each group that has rows; return the sums and the numbers of rows.

    >>> group_totals(np.array([1.0, 0.0, 1.0]), np.array([7, 7, 2]))
    (array([1., 1.]), array([1., 2.]))
    """
    sizes = np.bincount(groups)
    present = sizes > 0
    totals = np.asarray(np.bincount(groups, weights=values), dtype=np.float64)
    return totals[present], sizes[present].astype(np.float64)


def clustered_share(totals: Floats, sizes: Floats, delta: float) -> Estimate:
    """Estimate the share of rows with a property from its counts in independent groups.

    Student's limits of a ratio. Where few groups have the property (or lack it), what other groups
    may do is limited by their number and the size of the largest one.

    >>> sizes = np.full(100, 5.0)
    >>> print(clustered_share(np.arange(100) % 2 * 5.0, sizes, 0.05))
    50.00 % (40.03 to 59.97 %)
    """
    n_groups = len(sizes)
    n_rows = float(sizes.sum())
    value = float(totals.sum() / n_rows)
    lower = value
    upper = value
    if n_groups > 1:
        squares = float(((totals - value * sizes) ** 2).sum())
        error = (n_groups / (n_groups - 1) * squares) ** 0.5 / n_rows
        reach = float(stats.t.ppf(1 - delta / 2, n_groups - 1)) * error
        lower -= reach
        upper += reach
    if np.count_nonzero(totals > 0) < FEW_ROWS:
        upper = max(upper, _strict_upper(value, sizes, delta))
    if np.count_nonzero(totals < sizes) < FEW_ROWS:
        lower = min(lower, 1.0 - _strict_upper(1.0 - value, sizes, delta))
    return Estimate(value, max(0.0, lower), min(1.0, upper))


def _strict_upper(value: float, sizes: Floats, delta: float) -> float:
    """Upper limit of a mean of independent groups that count by their sizes.

    # theorem: binomial-limits
    Shares of the groups times their sizes over the largest size lie in [0, 1].
    """
    stretch = len(sizes) * float(sizes.max() / sizes.sum())
    return stretch * float(kl_upper(min(1.0, value / stretch), len(sizes), delta / 2))
