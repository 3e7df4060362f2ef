"""The certificate: a promise that names its run."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from replearn._version import __version__
from replearn.exceptions import CertificateError
from replearn.guarantees.comparison import Comparison, compare
from replearn.guarantees.describe import certificate_rows, explain
from replearn.guarantees.design import Label, plain_labels
from replearn.guarantees.probe import Probe
from replearn.guarantees.promise import Promise, derive, fields_of
from replearn.records.json import read_fields


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
        How points are encoded: names of columns, their order, rounding; None if a task has no
        points.
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
        return read_fields(cls, items, "identity")


@dataclass(frozen=True, kw_only=True, repr=False)
class Certificate(Promise):
    """What is promised, by which theorems, under which assumptions, for which run.

    It is made by estimators, functions that choose and :meth:`replearn.Plan.certificate`, and never
    by hand. Beside the items of a promise it has:

    Parameters
    ----------
    identity : Identity
        Key, estimator, classes and rows of this run.

    Examples
    --------
    >>> certificate = certify(
    ...     "coins", "0123456789abcdef", n=400, p0=-0.5, q0=0.5, rho=0.1, beta=0.05,
    ...     low=0.3, high=0.7)
    >>> certificate.check()
    >>> certificate.certified, round(certificate.rho, 3)
    (True, 0.069)
    >>> Certificate.from_json(certificate.to_json()) == certificate
    True
    """

    KIND: ClassVar[str] = "certificate"
    FORMAT: ClassVar[str] = "replearn-certificate"
    VERSION: ClassVar[int] = 4

    identity: Identity

    @classmethod
    def of(cls, promise: Promise, identity: Identity) -> Self:
        """Issue the certificate of one run of a promise.

        Parameters
        ----------
        promise : Promise
            What all runs share: a plan, or what `derive` returns.
        identity : Identity
            Key, estimator, classes and rows of the run.
        """
        _check_run(promise, identity)
        kept = () if identity.incumbent is None else ("same-incumbent",)
        said = replace(
            promise,
            assumptions=(*promise.assumptions, *kept),
            reasons=(*promise.reasons, *identity.failed_conditions),
        )
        return cls(**fields_of(said), identity=identity)

    @classmethod
    def _derived(cls, content: dict[str, Any]) -> Self:
        identity = Identity.from_dict(content["identity"])
        return cls.of(derive(content["task"], content["inputs"]), identity)

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
    def verdict(self) -> str:
        """Return "certified", "estimated" or "not certified"."""
        return "not certified" if self.failed_conditions else super().verdict

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
            `replearn.checks.points.encode_probe`.

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
    return Certificate.of(derive(task, inputs), Identity(key_fingerprint))


def _check_run(promise: Promise, identity: Identity) -> None:
    design = promise.design
    if design is None:
        return
    classes = identity.classes
    if classes is not None and len(classes) > design.n_classes:
        raise CertificateError(f"classes: {classes} are more than {design.n_classes}")
    if design.classes is not None and classes != design.classes:
        raise CertificateError(f"classes: {classes} are not the plan's {design.classes}")
    available = identity.n_available
    if available is not None and available < design.n:
        raise CertificateError(f"n_available: {available} is smaller than n = {design.n}")
