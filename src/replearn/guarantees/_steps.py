"""One number of a certificate, with the theorem it follows from and its inputs."""

from dataclasses import dataclass, field
from typing import Any

from replearn.bounds import ThresholdLaw
from replearn.exceptions import CertificateError
from replearn.guarantees.registry import theorem
from replearn.records.json import Reader

Number = float | int | None
Input = float | int | str | bool | None


@dataclass(frozen=True)
class Step:
    """A number that a promise uses, and everything needed to compute it again.

    Parameters
    ----------
    name : str
        The quantity, as the theorem's entry in the registry calls it.
    theorem : str
        Key of the theorem.
    inputs : tuple of (name, value) pairs
        JSON numbers and strings; the law is given by its digest.
    value : float, int or None
        The result; None stands for "no number is enough".

    Examples
    --------
    >>> step = Step("block_size", "content-keyed-partition", (("n", 100), ("n_blocks", 8)), 12)
    >>> step.recompute(law=None)
    12
    """

    name: str
    theorem: str
    inputs: tuple[tuple[str, Input], ...]
    value: Number

    def recompute(self, law: ThresholdLaw | None) -> Number:
        """Compute the value again from the inputs through the theorem registry.

        Parameters
        ----------
        law : ThresholdLaw or None
            The law that the input ``law`` names by its digest.

        Returns
        -------
        float, int or None
            The value that follows from the inputs.
        """
        function = theorem(self.theorem).quantity(self.name)
        arguments: dict[str, Any] = dict(self.inputs)
        if "law" in arguments:
            if law is None or arguments["law"] != law.digest:
                raise CertificateError(f"{self.name}: its law is not the law of the certificate")
            arguments["law"] = law
        try:
            value: Number = function(**arguments)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise CertificateError(f"{self.name}: cannot be computed ({error})") from error
        return value

    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON values."""
        return {
            "name": self.name,
            "theorem": self.theorem,
            "inputs": dict(self.inputs),
            "value": self.value,
        }

    @classmethod
    def from_dict(cls, items: Any) -> "Step":
        """Read a step from JSON values; anything unexpected is refused."""
        reader = Reader(items, "step")
        name = reader.take("name", str)
        key = reader.take("theorem", str)
        inputs = reader.take("inputs", dict)
        value = reader.take_any("value")
        reader.finish()
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            raise CertificateError(f"{name}: its value must be a number, got {value!r}")
        for item in inputs.values():
            if not isinstance(item, int | float | str | bool | None):
                raise CertificateError(f"{name}: inputs must be numbers or texts, got {item!r}")
        return cls(name, key, tuple(inputs.items()), value)


@dataclass
class Ledger:
    """Collects the steps of a derivation: every number goes through the theorem registry.

    Parameters
    ----------
    law : ThresholdLaw or None
        The threshold law in use.
    """

    law: ThresholdLaw | None
    steps: list[Step] = field(default_factory=list)

    def add(self, name: str, key: str, **inputs: Any) -> Any:
        """Compute one number, write it down, and return it."""
        if "law" in inputs:
            inputs["law"] = inputs["law"].digest
        blank = Step(name, key, tuple(inputs.items()), None)
        value = blank.recompute(self.law)
        self.steps.append(Step(name, key, blank.inputs, value))
        return value
