"""The certificate: a promise with everything needed to compute it again."""

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replearn._version import __version__
from replearn.exceptions import CertificateError
from replearn.guarantees import _describe as describe
from replearn.guarantees._checks import check_derivation
from replearn.guarantees._comparison import Comparison, compare
from replearn.guarantees._derivation import Derivation, derive
from replearn.guarantees._design import Design, Label
from replearn.guarantees._promised import Promised
from replearn.records.files import write_atomically
from replearn.records.json import Reader, check_format, digest_of, pretty_json, read_object
from replearn.records.text import html_table

FORMAT = "replearn-certificate"
FORMAT_VERSION = 1


@dataclass(frozen=True, repr=False)
class Certificate(Promised):
    """What is promised, by which theorems, under which assumptions, for which runs.

    Made by :meth:`replearn.Plan.certificate` or :meth:`issue`; never by hand.

    Parameters
    ----------
    design : Design
        The items that all runs of the promise share; each is an attribute as well.
    derivation : Derivation
        What follows from them: ``claim``, ``steps``, ``certified``, ``reason``, ``accuracy``,
        which are attributes as well.
    key_fingerprint : str
        Fingerprint of the shared key; it does not reveal the key.
    learner, learner_digest : str
        The base learner with its parameters, and their digest.
    classes : tuple or None
        The classes of this run, in order.
    n_available : int
        Rows (or groups) this run had; the surplus over n was left out.
    library_version : str
        Version of the library that issued the certificate.
    digest : str
        SHA-256 of all other items.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> from replearn.guarantees._design import Design, Request
    >>> design = Design(Request(rho=0.1), n=3200, n_blocks=32, law=uniform_law(32))
    >>> certificate = Certificate.issue(design, key_fingerprint="0123456789abcdef", learner="tree")
    >>> certificate.check()
    >>> certificate.certified, certificate.n_blocks, round(certificate.claim.rho, 4)
    (True, 32, 0.0993)
    >>> Certificate.from_json(certificate.to_json()) == certificate
    True
    """

    design: Design
    derivation: Derivation
    key_fingerprint: str
    learner: str
    learner_digest: str
    classes: tuple[Label, ...] | None
    n_available: int
    library_version: str = __version__
    digest: str = ""

    @classmethod
    def issue(
        cls,
        design: Design,
        *,
        key_fingerprint: str,
        learner: str,
        learner_digest: str | None = None,
        classes: tuple[Label, ...] | None = None,
        n_available: int | None = None,
        derivation: Derivation | None = None,
    ) -> "Certificate":
        """Derive the promise of a design and issue its certificate for one run.

        Parameters
        ----------
        design : Design
            The items that all runs of the promise share.
        key_fingerprint : str
            Fingerprint of the shared key.
        learner : str
            Description of the base learner and its parameters.
        learner_digest : str or None
            Digest of the parameters; None: digest of the description.
        classes : tuple or None
            Classes of this run; None: those of the design.
        n_available : int or None
            Rows this run had; None: n.
        derivation : Derivation or None
            The result of ``derive(design)``, when the caller has it already.

        Returns
        -------
        Certificate
            A certificate that passes :meth:`check`.
        """
        unsigned = cls(
            design=design,
            derivation=derive(design) if derivation is None else derivation,
            key_fingerprint=key_fingerprint,
            learner=learner,
            learner_digest=digest_of(learner) if learner_digest is None else learner_digest,
            classes=design.classes if classes is None else classes,
            n_available=design.n if n_available is None else n_available,
        )
        signed = dataclasses.replace(unsigned, digest=unsigned._content_digest())
        signed._check_run()
        return signed

    @property
    def reason(self) -> str:
        """Why the promise is not what was asked for; empty when certified."""
        return self.derivation.reason

    # -- checking and comparing ------------------------------------------------------------------
    def check(self) -> None:
        """Compute every number again from its inputs and compare; raise if anything differs.

        Raises
        ------
        CertificateError
            Names the first item that does not follow.
        """
        if self.digest != self._content_digest():
            raise CertificateError("digest: the certificate was changed after it was issued")
        check_derivation(self.derivation, self.design)
        self._check_run()

    def comparable(self, other: "Certificate") -> Comparison:
        """Say whether two runs belong to one promise, and if not, which items differ.

        Parameters
        ----------
        other : Certificate
            The certificate of another run.

        Returns
        -------
        Comparison
            True or false in a condition, with the differing items in words.
        """
        return compare(self, other)

    def _check_run(self) -> None:
        classes = self.classes
        if classes is not None and len(classes) > self.design.n_classes:
            raise CertificateError(f"classes: {classes} are more than {self.design.n_classes}")
        if self.design.classes is not None and classes != self.design.classes:
            raise CertificateError(f"classes: {classes} are not the plan's {self.design.classes}")
        if self.n_available < self.n:
            raise CertificateError(f"n_available: {self.n_available} is smaller than n = {self.n}")

    # -- JSON ------------------------------------------------------------------------------------
    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as JSON values."""
        return {**self._content(), "digest": self.digest}

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "design": self.design.to_dict(),
            **self.derivation.to_dict(),
            "key_fingerprint": self.key_fingerprint,
            "learner": self.learner,
            "learner_digest": self.learner_digest,
            "classes": None if self.classes is None else list(self.classes),
            "n_available": self.n_available,
            "library_version": self.library_version,
        }

    def _content_digest(self) -> str:
        return digest_of(self._content())

    def to_json(self) -> str:
        """Return the certificate as JSON text."""
        return pretty_json(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> "Certificate":
        """Read a certificate from JSON text; call :meth:`check` before you rely on it.

        Parameters
        ----------
        text : str
            What :meth:`to_json` wrote.

        Returns
        -------
        Certificate
            As it stands in the text; nothing is computed again yet.
        """
        reader = Reader(read_object(text, "certificate"), "certificate")
        check_format(reader, "certificate", FORMAT, FORMAT_VERSION)
        classes = reader.take_or_none("classes", list)
        certificate = cls(
            design=Design.from_dict(reader.take_any("design")),
            derivation=Derivation.from_reader(reader),
            key_fingerprint=reader.take("key_fingerprint", str),
            learner=reader.take("learner", str),
            learner_digest=reader.take("learner_digest", str),
            classes=None if classes is None else tuple(classes),
            n_available=reader.take("n_available", int),
            library_version=reader.take("library_version", str),
            digest=reader.take("digest", str),
        )
        reader.finish()
        return certificate

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate to a JSON file, whole or not at all."""
        write_atomically(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Certificate":
        """Read a certificate from a JSON file and check it."""
        certificate = cls.from_json(Path(path).read_text(encoding="utf-8"))
        certificate.check()
        return certificate

    # -- words -----------------------------------------------------------------------------------
    def explain(self) -> str:
        """Return the certificate in plain words."""
        return describe.explain(self)

    def __str__(self) -> str:
        return describe.as_text(self)

    def _repr_html_(self) -> str:
        return html_table("Certificate", describe.rows(self))
