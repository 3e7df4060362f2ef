"""All checks in the order of their codes, and what they find in a measurement."""

from __future__ import annotations

from collections.abc import Sequence

from replearn.auditing import _checks, _useful_checks
from replearn.auditing._check import Check, Finding, NotApplicable
from replearn.auditing._measurement import Measurement

DOCS = "docs/guide/findings.md"
CHECKS: tuple[Check, ...] = (*_checks.CHECKS, *_useful_checks.CHECKS)
"""All checks, by code."""


def checked_codes(ignore: Sequence[str]) -> tuple[str, ...]:
    """Refuse codes that do not exist: a typing error would go unnoticed."""
    known = [check.code for check in CHECKS]
    if isinstance(ignore, str) or not set(ignore) <= set(known):
        raise ValueError(f"ignore={ignore!r} must be a list of codes; known are {known}.")
    return tuple(ignore)


def find(result: Measurement) -> tuple[Finding, ...]:
    """Run all checks that ``result.ignore`` does not name, in the order of their codes."""
    return tuple(_run(check, result) for check in CHECKS)


def _run(check: Check, result: Measurement) -> Finding:
    status = "ignored"
    explanations: tuple[str, ...] = ()
    if check.code not in result.ignore:
        try:
            explanations = tuple(check.look(result))
            status = "found" if explanations else "passed"
        except NotApplicable as reason:
            status, explanations = "not applicable", (str(reason),)
    return Finding(
        code=check.code,
        title=check.title,
        severity=check.severity,
        status=status,
        explanations=explanations,
        remedy=check.command if result.reader == "command" else check.remedy,
        not_proved=check.not_proved,
        docs=f"{DOCS}#{check.code.lower()}",
    )
