from ._audit import audit
from ._checks import Check, Finding
from ._contenders import KINDS, is_replicable
from ._design import AuditDesign
from ._measurement import ContenderResult, Measurement
from ._regression_result import RegressionAudit, RegressorResult
from ._result import CHECKS, AuditResult
from ._statistics import Estimate
from .comparison import ModelComparison, compare
from .displays import (
    AccuracyFlipsDisplay,
    FlipReliabilityDisplay,
    FlipsByBlocksDisplay,
    GroupFlipsDisplay,
    RowFlipsDisplay,
)
from .extrapolation import Extrapolation, extrapolate
from .gate import FlipGate, flip_gates, gate_markdown
from .instability import Retrainings
from .instability_displays import (
    CalibrationInstabilityDisplay,
    ClassificationInstabilityDisplay,
    DecisionCurveInstabilityDisplay,
    MAPEInstabilityDisplay,
    PredictionInstabilityDisplay,
)
from .plan_displays import BlocksDisplay, FlipCurveDisplay, PromiseDisplay
from .regression import audit_regression

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
