from ._audit import audit
from ._checks import Check, Finding
from ._contenders import KINDS, is_replicable
from ._design import AuditDesign
from ._judgement import ContenderJudgement, Judgement
from ._measurement import ContenderResult, Measurement
from ._regression_result import RegressionAudit, RegressorResult
from ._result import CHECKS, AuditResult
from ._statistics import Estimate, GroupFlips
from .comparison import ModelComparison, compare
from .displays import AccuracyFlipsDisplay, RowFlipsDisplay
from .extrapolation import Extrapolation, extrapolate
from .gate import FlipGate, flip_gates, gate_markdown
from .instability import Retrainings
from .instability_displays import InstabilityDisplay
from .plan_displays import FlipCurveDisplay, PromiseDisplay
from .regression import audit_regression

__all__ = [
    "CHECKS",
    "KINDS",
    "AccuracyFlipsDisplay",
    "AuditDesign",
    "AuditResult",
    "Check",
    "ContenderJudgement",
    "ContenderResult",
    "Estimate",
    "Extrapolation",
    "Finding",
    "FlipCurveDisplay",
    "FlipGate",
    "GroupFlips",
    "InstabilityDisplay",
    "Judgement",
    "Measurement",
    "ModelComparison",
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
