"""The certificate of a primitive: what it promises, by which theorems, computed on request."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from replearn.exceptions import CertificateError
from replearn.guarantees._steps import Input, Ledger, Step
from replearn.records.json import Reader, pretty_json, read_object

Derivation = Callable[..., tuple[list[str], list[str]]]

_DERIVATIONS: dict[str, Derivation] = {}
_TOLERANCE = 2e-6


def derivation(task: str) -> Callable[[Derivation], Derivation]:
    """Register the function that derives the promises of a task from its parameters.

    It takes a ledger and the parameters, and returns the promises and the reasons why they are not
    what was asked for.

    Examples
    --------
    >>> @derivation("nothing")
    ... def derive_nothing(ledger):
    ...     return ["Nothing is promised."], []
    >>> print(PrimitiveCertificate.issue("nothing", "0123456789abcdef"))
    nothing: certified
      Nothing is promised.
    """

    def register(function: Derivation) -> Derivation:
        _DERIVATIONS[task] = function
        return function

    return register


@dataclass(frozen=True)
class PrimitiveCertificate:
    """What one primitive promises for its parameters; no data enter.

    Parameters
    ----------
    task : str
        Which primitive.
    inputs : tuple of (name, value) pairs
        The parameters, the same in all runs of the promise.
    steps : tuple of Step
        Every number, with its theorem and inputs.
    promises : tuple of str
        What holds, in sentences.
    certified : bool
        Whether that is what was asked for.
    reason : str
        Why not; empty when certified.
    key_fingerprint : str
        Fingerprint of the shared key.
    """

    task: str
    inputs: tuple[tuple[str, Input], ...]
    steps: tuple[Step, ...]
    promises: tuple[str, ...]
    certified: bool
    reason: str
    key_fingerprint: str

    @classmethod
    def issue(cls, task: str, key_fingerprint: str, **inputs: Input) -> PrimitiveCertificate:
        """Derive the promises of a task from its parameters."""
        steps, promises, reasons = _derive(task, tuple(inputs.items()))
        return cls(
            task=task,
            inputs=tuple(inputs.items()),
            steps=steps,
            promises=promises,
            certified=not reasons,
            reason="; ".join(reasons),
            key_fingerprint=key_fingerprint,
        )

    def check(self) -> None:
        """Compute everything again from the parameters; raise if anything differs.

        Raises
        ------
        CertificateError
            Names the first item that does not follow.
        """
        if self.task not in _DERIVATIONS:
            raise CertificateError(f"task: {self.task!r} is not a known primitive")
        fresh = self.issue(self.task, self.key_fingerprint, **dict(self.inputs))
        if [step.name for step in self.steps] != [step.name for step in fresh.steps]:
            raise CertificateError("steps: other numbers are listed than are needed")
        for written, computed in zip(self.steps, fresh.steps, strict=True):
            if written.theorem != computed.theorem or not _close_step(written, computed):
                raise CertificateError(
                    f"{written.name}: {written.value!r} is written, {computed.value!r} follows"
                )
        for name in ("promises", "certified", "reason"):
            if getattr(self, name) != getattr(fresh, name):
                raise CertificateError(f"{name}: does not follow from the parameters")

    def value(self, name: str) -> Any:
        """Return the last number of this name."""
        found = [step.value for step in self.steps if step.name == name]
        if not found:
            raise KeyError(f"{name!r} is not among {[step.name for step in self.steps]}")
        return found[-1]

    @property
    def theorems(self) -> tuple[str, ...]:
        """Keys of the theorems in use."""
        return tuple(dict.fromkeys(step.theorem for step in self.steps))

    def comparable(self, other: PrimitiveCertificate) -> bool:
        """Whether two runs belong to one promise: same task, parameters and key."""
        mine = (self.task, dict(self.inputs), self.key_fingerprint)
        return mine == (other.task, dict(other.inputs), other.key_fingerprint)

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON values."""
        return {
            "task": self.task,
            "inputs": dict(self.inputs),
            "steps": [step.to_dict() for step in self.steps],
            "promises": list(self.promises),
            "certified": self.certified,
            "reason": self.reason,
            "key_fingerprint": self.key_fingerprint,
        }

    def to_json(self) -> str:
        """Return the certificate as JSON text."""
        return pretty_json(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> PrimitiveCertificate:
        """Read a certificate from JSON text; call :meth:`check` before you rely on it."""
        reader = Reader(read_object(text, "certificate"), "certificate")
        certificate = cls(
            task=reader.take("task", str),
            inputs=tuple(reader.take("inputs", dict).items()),
            steps=tuple(Step.from_dict(item) for item in reader.take("steps", list)),
            promises=tuple(reader.take("promises", list)),
            certified=reader.take("certified", bool),
            reason=reader.take("reason", str),
            key_fingerprint=reader.take("key_fingerprint", str),
        )
        reader.finish()
        return certificate

    def __str__(self) -> str:
        verdict = "certified" if self.certified else f"NOT certified: {self.reason}"
        return "\n  ".join([f"{self.task}: {verdict}", *self.promises])


@lru_cache(maxsize=256)
def _derive(
    task: str, inputs: tuple[tuple[str, Input], ...]
) -> tuple[tuple[Step, ...], tuple[str, ...], tuple[str, ...]]:
    """Derive once for equal parameters: many samples share one protocol."""
    ledger = Ledger(None)
    promises, reasons = _DERIVATIONS[task](ledger, **dict(inputs))
    return tuple(ledger.steps), tuple(promises), tuple(reasons)


def _close_step(written: Step, computed: Step) -> bool:
    mine, its = dict(written.inputs), dict(computed.inputs)
    if mine.keys() != its.keys() or not all(_close(mine[name], its[name]) for name in mine):
        return False
    return _close(written.value, computed.value)


def _close(first: Any, second: Any) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=_TOLERANCE, abs_tol=0.0)
    return type(first) is type(second) and first == second


def above_budget(name: str, reached: float | None, asked: float | None) -> list[str]:
    """Say that a number exceeds what was asked for, or nothing.

    Examples
    --------
    >>> above_budget("rho", 0.2, 0.1)
    ['asked for rho = 0.1, reached 0.2']
    >>> above_budget("rho", 0.05, 0.1)
    []
    """
    if asked is None or (reached is not None and reached <= asked):
        return []
    found = "nothing" if reached is None else f"{reached:.4g}"
    return [f"asked for {name} = {asked:g}, reached {found}"]
