"""What is promised: from the inputs of a task to sentences, step by step.

A plan is a promise that labs agree on before anyone has data (`replearn.guarantees.plan`), a
certificate is a promise that names its run (`replearn.guarantees.certificate`). Both follow from
the task and its inputs alone, and are derived again when they are read.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.theorem import clear_caches
from replearn.exceptions import CertificateError
from replearn.guarantees.design import TASKS_OF_VOTES, VoteDesign
from replearn.records.json import JsonFile, check_format, digest_of, read_json, refuse_differences
from replearn.records.text import html_table, two_columns
from replearn.registry import TASKS, entries_of

Scalar = float | int | None
Value = Scalar | tuple[Scalar, ...]
StepValue = TypeVar("StepValue", bound=Value)

LETTERS = ("rho", "gamma", "alpha", "beta")
"""What a promise is about, in the letters of the glossary."""

CHOICE_ASSUMPTIONS = (
    "same-candidates",
    "key-before-data",
    "no-drift",
    "independent-samples",
    "independent-rows",
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


# -- steps -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Step:
    """A number that a promise uses, and everything needed to compute it again.

    Parameters
    ----------
    name : str
        Name of the bound that computes it.
    theorem : str
        Key of the theorem the bound follows from.
    inputs : dict
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
    inputs: dict[str, Any]
    value: Value

    def to_dict(self) -> dict[str, Any]:
        """Return the step as JSON values."""
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return {**vars(self), "value": value}


@dataclass
class Ledger:
    """A record of the steps of a derivation: every number comes from a bound with a theorem."""

    steps: list[Step] = field(default_factory=list)

    def add(self, bound: Callable[..., StepValue], **inputs: Any) -> StepValue:
        """Compute a number by a function marked with ``@theorem``, record it, and return it."""
        value = bound(**inputs)
        written = {name: _encode(item) for name, item in inputs.items()}
        marked: Any = bound
        self.steps.append(Step(marked.__name__, marked.theorem_key, written, value))
        return value


def _encode(value: Any) -> Any:
    if isinstance(value, ThresholdLaw):
        return {"type": "ThresholdLaw", "digest": value.digest}
    if is_dataclass(value) and not isinstance(value, type):  # the law of an algorithm
        return {"type": type(value).__name__, **asdict(value)}
    return list(value) if isinstance(value, tuple) else value


# -- tasks -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Task:
    """What can be promised: how a request is solved, and what follows from the inputs.

    Parameters
    ----------
    name : str
        Name in plans, certificates and in :func:`replearn.plan`.
    derive : callable
        Maps a ledger and the inputs to a `Promise`; every number is recorded in the ledger.
    solve : callable or None
        Maps the arguments of :func:`replearn.plan`, ``n`` among them, to the inputs; where n is
        None, to those of the smallest n that meets the targets. Arguments without a default are
        required. None for votes, which the planner solves, and for tasks without a plan.
    learners : tuple of str
        Names of the estimators and functions that perform the task.
    theorem : str
        Key of the main theorem.
    estimates : tuple of str
        Inputs that each run estimates from its data: they differ from run to run, and the verdict
        is "estimated", never "certified".
    """

    name: str
    derive: Callable[..., "Promise"]
    solve: Callable[..., dict[str, Any]] | None = None
    learners: tuple[str, ...] = ()
    theorem: str = ""
    estimates: tuple[str, ...] = ()


def task_named(name: str) -> Task:
    """Look a task up by its name; an unknown one raises a CertificateError.

    >>> task_named("thresholds").learners
    ('ReplicableThresholdClassifier',)
    """
    if name not in TASKS:
        raise CertificateError(f"task: {name!r} is not one of {', '.join(map(repr, TASKS))}")
    entry: Task = entries_of({name: TASKS[name]})[name]
    return entry


