"""The plan: what two labs agree on before anyone has data."""

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from replearn.exceptions import CertificateError
from replearn.guarantees.choices import choice_inputs, conclude_choice, needed_for, paper_rows
from replearn.guarantees.describe import plan_rows
from replearn.guarantees.paper import Columns, columns_of
from replearn.guarantees.planned_vote import PlannedVote
from replearn.guarantees.steps import Conclusion, Derived, Step
from replearn.guarantees.tasks import guarantee
from replearn.records.files import write_atomically
from replearn.records.json import (
    Reader,
    check_format,
    digest_of,
    pretty_json,
    read_object,
    refuse_differences,
)
from replearn.records.text import html_table, rounded_up, two_columns

FORMAT = "replearn-plan"
FORMAT_VERSION = 2

_NUMBERS = ("rho", "gamma", "alpha", "beta")


@dataclass(frozen=True, repr=False)
class Plan(PlannedVote):
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
        if self.design is not None:
            return super()._derived
        return (), conclude_choice(self.task, self.inputs)

    @property
    def _conclusion(self) -> Conclusion:
        return self._derived[1]

    @property
    def n(self) -> int:
        """Rows (or groups) of each sample."""
        return int(self.inputs["n"])

    @property
    def rho(self) -> float | None:
        """Probability that two runs differ."""
        return self._conclusion.rho

    @property
    def gamma(self) -> float | None:
        """Mass of points on which two models may differ."""
        return self._conclusion.gamma

    @property
    def alpha(self) -> float | None:
        """Excess error, where it is promised."""
        return self._conclusion.alpha

    @property
    def beta(self) -> float | None:
        """Probability of a larger error than promised."""
        return self._conclusion.beta

    @property
    def promises(self) -> tuple[str, ...]:
        """What holds, in sentences."""
        return self._conclusion.promises

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every number the promise uses, with theorem and inputs."""
        return self._derived[0]

    @property
    def certified(self) -> bool:
        """Whether the promise is what was asked for."""
        return self._conclusion.certified

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
        asked = {name: self.inputs[name] for name in _NUMBERS if name in self.inputs}
        return {**asked, **needed_for(self.task, self.inputs).settings}

    @property
    def details(self) -> dict[str, Any]:
        """What else follows for another task than a vote: sharpness, pool, trainings, ..."""
        return {} if self.design else dict(needed_for(self.task, self.inputs).details)

    def paper_constants(self) -> Columns:
        """Return three columns: this plan, the paper's proofs read literally, its lower bound.

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
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "task": self.task,
            "inputs": self.inputs,
            "steps": [step.to_dict() for step in self.steps],
            "promises": list(self.promises),
            "assumptions": list(self._conclusion.assumptions),
            **dict(self._numbers()),
            "certified": self.certified,
            "reason": self._conclusion.reason,
            "details": self.details,
            "solved": list(self.solved),
            "needed_n": self.needed_n,
            "needed_blocks": self.needed_blocks,
            "reachable": self.reachable,
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
        made = cls(
            task=reader.take("task", str),
            inputs=reader.take("inputs", dict),
            solved=tuple(reader.take("solved", list)),
            needed_n=reader.take_or_none("needed_n", int),
            needed_blocks=reader.take_or_none("needed_blocks", int),
            reachable=reader.take("reachable", dict),
        )
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
            **{name: content[name] for name in _NUMBERS},
            reasons=(content["reason"],) if content["reason"] else (),
            assumptions=tuple(content["assumptions"]),
        )
        steps = tuple(Step.from_dict(item) for item in content["steps"])
        self.__dict__["_derived"] = (steps, conclusion)
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a JSON file, whole or not at all."""
        write_atomically(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Plan":
        """Read a plan from a JSON file; a changed plan is refused."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    # -- words -----------------------------------------------------------------------------------
    def __repr__(self) -> str:
        numbers = [f"{name}={rounded_up(value)}" for name, value in self._numbers() if value]
        items = [repr(self.task), *numbers, f"n={self.n}", f"certified={self.certified}"]
        return f"Plan({', '.join(items)})"

    def _numbers(self) -> list[tuple[str, float | None]]:
        return [(name, getattr(self, name)) for name in _NUMBERS]

    def __str__(self) -> str:
        return f"Plan\n{two_columns(plan_rows(self))}"

    def _repr_html_(self) -> str:
        return html_table("Plan", plan_rows(self))
