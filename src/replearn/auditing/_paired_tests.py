"""Is the new model better? One paired test for each metric, not two separate intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from replearn.auditing._row_limits import Mask, RowLimits
from replearn.auditing._statistics import FEW_ROWS, Estimate, Predictions
from replearn.bounds import binomial_limits
from replearn.records import bisect, geometric_mean

Floats = NDArray[np.float64]
MCNEMAR = "McNemar's exact test"
PAIRED = "paired t-test over rows"
CLUSTERED = "paired t-test over groups"
FEW_GROUPS = "limits over groups, few of which change"
DELONG = "DeLong's test"
CLUSTERED_DELONG = "DeLong's test over groups"
SHARE_OF_DELTA = 0.1
SMALLEST_P = 1e-9
"""Smaller p-values are not looked for."""


@dataclass(frozen=True)
class PairedTest:
    """One metric of both models on the same rows.

    Parameters
    ----------
    metric : str
        Its name.
    a, b : float
        The metric of the old and of the new model.
    difference : Estimate
        b minus a, with limits for the difference.
    p_value : float or None
        Of the test that the difference is 0; None with a single group of rows.
    test : str
        Which test.
    greater_is_better : bool
        Whether a larger number is better.
    """

    metric: str
    a: float
    b: float
    difference: Estimate
    p_value: float | None
    test: str
    greater_is_better: bool

    @property
    def outcome(self) -> str:
        """What the limits of the difference show: better, worse or no difference shown.

        A limit of exactly 0 on the side of the estimate excludes 0.
        """
        e = self.difference
        if e.lower < 0.0 < e.upper or e.value == 0.0:
            return "no difference shown"
        return "better" if (e.value > 0) == self.greater_is_better else "worse"


def compare_accuracy(
    right_a: Mask, right_b: Mask, limits: RowLimits, metric: str = "accuracy"
) -> PairedTest:
    """Compare shares of right predictions; the limits exclude 0 if p is at most delta.

    >>> right = np.arange(50) < 40
    >>> compare_accuracy(right, right, RowLimits(0.05)).p_value
    1.0
    """
    gained = ~right_a & right_b
    lost = right_a & ~right_b
    accuracies = float(right_a.mean()), float(right_b.mean())
    if limits.groups is None:
        counts = int(np.count_nonzero(gained)), int(np.count_nonzero(lost))
        difference = exact_difference(*counts, len(gained), limits.delta)
        p_value = mcnemar(counts[1], sum(counts))
        return PairedTest(metric, *accuracies, difference, p_value, MCNEMAR, True)
    mean, p_value_of_mean = limits.mean(gained.astype(np.float64) - lost)
    n_changed = len(np.unique(limits.groups[gained | lost]))
    if p_value_of_mean is None or n_changed >= FEW_ROWS:
        return PairedTest(metric, *accuracies, _clipped(mean), p_value_of_mean, CLUSTERED, True)
    wide = _widened(gained, lost, limits)
    p_value_of_limits = _p_value(gained, lost, limits)
    return PairedTest(metric, *accuracies, wide, p_value_of_limits, FEW_GROUPS, True)


def mcnemar(n_lost: int, n_changed: int) -> float:
    """Return the p-value of McNemar's exact test: gains and losses are equally likely.

    >>> mcnemar(0, 4)
    0.125
    """
    return float(stats.binomtest(n_lost, n_changed).pvalue) if n_changed else 1.0


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
    if mcnemar(n_lost, n_changed) <= delta:
        lower = max(lower, 0.0) if n_gained > n_lost else lower
        upper = min(upper, 0.0) if n_gained < n_lost else upper
    return Estimate((n_gained - n_lost) / n_rows, lower, upper)


def _widened(gained: Mask, lost: Mask, limits: RowLimits) -> Estimate:
    """Widen limits over groups, few of which change, to those that follow from both shares."""
    difference, _ = limits.mean(gained.astype(np.float64) - lost)
    half = limits.with_delta(limits.delta / 2)
    up = half.share(gained)
    down = half.share(lost)
    assert up is not None, "there are rows"
    assert down is not None, "there are rows"
    lower = min(difference.lower, up.lower - down.upper)
    upper = max(difference.upper, up.upper - down.lower)
    return _clipped(Estimate(difference.value, lower, upper))


def _p_value(gained: Mask, lost: Mask, limits: RowLimits) -> float:
    """Return the smallest delta at which these limits exclude 0."""

    def excludes_zero(delta: float) -> bool:
        found = _widened(gained, lost, limits.with_delta(delta))
        return found.lower > 0.0 or found.upper < 0.0

    return bisect(excludes_zero, 1.0, SMALLEST_P, tolerance=1e-3, mean=geometric_mean)


def _clipped(difference: Estimate) -> Estimate:
    return Estimate(difference.value, max(-1.0, difference.lower), min(1.0, difference.upper))


def compare_means(
    metric: str, values_a: Floats, values_b: Floats, limits: RowLimits, *, greater_is_better: bool
) -> PairedTest:
    """Compare the means of one number per row.

    >>> a = np.array([0.1, 0.4, 0.2])
    >>> found = compare_means("Brier score", a, a / 2, RowLimits(0.05), greater_is_better=False)
    >>> round(found.difference.value, 4), found.test
    (-0.1167, 'paired t-test over rows')
    """
    difference, p_value = limits.mean(values_b - values_a)
    test = PAIRED if limits.groups is None else CLUSTERED
    means = float(values_a.mean()), float(values_b.mean())
    return PairedTest(metric, *means, difference, p_value, test, greater_is_better)


def paired_tests(
    right_a: Mask, right_b: Mask, models: tuple[Predictions, Predictions], limits: RowLimits
) -> tuple[PairedTest, ...]:
    """Compare accuracy, and where both have probabilities AUC, Brier score and log-loss."""
    found = [compare_accuracy(right_a, right_b, limits)]
    one, two = models
    aucs = one.aucs(), two.aucs()
    if aucs[0] is not None and aucs[1] is not None:
        test = compare_means("AUC", aucs[0][0], aucs[1][0], limits, greater_is_better=True)
        name = DELONG if limits.groups is None else CLUSTERED_DELONG
        of_auc = test.metric, test.a, test.b, _clipped(test.difference), test.p_value, name, True
        found.append(PairedTest(*of_auc))
    losses = (
        ("Brier score", one.briers(), two.briers()),
        ("log-loss", one.log_losses(), two.log_losses()),
    )
    for metric, of_a, of_b in losses:
        if of_a is not None and of_b is not None:
            found.append(compare_means(metric, of_a[0], of_b[0], limits, greater_is_better=False))
    return tuple(found)
