"""Gates: whether a model changes more than is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from replearn.auditing.limits import percent
from replearn.auditing.metrics import IN_UNITS
from replearn.auditing.runs import FLIPS, Measured, MeasuredTable
from replearn.records.checks import check_fraction, check_positive

UPPER = "upper "
WORST_GROUP = "worst group"
MUST_NOT_CHANGE = "must not change"
CHANGES = ("flips", "becomes wrong", "becomes right", "change of the probability")
JUDGED = (
    *(*CHANGES, "change of the value", "flips, 1 row in 100", "flips, worst row", WORST_GROUP),
    *(*(f"added {name}" for name in CHANGES), "flips over all keys", MUST_NOT_CHANGE),
    *("Brier score", "log-loss", "RMSE", "mean absolute error"),
)
"""What a gate may limit: all that should be small."""


@dataclass(frozen=True)
class Gate:
    """The largest number that is allowed, and the one that was measured.

    Parameters
    ----------
    name : str
        What is judged: a measured quantity such as "flips", "upper flips" for its upper limit,
        "worst group" for the subgroup that changes most.
    allowed : float
        The largest number that passes.
    measured : Measured
        What was measured.
    useless : bool, default=False
        Whether the model predicts a single class: it never flips, and does not pass.

    Examples
    --------
    >>> from replearn.auditing.gate import Gate
    >>> from replearn.auditing.runs import Measured
    >>> print(Gate("upper flips", 0.02, Measured(0.011, 0.008, 0.021, "new", "flips")))
    FAILED: upper flips 2.10 % (1.10 % measured, limits 0.80 to 2.10 %), allowed 2.00 %
    """

    name: str
    allowed: float
    measured: Measured
    useless: bool = False

    @property
    def value(self) -> float:
        """The number that is judged."""
        is_upper = self.name.startswith(UPPER)
        return self.measured.upper if is_upper else self.measured.value

    @property
    def passed(self) -> bool:
        """Whether the judged number is at most what is allowed."""
        return self.value <= self.allowed and not self.useless

    @property
    def reason(self) -> str:
        """What was measured and what is allowed."""
        found = self.measured
        if self.name == MUST_NOT_CHANGE:
            return f"{found.value:.0f} of {found.rows} predictions that must not change do"
        named = f"{self.name} ({found.group})" if found.group != "all" else self.name
        named += f" of {found.contender!r}" if found.contender != "new" else ""
        limits = f"limits {found.range(2)}"
        if self.name.startswith(UPPER):
            limits = f"{percent(found.value)} measured, {limits}"
        single = "; it predicts a single class" if self.useless else ""
        return f"{named} {percent(self.value)} ({limits}), allowed {percent(self.allowed)}{single}"

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as JSON values."""
        (measured,) = MeasuredTable([self.measured]).to_dicts()
        return asdict(self) | {"measured": measured, "value": self.value, "passed": self.passed}

    def __str__(self) -> str:
        return f"{'passed' if self.passed else 'FAILED'}: {self.reason}"


def gates(
    result: Any, limits: Mapping[str, float], contender: str | None = None
) -> tuple[Gate, ...]:
    """Judge an audit or a comparison.

    Parameters
    ----------
    result : AuditResult or ModelComparison
        What was measured. Predictions that must not change are judged as well, if it has any.
    limits : dict of str to float
        The largest number that passes, by name: a number of ``result.table`` that should be small
        ("flips", "becomes wrong", "added flips"), with "upper " in front its upper limit, and
        "worst group" for the largest share of changed predictions in a subgroup with at least ten
        rows.
    contender : str, default=None
        Which contender of an audit is judged. If None, the baseline.

    Returns
    -------
    tuple of Gate
        One for each number.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn import compare
    >>> from replearn.auditing.gate import gates
    >>> found = compare(np.zeros(100), np.arange(100) < 3, must_not_change=[0, 50])
    >>> for gate in gates(found, {"flips": 0.05}):
    ...     print(gate)
    passed: flips 3.00 % (limits 0.62 to 8.52 %), allowed 5.00 %
    FAILED: 1 of 2 predictions that must not change do
    """
    name = contender or result.judged
    useless = result.is_useless(name)
    found = [
        Gate(quantity, check_limit(quantity, allowed), _measured(result, quantity, name), useless)
        for quantity, allowed in limits.items()
    ]
    kept = result.table.get(MUST_NOT_CHANGE, name)
    if kept is not None and MUST_NOT_CHANGE not in limits:
        found.append(Gate(MUST_NOT_CHANGE, 0.0, kept))
    return tuple(found)


def check_limit(quantity: str, allowed: float) -> float:
    """Return the largest number that passes; refuse a name that nothing has.

    >>> check_limit("upper flips", 0.02)
    0.02
    """
    if quantity.removeprefix(UPPER) not in JUDGED:
        raise ValueError(f"there is no {quantity!r} to judge; there are {', '.join(JUDGED)}.")
    if quantity.removeprefix(UPPER) in (*IN_UNITS, "log-loss", MUST_NOT_CHANGE):
        return check_positive(quantity, allowed, zero=True)
    return check_fraction(quantity, allowed, zero=True)


def _measured(result: Any, quantity: str, contender: str) -> Measured:
    what = quantity.removeprefix(UPPER)
    if what == WORST_GROUP:
        judged = result.table.select(contender=contender, variant="").groups(FLIPS)
        if not judged:
            raise ValueError(f"a gate on {what!r} requires subgroups of at least ten rows.")
        return max(judged, key=lambda row: row.upper if quantity != what else row.value)
    found = result.table.get(what, contender)
    if found is None:
        needs = "several runs of one version" if what.startswith("added") else "true labels"
        needs = "probabilities" if "probability" in what else needs
        raise ValueError(f"a gate on {what!r} requires {needs}, or another kind of target.")
    return found
