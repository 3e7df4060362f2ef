"""Which run a certificate belongs to, and what its promise depends on."""

from dataclasses import dataclass, field
from typing import Any

from replearn._version import __version__
from replearn.guarantees.design import Label, plain_labels
from replearn.records.json import read_flat


@dataclass(frozen=True)
class Identity:
    """Which run a certificate belongs to, and what its promise depends on.

    Parameters
    ----------
    key_fingerprint : str
        Fingerprint of the shared key; it does not reveal the key.
    learner, learner_digest : str
        The base learner with its parameters in words, and a digest of its code, parameters and
        fitted parts; empty where there is none.
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
    classes: tuple[Label, ...] | None = None
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

    def to_dict(self) -> dict[str, Any]:
        """Return the identity as JSON values."""
        values = vars(self).items()
        return {name: list(item) if isinstance(item, tuple) else item for name, item in values}

    @classmethod
    def from_dict(cls, items: Any) -> "Identity":
        """Read an identity from JSON values; anything unexpected is refused."""
        return read_flat(cls, items, "identity")
