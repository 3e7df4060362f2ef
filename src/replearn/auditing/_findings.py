"""What a check and a finding are, and what checks find in a measurement.

Every check is a pure function of the measured numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from replearn.auditing._measurement import ContenderResult, Measurement

DOCS = "docs/guide/findings.md"
Look = Callable[[Measurement], Iterable[str]]


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
        An issue puts predictions or guarantees at risk; a tip is worth knowing.
    remedy : str
        What to do, for readers who write Python.
    command : str
        What to do, for readers who use the command line.
    not_proved : str
        What a pass does not prove.
    look : callable of Measurement to iterable of str
        One explanation for each occurrence; raises `NotApplicable` if it cannot say.
    """

    code: str
    title: str
    severity: str
    remedy: str
    command: str
    not_proved: str
    look: Look

    def run(self, result: Measurement) -> Finding:
        """Look, unless ``result.ignore`` names the check."""
        status = "ignored"
        explanations: tuple[str, ...] = ()
        if self.code not in result.ignore:
            try:
                explanations = tuple(self.look(result))
                status = "found" if explanations else "passed"
            except NotApplicable as reason:
                status, explanations = "not applicable", (str(reason),)
        return Finding(
            code=self.code,
            title=self.title,
            severity=self.severity,
            status=status,
            explanations=explanations,
            remedy=self.command if result.reader == "command" else self.remedy,
            not_proved=self.not_proved,
            docs=f"{DOCS}#{self.code.lower()}",
        )


@dataclass(frozen=True)
class Finding:
    """The outcome of one check.

    Parameters
    ----------
    code, title, severity, remedy, not_proved : str
        As in the check.
    status : {"found", "passed", "not applicable", "ignored"}
        The outcome.
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
        outcome = f"passed. {self.not_proved}" if self.status == "passed" else self.status
        return f"{self.code} {self.title}: {' '.join(self.explanations) or outcome}"


def check(
    code: str, title: str, severity: str, *, remedy: str, not_proved: str, command: str = ""
) -> Callable[[Look], Check]:
    """Turn a function into a check."""
    return partial(Check, code, title, severity, remedy, command or remedy, not_proved)


def certified(result: Measurement) -> list[ContenderResult]:
    """Return the contenders with a certificate; without any, a check does not apply."""
    found = [c for c in result.contenders if c.certificate is not None]
    if not found:
        raise NotApplicable("No contender has a certificate.")
    return found
