"""Gates: whether a new model changes more than is allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from replearn.auditing._statistics import MIN_GROUP_ROWS, Estimate, percent
from replearn.auditing.comparison import ModelComparison
from replearn.records import check_fraction, check_positive

ESTIMATE = "estimate"
UPPER = "upper limit"
INDEX = "index"
COUNT = "count"


@dataclass(frozen=True)
class Gate:
    """The largest number that is allowed, and the one that was measured.

    Parameters
    ----------
    quantity : str
        What is measured.
    allowed : float
        The largest number that passes.
    judged : {"estimate", "upper limit", "index", "count"}
        Which number is compared with it. The estimate is the share in these rows; its upper limit
        passes only if these rows show that the share in the population is smaller. An index and a
        count have no limits.
    value : float
        What was measured.
    lower, upper : float or None
        Limits of a share.

    Examples
    --------
    >>> from replearn.auditing import Gate
    >>> print(Gate("flip rate", 0.02, "upper limit", 0.011, 0.008, 0.021))
    FAILED: flip rate 1.10 % (0.80 to 2.10 %), allowed 2.00 % for the upper limit
    """

    quantity: str
    allowed: float
    judged: str
    value: float
    lower: float | None = None
    upper: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the judged number is at most what is allowed."""
        number = self.upper if self.judged == UPPER and self.upper is not None else self.value
        return number <= self.allowed

    @property
    def reason(self) -> str:
        """What was measured and what is allowed."""
        if self.lower is None or self.upper is None:
            return f"{self.quantity} {self.value:.4g}, allowed {self.allowed:g}"
        measured = Estimate(self.value, self.lower, self.upper)
        return f"{self.quantity} {measured}, allowed {percent(self.allowed)} for the {self.judged}"

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as JSON values."""
        return {
            "quantity": self.quantity,
            "judged": self.judged,
            "allowed": self.allowed,
            "estimate": self.value,
            "lower": self.lower,
            "upper": self.upper,
            "passed": self.passed,
        }

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}: {self.reason}"


def flip_gates(
    flips: Estimate, *, fail_above: float | None = None, fail_above_limit: float | None = None
) -> tuple[Gate, ...]:
    """Judge a flip rate.

    Parameters
    ----------
    flips : Estimate
        The flip rate of a comparison (``compare(...).flips``) or of an audit
        (``result.flip_rate(name)``).
    fail_above, fail_above_limit : float, default=None
        The largest estimate and the largest upper limit that pass; None is not judged.

    Returns
    -------
    tuple of Gate
        One for each number that is given.

    Examples
    --------
    >>> from replearn.auditing import Estimate, flip_gates
    >>> flips = Estimate(0.01, 0.002, 0.03)
    >>> [gate.passed for gate in flip_gates(flips, fail_above=0.02, fail_above_limit=0.02)]
    [True, False]
    """
    limits = (("fail_above", fail_above, ESTIMATE), ("fail_above_limit", fail_above_limit, UPPER))
    return tuple(
        _share_gate("flip rate", name, allowed, judged, flips)
        for name, allowed, judged in limits
        if allowed is not None
    )


def update_gates(
    comparison: ModelComparison,
    *,
    fail_above: float | None = None,
    fail_above_limit: float | None = None,
    fail_negative_above: float | None = None,
    fail_subgroup_above: float | None = None,
    fail_psi_above: float | None = None,
) -> tuple[Gate, ...]:
    """Judge a comparison; each number that is None is not judged.

    Parameters
    ----------
    comparison : ModelComparison
        The result of `compare`. Rows that must not change are judged as well, if it has any.
    fail_above, fail_above_limit : float, default=None
        The largest flip rate and the largest upper limit that pass.
    fail_negative_above : float, default=None
        The largest share of rows that become wrong; requires y.
    fail_subgroup_above : float, default=None
        The largest flip rate of any subgroup or intersection with at least ten rows.
    fail_psi_above : float, default=None
        The largest PSI of the scores; requires scores.

    Returns
    -------
    tuple of Gate
        One for each number that is given.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.auditing import compare, update_gates
    >>> found = compare(np.zeros(100), np.arange(100) < 3, must_not_change=[0, 50])
    >>> for gate in update_gates(found, fail_above=0.05):
    ...     print(gate)
    passed: flip rate 3.00 % (0.62 to 8.52 %), allowed 5.00 % for the estimate
    FAILED: predictions that must not change, but do: 1, allowed 0
    """
    gates = [
        *flip_gates(comparison.flips, fail_above=fail_above, fail_above_limit=fail_above_limit)
    ]
    if fail_negative_above is not None:
        gates.append(_negative(comparison, fail_negative_above))
    if fail_subgroup_above is not None:
        gates.append(_worst_subgroup(comparison, fail_subgroup_above))
    if fail_psi_above is not None:
        gates.append(_stability(comparison, fail_psi_above))
    return (*gates, *_golden_set(comparison))


def _share_gate(quantity: str, name: str, allowed: float, judged: str, share: Estimate) -> Gate:
    checked = check_fraction(name, allowed, zero=True)
    return Gate(quantity, checked, judged, share.value, share.lower, share.upper)


def _negative(comparison: ModelComparison, allowed: float) -> Gate:
    share = comparison.right_to_wrong
    if share is None:
        raise ValueError("fail_negative_above requires true labels (y, --target).")
    return _share_gate("negative flip rate", "fail_negative_above", allowed, ESTIMATE, share)


def _worst_subgroup(comparison: ModelComparison, allowed: float) -> Gate:
    groups = [*comparison.by_subgroup, *comparison.by_intersection]
    judged = [group for group in groups if group.rows >= MIN_GROUP_ROWS]
    if not judged:
        raise ValueError(
            f"fail_subgroup_above requires subgroups with at least {MIN_GROUP_ROWS} rows "
            "(subgroups, --subgroups)."
        )
    worst = max(judged, key=lambda group: group.value)
    quantity = f"flip rate where {worst.name}"
    return _share_gate(quantity, "fail_subgroup_above", allowed, ESTIMATE, worst)


def _stability(comparison: ModelComparison, allowed: float) -> Gate:
    if comparison.scores is None:
        raise ValueError("fail_psi_above requires scores of two classes (scores, --score).")
    checked = check_positive("fail_psi_above", allowed, zero=True)
    return Gate("PSI of the scores", checked, INDEX, comparison.scores.stability.psi)


def _golden_set(comparison: ModelComparison) -> Iterator[Gate]:
    if comparison.golden_set is not None:
        n_changed = len(comparison.golden_set.violations)
        yield Gate("predictions that must not change, but do:", 0.0, COUNT, float(n_changed))
