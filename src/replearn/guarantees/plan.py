"""The plan: what two labs agree on before anyone has data."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from replearn.bounds import ThresholdLaw
from replearn.exceptions import CertificateError
from replearn.guarantees.certificate import Certificate, Record, guarantee
from replearn.guarantees.choices import ChoiceDesign
from replearn.guarantees.describe import plan_rows
from replearn.guarantees.design import NOTIONS, Design, Label
from replearn.guarantees.guarantee import LETTERS, Conclusion, Identity, Ledger, Step, rounded_up
from replearn.guarantees.votes import conclude
from replearn.records import Reader, check_format, digest_of, read_json, refuse_differences

FORMAT = "replearn-plan"
FORMAT_VERSION = 3


@dataclass(frozen=True, repr=False)
class Plan(Record):
    """The protocol that all runs of one promise share; made by :func:`plan`.

    It depends on parameters only, never on data, and is saved as JSON.

    Parameters
    ----------
    design : Design or ChoiceDesign
        What all runs share: the design of blocks that vote, or the targets of another task.
    steps : tuple of Step
        Every number that the promise uses, with its theorem and inputs.
    conclusion : Conclusion
        What follows from the design.
    solved : tuple of str
        The arguments that the planner computed.
    needed_n : int or None
        Rows that the targets need; for a vote only if they are out of reach.
    needed_blocks : int or None
        The blocks that the targets need, if they are out of reach.
    reachable : dict
        What this n can promise, if the targets are out of reach.

    Examples
    --------
    >>> from replearn import plan
    >>> made = plan(n=20_000, rho=0.1)
    >>> made.certified, made.n_blocks, made.block_size
    (True, 88, 227)
    >>> Plan.from_json(made.to_json()) == made
    True
    >>> plan("selection", n_hypotheses=3, rho=0.2, alpha=0.2).n
    1517
    """

    design: Design | ChoiceDesign
    steps: tuple[Step, ...] = field(compare=False)  # they follow from the design
    conclusion: Conclusion = field(compare=False)
    solved: tuple[str, ...] = ()
    needed_n: int | None = None
    needed_blocks: int | None = None
    reachable: dict[str, float | None] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        design: Design | ChoiceDesign,
        *,
        solved: tuple[str, ...] = (),
        needed_n: int | None = None,
    ) -> "Plan":
        """Derive what a design promises.

        Parameters
        ----------
        design : Design or ChoiceDesign
            What all runs share.
        solved : tuple of str, default=()
            The arguments that the planner computed.
        needed_n : int or None, default=None
            Rows that the targets need.

        Returns
        -------
        Plan
            The design with its promise.
        """
        if not isinstance(design, Design):
            return cls(design, (), design.conclude(), solved, needed_n)
        ledger = Ledger()
        conclusion = conclude(ledger, design)
        return cls(design, tuple(ledger.steps), conclusion, solved, needed_n)

    @property
    def task(self) -> str:
        """What is planned: "pointwise", "approximate", "selection", "thresholds", ..."""
        return self.design.task

    @property
    def inputs(self) -> dict[str, Any]:
        """The design as JSON values."""
        return self.design.to_dict()

    @property
    def n(self) -> int:
        """Rows (or groups) of each sample."""
        return self.design.n

    # -- the promise -----------------------------------------------------------------------------
    @property
    def rho(self) -> float | None:
        """Probability that two runs differ."""
        return self.conclusion.rho

    @property
    def gamma(self) -> float | None:
        """Mass of points on which two models may differ."""
        return self.conclusion.gamma

    @property
    def alpha(self) -> float | None:
        """Excess error, where it is promised."""
        return self.conclusion.alpha

    @property
    def beta(self) -> float | None:
        """Probability of a larger error than promised."""
        return self.conclusion.beta

    @property
    def promises(self) -> tuple[str, ...]:
        """What holds, in sentences."""
        return self.conclusion.promises

    @property
    def certified(self) -> bool:
        """Whether the promise is what was requested."""
        return self.conclusion.certified

    @property
    def verdict(self) -> str:
        """Return "certified", "estimated" or "not certified"."""
        if self.certified:
            return "certified"
        return "estimated" if guarantee(self.task).estimates else "not certified"

    @property
    def reason(self) -> str:
        """Why it is not certified, what this n can promise, and which n the request needs."""
        if self.certified:
            return ""
        return "; ".join([self.conclusion.reason, *self._suggestions()])

    def _suggestions(self) -> list[str]:
        design = self.design
        if not isinstance(design, Design):
            return []
        parts = []
        name = next((n for n in ("gamma", "rho") if self.reachable.get(n) is not None), None)
        if name is not None:
            best = rounded_up(self.reachable[name] or 0.0)
            parts.append(f"n={self.n} can certify {name}={best}")
        if self.needed_n is not None:
            blocks = "" if self.needed_blocks is None else f"{self.needed_blocks} blocks and "
            parts.append(f"the request needs {blocks}n={self.needed_n} {design.unit}")
            if self.needed_n <= self.n and (self.needed_blocks or 0) > design.n_blocks:
                parts.append(f"raise n_blocks or max_fits to at least {self.needed_blocks}")
        return parts

    # -- blocks that vote ------------------------------------------------------------------------
    @property
    def vote_design(self) -> Design:
        """The design of a vote; a plan of another task has none and raises AttributeError."""
        if not isinstance(self.design, Design):
            raise AttributeError(f"a plan of task {self.task!r} has no blocks that vote")
        return self.design

    @property
    def n_blocks(self) -> int:
        """Number of blocks, T."""
        return self.vote_design.n_blocks

    @property
    def block_size(self) -> int:
        """Rows (or groups) per block, m."""
        return self.vote_design.block_size

    @property
    def n_partitions(self) -> int:
        """Number of random partitions into blocks, derived from the key."""
        return self.vote_design.n_partitions

    @property
    def law(self) -> ThresholdLaw | None:
        """Law of the shared threshold; None for more than two classes."""
        return self.vote_design.law

    @property
    def vote(self) -> str:
        """Whether block models vote by label ("hard") or by predicted probability ("soft")."""
        return self.vote_design.vote

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.vote_design.n_classes

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The classes in order, if the plan fixes them."""
        return self.vote_design.classes

    @property
    def unit(self) -> str:
        """What n counts: "rows" or "groups"."""
        return self.vote_design.unit

    @property
    def decimals(self) -> int | None:
        """Number of decimals to which numbers of points are rounded."""
        return self.vote_design.decimals

    def certificate(self, identity: Identity, **changed: Any) -> Certificate:
        """Issue the certificate of one run of blocks that vote.

        Parameters
        ----------
        identity : Identity
            Key, estimator, classes and rows of the run; classes and rows default to the plan's.
        **changed
            Items in which the run differs from the plan: ``unit``, ``max_point_mass``.

        Returns
        -------
        Certificate
            With the plan's promise, or what is left of it.

        Examples
        --------
        >>> from replearn import plan
        >>> from replearn.guarantees import Identity
        >>> plan(n=20_000, rho=0.1).certificate(Identity("0123456789abcdef", "tree")).certified
        True
        """
        identity = replace(
            identity,
            classes=self.classes if identity.classes is None else identity.classes,
            n_available=self.n if identity.n_available is None else identity.n_available,
        )
        planned = self.vote_design
        design = replace(planned, request=replace(planned.request, **changed))
        derived = (self.steps, self.conclusion) if design == planned else None
        return Certificate.issue(self.task, design.to_dict(), identity, derived)

    # -- other tasks -----------------------------------------------------------------------------
    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the estimators that follow this plan."""
        return guarantee(self.task).learners

    @property
    def theorem(self) -> str:
        """Key of the theorem that the promise mainly rests on."""
        if isinstance(self.design, Design):
            return guarantee(self.task).theorem
        return self.design.theorem

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the estimator that follows a plan for a task other than a vote."""
        return {} if isinstance(self.design, Design) else self.design.settings

    @property
    def details(self) -> dict[str, Any]:
        """What else follows for a task other than a vote: sharpness, pool, trainings, ..."""
        return {} if isinstance(self.design, Design) else dict(self.design.needed.details)

    # -- JSON ------------------------------------------------------------------------------------
    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything the plan fixes and promises."""
        return digest_of(self._content())

    def _content(self) -> dict[str, Any]:
        assumptions = list(self.conclusion.assumptions)
        return {
            **self._promise(FORMAT, FORMAT_VERSION, assumptions),
            "reason": self.conclusion.reason,
            "details": self.details,
            "solved": list(self.solved),
            "needed_n": self.needed_n,
            "needed_blocks": self.needed_blocks,
            "reachable": self.reachable,
        }

    @classmethod
    def from_json(cls, text: str | bytes) -> "Plan":
        """Read a plan from JSON text and compute it again; a changed plan raises an error.

        Parameters
        ----------
        text : str or bytes
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
        return read_json(text, "plan", cls._read)

    @classmethod
    def _read(cls, reader: Reader) -> "Plan":
        check_format(reader, "plan", FORMAT, FORMAT_VERSION)
        digest = reader.take("digest", str)
        content = {"format": FORMAT, "version": FORMAT_VERSION, **reader.take_rest()}
        if digest != digest_of(content):
            raise CertificateError("digest: the plan was changed after it was made")
        items = Reader(content, "plan")
        recomputed = replace(
            cls.of(_read_design(items.take("task", str), items.take("inputs", dict))),
            solved=tuple(items.take("solved", list)),
            needed_n=items.take_or_none("needed_n", int),
            needed_blocks=items.take_or_none("needed_blocks", int),
            reachable=items.take("reachable", dict),
        )
        recomputed._check_needed()
        refuse_differences("plan", content, recomputed._content())
        return recomputed._quote(content)

    def _check_needed(self) -> None:
        """Raise an error if the rows needed do not follow from the targets."""
        if isinstance(self.design, ChoiceDesign):
            refuse_differences("plan needed_n", self.needed_n, self.design.needed.n)

    def _quote(self, content: dict[str, Any]) -> "Plan":
        """Return the plan with the numbers that are written: all labs quote the same digits."""
        conclusion = Conclusion(
            promises=tuple(content["promises"]),
            **{name: content[name] for name in LETTERS},
            reasons=(content["reason"],) if content["reason"] else (),
            assumptions=tuple(content["assumptions"]),
        )
        steps = tuple(Step.from_dict(item) for item in content["steps"])
        return replace(self, steps=steps, conclusion=conclusion)

    # -- words -----------------------------------------------------------------------------------
    def _rows(self) -> list[tuple[str, str]]:
        return plan_rows(self)


def _read_design(task: str, inputs: dict[str, Any]) -> Design | ChoiceDesign:
    guarantee(task)  # an unknown task raises a CertificateError
    return Design.from_dict(inputs) if task in NOTIONS else ChoiceDesign.from_dict(task, inputs)
