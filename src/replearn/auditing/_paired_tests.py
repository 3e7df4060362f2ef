"""Is the new model better? One paired test for each metric, not two separate intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from replearn.auditing._row_limits import Mask, RowLimits
from replearn.auditing._statistics import FEW_ROWS, Estimate, Predictions

Floats = NDArray[np.float64]
MCNEMAR = "McNemar's exact test"
PAIRED = "paired t-test over rows"
CLUSTERED = "paired t-test over groups"
DELONG = "DeLong's test"
CLUSTERED_DELONG = "DeLong's test over groups"


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
        """What the limits of the difference show: better, worse or no difference shown."""
        if self.difference.lower <= 0.0 <= self.difference.upper:
            return "no difference shown"
        return "better" if (self.difference.value > 0) == self.greater_is_better else "worse"


def compare_accuracy(
    right_a: Mask, right_b: Mask, limits: RowLimits, metric: str = "accuracy"
) -> PairedTest:
    """Compare shares of right predictions.

    >>> right = np.arange(50) < 40
    >>> compare_accuracy(right, right, RowLimits(0.05)).p_value
    1.0
    """
    gained = ~right_a & right_b
    lost = right_a & ~right_b
    difference, p_value = limits.mean(gained.astype(np.float64) - lost)
    n_changed = int(np.count_nonzero(gained) + np.count_nonzero(lost))
    if n_changed < FEW_ROWS or (limits.groups is not None and _few_groups(gained | lost, limits)):
        difference = _with_exact_limits(difference, gained, lost, limits)
    test = CLUSTERED
    if limits.groups is None:
        test = MCNEMAR
        p_value = mcnemar(int(np.count_nonzero(lost)), n_changed)
        if p_value > limits.delta:  # limits and test must not contradict each other
            difference = _with_zero(difference)
    difference = _clipped(difference)
    accuracies = float(right_a.mean()), float(right_b.mean())
    return PairedTest(metric, *accuracies, difference, p_value, test, True)


def mcnemar(n_lost: int, n_changed: int) -> float:
    """Return the p-value of McNemar's exact test: gains and losses are equally likely.

    >>> mcnemar(0, 4)
    0.125
    """
    return float(stats.binomtest(n_lost, n_changed).pvalue) if n_changed else 1.0


def _few_groups(changed: Mask, limits: RowLimits) -> bool:
    assert limits.groups is not None
    return len(np.unique(limits.groups[changed])) < FEW_ROWS


def _with_exact_limits(
    difference: Estimate, gained: Mask, lost: Mask, limits: RowLimits
) -> Estimate:
    """Widen limits of a difference to those that follow from the limits of both shares."""
    half = limits.with_delta(limits.delta / 2)
    up = half.share(gained)
    down = half.share(lost)
    assert up is not None, "there are rows"
    assert down is not None, "there are rows"
    return Estimate(
        difference.value,
        min(difference.lower, up.lower - down.upper),
        max(difference.upper, up.upper - down.lower),
    )


def _with_zero(difference: Estimate) -> Estimate:
    return Estimate(difference.value, min(difference.lower, 0.0), max(difference.upper, 0.0))


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
