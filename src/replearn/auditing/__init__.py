"""Measure flips on your own data: pairs of trainings, findings, displays, report."""

from replearn.auditing._audit import audit
from replearn.auditing._checks import CHECKS
from replearn.auditing._compare import ModelComparison, compare
from replearn.auditing._contender_result import ContenderResult
from replearn.auditing._design import AuditDesign
from replearn.auditing._displays import (
    AccuracyFlipsDisplay,
    FlipReliabilityDisplay,
    FlipsByBlocksDisplay,
    GroupFlipsDisplay,
    RowFlipsDisplay,
)
from replearn.auditing._extrapolate import Extrapolation, extrapolate
from replearn.auditing._findings import Check, Finding
from replearn.auditing._result import AuditResult
from replearn.auditing._statistics import Estimate

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
