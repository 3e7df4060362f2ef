"""Which run a certificate belongs to, and what its promise depends on."""

from dataclasses import dataclass, field
from typing import Any

from replearn._version import __version__
from replearn.guarantees.design import plain_labels
from replearn.records.json import Reader, digest_of

_DIGESTS = ("points_digest", "candidates", "pool", "hypotheses")
_SENTENCES = ("unbound", "failed_conditions")


@dataclass(frozen=True)
class Identity:
    """Which run a certificate belongs to, and what its promise depends on.

    Parameters
    ----------
    key_fingerprint : str
        Fingerprint of the shared key; it does not reveal the key.
    learner, learner_digest : str
        The base learner with its parameters in words, and a digest of its code, parameters and
        fitted parts (by default of the description); empty where there is none.
    classes : sequence or None
        The classes of this run, in order.
    n_available : int or None
        Rows (or groups) this run had; the surplus over n was left out.
    library_version : str
        Version of the library that issued the certificate.
    versions : dict
        Versions of numpy, scikit-learn and the packages that the learner comes from.
    schema : dict or None
        How points are encoded, with a coarse sketch of each column (see `compare_points`); None
        where a task has no points.
    points_digest : str
        Digest of synthetic points of that schema.
    candidates, pool, hypotheses : str
        Digests of the candidates of a choice, of the shared pool and of the hypothesis class.
    unbound : tuple of str
        What the promise depends on and no digest could be made of, in words.
    failed_conditions : tuple of str
        Conditions of the promise that this run's data refute, in words: nothing is certified.

    Examples
    --------
    >>> identity = Identity("0123456789abcdef", unbound=("an open file",))
    >>> Identity.from_dict(identity.to_dict()) == identity
    True
    """

    key_fingerprint: str
    learner: str = ""
    learner_digest: str = ""
    classes: Any = None
    n_available: int | None = None
    library_version: str = __version__
    versions: dict[str, str] = field(default_factory=dict)
    schema: dict[str, Any] | None = None
    points_digest: str = ""
    candidates: str = ""
    pool: str = ""
    hypotheses: str = ""
    unbound: tuple[str, ...] = ()
    failed_conditions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", plain_labels(self.classes))
        if self.learner and not self.learner_digest:
            object.__setattr__(self, "learner_digest", digest_of(self.learner))

    def to_dict(self) -> dict[str, Any]:
        """Return the identity as JSON values."""
        lists = {name: list(getattr(self, name)) for name in _SENTENCES}
        classes = None if self.classes is None else list(self.classes)
        return {**vars(self), **lists, "classes": classes}

    @classmethod
    def from_dict(cls, items: Any) -> "Identity":
        """Read an identity from JSON values; anything unexpected is refused."""
        reader = Reader(items, "identity")
        classes = reader.take_or_none("classes", list)
        rest: dict[str, Any] = {name: reader.take(name, str) for name in _DIGESTS}
        rest |= {name: tuple(reader.take(name, list)) for name in _SENTENCES}
        identity = cls(
            key_fingerprint=reader.take("key_fingerprint", str),
            learner=reader.take("learner", str),
            learner_digest=reader.take("learner_digest", str),
            classes=None if classes is None else tuple(classes),
            n_available=reader.take_or_none("n_available", int),
            library_version=reader.take("library_version", str),
            versions=reader.take("versions", dict),
            schema=reader.take_or_none("schema", dict),
            **rest,
        )
        reader.finish()
        return identity