# -- promises --------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True, repr=False)
class Promise(JsonFile):
    """What follows from the inputs of a task: sentences, numbers, steps, assumptions.

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
        Codes of the conditions the promise rests on (`replearn.guarantees.assumptions`).
    task : str
        What the promise is about: "pointwise", "selection", "heavy", ...
    inputs : dict
        What all runs of the promise share, as JSON values.
    steps : tuple of Step
        Every number that the promise uses, with its theorem and inputs.

    Examples
    --------
    >>> promise = derive("correlated sampling", {"deviation": 0.1})
    >>> [step.theorem for step in promise.steps], promise.certified
    (['correlated-sampling'], True)
    """

    KIND: ClassVar[str] = "promise"
    FORMAT: ClassVar[str] = "replearn-promise"
    VERSION: ClassVar[int] = 1

    promises: tuple[str, ...]
    rho: float | None = None
    gamma: float | None = None
    alpha: float | None = None
    beta: float | None = None
    reasons: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = CHOICE_ASSUMPTIONS
    task: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()

    # -- the verdict -----------------------------------------------------------------------------
    @property
    def certified(self) -> bool:
        """Whether what was requested is promised."""
        return not self.reasons

    @property
    def reason(self) -> str:
        """Why it is not certified; empty if it is."""
        return "; ".join(self.reasons)

    @property
    def verdict(self) -> str:
        """Return "certified", "estimated" or "not certified"."""
        if self.certified:
            return "certified"
        return "estimated" if self.estimates else "not certified"

    @property
    def estimates(self) -> tuple[str, ...]:
        """Names of the inputs that each run estimates from its data."""
        return task_named(self.task).estimates

    # -- reading ---------------------------------------------------------------------------------
    @property
    def n(self) -> int | None:
        """Rows (or groups) of each sample, where the promise counts them."""
        return self.inputs.get("n")

    @cached_property
    def design(self) -> VoteDesign | None:
        """Blocks, law and partitions of a vote; None for other tasks."""
        return VoteDesign.from_dict(self.inputs) if self.task in TASKS_OF_VOTES else None

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the estimators and functions that perform the task."""
        return task_named(self.task).learners

    @property
    def theorems(self) -> tuple[str, ...]:
        """Keys of the theorems in use."""
        return tuple(dict.fromkeys(step.theorem for step in self.steps))

    def value(self, name: str) -> Any:
        """Return the last number of this name among the steps.

        Parameters
        ----------
        name : str
            Name of a step.
        """
        values = [step.value for step in self.steps if step.name == name]
        if not values:
            raise KeyError(f"{name!r} is not among {[step.name for step in self.steps]}")
        return values[-1]

    # -- JSON ------------------------------------------------------------------------------------
    def _content(self) -> dict[str, Any]:
        """Return everything but the digest as JSON values."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {
            "format": self.FORMAT,
            "version": self.VERSION,
            "verdict": self.verdict,
            **{name: _json(value) for name, value in values.items()},
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything else."""
        return digest_of(self._content())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {**self._content(), "digest": self.digest}

    @classmethod
    def _derived(cls, content: dict[str, Any]) -> Self:
        """Derive again what a document states, from its task and inputs."""
        return cls(**fields_of(derive(content["task"], content["inputs"])))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a document and derive everything again; a changed one raises an error.

        Parameters
        ----------
        text : str or bytes
            What :meth:`to_json` wrote.

        Raises
        ------
        CertificateError
            If anything does not follow; the message names the item.
        """
        return read_json(text, cls.KIND, cls._read)

    @classmethod
    def _read(cls, content: dict[str, Any]) -> Self:
        check_format(content, cls.KIND, cls.FORMAT, cls.VERSION)
        digest = content.pop("digest")
        fresh = cls._derived(content)
        if digest != digest_of(content):
            raise CertificateError(f"digest: the {cls.KIND} was changed after it was made")
        refuse_differences(cls.KIND, content, fresh._content())
        # The numbers that are written stand: all labs quote the same digits.
        return replace(
            fresh,
            **{name: content[name] for name in LETTERS},
            steps=tuple(_read_step(step) for step in content["steps"]),
        )

    def check(self) -> None:
        """Compute every number again from the inputs, and raise if anything differs.

        Raises
        ------
        CertificateError
            Names the first item that does not follow.
        """
        content = self._content()
        clear_caches()
        refuse_differences(self.KIND, content, type(self)._derived(content)._content())

    # -- words -----------------------------------------------------------------------------------
    def _rows(self) -> list[tuple[str, str]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        values = {name: getattr(self, name) for name in LETTERS}
        known = [f"{name}={rounded_up(v)}" for name, v in values.items() if v is not None]
        rows = [] if self.n is None else [f"n={self.n}"]
        items = [repr(self.task), *known, *rows, f"certified={self.certified}"]
        return f"{type(self).__name__}({', '.join(items)})"

    def __str__(self) -> str:
        return f"{type(self).__name__}\n{two_columns(self._rows())}"

    def _repr_html_(self) -> str:
        return html_table(type(self).__name__, self._rows())


def derive(task: str, inputs: dict[str, Any]) -> Promise:
    """Compute every number of a task from its inputs, and what follows."""
    if not isinstance(inputs, dict):
        raise CertificateError(f"inputs: expected an object, got {inputs!r}")
    ledger = Ledger()
    entry = task_named(task)
    try:
        found = entry.derive(ledger, **inputs)
    except (TypeError, ValueError, ArithmeticError) as error:
        if isinstance(error, CertificateError):
            raise
        raise CertificateError(f"{task}: cannot be derived ({error})") from error
    if found.rho is not None and found.rho >= 1.0:
        found = replace(found, reasons=(*found.reasons, "rho = 1 says nothing"))
    return replace(found, task=task, inputs=inputs, steps=tuple(ledger.steps))


def fields_of(promise: Promise) -> dict[str, Any]:
    """Return what every kind of promise has, to make another kind of it."""
    return {item.name: getattr(promise, item.name) for item in fields(Promise)}


def _json(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


def _read_step(step: dict[str, Any]) -> Step:
    value = step["value"]
    return Step(**{**step, "value": tuple(value) if isinstance(value, list) else value})


# -- words of all tasks ----------------------------------------------------------------------------
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
    assumptions: tuple[str, ...] = CHOICE_ASSUMPTIONS,
    **numbers: tuple[float, float | None],
) -> Promise:
    """Return what is promised from pairs of a number that is reached and what was requested.

    >>> reached(("Two runs agree.",), rho=(0.2, 0.1), beta=(0.01, None)).reason
    'requested rho=0.1; reached rho=0.2'
    """
    reasons = tuple(text for name, pair in numbers.items() for text in above_budget(name, *pair))
    values: dict[str, Any] = {name: value for name, (value, _) in numbers.items()}
    return Promise(
        promises=promises,
        gamma=gamma,
        alpha=alpha,
        **values,
        reasons=reasons,
        assumptions=assumptions,
    )
