"""The standard error of a score: estimated row by row, pooled into a curve with two numbers.

A row's own estimate from a few blocks is too noisy for two labs: scales that differ by a fifth add
up to 0.08 to a flip probability (`mismatch_flip_bound`). Pooled over many rows the scales of two
labs differ by a few percent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

REACH = 5.64
"""Rows within this many standard errors of the threshold are pooled: the reach of rho = 0.1."""

MIN_PRODUCT = 1e-3
"""s (1 - s) below which the curve is flat: scores next to 0 or 1 are never in question."""

MIN_ERROR = 1e-9
"""Scores that do not vary at all have thresholds that do not either."""

_GRID = np.linspace(0.0, 1.0, 4097)
_STEPS = 60


@dataclass(frozen=True)
class ErrorCurve:
    """Standard error of a score s: ``level * (s (1 - s) / (t (1 - t))) ** power``.

    >>> curve = ErrorCurve(0.03, 0.0, 0.5)
    >>> curve.standardised(np.array([0.44, 0.5])).round(6).tolist()
    [-2.0, 0.0]
    >>> curve.scores(np.array([-2.0, 0.0])).round(6).tolist()
    [0.44, 0.5]
    """

    level: float  # standard error at the threshold
    power: float  # 0: the same everywhere; 1/2: as of shares; 1: as of a logistic curve
    threshold: float  # the decision threshold t

    def errors(self, scores: Floats) -> Floats:
        """Return the standard errors of scores."""
        t = self.threshold
        product = np.maximum(scores * (1.0 - scores), MIN_PRODUCT)
        relative = product / max(t * (1.0 - t), MIN_PRODUCT)
        return np.asarray(np.maximum(self.level * relative**self.power, MIN_ERROR))

    @cached_property
    def _standardised_grid(self) -> Floats:
        rates = 1.0 / self.errors(_GRID)
        heights = np.cumsum((rates[1:] + rates[:-1]) / 2.0) * _GRID[1]
        heights = np.concatenate([[0.0], heights])
        return np.asarray(heights - np.interp(self.threshold, _GRID, heights))

    def standardised(self, scores: Floats) -> Floats:
        """Distance of scores from the threshold, in standard errors along the way."""
        return np.interp(scores, _GRID, self._standardised_grid)

    def scores(self, standardised: Floats) -> Floats:
        """Return the scores at some distances, within [0, 1]."""
        return np.interp(standardised, self._standardised_grid, _GRID)

    @property
    def reach(self) -> float:
        """Standard errors from the threshold to the nearer end of the scores."""
        return float(min(-self._standardised_grid[0], self._standardised_grid[-1]))

    def least_error(self, half_width: float) -> float:
        """Smallest standard error at which thresholds are drawn."""
        ends = self.scores(np.array([-half_width, half_width]))
        return float(self.errors(np.append(ends, self.threshold)).min())


class RowErrors(NamedTuple):
    """What is known of rows: mean score, its variance (unbiased, may be below 0), one block's."""

    scores: Floats
    variances: Floats
    singles: Floats
    degrees: float


def fit_curve(rows: RowErrors, threshold: float, *, flat: bool = False) -> ErrorCurve:
    """Pool the standard errors of rows into a curve: the mean among rows within its own reach.

    A flip probability is proportional to the standard error, so that the mean over rows makes the
    mean flip probability right. Mean square and shape come from the unbiased variances, by the
    equations of gamma regression with a logarithmic link, in which they enter linearly; how far
    the mean is below the root mean square, from the variances of single blocks, which are
    positive. The nearer the threshold is to 1/2, the flatter is the curve: there a curve that
    follows the scores moves thresholds to both ends, which costs accuracy and brings nothing.

    >>> s, exact = np.linspace(0.05, 0.95, 91), np.full(91, 0.03**2)
    >>> flat = fit_curve(RowErrors(s, exact, exact, np.inf), 0.5)
    >>> round(flat.level, 4), round(flat.power, 4)
    (0.03, 0.0)
    """
    t = min(max(threshold, MIN_PRODUCT), 1.0 - MIN_PRODUCT)
    index = np.log(np.maximum(rows.scores * (1.0 - rows.scores), MIN_PRODUCT) / (t * (1.0 - t)))
    shrink = 0.0 if flat else abs(2.0 * t - 1.0)
    # power of the variance: twice that of the standard error
    level = 0.1
    power = 1.0
    for _ in range(_STEPS):
        curve = ErrorCurve(level, shrink * power / 2.0, threshold)
        weights = _in_reach(curve, rows.scores)
        shape = np.exp(shrink * power * index)
        square = float((weights * rows.variances / shape).sum())
        even = _evenness(rows.singles / shape, rows.degrees, weights)
        level = (level + max(square * even, MIN_ERROR**2) ** 0.5) / 2.0
        power = _steeper(power, index, rows.variances, weights)
    return ErrorCurve(level, shrink * power / 2.0, threshold)


def _in_reach(curve: ErrorCurve, scores: Floats) -> Floats:
    """Return weights of rows that thresholds can reach, with a soft edge."""
    weights = 1.0 / (1.0 + (np.abs(curve.standardised(scores)) / REACH) ** 8) + 1e-12
    return np.asarray(weights / weights.sum())


