"""A gate on flips: whether a new model changes more predictions than is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from replearn.auditing._report import markdown_table
from replearn.auditing._statistics import Estimate, as_json
from replearn.auditing.comparison import ModelComparison
from replearn.records import check_fraction

ESTIMATE = "estimate"
UPPER = "upper limit"
MAX_GROUPS = 20
"""A job summary lists so many groups, the worst first."""


@dataclass(frozen=True)
class FlipGate:
    """The largest flip rate that is allowed, and the one that was measured.

    Parameters
    ----------
    allowed : float
        The largest flip rate that passes.
    judged : {"estimate", "upper limit"}
        Which number is held against it. The estimate is the share of these rows that change; its
        upper limit passes only if these rows show that the share in the population is smaller.
    flips : Estimate
        Share of rows that change, with limits.

    Examples
    --------
    >>> from replearn.auditing import Estimate, FlipGate
    >>> print(FlipGate(0.02, "upper limit", Estimate(0.011, 0.008, 0.021)))
    FAILED: flip rate 1.10% (0.80% to 2.10%), allowed 2.00% for the upper limit
    """

    allowed: float
    judged: str
    flips: Estimate

    @property
    def passed(self) -> bool:
        """Whether the judged number is at most what is allowed."""
        number = self.flips.upper if self.judged == UPPER else self.flips.value
        return number <= self.allowed

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as JSON values."""
        return {
            "judged": self.judged,
            "allowed": self.allowed,
            **as_json(self.flips),
            "passed": self.passed,
        }

    def __str__(self) -> str:
        return (
            f"{'passed' if self.passed else 'FAILED'}: flip rate {self.flips}, allowed "
            f"{self.allowed:.2%} for the {self.judged}"
        )


def flip_gates(
    flips: Estimate, *, fail_above: float | None = None, fail_above_limit: float | None = None
) -> tuple[FlipGate, ...]:
    """Judge a flip rate.

    Parameters
    ----------
    flips : Estimate
        Of a comparison (``compare(...).flips``) or of an audit (``result.flip_rate(name)``).
    fail_above, fail_above_limit : float, default=None
        What is allowed for the estimate and for its upper limit; None: not judged.

    Returns
    -------
    tuple of FlipGate
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
        FlipGate(check_fraction(name, allowed, zero=True), judged, flips)
        for name, allowed, judged in limits
        if allowed is not None
    )


def gate_markdown(
    comparison: ModelComparison,
    gates: tuple[FlipGate, ...] = (),
    *,
    old: str = "a",
    new: str = "b",
) -> str:
    r"""Write a comparison for the summary page of a continuous integration job.

    Parameters
    ----------
    comparison : ModelComparison
        What `compare` has returned.
    gates : tuple of FlipGate, default=()
        Its gates.
    old, new : str
        What the models are called.

    Returns
    -------
    str
        Markdown; every text from the data is escaped.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from replearn.auditing import compare, gate_markdown
    >>> old, new = (DummyClassifier(strategy="constant", constant=c) for c in (0, 1))
    >>> X = np.zeros((2, 1))
    >>> print(gate_markdown(compare(old.fit(X, [0, 1]), new.fit(X, [0, 1]), X)).splitlines()[0])
    ### 2 of 2 predictions change
    """
    rows = len(comparison.predictions_a)
    changed = len(comparison.flipped)
    verdict = f"Gate {'passed' if all(gate.passed for gate in gates) else 'FAILED'}: "
    lines = [("", f"{old} → {new}"), ("flip rate", str(comparison.flips))]
    lines += [(f"allowed ({g.judged})", f"{g.allowed:.2%}") for g in gates]
    if comparison.right_to_wrong is not None:
        lines += [
            ("right to wrong", str(comparison.right_to_wrong)),
            ("wrong to right", str(comparison.wrong_to_right)),
            ("accuracy", f"{comparison.accuracy_a:.2%} → {comparison.accuracy_b:.2%}"),
        ]
    if "unknown" not in comparison.comparable:
        lines.append(("comparable runs", comparison.comparable))
    parts = [
        f"### {verdict if gates else ''}{changed:,} of {rows:,} predictions change",
        markdown_table(lines, "|---|---|"),
        _groups(comparison),
        f"Limits: {1 - comparison.delta:.0%}, over rows, for these two models.",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _groups(comparison: ModelComparison) -> str:
    groups = comparison.worst_subgroups()
    if not groups:
        return ""
    head = [("group", "rows", "flip rate")]
    lines = [(g.name, f"{g.rows:,}", str(g)) for g in groups[:MAX_GROUPS]]
    more = len(groups) - MAX_GROUPS
    note = f"\n\n{more} more groups are not listed." if more > 0 else ""
    return markdown_table(head + lines, "|---|---:|---:|") + note
