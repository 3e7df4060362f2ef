"""What is promised, by which theorem, under which assumptions; and what a promise needs."""

from replearn.guarantees.assumptions import ASSUMPTIONS, Assumption
from replearn.guarantees.certificate import Certificate, certify, derive
from replearn.guarantees.choices import ChoiceDesign
from replearn.guarantees.comparison import (
    DAYS,
    MAX_LEVELS,
    MIN_ROWS,
    RARE,
    ROUNDED_ROWS,
    SHORT,
    Comparison,
    differing,
)
from replearn.guarantees.design import (
    FAMILIES,
    MIN_BLOCK,
    NOTIONS,
    Design,
    PlanRequest,
    plain_labels,
)
from replearn.guarantees.guarantee import Conclusion, Guarantee, Identity, Ledger, Step, rounded_up
from replearn.guarantees.plan import Plan
from replearn.guarantees.planner import plan, plan_votes
from replearn.guarantees.probe import Probe
from replearn.guarantees.score import (
    MIN_BLOCKS,
    blocks_and_partitions,
)
from replearn.guarantees.search import folds_error
from replearn.guarantees.small_data import (
    MIN_EVENTS,
    about_rare_classes,
    needed_for_events,
)
from replearn.guarantees.theorems import THEOREMS, Theorem
from replearn.guarantees.votes import block_size_needed

__all__ = [
    "ASSUMPTIONS",
    "THEOREMS",
    "Assumption",
    "Certificate",
    "ChoiceDesign",
    "Comparison",
    "Conclusion",
    "Design",
    "Guarantee",
    "Identity",
    "Ledger",
    "Plan",
    "PlanRequest",
    "Probe",
    "Step",
    "Theorem",
    "block_size_needed",
    "certify",
    "derive",
    "differing",
    "plan",
    "plan_votes",
]
