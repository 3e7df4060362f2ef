"""All guarantees by the name of their task: the one list that certificates and plans look up."""

from functools import lru_cache
from typing import Any

from replearn.exceptions import CertificateError
from replearn.guarantees import (
    coins,
    finite_randomness,
    heavy,
    privacy,
    realizable,
    regression,
    score,
    search,
    selection,
    semi,
    thresholds,
    votes,
)
from replearn.guarantees.guarantee import Derived, Guarantee, Ledger
from replearn.records import canonical_json, read_object

VOTING = (
    Guarantee("pointwise", votes.derive, ("PointwiseReplicableClassifier",), "pointwise-threshold"),
    Guarantee(
        "approximate", votes.derive, ("ApproximatelyReplicableClassifier",), "approximate-direct"
    ),
)
CHOICES = tuple(
    entry
    for family in (
        selection, search, thresholds, realizable, semi, privacy, regression, finite_randomness,
        heavy, coins, score,
    )
    for entry in family.GUARANTEES
)  # fmt: skip
GUARANTEES: dict[str, Guarantee] = {entry.task: entry for entry in (*VOTING, *CHOICES)}


def guarantee(task: str) -> Guarantee:
    """Look a guarantee up by its task; an unknown task raises a CertificateError.

    >>> guarantee("thresholds").learners
    ('ReplicableThresholdClassifier',)
    """
    if task not in GUARANTEES:
        raise CertificateError(f"task: {task!r} is not one of {', '.join(map(repr, GUARANTEES))}")
    return GUARANTEES[task]


def derive(task: str, inputs: dict[str, Any]) -> Derived:
    """Compute every number of a task from its inputs, and what follows.

    Examples
    --------
    >>> steps, conclusion = derive("correlated sampling", {"deviation": 0.1})
    >>> [step.theorem for step in steps], conclusion.certified
    (['correlated-sampling'], True)
    """
    return _derive(task, canonical_json(inputs))


@lru_cache(maxsize=256)
def _derive(task: str, inputs: str) -> Derived:
    """Derive once for equal inputs: many samples share one protocol."""
    ledger = Ledger()
    try:
        conclusion = guarantee(task).derive(ledger, **read_object(inputs, "inputs"))
    except (TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, CertificateError):
            raise
        raise CertificateError(f"{task}: cannot be derived ({error})") from error
    return tuple(ledger.steps), conclusion
