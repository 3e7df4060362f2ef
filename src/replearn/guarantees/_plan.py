"""The plan: what two labs agree on before anyone has data."""

import dataclasses
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from replearn.exceptions import CertificateError
from replearn.guarantees._certificate import Certificate
from replearn.guarantees._checks import check_derivation
from replearn.guarantees._columns import Columns, columns_of
from replearn.guarantees._derivation import Derivation, derive
from replearn.guarantees._describe import design_rows
from replearn.guarantees._design import Design, Label
from replearn.guarantees._promised import Promised
from replearn.guarantees._wish import plain_labels
from replearn.records.files import write_atomically
from replearn.records.json import Reader, check_format, digest_of, pretty_json, read_object
from replearn.records.text import html_table, rounded_up, two_columns

FORMAT = "replearn-plan"
FORMAT_VERSION = 1


@dataclass(frozen=True, repr=False)
class Plan(Promised):
    """The protocol that all runs of one promise share; made by :func:`plan`.

    It fixes n, blocks, law, vote, partitions, classes and encoding, depends on parameters only,
    and is saved as JSON.

    Parameters
    ----------
    design : Design
        The items that all runs share.
    solved : tuple of str
        Which arguments the planner solved.
    reachable_rho, reachable_gamma : float or None
        When the target is out of reach: what this n can promise.
    needed_n, needed_blocks : int or None
        When the target is out of reach: the rows and the blocks that it needs.

    Examples
    --------
    >>> from replearn.guarantees._planner import plan
    >>> made = plan(n=20_000, rho=0.1)
    >>> made.certified, made.n_blocks, made.block_size
    (True, 88, 227)
    >>> Plan.from_json(made.to_json()) == made
    True
    """

    design: Design
    solved: tuple[str, ...] = ()
    reachable_rho: float | None = None
    reachable_gamma: float | None = None
    needed_n: int | None = None
    needed_blocks: int | None = None

    @cached_property
    def derivation(self) -> Derivation:
        """The promise of the design, with every number it uses."""
        return derive(self.design)

    @property
    def rho(self) -> float:
        """Probability that the promise fails."""
        return self.claim.rho

    @property
    def gamma(self) -> float | None:
        """Mass of points on which two models may differ."""
        return self.claim.gamma

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The classes in order, when the plan fixes them."""
        return self.design.classes

    @property
    def reason(self) -> str:
        """Why the request is not met, what this n can promise, and which n the request needs."""
        if self.certified:
            return ""
        return "; ".join([self.derivation.reason, *self._way_out()])

    def _way_out(self) -> list[str]:
        parts = []
        if self.reachable_gamma is not None:
            parts.append(f"n = {self.n} can promise gamma = {rounded_up(self.reachable_gamma)}")
        elif self.reachable_rho is not None:
            parts.append(f"n = {self.n} can promise rho = {rounded_up(self.reachable_rho)}")
        if self.needed_n is not None:
            blocks = "" if self.needed_blocks is None else f"{self.needed_blocks} blocks and "
            parts.append(f"the request needs {blocks}n = {self.needed_n} {self.unit}")
            if self.needed_n <= self.n and (self.needed_blocks or 0) > self.n_blocks:
                parts.append(f"raise n_blocks or max_fits to at least {self.needed_blocks}")
        return parts

    def certificate(
        self,
        *,
        key_fingerprint: str,
        learner: str,
        learner_digest: str | None = None,
        n_available: int | None = None,
        classes: Any = None,
        unit: str | None = None,
    ) -> Certificate:
        """Issue the certificate of one run that followed this plan.

        Parameters
        ----------
        key_fingerprint : str
            Fingerprint of the shared key.
        learner : str
            Description of the base learner and its parameters.
        learner_digest : str or None
            Digest of the parameters; None: digest of the description.
        n_available : int or None
            Rows this run had; the surplus over n was left out.
        classes : sequence or None
            Classes of this run, in order.
        unit : {"rows", "groups"} or None
            What n counts in this run; None: as planned.

        Returns
        -------
        Certificate
            With the plan's claim.

        Examples
        --------
        >>> from replearn.guarantees._planner import plan
        >>> made = plan(n=20_000, rho=0.1)
        >>> issued = made.certificate(key_fingerprint="0123456789abcdef", learner="tree")
        >>> issued.certified
        True
        """
        same = unit is None or unit == self.unit
        design = self.design if same else dataclasses.replace(self.design, unit=unit or "rows")
        return Certificate.issue(
            design,
            key_fingerprint=key_fingerprint,
            learner=learner,
            learner_digest=learner_digest,
            classes=plain_labels(classes),
            n_available=n_available,
            derivation=self.derivation if same else None,
        )

    def compare(self) -> Columns:
        """Return three columns: this plan, the paper's proofs read literally, its lower bound.

        Examples
        --------
        >>> from replearn.guarantees._planner import plan
        >>> plan(n=20_000, rho=0.1).compare().rows[0]
        ('blocks T', '88', '20000', 'not stated')
        """
        return columns_of(self.design)

    # -- JSON ------------------------------------------------------------------------------------
    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything the plan fixes and promises."""
        return digest_of(self._content())

    def _content(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "design": self.design.to_dict(),
            **self.derivation.to_dict(),
            "solved": list(self.solved),
            "reachable_rho": self.reachable_rho,
            "reachable_gamma": self.reachable_gamma,
            "needed_n": self.needed_n,
            "needed_blocks": self.needed_blocks,
        }

    def to_json(self) -> str:
        """Return the plan as JSON text."""
        return pretty_json({**self._content(), "digest": self.digest})

    @classmethod
    def from_json(cls, text: str) -> "Plan":
        """Read a plan from JSON text and compute it again; a changed plan is refused.

        Parameters
        ----------
        text : str
            What :meth:`to_json` wrote.

        Returns
        -------
        Plan
            Every number was computed again.

        Raises
        ------
        CertificateError
            If anything does not follow; the message names the item.
        """
        content = read_object(text, "plan")
        reader = Reader(content, "plan")
        check_format(reader, "plan", FORMAT, FORMAT_VERSION)
        digest = reader.take("digest", str)
        made = cls(
            design=Design.from_dict(reader.take_any("design")),
            solved=tuple(reader.take("solved", list)),
            reachable_rho=reader.take_or_none("reachable_rho", float),
            reachable_gamma=reader.take_or_none("reachable_gamma", float),
            needed_n=reader.take_or_none("needed_n", int),
            needed_blocks=reader.take_or_none("needed_blocks", int),
        )
        written = Derivation.from_reader(reader)
        reader.finish()
        if digest != digest_of({name: content[name] for name in content if name != "digest"}):
            raise CertificateError("digest: the plan was changed after it was made")
        check_derivation(written, made.design)
        # keep the numbers as the other lab wrote them: both labs quote the same digits
        made.__dict__["derivation"] = written
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a JSON file, whole or not at all."""
        write_atomically(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Plan":
        """Read a plan from a JSON file; a changed plan is refused."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    # -- words -----------------------------------------------------------------------------------
    def _rows(self) -> list[tuple[str, str]]:
        claim = self.claim
        rows = [
            ("verdict", "certified" if self.certified else f"NOT certified: {self.reason}"),
            ("promise", claim.sentence()),
            ("rho", rounded_up(claim.rho)),
        ]
        if claim.gamma is not None:
            rows.append(("gamma", rounded_up(claim.gamma)))
        rows += design_rows(self.design)
        classes = "not fixed" if self.classes is None else ", ".join(map(str, self.classes))
        return [
            *rows,
            ("classes", f"{self.design.n_classes} ({classes})"),
            ("accuracy", self.accuracy),
            ("solved", ", ".join(self.solved) or "nothing"),
            ("digest", self.digest[:16]),
        ]

    def __str__(self) -> str:
        return f"Plan\n{two_columns(self._rows())}\n\n{self.compare()}"

    def _repr_html_(self) -> str:
        return html_table("Plan", self._rows()) + self.compare()._repr_html_()
