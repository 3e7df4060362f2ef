from .audits import AuditResult, audit
from .comparison import ModelComparison, compare
from .contenders import KINDS, is_replicable
from .design import AuditDesign
from .displays import AccuracyFlipsDisplay, RowFlipsDisplay
from .facts import repeated_ids as repeated_ids
from .findings import Finding
from .gate import Gate, gates
from .judge import ContenderJudgement, Judgement
from .limits import Estimate
from .metrics import Labels, Quantities
from .outputs import labels_of as labels_of
from .runs import ContenderResult, Measured, MeasuredTable, Runs

__all__ = [
    "KINDS",
    "AccuracyFlipsDisplay",
    "AuditDesign",
    "AuditResult",
    "ContenderJudgement",
    "ContenderResult",
    "Estimate",
    "Finding",
    "Gate",
    "Judgement",
    "Labels",
    "Measured",
    "MeasuredTable",
    "ModelComparison",
    "Quantities",
    "RowFlipsDisplay",
    "Runs",
    "audit",
    "compare",
    "gates",
    "is_replicable",
]
