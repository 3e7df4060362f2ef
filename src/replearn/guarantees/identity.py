"""Which run a certificate belongs to."""

from dataclasses import dataclass
from typing import Any

from replearn._version import __version__
from replearn.guarantees.design import plain_labels
from replearn.records.json import Reader, digest_of


@dataclass(frozen=True)
class Identity:
    """Which run a certificate belongs to.

    Parameters
    ----------
    key_fingerprint : str
        Fingerprint of the shared key; it does not reveal the key.
    learner, learner_digest : str
        The base learner with its parameters, and their digest (by default of the description);
        empty where there is none.
    classes : sequence or None
        The classes of this run, in order.
    n_available : int or None
        Rows (or groups) this run had; the surplus over n was left out.
    library_version : str
        Version of the library that issued the certificate.
    """

    key_fingerprint: str
    learner: str = ""
    learner_digest: str = ""
    classes: Any = None
    n_available: int | None = None
    library_version: str = __version__

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", plain_labels(self.classes))
        if self.learner and not self.learner_digest:
            object.__setattr__(self, "learner_digest", digest_of(self.learner))

    def to_dict(self) -> dict[str, Any]:
        """Return the identity as JSON values."""
        return {**vars(self), "classes": None if self.classes is None else list(self.classes)}

    @classmethod
    def from_dict(cls, items: Any) -> "Identity":
        """Read an identity from JSON values; anything unexpected is refused."""
        reader = Reader(items, "identity")
        classes = reader.take_or_none("classes", list)
        identity = cls(
            key_fingerprint=reader.take("key_fingerprint", str),
            learner=reader.take("learner", str),
            learner_digest=reader.take("learner_digest", str),
            classes=None if classes is None else tuple(classes),
            n_available=reader.take_or_none("n_available", int),
            library_version=reader.take("library_version", str),
        )
        reader.finish()
        return identity
