from ._audit import AuditResult, Measurement, audit
from ._checks import CHECKS, Check, Finding
from ._contender_results import ClassifierResult, ContenderResult, RegressorResult
from ._contenders import KINDS, is_replicable
from ._golden_set import GoldenSet, check_golden_set as check_golden_set
from ._judgement import ContenderJudgement, Judgement
from ._model_outputs import labels_of as labels_of
from ._statistics import Estimate, GroupFlips
from ._table import AuditDesign, repeated_ids as repeated_ids
from .comparison import ModelComparison, compare
from .displays import AccuracyFlipsDisplay, NewRowsDisplay, RowFlipsDisplay
from .extrapolation import Extrapolation, extrapolate
from .gate import Gate, flip_gates, update_gates
from .instability import Retrainings
from .instability_displays import InstabilityDisplay
from .plan_displays import FlipCurveDisplay, PromiseDisplay
from .update_display import UpdateDisplay

__all__ = [
    "CHECKS",
    "KINDS",
    "AccuracyFlipsDisplay",
    "AuditDesign",
    "AuditResult",
    "Check",
    "ClassifierResult",
    "ContenderJudgement",
    "ContenderResult",
    "Estimate",
    "Extrapolation",
    "Finding",
    "FlipCurveDisplay",
    "Gate",
    "GoldenSet",
    "GroupFlips",
    "InstabilityDisplay",
    "Judgement",
    "Measurement",
    "ModelComparison",
    "NewRowsDisplay",
    "PromiseDisplay",
    "RegressorResult",
    "Retrainings",
    "RowFlipsDisplay",
    "UpdateDisplay",
    "audit",
    "compare",
    "extrapolate",
    "flip_gates",
    "is_replicable",
    "update_gates",
]
