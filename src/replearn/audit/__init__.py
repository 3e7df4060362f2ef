"""Measure flips on your own data: pairs of trainings, findings, displays, report."""

from replearn.audit._audit import audit
from replearn.audit._checks import CHECKS
from replearn.audit._compare import ModelComparison, compare
from replearn.audit._contender_result import ContenderResult
from replearn.audit._design import AuditDesign
from replearn.audit._displays import (
    AccuracyFlipsDisplay,
    FlipReliabilityDisplay,
    FlipsByBlocksDisplay,
    GroupFlipsDisplay,
    RowFlipsDisplay,
)
from replearn.audit._extrapolate import Extrapolation, extrapolate
from replearn.audit._findings import Check, Finding
from replearn.audit._result import AuditResult
from replearn.audit._statistics import Estimate

__all__ = [
    "CHECKS",
    "AccuracyFlipsDisplay",
    "AuditDesign",
    "AuditResult",
    "Check",
    "ContenderResult",
    "Estimate",
    "Extrapolation",
    "Finding",
    "FlipReliabilityDisplay",
    "FlipsByBlocksDisplay",
    "GroupFlipsDisplay",
    "ModelComparison",
    "RowFlipsDisplay",
    "audit",
    "compare",
    "extrapolate",
]
