"""How predicted quantities move, and which of two regressors is nearer to the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._paired_tests import PairedTest, compare_means
from replearn.auditing._row_limits import RowLimits

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class QuantityChanges:
    """How far predicted quantities move.

    Parameters
    ----------
    tolerance : float
        Predictions that differ by at least this much have changed.
    mean_change, mean_absolute_change : float
        Mean of new minus old prediction, and of its absolute value.
    p50, p90, p99, max : float
        Quantiles of the absolute change.
    """

    tolerance: float
    mean_change: float
    mean_absolute_change: float
    p50: float
    p90: float
    p99: float
    max: float


def quantity_changes(old: Floats, new: Floats, tolerance: float) -> QuantityChanges:
    """Describe the changes.

    >>> quantity_changes(np.array([1.0, 2.0]), np.array([1.0, 4.0]), 0.5).mean_absolute_change
    1.0
    """
    change = new - old
    size = np.abs(change)
    quantiles = np.quantile(size, (0.5, 0.9, 0.99, 1.0)).tolist()
    return QuantityChanges(tolerance, float(change.mean()), float(size.mean()), *quantiles)


def quantity_tests(
    old: Floats, new: Floats, truth: Floats, limits: RowLimits
) -> tuple[PairedTest, ...]:
    """Compare absolute and squared errors, row by row.

    >>> truth = np.array([0.0, 0.0, 0.0])
    >>> ones = np.ones(3)
    >>> [test.outcome for test in quantity_tests(ones, ones / 2, truth, RowLimits(0.05))]
    ['better', 'better']
    """
    error_a = np.abs(old - truth)
    error_b = np.abs(new - truth)
    named = (
        ("mean absolute error", error_a, error_b),
        ("mean squared error", error_a**2, error_b**2),
    )
    return tuple(
        compare_means(metric, one, two, limits, greater_is_better=False)
        for metric, one, two in named
    )
