"""What is promised, by which theorem, under which assumptions; and what a promise needs."""

from replearn.guarantees.assumptions import ASSUMPTIONS, Assumption
from replearn.guarantees.block_votes import BlockVotes, compare_votes
from replearn.guarantees.certificate import GUARANTEES, Certificate, certify, derive
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
    Design,
    HeavyStage,
    PlanRequest,
    plain_labels,
)
from replearn.guarantees.guarantee import Conclusion, Guarantee, Identity, Ledger, Step, rounded_up
from replearn.guarantees.heavy import TASKS
from replearn.guarantees.heavy_stage import labels_guaranteed
from replearn.guarantees.paper import Columns
from replearn.guarantees.plan import Plan
from replearn.guarantees.planner import plan, plan_votes
from replearn.guarantees.privacy import (
    PrivateDesign,
    private_design,
)
from replearn.guarantees.probe import Probe
from replearn.guarantees.score import (
    MIN_BLOCKS,
    blocks_and_partitions,
)
from replearn.guarantees.search import folds_error
from replearn.guarantees.semi import selection_budget
from replearn.guarantees.small_data import (
    MIN_EVENTS,
    about_rare_classes,
    needed_for_events,
)
from replearn.guarantees.stage_plan import HeavyGoal, heavy_rows_needed, heavy_stage
from replearn.guarantees.theorems import THEOREMS, Theorem
from replearn.guarantees.votes import block_size_needed

__all__ = [
    "ASSUMPTIONS",
    "GUARANTEES",
    "THEOREMS",
    "Assumption",
    "BlockVotes",
    "Certificate",
    "ChoiceDesign",
    "Columns",
    "Comparison",
    "Conclusion",
    "Design",
    "Guarantee",
    "HeavyGoal",
    "HeavyStage",
    "Identity",
    "Ledger",
    "Plan",
    "PlanRequest",
    "Probe",
    "Step",
    "Theorem",
    "block_size_needed",
    "certify",
    "compare_votes",
    "derive",
    "differing",
    "heavy_rows_needed",
    "heavy_stage",
    "plan",
    "plan_votes",
]
