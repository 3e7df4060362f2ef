"""What a derivation is made of: steps with their theorems, and the conclusion they lead to."""

from dataclasses import asdict, dataclass, field
from typing import Any

from replearn.bounds import ThresholdLaw
from replearn.bounds.coins import CoinLaw
from replearn.bounds.heavy_sets import SetLaw
from replearn.bounds.membership import MembershipLaw
from replearn.bounds.theorem import bound_named
from replearn.exceptions import CertificateError
from replearn.records.json import Reader

Scalar = float | int | None
Value = Scalar | tuple[Scalar, ...]

LETTERS = ("rho", "gamma", "alpha", "beta")
"""What a promise is about, in the letters of the glossary."""

_COUNT_LAWS = {"CoinLaw": CoinLaw, "MembershipLaw": MembershipLaw, "SetLaw": SetLaw}


@dataclass(frozen=True)
class Step:
    """A number that a promise uses, and everything needed to compute it again.

    Parameters
    ----------
    name : str
        Name of the bound that computes it.
    theorem : str
        Key of the theorem the bound follows from.
    inputs : tuple of (name, value) pairs
        JSON values; a threshold law is given by its digest, other laws by their parameters.
    value : float, int, None or tuple
        The result; None stands for "no number is enough".

    Examples
    --------
    >>> ledger = Ledger()
    >>> from replearn.bounds.vc import realizable_tail
    >>> tail = ledger.add(realizable_tail, m=2000, d=1, alpha=0.1)
    >>> ledger.steps[0].recompute() == tail
    True
    """

    name: str
    theorem: str
    inputs: tuple[tuple[str, Any], ...]
    value: Value

    def recompute(self, law: ThresholdLaw | None = None) -> Value:
        """Compute the value again from the inputs.

        Parameters
        ----------
        law : ThresholdLaw or None
            The law that the input ``law`` names by its digest.

        Returns
        -------
        float, int, None or tuple
            The value that follows from the inputs.
        """
        try:
            function = bound_named(self.name)
            arguments = {name: _decode(value, law) for name, value in self.inputs}
            value: Value = function(**arguments)
        except (TypeError, ValueError, ArithmeticError) as error:
            raise CertificateError(f"{self.name}: cannot be computed ({error})") from error
        return value

    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON values."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {
            "name": self.name,
            "theorem": self.theorem,
            "inputs": dict(self.inputs),
            "value": value,
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
        parts = value if isinstance(value, list) else [value]
        if not all(_is_scalar(part) for part in parts):
            raise CertificateError(f"{name}: its value must be a number, got {value!r}")
        return cls(name, key, tuple(inputs.items()), tuple(value) if value is parts else value)


@dataclass
class Ledger:
    """Collects the steps of a derivation: every number comes from a bound with a theorem."""

    steps: list[Step] = field(default_factory=list)

    def add(self, bound: Any, **inputs: Any) -> Any:
        """Compute one number, write it down, and return it.

        Parameters
        ----------
        bound : callable
            A function marked with ``@theorem``.
        **inputs
            Its arguments.
        """
        value = bound(**inputs)
        written = tuple((name, _encode(item)) for name, item in inputs.items())
        self.steps.append(Step(bound.__name__, bound.theorem_key, written, value))
        return value

    def value(self, name: str) -> Any:
        """Return the last number of this name."""
        return value_of(self.steps, name)


CHOICE_ASSUMPTIONS = (
    "same-candidates",
    "key-before-data",
    "no-drift",
    "independent-samples",
    "random-function",
)


@dataclass(frozen=True)
class Conclusion:
    """What follows from the inputs of a task.

    Parameters
    ----------
    promises : tuple of str
        What holds, in sentences.
    rho : float or None
        Probability that two runs differ; None: nothing is promised.
    gamma : float or None
        Mass of points on which two models may differ.
    alpha, beta : float or None
        Excess error, and the probability that it is larger, where they are promised.
    reasons : tuple of str
        Why this is not what was asked for; empty: certified.
    assumptions : tuple of str
        Codes of the conditions the promise rests on.
    """

    promises: tuple[str, ...]
    rho: float | None = None
    gamma: float | None = None
    alpha: float | None = None
    beta: float | None = None
    reasons: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = CHOICE_ASSUMPTIONS

    @property
    def certified(self) -> bool:
        """Whether what was asked for is promised."""
        return not self.reasons

    @property
    def reason(self) -> str:
        """Why it is not; empty when certified."""
        return "; ".join(self.reasons)


Derived = tuple[tuple[Step, ...], Conclusion]


def value_of(steps: Any, name: str) -> Any:
    """Return the last number of this name among some steps."""
    values = [step.value for step in steps if step.name == name]
    if not values:
        raise KeyError(f"{name!r} is not among {[step.name for step in steps]}")
    return values[-1]


def rounded_up(value: float) -> str:
    """Write a bound with four digits, rounded up: the printed number is true as well.

    >>> rounded_up(0.099346), rounded_up(0.1), rounded_up(1.0)
    ('0.09935', '0.1', '1')
    """
    text = f"{value:.4g}"
    if float(text) >= value:
        return text
    digits = max(0, 3 - int(f"{value:e}".split("e")[1]))
    return f"{float(text) + 10.0**-digits:.4g}"


def _is_scalar(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _encode(value: Any) -> Any:
    if isinstance(value, ThresholdLaw):
        return {"type": "ThresholdLaw", "digest": value.digest}
    if isinstance(value, MembershipLaw):
        return {"type": type(value).__name__, **asdict(value)}
    return list(value) if isinstance(value, tuple) else value


def _decode(value: Any, law: ThresholdLaw | None) -> Any:
    if isinstance(value, list):
        return tuple(value)
    if not isinstance(value, dict):
        return value
    items = dict(value)
    kind = items.pop("type", "")
    if kind == "ThresholdLaw":
        if law is None or items != {"digest": law.digest}:
            raise ValueError("its law is not the law of the certificate")
        return law
    if kind not in _COUNT_LAWS:
        raise ValueError(f"{value} is not a law of this library")
    return _COUNT_LAWS[kind](**items)
