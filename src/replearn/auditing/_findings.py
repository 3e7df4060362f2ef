"""Findings: what deserves a look, each with a code, a remedy and a section in the guide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from replearn.auditing._result import AuditResult

DOCS = "docs/guide/findings.md"


class NotApplicable(Exception):
    """A check cannot say anything about this audit; the message says why."""


@dataclass(frozen=True)
class Check:
    """One thing to look for.

    Parameters
    ----------
    code : str
        ``RPL001`` and so on; never reused.
    title : str
        What it is about.
    severity : {"issue", "tip"}
        An issue puts answers or promises at risk; a tip is worth knowing.
    remedy : str
        What to do.
    not_proved : str
        What a pass does not prove.
    look : callable of AuditResult to list of str
        One explanation for each thing found; raises `NotApplicable` if it cannot say.
    """

    code: str
    title: str
    severity: str
    remedy: str
    not_proved: str
    look: Callable[[AuditResult], list[str]]


@dataclass(frozen=True)
class Finding:
    """The outcome of one check.

    Parameters
    ----------
    code, title, severity, remedy, not_proved : str
        As in the check.
    status : {"found", "passed", "not applicable", "ignored"}
        What came out.
    explanations : tuple of str
        What was found, or why the check does not apply.
    docs : str
        Section of the guide.
    """

    code: str
    title: str
    severity: str
    status: str
    explanations: tuple[str, ...]
    remedy: str
    not_proved: str
    docs: str

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        return {**asdict(self), "explanations": list(self.explanations)}

    def __str__(self) -> str:
        said = " ".join(self.explanations) or {
            "passed": f"passed. {self.not_proved}",
            "ignored": "ignored",
        }.get(self.status, self.status)
        return f"{self.code} {self.title}: {said}"


def find(result: AuditResult) -> tuple[Finding, ...]:
    """Run all checks on a result.

    Parameters
    ----------
    result : AuditResult
        From :func:`audit`; its ``ignore`` lists codes that are not looked for.

    Returns
    -------
    tuple of Finding
        One per check, in the order of their codes.
    """
    from replearn.auditing._checks import CHECKS

    return tuple(_run(check, result) for check in CHECKS)


def _run(check: Check, result: AuditResult) -> Finding:
    if check.code in result.ignore:
        status, explanations = "ignored", []
    else:
        try:
            explanations = check.look(result)
            status = "found" if explanations else "passed"
        except NotApplicable as reason:
            status, explanations = "not applicable", [str(reason)]
    return Finding(
        code=check.code,
        title=check.title,
        severity=check.severity,
        status=status,
        explanations=tuple(explanations),
        remedy=check.remedy,
        not_proved=check.not_proved,
        docs=f"{DOCS}#{check.code.lower()}",
    )
