"""Measure flips on your own data: pairs of trainings, findings, displays, report."""

from replearn.auditing._audit import audit
from replearn.auditing._checks import CHECKS
from replearn.auditing._contenders import KINDS, is_replicable
from replearn.auditing._design import AuditDesign
from replearn.auditing._findings import Check, Finding
from replearn.auditing._measurement import ContenderResult, Measurement
from replearn.auditing._result import AuditResult
from replearn.auditing._statistics import Estimate
from replearn.auditing.comparison import ModelComparison, compare
from replearn.auditing.displays import (
    AccuracyFlipsDisplay,
    FlipReliabilityDisplay,
    FlipsByBlocksDisplay,
    GroupFlipsDisplay,
    RowFlipsDisplay,
)
from replearn.auditing.extrapolation import Extrapolation, extrapolate
from replearn.auditing.gate import FlipGate, flip_gates, gate_markdown
from replearn.auditing.instability import Retrainings
from replearn.auditing.instability_displays import (
    CalibrationInstabilityDisplay,
    ClassificationInstabilityDisplay,
    DecisionCurveInstabilityDisplay,
    MAPEInstabilityDisplay,
    PredictionInstabilityDisplay,
)
from replearn.auditing.plan_displays import BlocksDisplay, FlipCurveDisplay, PromiseDisplay

__all__ = [
    "CHECKS",
    "KINDS",
    "AccuracyFlipsDisplay",
    "AuditDesign",
    "AuditResult",
    "BlocksDisplay",
    "CalibrationInstabilityDisplay",
    "Check",
    "ClassificationInstabilityDisplay",
    "ContenderResult",
    "DecisionCurveInstabilityDisplay",
    "Estimate",
    "Extrapolation",
    "Finding",
    "FlipCurveDisplay",
    "FlipGate",
    "FlipReliabilityDisplay",
    "FlipsByBlocksDisplay",
    "GroupFlipsDisplay",
    "MAPEInstabilityDisplay",
    "Measurement",
    "ModelComparison",
    "PredictionInstabilityDisplay",
    "PromiseDisplay",
    "Retrainings",
    "RowFlipsDisplay",
    "audit",
    "compare",
    "extrapolate",
    "flip_gates",
    "gate_markdown",
    "is_replicable",
]