def _steeper(power: float, index: Floats, variances: Floats, weights: Floats) -> float:
    """Make one step towards the power of the variances, which lies between 0 and 2."""
    shape = np.exp(power * index)
    level = float((weights * variances / shape).sum())
    centred = index - (weights * index).sum()
    spread = float((weights * centred**2).sum())
    if level <= 0.0 or spread <= 0.0:
        return power
    step = float((weights * (variances / (level * shape) - 1.0) * centred).sum()) / spread
    return min(max(power + step, 0.0), 2.0)


def _evenness(variances: Floats, degrees: float, weights: Floats) -> float:
    """Square of the mean standard deviation, as a part of the mean variance.

    >>> round(_evenness(np.array([1.0, 9.0]), np.inf, np.array([0.5, 0.5])), 3)
    0.8
    """
    mean_square = float((weights * variances).sum())
    if mean_square <= 0.0:
        return 1.0
    mean = float((weights * np.sqrt(variances)).sum())
    return min(1.0, mean**2 / mean_square * _root_bias(degrees))


def _root_bias(degrees: float) -> float:
    """Return by how much the square of a mean sample deviation is too small."""
    return 1.0 if not np.isfinite(degrees) else 1.0 / (1.0 - 1.0 / (4.0 * degrees)) ** 2


def block_variances(scores: Floats, own: NDArray[np.intp], n_partitions: int) -> RowErrors:
    """Return mean and estimated variance of the score of rows, by the blocks that do not know them.

    ``scores`` are (rows, partitions * blocks); ``own`` is, for each row and partition, the block
    that was trained on the row (-1: none). Within a partition blocks are independent, so that
    their spread is an unbiased estimate of the variance of one; what partitions have in common
    follows from how little their means vary.

    >>> s = np.array([[0.1, 0.3, 0.5, 0.5, 0.3, 0.1]])
    >>> rows = block_variances(s, np.array([[-1, -1]]), 2)
    >>> rows.scores.round(2).tolist(), rows.variances.round(5).tolist()
    ([0.3], [0.01333])
    """
    blocks = scores.reshape(len(scores), n_partitions, -1)
    n_blocks = blocks.shape[2]
    counts = np.arange(n_blocks) != own[:, :, np.newaxis]
    number = counts.sum(axis=2)
    means = np.where(counts, blocks, 0.0).sum(axis=2) / number
    squares = np.where(counts, (blocks - means[:, :, np.newaxis]) ** 2, 0.0).sum(axis=2)
    single = (squares / (number - 1)).mean(axis=1)
    mean = means.mean(axis=1)
    # Partitions share rows: about half of their degrees of freedom count.
    degrees = float((number - 1).mean()) * (1 + n_partitions) / 2
    if n_partitions == 1:
        return RowErrors(mean, single / n_blocks, single, degrees)
    between = ((means - mean[:, np.newaxis]) ** 2).sum(axis=1) / (n_partitions - 1)
    # Var(mean) = [Var(one) + (J - 1) Cov] / J, and between = Var(mean of `number`) - Cov.
    # theorem: score-thresholds, section "Several partitions"
    common = single * (1.0 / number).mean(axis=1) - between
    total = single / (n_blocks * n_partitions) + (1.0 - 1.0 / n_partitions) * common
    return RowErrors(mean, total, single, degrees)


def own_blocks(
    blocks: list[NDArray[np.intp]], rows: NDArray[np.intp], n_partitions: int, n_rows: int
) -> NDArray[np.intp]:
    """Return the block that contains each row, for each partition; -1: none."""
    n_blocks = len(blocks) // n_partitions
    own = np.full((len(rows), n_partitions), -1, dtype=np.intp)
    for partition in range(n_partitions):
        of_row = np.full(n_rows, -1, dtype=np.intp)
        for block in range(n_blocks):
            of_row[blocks[partition * n_blocks + block]] = block
        own[:, partition] = of_row[rows]
    return own


def check_curve(given: Any, threshold: float) -> ErrorCurve:
    """Return a curve from what a user gives: a level, or a pair of level and power."""
    try:
        level, power = (float(given), 0.0) if np.ndim(given) == 0 else map(float, given)
    except (TypeError, ValueError):
        level = power = float("nan")
    if not (0.0 < level < 1.0 and 0.0 <= power <= 1.0):
        raise ValueError(
            f"standard_error={given!r} must be a number in (0, 1), or a pair of such a number and "
            "a power in [0, 1], as another run's error_curve_."
        )
    return ErrorCurve(level, power, threshold)


def leading_pairs(scores: Floats, own: NDArray[np.intp], n_partitions: int) -> RowErrors:
    """Return `block_variances` of the difference of the two leading classes, moved into [0, 1].

    ``scores`` are (rows, models, classes); which classes lead is said by models that do not know
    the row.
    """
    n_blocks = scores.shape[1] // n_partitions
    strange = (np.arange(n_blocks) != own[:, :, np.newaxis]).reshape(len(scores), -1)
    leaders = np.argsort((scores * strange[:, :, np.newaxis]).sum(axis=1), axis=1)[:, -2:]
    every = np.arange(len(scores))
    difference = scores[every, :, leaders[:, 1]] - scores[every, :, leaders[:, 0]]
    return block_variances((1.0 + difference) / 2.0, own, n_partitions)
