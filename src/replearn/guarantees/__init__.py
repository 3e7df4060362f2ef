"""What is promised, by which theorem, under which assumptions; and what a promise needs."""

from replearn.guarantees._assumptions import ASSUMPTIONS, Assumption
from replearn.guarantees._certificate import Certificate
from replearn.guarantees._choice import ChoicePlan, plan_choice
from replearn.guarantees._claims import Claim
from replearn.guarantees._columns import Columns
from replearn.guarantees._comparison import Comparison
from replearn.guarantees._derivation import Derivation, derive, promised
from replearn.guarantees._design import Design, HeavyStage, Request
from replearn.guarantees._heavy import heavy_rows_needed, heavy_stage
from replearn.guarantees._plan import Plan
from replearn.guarantees._planner import plan
from replearn.guarantees._primitive_certificate import PrimitiveCertificate
from replearn.guarantees._steps import Step
from replearn.guarantees.registry import THEOREMS, Theorem

__all__ = [
    "ASSUMPTIONS",
    "THEOREMS",
    "Assumption",
    "Certificate",
    "ChoicePlan",
    "Claim",
    "Columns",
    "Comparison",
    "Derivation",
    "Design",
    "HeavyStage",
    "Plan",
    "PrimitiveCertificate",
    "Request",
    "Step",
    "Theorem",
    "derive",
    "heavy_rows_needed",
    "heavy_stage",
    "plan",
    "plan_choice",
    "promised",
]
