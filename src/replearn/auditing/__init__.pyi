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
from .gate import Gate, flip_gates, update_gates

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
    "Finding",
    "Gate",
    "GoldenSet",
    "GroupFlips",
    "Judgement",
    "Measurement",
    "ModelComparison",
    "NewRowsDisplay",
    "RegressorResult",
    "RowFlipsDisplay",
    "audit",
    "compare",
    "flip_gates",
    "is_replicable",
    "update_gates",
]
