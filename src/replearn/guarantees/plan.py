"""The plan: what two labs agree on before anyone has data."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from replearn.exceptions import CertificateError
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.choices import choice_inputs, conclude_choice, needed_for, paper_rows
from replearn.guarantees.describe import plan_rows
from replearn.guarantees.design import Design
from replearn.guarantees.paper import Columns, columns_of
from replearn.guarantees.steps import (
    LETTERS,
    Conclusion,
    Derived,
    Identity,
    Ledger,
    Record,
    Step,
    rounded_up,
)
from replearn.guarantees.tasks import guarantee
from replearn.guarantees.votes import conclude
from replearn.records.json import (
    Reader,
    check_format,
    digest_of,
    read_object,
    refuse_differences,
)

FORMAT = "replearn-plan"
FORMAT_VERSION = 3


def _read(part: str, name: str, text: str) -> Any:
    """Return a property that reads an item of a part of the plan."""
    return property(lambda plan: getattr(getattr(plan, part), name), doc=text)


@dataclass(frozen=True, repr=False)
class Plan(Record):
    """The protocol that all runs of one promise share; made by :func:`plan`.

    It depends on parameters only, never on data, and is saved as JSON.

    Parameters
    ----------
    task : str
        What is planned: "pointwise", "approximate", "selection", "thresholds", ...
    inputs : dict
        What all runs share, as JSON values: the design of a vote, or the targets of another task.
    solved : tuple of str
        Which arguments the planner solved.
    needed_n : int or None
        Rows that the targets need; for a vote only when they are out of reach.
    needed_blocks : int or None
        When the targets are out of reach: the blocks they need.
    reachable : dict
        When the targets are out of reach: what this n can promise.

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

    task: str
    inputs: dict[str, Any]
    solved: tuple[str, ...] = ()
    needed_n: int | None = None
    needed_blocks: int | None = None
    reachable: dict[str, float | None] = field(default_factory=dict)

    # -- the promise -----------------------------------------------------------------------------
    @cached_property
    def _derived(self) -> Derived:
        if self.design is None:
            return (), conclude_choice(self.task, self.inputs)
        ledger = Ledger()
        conclusion = conclude(ledger, self.design)
        return tuple(ledger.steps), conclusion

    @property
    def _conclusion(self) -> Conclusion:
        return self._derived[1]

    @property
    def n(self) -> int:
        """Rows (or groups) of each sample."""
        return int(self.inputs["n"])

    rho = _read("_conclusion", "rho", "Probability that two runs differ.")
    gamma = _read("_conclusion", "gamma", "Mass of points on which two models may differ.")
    alpha = _read("_conclusion", "alpha", "Excess error, where it is promised.")
    beta = _read("_conclusion", "beta", "Probability of a larger error than promised.")
    promises = _read("_conclusion", "promises", "What holds, in sentences.")
    certified = _read("_conclusion", "certified", "Whether the promise is what was asked for.")

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every number the promise uses, with theorem and inputs."""
        return self._derived[0]

    @property
    def verdict(self) -> str:
        """Return "certified", "estimated" or "not certified"."""
        if self.certified:
            return "certified"
        return "estimated" if guarantee(self.task).estimates else "not certified"

    @property
    def reason(self) -> str:
        """Why not, what this n can promise, and which n the request needs."""
        if self.certified:
            return ""
        return "; ".join([self._conclusion.reason, *self._way_out()])

    def _way_out(self) -> list[str]:
        if self.design is None:
            return []
        parts = []
        name = next((n for n in ("gamma", "rho") if self.reachable.get(n) is not None), None)
        if name is not None:
            best = rounded_up(self.reachable[name] or 0.0)
            parts.append(f"n = {self.n} can promise {name} = {best}")
        if self.needed_n is not None:
            blocks = "" if self.needed_blocks is None else f"{self.needed_blocks} blocks and "
            parts.append(f"the request needs {blocks}n = {self.needed_n} {self.unit}")
            if self.needed_n <= self.n and (self.needed_blocks or 0) > self.n_blocks:
                parts.append(f"raise n_blocks or max_fits to at least {self.needed_blocks}")
        return parts

    # -- blocks that vote ------------------------------------------------------------------------
    @property
    def vote_design(self) -> Design:
        """The design of a vote; a plan of another task has none and raises AttributeError."""
        if self.design is None:
            raise AttributeError(f"a plan of task {self.task!r} has no blocks that vote")
        return self.design

    n_blocks = _read("vote_design", "n_blocks", "Number of blocks, T.")
    block_size = _read("vote_design", "block_size", "Rows (or groups) per block, m.")
    n_partitions = _read("vote_design", "n_partitions", "Keyed ways to cut the rows into blocks.")
    law = _read("vote_design", "law", "Law of the shared threshold; None for more classes.")
    vote = _read("vote_design", "vote", "Whether block models vote with labels or with scores.")
    n_classes = _read("vote_design", "n_classes", "Number of classes.")
    classes = _read("vote_design", "classes", "The classes in order, when the plan fixes them.")
    unit = _read("vote_design", "unit", "What n counts.")
    decimals = _read("vote_design", "decimals", "Rounding of numbers in the points.")
    heavy = _read("vote_design", "heavy", "Separate treatment of points that occur often.")

    def certificate(self, identity: Identity, **changed: Any) -> Certificate:
        """Issue the certificate of one run of blocks that vote.

        Parameters
        ----------
        identity : Identity
            Key, learner, classes and rows of the run; classes and rows default to the plan's.
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
        inputs = self.inputs | changed
        derived = self._derived if inputs == self.inputs else None
        return Certificate.issue(self.task, inputs, identity, derived)

    # -- other tasks -----------------------------------------------------------------------------
    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the learners that follow this plan."""
        return guarantee(self.task).learners

    @property
    def theorem(self) -> str:
        """Key of the theorem that the promise mainly rests on."""
        own = None if self.design else needed_for(self.task, self.inputs).theorem
        return own or guarantee(self.task).theorem

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the learner that follows a plan of another task than a vote."""
        if self.design is not None:
            return {}
        asked = {name: self.inputs[name] for name in LETTERS if name in self.inputs}
        return {**asked, **needed_for(self.task, self.inputs).settings}

    @property
    def details(self) -> dict[str, Any]:
        """What else follows for another task than a vote: sharpness, pool, trainings, ..."""
        return {} if self.design else dict(needed_for(self.task, self.inputs).details)

    def paper_constants(self) -> Columns:
        """Return three columns: this plan, the paper's proofs read literally, its rate.

        Examples
        --------
        >>> from replearn import plan
        >>> plan(n=20_000, rho=0.1).paper_constants().rows[0]
        ('blocks T', '88', '20000', 'not stated')
        """
        if self.design is not None:
            return columns_of(self.design)
        return Columns(paper_rows(self.task, self.inputs))

    # -- JSON ------------------------------------------------------------------------------------
    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything the plan fixes and promises."""
        return digest_of(self._content())

    def _content(self) -> dict[str, Any]:
        assumptions = list(self._conclusion.assumptions)
        return {
            **self._promise(FORMAT, FORMAT_VERSION, assumptions),
            "reason": self._conclusion.reason,
            "details": self.details,
            "solved": list(self.solved),
            "needed_n": self.needed_n,
            "needed_blocks": self.needed_blocks,
            "reachable": self.reachable,
        }

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
        made = reader.read(cls)
        digest = content.pop("digest", None)
        if digest != digest_of(content):
            raise CertificateError("digest: the plan was changed after it was made")
        guarantee(made.task)
        try:
            made._check_inputs()
            fresh = made._content()
        except (TypeError, KeyError, ValueError) as error:
            raise CertificateError(f"plan: {error}") from error
        refuse_differences("plan", content, fresh)
        return made._quoting(content)

    def _check_inputs(self) -> None:
        """Refuse targets that `plan` would refuse, and rows needed that do not follow from them."""
        if self.design is not None:
            return
        inputs = choice_inputs(self.task, **{"n": None, **self.inputs})
        refuse_differences("plan inputs", self.inputs, inputs)
        needed = needed_for(self.task, self.inputs).n
        refuse_differences("plan needed_n", self.needed_n, needed)

    def _quoting(self, content: dict[str, Any]) -> "Plan":
        """Keep the numbers as the other lab wrote them: both labs quote the same digits."""
        conclusion = Conclusion(
            promises=tuple(content["promises"]),
            **{name: content[name] for name in LETTERS},
            reasons=(content["reason"],) if content["reason"] else (),
            assumptions=tuple(content["assumptions"]),
        )
        steps = tuple(Step.from_dict(item) for item in content["steps"])
        self.__dict__["_derived"] = (steps, conclusion)
        return self

    # -- words -----------------------------------------------------------------------------------
    def _rows(self) -> list[tuple[str, str]]:
        return plan_rows(self)
