"""Types of this library that a fitted learner consists of, for those who use skops themselves."""

from __future__ import annotations

import inspect

import replearn.hypotheses
import replearn.learners
from replearn.bounds import ThresholdLaw
from replearn.execution import BlockEnsemble
from replearn.execution.plugins import BlockModel
from replearn.guarantees import Certificate, Design, Plan, PlanRequest
from replearn.guarantees.assumptions import Assumption
from replearn.guarantees.steps import Conclusion, Identity, Step
from replearn.persistence._parts import OWN_TYPES
from replearn.primitives import Selection

_RECORDS = (
    *(
        ThresholdLaw,
        BlockEnsemble,
        BlockModel,
        Certificate,
        Plan,
        Assumption,
        Design,
        PlanRequest,
        Identity,
    ),
    *(Conclusion, Step, Selection),
)
_PUBLIC = (
    value
    for room in (replearn.learners, replearn.hypotheses)
    for value in (getattr(room, name) for name in room.__all__)
    if inspect.isclass(value)
)

TRUSTED: tuple[str, ...] = tuple(
    sorted(
        {f"{kind.__module__}.{kind.__qualname__}" for kind in (*_RECORDS, *_PUBLIC)}
        | {*OWN_TYPES, "numpy.dtype"}
    )
)
"""Names for ``skops.io.load(file, trusted=TRUSTED)``. `load` of this library needs no list."""
