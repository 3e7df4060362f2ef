"""Compare what is written down with what follows: fails closed and names the item."""

import math
from typing import Any

from replearn.exceptions import CertificateError
from replearn.guarantees._derivation import Derivation, derive
from replearn.guarantees._design import Design
from replearn.guarantees._steps import Step
from replearn.guarantees.registry import theorem

# A supremum is searched until it is known to a relative 1e-6, and another version of scipy may
# stop at another cell; a promise that is better than the recomputed one by more is refused.
RELATIVE_TOLERANCE = 2e-6


def check_derivation(written: Derivation, design: Design) -> None:
    """Derive everything again from the design and refuse any difference.

    Parameters
    ----------
    written : Derivation
        What is written down.
    design : Design
        The inputs it must follow from.
    """
    for step in written.steps:
        theorem(step.theorem).quantity(step.name)
    fresh = derive(design)
    names = ([s.name for s in written.steps], [s.name for s in fresh.steps])
    if names[0] != names[1]:
        raise CertificateError(f"steps: {names[0]} are listed, {names[1]} are needed")
    for stored, computed in zip(written.steps, fresh.steps, strict=True):
        _same_step(stored, computed)
    _same_mapping("claim", written.claim.to_dict(), fresh.claim.to_dict())
    for name in ("certified", "reason", "accuracy"):
        _same(name, getattr(written, name), getattr(fresh, name))


def _same_step(stored: Step, computed: Step) -> None:
    _same(f"{stored.name}: theorem", stored.theorem, computed.theorem)
    _same_mapping(f"{stored.name}: input", dict(stored.inputs), dict(computed.inputs))
    _same(stored.name, stored.value, computed.value)


def _same_mapping(what: str, stored: dict[str, Any], computed: dict[str, Any]) -> None:
    _same(f"{what} names", sorted(stored), sorted(computed))
    for name, value in computed.items():
        _same(f"{what} {name}", stored[name], value)


def _same(what: str, stored: Any, computed: Any) -> None:
    if isinstance(stored, float) and isinstance(computed, float):
        equal = math.isclose(stored, computed, rel_tol=RELATIVE_TOLERANCE, abs_tol=0.0)
    else:
        # False == 0 and 1 == 1.0 in Python; a certificate is stricter
        equal = type(stored) is type(computed) and stored == computed
    if not equal:
        raise CertificateError(f"{what}: {stored!r} is written, {computed!r} follows")
