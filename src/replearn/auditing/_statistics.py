"""Estimates and confidence limits from flips of pairs.

``flips`` has one line per pair and one column per test row; an entry is the probability, over
shared thresholds, that the two runs of the pair differ on the row (0 or 1 without thresholds).

Which limits are valid. Given the file and the test rows, pairs are independent draws: limits over
pairs hold for random splits of this file, and for fresh samples of the population only if no two
pairs share a training row. Test rows are a sample of the people to be predicted. All rows of a
pair share the two training samples, so nothing here treats rows of a pair as independent.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from replearn.bounds import binomial_limits, kl_lower, kl_upper

Floats = NDArray[np.float64]
DELTA = 0.05
"""Each pair of limits fails with probability at most this much, unless another delta is set."""

FEW_ROWS = 30
"""With fewer test rows that ever flip, the normal approximation over rows is not trusted."""

MIN_GROUP_ROWS = 10
"""Subgroups with fewer test rows are left out."""


def percent(value: float | None, digits: int = 2) -> str:
    """Write a share in percent.

    >>> percent(0.0191), percent(None)
    ('1.91 %', '')
    """
    return "" if value is None else f"{100 * value:.{digits}f} %"


def points(value: float, digits: int = 2) -> str:
    """Write a difference of shares in percentage points.

    >>> points(-0.0113), points(0.002, 1)
    ('−1.13', '+0.2')
    """
    return f"{100 * value:+.{digits}f}".replace("-", "−")


def percent_range(lower: float, upper: float, digits: int = 1) -> str:
    """Write two shares in percent.

    >>> percent_range(0.13, 0.44, 0)
    '13 to 44 %'
    """
    return f"{100 * lower:.{digits}f} to {100 * upper:.{digits}f} %"


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
        return f"{percent(self.value, digits)} ({percent_range(self.lower, self.upper, digits)})"

    def number(self, digits: int = 3) -> str:
        """Write a number and its limits.

        >>> Estimate(0.738, 0.7, 0.77).number()
        '0.738 (0.700 to 0.770)'
        """
        return f"{self.value:.{digits}f} ({self.lower:.{digits}f} to {self.upper:.{digits}f})"

    def __format__(self, digits: str) -> str:
        digits = digits or ".2%"
        return f"{self.value:{digits}} ({self.lower:{digits}} to {self.upper:{digits}})"

    def __str__(self) -> str:
        return format(self, "")


@dataclass(frozen=True)
class GroupFlips(Estimate):
    """Share of predictions that change among the rows of one subgroup, with limits.

    Parameters
    ----------
    value, lower, upper : float
        The share and its limits.
    subgroup, level : str
        The column, and its value that these rows have.
    rows : int
        Number of these rows.
    """

    subgroup: str
    level: str
    rows: int

    @property
    def name(self) -> str:
        """The subgroup and its value."""
        return f"{self.subgroup} = {self.level}"


def as_json(value: Any) -> Any:
    """Turn records into JSON values; labels of other types become text.

    >>> as_json(GroupFlips(0.5, 0.25, 0.75, "town", "Ulm", 12))["estimate"]
    0.5
    """
    if dataclasses.is_dataclass(value):
        named = {f.name: as_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"estimate": named.pop("value"), **named} if isinstance(value, Estimate) else named
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    try:
        json.dumps(value)
    except TypeError:
        return str(value)
    return value


def mean_limits(
    flips: Floats,
    delta: float,
    clusters: NDArray[np.intp] | None = None,
    *,
    rows: NDArray[np.bool_] | None = None,
    within: tuple[float, float] | None = None,
) -> Estimate:
    """Mean over pairs and (some) rows with two-way limits that respect clusters of rows.

    Student's limits with the variance of pair means and the variance of row means added: pairs
    and rows are both samples. Approximate: they need means that are nearly normal. Numbers are
    shares in [0, 1]; otherwise ``within`` says between which numbers their mean lies.

    >>> str(mean_limits(np.tile([0.0, 0.1, 0.0, 0.1], (20, 25)), 0.05))
    '5.00% (4.00% to 6.00%)'
    """
    if rows is not None:
        flips = flips[:, rows]
        clusters = None if clusters is None else clusters[rows]
    value = float(flips.mean())
    by_pair = flips.mean(axis=1)
    by_row = _cluster_totals(flips.mean(axis=0), value, clusters)
    parts = []
    if len(by_pair) > 1:
        parts.append((by_pair.var(ddof=1) / len(by_pair), len(by_pair) - 1))
    if len(by_row) > 1:
        parts.append((by_row.var(ddof=1) * len(by_row) / flips.shape[1] ** 2, len(by_row) - 1))
    variance = sum(v for v, _ in parts)
    reach = 0.0
    if variance > 0:
        freedom = variance**2 / sum(v**2 / f for v, f in parts)
        reach = float(stats.t.ppf(1 - delta / 2, freedom) * variance**0.5)
    lower = value - reach
    upper = value + reach
    # Few rows ever flip (or ever do not): what others may do is limited by their number only.
    if within is None and np.count_nonzero((flips > 0).any(axis=0)) < FEW_ROWS:
        upper = max(upper, float(kl_upper(min(value, 1.0), len(by_row), delta / 2)))
    if within is None and np.count_nonzero((flips < 1).any(axis=0)) < FEW_ROWS:
        lower = min(lower, float(kl_lower(min(value, 1.0), len(by_row), delta / 2)))
    lowest, highest = (0.0, 1.0) if within is None else within
    return Estimate(value, max(lowest, lower), min(highest, upper))


def _cluster_totals(by_row: Floats, value: float, clusters: NDArray[np.intp] | None) -> Floats:
    """Deviations summed within clusters; single rows are clusters of one."""
    deviations = by_row - value
    if clusters is None:
        return deviations
    _, indices = np.unique(clusters, return_inverse=True)
    return np.asarray(np.bincount(indices, weights=deviations), dtype=np.float64)


def strict_limits(flips: Floats, delta: float) -> Estimate:
    """Mean over pairs and rows with limits that hold whatever the distribution of pairs.

    Chernoff's inequality for as many independent numbers in [0, 1] as there are pairs
    (theorem: binomial-limits): wide, because a rare pair might flip every row.

    >>> str(strict_limits(np.full((20, 100), 0.02), 0.05))
    '2.00% (0.00% to 22.74%)'
    """
    value = float(flips.mean())
    trials = min(flips.shape)
    lower = kl_lower(value, trials, delta / 2)
    upper = kl_upper(value, trials, delta / 2)
    return Estimate(value, float(lower), float(upper))


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


def tail_mean(flips: Floats, share: float) -> Estimate:
    """Mean flip probability of the least stable rows, bracketed.

    ``upper`` is what these pairs show for the rows that they themselves pick: too large on
    average. ``lower`` picks the rows by one half of the pairs and judges them by the other: too
    small on average, because it may pick the wrong rows. The estimate lies in the middle. The
    expectations bracket the truth; these are no confidence limits.

    >>> tail = tail_mean(np.tile([0.0, 0.0, 0.5, 0.0], (4, 1)), 0.25)
    >>> tail.lower, tail.upper
    (0.5, 0.5)
    """
    count = max(1, round(share * flips.shape[1]))
    even = flips[0::2].mean(axis=0)
    odd = flips[1::2].mean(axis=0)
    crossed = 0.5 * (_mean_of_top(even, odd, count) + _mean_of_top(odd, even, count))
    whole = flips.mean(axis=0)
    seen = _mean_of_top(whole, whole, count)
    return Estimate(0.5 * (crossed + seen), min(crossed, seen), seen)


def _mean_of_top(pick: Floats, judge: Floats, count: int) -> float:
    # A stable sort, so that ties do not depend on the machine.
    return float(judge[np.argsort(-pick, kind="stable")[:count]].mean())


@dataclass(frozen=True)
class ReliabilityBin:
    """Predicted and observed flip probability of the predictions in one bin."""

    lower: float
    upper: float
    count: int
    predicted: float
    observed: float


def reliability(
    predicted: Floats, observed: Floats, edges: tuple[float, ...]
) -> tuple[ReliabilityBin, ...]:
    """Compare predicted with observed flip probabilities, bin by bin; empty bins are left out.

    >>> bins = reliability(np.array([[0.0, 0.4]]), np.array([[0.0, 1.0]]), (0.1,))
    >>> [b.observed for b in bins]
    [0.0, 1.0]
    """
    bounds = (0.0, *edges, 1.0)
    indices = np.digitize(predicted, edges)
    return tuple(
        ReliabilityBin(
            lower=bounds[index],
            upper=bounds[index + 1],
            count=int(np.count_nonzero(indices == index)),
            predicted=float(predicted[indices == index].mean()),
            observed=float(observed[indices == index].mean()),
        )
        for index in np.unique(indices)
    )
