"""The certificate: a promise with everything needed to compute it again.

It is derived from the guarantee of its task, all of which are listed here.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

from replearn.exceptions import CertificateError
from replearn.guarantees.assumptions import ASSUMPTIONS, Assumption
from replearn.guarantees.comparison import Comparison, compare
from replearn.guarantees.describe import certificate_rows, explain
from replearn.guarantees.design import NOTIONS, Design, Label
from replearn.guarantees.guarantee import (
    LETTERS,
    Derived,
    Guarantee,
    Identity,
    Ledger,
    Step,
    rounded_up,
    value_of,
)
from replearn.guarantees.probe import Probe
from replearn.records import (
    JsonFile,
    Reader,
    canonical_json,
    check_format,
    digest_of,
    html_table,
    read_flat,
    read_json,
    read_object,
    refuse_differences,
    two_columns,
)
from replearn.registry import TASKS, entries_of

FORMAT = "replearn-certificate"
FORMAT_VERSION = 3


def guarantee(task: str) -> Guarantee:
    """Look a guarantee up by its task; an unknown task raises a CertificateError.

    >>> guarantee("thresholds").learners
    ('ReplicableThresholdClassifier',)
    """
    if task not in TASKS:
        raise CertificateError(f"task: {task!r} is not one of {', '.join(map(repr, TASKS))}")
    entry: Guarantee = entries_of({task: TASKS[task]})[task]
    return entry


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


# -- the certificate -------------------------------------------------------------------------------
class Record(JsonFile):
    """What certificates and plans have in common: JSON text and file, table, one line."""

    task: Any
    inputs: Any
    steps: Any
    promises: Any
    n: Any
    certified: Any
    reason: Any
    digest: Any

    def _content(self) -> dict[str, Any]:
        """Return everything but the digest as JSON values."""
        raise NotImplementedError

    def _promise(self, form: str, version: int, assumptions: list[Any]) -> dict[str, Any]:
        """Return the items of the content that all records have."""
        return {
            "format": form,
            "version": version,
            "task": self.task,
            "inputs": self.inputs,
            "steps": [step.to_dict() for step in self.steps],
            "promises": list(self.promises),
            "assumptions": assumptions,
            **{name: getattr(self, name) for name in LETTERS},
            "certified": self.certified,
            "reason": self.reason,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {**self._content(), "digest": self.digest}

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


@dataclass(frozen=True, repr=False)
class Certificate(Record):
    """What is promised, by which theorems, under which assumptions, for which run.

    It is made by estimators, primitives, :meth:`replearn.Plan.certificate` or :meth:`issue`, and
    never by hand.

    Parameters
    ----------
    task : str
        What the promise is about: "pointwise", "approximate", "selection", "heavy", ...
    inputs : dict
        The items that all runs of the promise share, as JSON values.
    steps : tuple of Step
        Every number that the promise uses, with its theorem and inputs.
    promises : tuple of str
        What holds, in sentences.
    assumptions : tuple of Assumption
        What the promise rests on.
    rho, gamma, alpha, beta : float or None
        The promised numbers, in the letters of the glossary.
    certified : bool
        Whether they are what was requested.
    reason : str
        Why it is not certified; empty if it is.
    identity : Identity
        Key, estimator, classes and rows of this run.
    digest : str
        SHA-256 of all other items.

    Examples
    --------
    >>> certificate = Certificate.issue(
    ...     "coins", {"n": 400, "p0": -0.5, "q0": 0.5, "rho": 0.1, "beta": 0.05,
    ...               "low": 0.3, "high": 0.7}, Identity("0123456789abcdef"))
    >>> certificate.check()
    >>> certificate.certified, round(certificate.rho, 3)
    (True, 0.069)
    >>> Certificate.from_json(certificate.to_json()) == certificate
    True
    """

    task: str
    inputs: dict[str, Any]
    steps: tuple[Step, ...]
    promises: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    rho: float | None
    gamma: float | None
    alpha: float | None
    beta: float | None
    certified: bool
    reason: str
    identity: Identity
    digest: str = ""

    @classmethod
    def issue(
        cls,
        task: str,
        inputs: dict[str, Any],
        identity: Identity,
        derived: Derived | None = None,
    ) -> "Certificate":
        """Derive the promise of a task and issue its certificate for one run.

        ``derived`` is what ``derive(task, inputs)`` returns, if the caller has it already.
        """
        issued = cls._of(task, inputs, identity, derived or derive(task, inputs))
        signed = replace(issued, digest=digest_of(issued._content()))
        signed._check_identity()
        return signed

    @classmethod
    def _of(
        cls, task: str, inputs: dict[str, Any], identity: Identity, derived: Derived
    ) -> "Certificate":
        steps, conclusion = derived
        kept = () if identity.incumbent is None else ("same-incumbent",)
        codes = (*conclusion.assumptions, *kept)
        return cls(
            task=task,
            inputs=inputs,
            steps=steps,
            promises=conclusion.promises,
            assumptions=tuple(ASSUMPTIONS[code] for code in codes),
            **{name: getattr(conclusion, name) for name in LETTERS},
            certified=conclusion.certified and not identity.failed_conditions,
            reason="; ".join(filter(None, (conclusion.reason, *identity.failed_conditions))),
            identity=identity,
        )

    # -- reading ---------------------------------------------------------------------------------
    @cached_property
    def design(self) -> Design | None:
        """Blocks, law and partitions of a vote; None for other tasks."""
        return Design.from_dict(self.inputs) if self.task in NOTIONS else None

    @property
    def verdict(self) -> str:
        """Return "certified", "estimated" or "not certified"."""
        if self.certified:
            return "certified"
        estimated = self.estimates and not self.failed_conditions
        return "estimated" if estimated else "not certified"

    @property
    def estimates(self) -> tuple[str, ...]:
        """Names of the inputs that each run estimates from its data."""
        return guarantee(self.task).estimates

    @property
    def n(self) -> int | None:
        """Rows (or groups) of each sample, where the promise counts them."""
        return self.inputs.get("n")

    @property
    def key_fingerprint(self) -> str:
        """Fingerprint of the shared key."""
        return self.identity.key_fingerprint

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The classes of this run, in order."""
        return self.identity.classes

    @property
    def failed_conditions(self) -> tuple[str, ...]:
        """Conditions of the promise that this run's data refute."""
        return self.identity.failed_conditions

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
        return value_of(self.steps, name)

    # -- checking and comparing ------------------------------------------------------------------
    def check(self) -> None:
        """Compute every number again from the inputs, and raise if anything differs.

        Raises
        ------
        CertificateError
            Names the first item that does not follow.
        """
        if self.digest != digest_of(self._content()):
            raise CertificateError("digest: the certificate was changed after it was issued")
        derived = derive(self.task, self.inputs)
        fresh = self._of(self.task, self.inputs, self.identity, derived)
        refuse_differences("certificate", self._content(), fresh._content())
        self._check_identity()

    def comparable(
        self,
        other: "Certificate",
        *,
        probes: tuple[Probe, Probe] | None = None,
    ) -> Comparison:
        """Say whether two runs are comparable: whether the promise is about this pair.

        Parameters
        ----------
        other : Certificate
            The certificate of another run.
        probes : pair of Probe, optional
            The same raw rows, encoded by this lab and by the other one; see
            `replearn.binding.encode_probe`.

        Returns
        -------
        Comparison
            ``comparable`` is "yes", "no" or "unknown", with reasons in words. The truth value is
            True only for "yes".
        """
        if not isinstance(other, Certificate):
            raise TypeError(
                f"other must be a Certificate, got {type(other).__name__}: give certificate_ of "
                "the other model."
            )
        return compare(self, other, probes)

    def _check_identity(self) -> None:
        design = self.design
        classes = self.classes
        if design is None:
            return
        if design.task != self.task:
            raise CertificateError(f"task: {self.task!r}, but the request is {design.task!r}")
        if classes is not None and len(classes) > design.n_classes:
            raise CertificateError(f"classes: {classes} are more than {design.n_classes}")
        if design.classes is not None and classes != design.classes:
            raise CertificateError(f"classes: {classes} are not the plan's {design.classes}")
        available = self.identity.n_available
        if available is not None and available < design.n:
            raise CertificateError(f"n_available: {available} is smaller than n = {design.n}")

    # -- JSON ------------------------------------------------------------------------------------
    def _content(self) -> dict[str, Any]:
        assumptions = [dict(vars(item)) for item in self.assumptions]
        promise = self._promise(FORMAT, FORMAT_VERSION, assumptions)
        return {**promise, "identity": self.identity.to_dict()}

    @classmethod
    def from_json(cls, text: str | bytes) -> "Certificate":
        """Read a certificate from JSON text and compute it again; see :meth:`check`.

        Parameters
        ----------
        text : str or bytes
            What :meth:`to_json` wrote.

        Returns
        -------
        Certificate
            Every number was computed again.

        Raises
        ------
        CertificateError
            If anything does not follow; the message names the item.
        """
        return read_json(text, "certificate", cls._read)

    @classmethod
    def _read(cls, reader: Reader) -> "Certificate":
        check_format(reader, "certificate", FORMAT, FORMAT_VERSION)
        certificate = reader.read(
            cls,
            steps=Step.from_dict,
            assumptions=partial(read_flat, Assumption, what="assumption"),
            identity=Identity.from_dict,
        )
        certificate.check()
        return certificate

    # -- words -----------------------------------------------------------------------------------
    def explain(self) -> str:
        """Return the certificate in plain words."""
        return explain(self)

    def _rows(self) -> list[tuple[str, str]]:
        return certificate_rows(self)


def certify(task: str, key_fingerprint: str, **inputs: Any) -> Certificate:
    """Issue the certificate of a run that has no base estimator.

    Parameters
    ----------
    task : str
        What the promise is about.
    key_fingerprint : str
        Fingerprint of the shared key.
    **inputs
        The items that all runs of the promise share.

    Examples
    --------
    >>> certify("correlated sampling", "0123456789abcdef", deviation=None).certified
    True
    """
    return Certificate.issue(task, inputs, Identity(key_fingerprint))
