"""What is promised, by which theorem, under which assumptions; and what a promise needs."""

from replearn.guarantees.assumptions import ASSUMPTIONS, Assumption
from replearn.guarantees.block_votes import BlockVotes, compare_votes
from replearn.guarantees.certificate import Certificate, certify
from replearn.guarantees.choices import ChoiceDesign
from replearn.guarantees.comparison import Comparison, differing
from replearn.guarantees.design import Design
from replearn.guarantees.guarantee import Guarantee
from replearn.guarantees.paper import Columns
from replearn.guarantees.plan import Plan
from replearn.guarantees.planner import plan, plan_votes
from replearn.guarantees.probe import Probe
from replearn.guarantees.request import HeavyStage, PlanRequest
from replearn.guarantees.stage_plan import HeavyGoal, heavy_rows_needed, heavy_stage
from replearn.guarantees.steps import Conclusion, Identity, Ledger, Step
from replearn.guarantees.tasks import GUARANTEES, derive
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
