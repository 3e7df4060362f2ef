"""What a guarantee is: from inputs to a conclusion, step by step, and from targets to rows.

Certificates and plans are made of steps and their conclusion; a certificate also names its run.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, TypeVar

from replearn._version import __version__
from replearn.bounds import ThresholdLaw
from replearn.exceptions import CertificateError
from replearn.guarantees.design import Label, plain_labels
from replearn.records import Reader, read_flat

Scalar = float | int | None
Value = Scalar | tuple[Scalar, ...]
StepValue = TypeVar("StepValue", bound=Value)

LETTERS = ("rho", "gamma", "alpha", "beta")
"""What a promise is about, in the letters of the glossary."""


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
    >>> ledger.steps[0].value == tail, ledger.steps[0].theorem
    (True, 'vc-sample-size')
    """

    name: str
    theorem: str
    inputs: tuple[tuple[str, Any], ...]
    value: Value

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
        """Read a step from JSON values; anything unexpected raises a CertificateError."""
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
    """A record of the steps of a derivation: every number comes from a bound with a theorem."""

    steps: list[Step] = field(default_factory=list)

    def add(self, bound: Callable[..., StepValue], **inputs: Any) -> StepValue:
        """Compute a number by a function marked with ``@theorem``, record it, and return it."""
        value = bound(**inputs)
        written = tuple((name, _encode(item)) for name, item in inputs.items())
        marked: Any = bound
        self.steps.append(Step(marked.__name__, marked.theorem_key, written, value))
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
BLOCK_ASSUMPTIONS = (
    "equal-design",
    "learned-inside-blocks",
    "key-before-data",
    "point-not-in-sample",
    "same-point",
    "no-drift",
    "independent-samples",
    "independent-rows",
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
        Probability that two runs differ; None if nothing is promised.
    gamma : float or None
        Mass of points on which two models may differ.
    alpha, beta : float or None
        Excess error, and the probability that it is larger, where they are promised.
    reasons : tuple of str
        Why this is not what was requested; empty: certified.
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
        """Whether what was requested is promised."""
        return not self.reasons

    @property
    def reason(self) -> str:
        """Why it is not; empty when certified."""
        return "; ".join(self.reasons)


Derived = tuple[tuple[Step, ...], Conclusion]


@dataclass(frozen=True)
class Identity:
    """Which run a certificate belongs to, and what its promise depends on.

    Parameters
    ----------
    key_fingerprint : str
        Fingerprint of the shared key; it does not reveal the key.
    estimator, learner_digest : str
        The base estimator with its parameters in words, and a digest of its code, parameters and
        fitted parts; empty if there is none.
    classes : sequence or None
        The classes of this run, in order.
    n_available : int or None
        Number of rows (or groups) of this run; the surplus over n was left out.
    library_version : str
        Version of the library that issued the certificate.
    versions : dict
        Versions of numpy, scikit-learn and the packages that the estimator comes from.
    schema : dict or None
        How points are encoded, with a coarse sketch of each column (see `compare_points`); None
        if a task has no points.
    points_digest : str
        Digest of synthetic points of that schema.
    candidates, pool, hypotheses : str
        Digests of the candidates of a choice, of the shared pool and of the hypothesis class.
    incumbent : dict or None
        Fingerprint of the model whose predictions are kept, with memory, band, unit and threshold;
        None if there is none.
    unbound : tuple of str
        What the promise depends on but could not be digested, in words.
    failed_conditions : tuple of str
        Conditions of the promise that the data of this run refute, in words. If there are any,
        nothing is certified.

    Examples
    --------
    >>> identity = Identity("0123456789abcdef", unbound=("an open file",))
    >>> Identity.from_dict(identity.to_dict()) == identity
    True
    """

    key_fingerprint: str
    learner: str = ""
    learner_digest: str = ""
    classes: tuple[Label, ...] | None = None
    n_available: int | None = None
    library_version: str = __version__
    versions: dict[str, str] = field(default_factory=dict)
    schema: dict[str, Any] | None = None
    points_digest: str = ""
    candidates: str = ""
    pool: str = ""
    hypotheses: str = ""
    incumbent: dict[str, Any] | None = None
    unbound: tuple[str, ...] = ()
    failed_conditions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", plain_labels(self.classes))

    def to_dict(self) -> dict[str, Any]:
        """Return the identity as JSON values."""
        values = vars(self).items()
        return {name: list(item) if isinstance(item, tuple) else item for name, item in values}

    @classmethod
    def from_dict(cls, items: Any) -> "Identity":
        """Read an identity from JSON values; anything unexpected raises a CertificateError."""
        return read_flat(cls, items, "identity")


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
    if is_dataclass(value) and not isinstance(value, type):  # the law of an algorithm
        return {"type": type(value).__name__, **asdict(value)}
    return list(value) if isinstance(value, tuple) else value


# -- guarantees ------------------------------------------------------------------------------------
Number = int | float
Reached = tuple[float, float | None]


@dataclass(frozen=True)
class Needed:
    """What a promise needs; theorem and words, where they depend on the targets."""

    n: int | None  # rows of each run; None: no number is enough
    details: Mapping[str, Number | str] = field(default_factory=dict)  # numbers to read
    settings: Mapping[str, Any] = field(
        default_factory=dict
    )  # of the estimator, beside the targets
    rate: float = math.nan  # the paper's, with constant 1
    theorem: str | None = None
    promise: str | None = None
    reasons: tuple[str, ...] = ()  # why nothing is certified whatever the number of rows


@dataclass(frozen=True)
class Guarantee:
    """One task: what its certificates say, and how many rows a promise needs.

    Parameters
    ----------
    task : str
        Name in certificates and in :func:`replearn.plan`.
    derive : callable
        Maps a ledger and the inputs to a `Conclusion`; every number is recorded in the ledger.
    estimators : tuple of str
        Names of the estimators and functions that perform the task.
    theorem : str
        Key of the main theorem.
    needed : callable or None
        Maps the targets to `Needed`; None if the task cannot be planned this way. If ``n`` is among
        the required targets, the design follows from the rows, and n is never computed.
    required : tuple of str
        Targets without a default.
    optional : dict
        Other targets with their defaults.
    promise : str
        The promise of a plan, with the targets in braces.
    estimates : tuple of str
        Inputs that each run estimates from its data: they differ from run to run, and the verdict
        is "estimated", never "certified".
    """

    task: str
    derive: Callable[..., Conclusion]
    learners: tuple[str, ...] = ()
    theorem: str = ""
    needed: Callable[..., Needed] | None = None
    required: tuple[str, ...] = ()
    optional: Mapping[str, Number | str | None] = field(default_factory=dict)
    promise: str = ""
    estimates: tuple[str, ...] = ()


def above_budget(name: str, reached: float, requested: float | None) -> tuple[str, ...]:
    """Say that a number exceeds what was requested, or nothing.

    >>> above_budget("rho", 0.2, 0.1), above_budget("rho", 0.05, 0.1)
    (('requested rho=0.1; reached rho=0.2',), ())
    """
    if requested is None or reached <= requested:
        return ()
    return (f"requested {name}={requested:g}; reached {name}={reached:.4g}",)


def reached(
    promises: tuple[str, ...],
    *,
    gamma: float | None = None,
    alpha: float | None = None,
    **numbers: Reached,
) -> Conclusion:
    """Conclude what is promised from pairs of a number that is reached and what was requested.

    >>> reached(("Two runs agree.",), rho=(0.2, 0.1), beta=(0.01, None)).reason
    'requested rho=0.1; reached rho=0.2'
    """
    reasons = tuple(text for name, pair in numbers.items() for text in above_budget(name, *pair))
    values: dict[str, Any] = {name: value for name, (value, _) in numbers.items()}
    return Conclusion(promises, gamma=gamma, alpha=alpha, **values, reasons=reasons)


# Promises of plans, in the letters of the glossary.
SAME_CHOICE = "Two runs choose different candidates with probability at most {rho:g}."
NEAR_BEST = (
    " The choice is worse than the best by more than {alpha:g} with probability at most {beta:g}."
)
SAME_POINT = "Two models predict one fixed point differently with probability at most {rho:g}."
SMALL_MASS = "Two rules differ on a mass above {gamma:g} with probability at most {rho:g}."

THREE_TARGETS: dict[str, Number | str | None] = {"rho": 0.1, "alpha": 0.1, "beta": 0.05}
FOUR_TARGETS: dict[str, Number | str | None] = {**THREE_TARGETS, "gamma": 0.1}
