"""Plans of replicable choices: how many rows a promise needs, what its runs share."""

import math
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from replearn.exceptions import CertificateError
from replearn.guarantees._choice_tasks import TASKS, Needed, Number, Task
from replearn.records.checks import check_choice, check_count, check_fraction, if_given
from replearn.records.files import write_atomically
from replearn.records.json import Reader, check_format, pretty_json, read_object
from replearn.records.text import html_table, two_columns

FORMAT = "replearn-choice-plan"
FORMAT_VERSION = 1

_ASKED = ("rho", "gamma", "alpha", "beta")
_FRACTIONS = (*_ASKED, "drift")
_RATE = "rate with constant 1: an orientation, not a bound"


@dataclass(frozen=True)
class ChoicePlan:
    """What two runs of a replicable choice agree on before anyone has data.

    Made by :func:`plan_choice`; depends on parameters only.

    Parameters
    ----------
    task : str
        What is planned: "threshold", "search", ...
    targets : tuple of (name, value) pairs
        What was asked for, defaults included.
    n : int
        Rows of each run.

    Examples
    --------
    >>> made = plan_choice("selector", n_hypotheses=3, rho=0.2, alpha=0.2)
    >>> made.n, made.certified
    (1517, True)
    >>> ChoicePlan.from_json(made.to_json()) == made
    True
    """

    task: str
    targets: tuple[tuple[str, Number | None], ...]
    n: int

    @property
    def _entry(self) -> Task:
        return TASKS[self.task]

    @property
    def _needed(self) -> Needed:
        return _needed(self.task, self.targets)

    @property
    def needed_n(self) -> int | None:
        """Rows that the promise needs; None: no number is enough."""
        return self._needed.n

    @property
    def certified(self) -> bool:
        """Whether these rows are enough."""
        return self.needed_n is not None and self.n >= self.needed_n

    @property
    def reason(self) -> str:
        """Why the promise cannot be made; empty when it can."""
        if self.needed_n is None:
            return "no number of rows is enough"
        return "" if self.certified else f"{self.needed_n} rows are needed, there are {self.n}"

    @property
    def learner(self) -> str:
        """Name of the learner that follows this plan."""
        return self._entry.learner

    @property
    def theorem(self) -> str:
        """Key of the theorem that the promise rests on."""
        return self._needed.theorem or self._entry.theorem

    @property
    def promise(self) -> str:
        """The promise in words."""
        return (self._needed.promise or self._entry.promise).format(**dict(self.targets))

    @property
    def details(self) -> dict[str, Number | str]:
        """What else follows, at the rows needed: scale, pool, trainings, rows of other methods."""
        return dict(self._needed.details)

    @property
    def paper_rate(self) -> int:
        """The paper's rate with constant 1: an orientation, not a bound."""
        return math.ceil(self._needed.rate)

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the learner that follows this plan."""
        asked = {name: value for name, value in self.targets if name in _ASKED}
        return {**asked, **self._needed.settings}

    # -- JSON ------------------------------------------------------------------------------------
    def to_json(self) -> str:
        """Return the plan as JSON text."""
        return pretty_json(
            {
                "format": FORMAT,
                "version": FORMAT_VERSION,
                "task": self.task,
                "targets": dict(self.targets),
                "n": self.n,
                "needed_n": self.needed_n,
                "details": self.details,
                "promise": self.promise,
                "theorem": self.theorem,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "ChoicePlan":
        """Read a plan from JSON text and compute it again; a changed plan is refused.

        Raises
        ------
        CertificateError
            If anything does not follow; the message names the item.
        """
        reader = Reader(read_object(text, "plan"), "plan")
        check_format(reader, "plan", FORMAT, FORMAT_VERSION)
        task, targets = reader.take("task", str), reader.take("targets", dict)
        try:
            made = plan_choice(task, n=reader.take("n", int), **targets)
        except (TypeError, ValueError) as error:
            raise CertificateError(f"plan: {error}") from error
        written = {
            "needed_n": reader.take_or_none("needed_n", int),
            "details": reader.take("details", dict),
            "promise": reader.take("promise", str),
            "theorem": reader.take("theorem", str),
        }
        reader.finish()
        for name, value in written.items():
            if not _follows(value, getattr(made, name)):
                raise CertificateError(f"{name}: does not follow from the targets")
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a JSON file, whole or not at all."""
        write_atomically(path, self.to_json() + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ChoicePlan":
        """Read a plan from a JSON file; a changed plan is refused."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    # -- words -----------------------------------------------------------------------------------
    def _rows(self) -> list[tuple[str, str]]:
        asked = ", ".join(
            f"{name} = {value:g}" for name, value in self.targets if value is not None
        )
        return [
            ("learner", self.learner),
            ("verdict", "certified" if self.certified else f"NOT certified: {self.reason}"),
            ("promise", self.promise),
            ("asked for", asked),
            ("rows n", str(self.n)),
            ("rows needed", "no number is enough" if self.needed_n is None else str(self.needed_n)),
            *((name, _text(value)) for name, value in self.details.items()),
            ("paper", f"{self.paper_rate} rows ({_RATE})"),
            ("theorem", self.theorem),
        ]

    def __str__(self) -> str:
        return f"Plan\n{two_columns(self._rows())}"

    def _repr_html_(self) -> str:
        return html_table("Plan", self._rows())


@lru_cache(maxsize=256)
def _needed(task: str, targets: tuple[tuple[str, Number | None], ...]) -> Needed:
    try:
        found = TASKS[task].needed(**dict(targets))
        if math.isfinite(found.rate):
            return found
        problem: ArithmeticError | None = None
    except ArithmeticError as error:
        problem = error
    asked = ", ".join(f"{name}={value}" for name, value in targets)
    raise ValueError(f"{asked}: beyond what numbers can express; ask for less.") from problem


def _text(value: Number | str) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _follows(written: Any, computed: Any) -> bool:
    if isinstance(written, dict) and isinstance(computed, dict):
        return written.keys() == computed.keys() and all(
            _follows(written[name], computed[name]) for name in written
        )
    if isinstance(written, float) and isinstance(computed, float):
        return math.isclose(written, computed, rel_tol=1e-6)
    return type(written) is type(computed) and bool(written == computed)


def plan_choice(learner: Any, *, n: int | None = None, **targets: Any) -> ChoicePlan:
    """Plan a replicable choice: how many rows its promise needs.

    Parameters
    ----------
    learner : str or class
        What is planned: "select", "selector", "finite class", "threshold", "realizable",
        "finite randomness", "semi", "search"; or the learner itself.
    n : int, optional
        Rows that there are; None: as many as are needed. The plan says whether they are enough.
    **targets
        rho, alpha, beta, for rules that may differ a little gamma (defaults of the learners);
        ``n_hypotheses`` ("select", "selector", "finite class", "search"), VC dimension ``d``
        ("realizable", "semi"), ``n_shared`` ("semi"), ``n_directions`` ("threshold"),
        ``train_size`` or ``drift`` and ``cv`` ("search"), ``n_candidates`` and ``block_size``
        ("finite randomness", where ``gamma=None`` asks for the pointwise promise). Elsewhere None
        is the default.

    Returns
    -------
    ChoicePlan
        Frozen, readable, JSON both ways; ``from_plan`` of the learners takes it.

    Examples
    --------
    >>> plan_choice("search", n_hypotheses=20, train_size=50, rho=0.2, alpha=0.2).n
    190332
    >>> plan_choice("threshold", n=10_000).reason
    '22072424 rows are needed, there are 10000'
    """
    task = _task_name(learner)
    entry = TASKS[task]
    names = (*entry.required, *entry.optional)
    unknown = [name for name in targets if name not in names]
    missing = [name for name in entry.required if targets.get(name) is None]
    if unknown or missing:
        problem = f"does not take {unknown}" if unknown else f"needs {missing}"
        raise TypeError(f"plan_choice({task!r}) {problem}; it takes {', '.join(names)} and n")
    wished = {k: v for k, v in targets.items() if v is not None or k in entry.nullable}
    given = {**entry.optional, **wished}
    checked = tuple((name, _checked(name, given[name])) for name in names)
    rows = if_given(check_count, "n", n)
    if rows is None:
        rows = ChoicePlan(task, checked, 1).needed_n
    if rows is None:
        asked = ", ".join(f"{name}={value}" for name, value in checked)
        raise ValueError(f"no number of rows is enough for {asked}: ask for less.")
    return ChoicePlan(task, checked, rows)


def _checked(name: str, value: Any) -> Number | None:
    if name in _FRACTIONS:
        return if_given(check_fraction, name, value, zero=name == "drift")
    return if_given(check_count, name, value, least=2 if name == "cv" else 1)


def _task_name(learner: Any) -> str:
    name = getattr(learner, "__name__", learner)
    by_learner = {entry.learner: task for task, entry in TASKS.items()}
    return check_choice("learner", by_learner.get(name, name), tuple(TASKS))
