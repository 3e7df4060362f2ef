"""Measure flips on your own data: pairs of trainings, findings, displays, report."""

from typing import TYPE_CHECKING

from replearn.records.lazy import names_on_demand

if TYPE_CHECKING:
    from replearn.auditing._audit import audit
    from replearn.auditing._checks import Check, Finding
    from replearn.auditing._contenders import KINDS, is_replicable
    from replearn.auditing._design import AuditDesign
    from replearn.auditing._measurement import ContenderResult, Measurement
    from replearn.auditing._regression_result import RegressionAudit, RegressorResult
    from replearn.auditing._result import CHECKS, AuditResult
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
    from replearn.auditing.regression import audit_regression

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
    "RegressionAudit",
    "RegressorResult",
    "Retrainings",
    "RowFlipsDisplay",
    "audit",
    "audit_regression",
    "compare",
    "extrapolate",
    "flip_gates",
    "gate_markdown",
    "is_replicable",
]

__getattr__, __dir__ = names_on_demand(
    __name__,
    {
        "replearn.auditing._audit": ["audit"],
        "replearn.auditing._checks": ["Check", "Finding"],
        "replearn.auditing._contenders": ["KINDS", "is_replicable"],
        "replearn.auditing._design": ["AuditDesign"],
        "replearn.auditing._measurement": ["ContenderResult", "Measurement"],
        "replearn.auditing._regression_result": ["RegressionAudit", "RegressorResult"],
        "replearn.auditing._result": ["CHECKS", "AuditResult"],
        "replearn.auditing._statistics": ["Estimate"],
        "replearn.auditing.comparison": ["ModelComparison", "compare"],
        "replearn.auditing.displays": [
            "AccuracyFlipsDisplay",
            "FlipReliabilityDisplay",
            "FlipsByBlocksDisplay",
            "GroupFlipsDisplay",
            "RowFlipsDisplay",
        ],
        "replearn.auditing.extrapolation": ["Extrapolation", "extrapolate"],
        "replearn.auditing.gate": ["FlipGate", "flip_gates", "gate_markdown"],
        "replearn.auditing.instability": ["Retrainings"],
        "replearn.auditing.instability_displays": [
            "CalibrationInstabilityDisplay",
            "ClassificationInstabilityDisplay",
            "DecisionCurveInstabilityDisplay",
            "MAPEInstabilityDisplay",
            "PredictionInstabilityDisplay",
        ],
        "replearn.auditing.plan_displays": ["BlocksDisplay", "FlipCurveDisplay", "PromiseDisplay"],
        "replearn.auditing.regression": ["audit_regression"],
    },
)
