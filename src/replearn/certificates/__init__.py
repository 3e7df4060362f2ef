"""What is promised, by which theorem, under which assumptions."""

from replearn.certificates._assumptions import ASSUMPTIONS, Assumption
from replearn.certificates._certificate import Certificate
from replearn.certificates._claims import Claim
from replearn.certificates._comparison import Comparison
from replearn.certificates._derivation import Derivation, derive, promised
from replearn.certificates._design import Design, HeavyStage, Request
from replearn.certificates._steps import Step
from replearn.certificates.registry import THEOREMS, Theorem

__all__ = [
    "ASSUMPTIONS",
    "THEOREMS",
    "Assumption",
    "Certificate",
    "Claim",
    "Comparison",
    "Derivation",
    "Design",
    "HeavyStage",
    "Request",
    "Step",
    "Theorem",
    "derive",
    "promised",
]
