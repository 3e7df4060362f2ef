"""Plans of every task but votes: targets in, rows needed out."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from replearn.guarantees.certificate import guarantee
from replearn.guarantees.guarantee import LETTERS, Conclusion, Guarantee, Needed, Number
from replearn.records import (
    check_count,
    check_fraction,
    check_number,
    check_positive,
    if_given,
    refuse_differences,
)

_FRACTIONS = ("rho", "gamma", "alpha", "beta", "nu", "drift", "delta", "standard_error")
_MEANS = ("p0", "q0")
_POSITIVE = ("epsilon", "resolution", "y_span")
_MIN_COUNT = {"cv": 2, "n_classes": 2}


@dataclass(frozen=True)
class ChoiceDesign:
    """What all runs of a task other than a vote share; made by :meth:`solve`.

    Parameters
    ----------
    task : str
        What is planned.
    n : int
        Rows of each sample.
    targets : dict
        The task's other arguments of :func:`replearn.plan` by name, validated, with its defaults.

    Examples
    --------
    >>> ChoiceDesign.solve("selection", n=None, n_hypotheses=3, rho=0.2, alpha=0.2).n
    1517
    """

    task: str
    n: int
    targets: dict[str, Number | None]

    @classmethod
    def solve(cls, task: str, *, n: int | None, **targets: Any) -> "ChoiceDesign":
        """Check the arguments of a task; n is solved if it is None."""
        entry = guarantee(task)
        names = tuple(name for name in (*entry.required, *entry.optional) if name != "n")
        _check_names(entry, names, targets, n)
        values = {**entry.optional, **{k: v for k, v in targets.items() if v is not None}}
        checked = {name: _checked(name, values[name]) for name in names}
        rows = if_given(check_count, "n", n)
        if rows is None:
            rows = _needed(task, tuple(checked.items())).n
        if rows is None:
            requested = ", ".join(f"{name}={value}" for name, value in checked.items())
            raise ValueError(f"no number of rows is enough for {requested}: relax the targets.")
        return cls(task, rows, checked)

    @classmethod
    def from_dict(cls, task: str, items: dict[str, Any]) -> "ChoiceDesign":
        """Read a design from JSON values; arguments that `plan` does not take raise an error."""
        design = cls.solve(task, **{"n": None, **items})
        refuse_differences("plan inputs", items, design.to_dict())
        return design

    def to_dict(self) -> dict[str, Any]:
        """Return the design as JSON values."""
        return {"n": self.n, **self.targets}

    @property
    def needed(self) -> Needed:
        """What the targets need."""
        copy_rows = {"n": self.n} if "n" in guarantee(self.task).required else {}
        return _needed(self.task, tuple({**self.targets, **copy_rows}.items()))

    @property
    def theorem(self) -> str:
        """Key of the theorem that the promise mainly rests on."""
        return self.needed.theorem or guarantee(self.task).theorem

    @property
    def settings(self) -> dict[str, Any]:
        """Parameters of the estimator that follows the plan."""
        requested = {name: self.targets[name] for name in LETTERS if name in self.targets}
        return {**requested, **self.needed.settings}

    def conclude(self) -> Conclusion:
        """Conclude whether this many rows are enough for the targets."""
        needed = self.needed
        if needed.n is None:
            reasons: tuple[str, ...] = ("no number of rows is enough",)
        elif self.n < needed.n:
            reasons = (f"{needed.n} rows are needed, there are {self.n}",)
        else:
            reasons = needed.reasons
        promise = needed.promise or guarantee(self.task).promise
        letters: dict[str, Any] = {name: self.targets.get(name) for name in LETTERS}
        return Conclusion((promise.format(**self.to_dict()),), **letters, reasons=reasons)


def _check_names(
    entry: Guarantee, names: tuple[str, ...], targets: dict[str, Any], n: int | None
) -> None:
    user_params = [name for name, value in targets.items() if value is not None]
    unknown = [name for name in user_params if name not in names]
    known = user_params if n is None else [*user_params, "n"]
    missing = [name for name in entry.required if name not in known]
    if unknown or missing:
        problem = f"does not take {unknown}" if unknown else f"needs {missing}"
        raise TypeError(f"plan({entry.task!r}) {problem}; it takes {', '.join(names)} and n")


def _checked(name: str, value: Any) -> Number | None:
    if name in _FRACTIONS:
        return if_given(check_fraction, name, value, zero=name == "drift")
    if name in _MEANS:
        return check_number(name, value)
    if name in _POSITIVE:
        return check_positive(name, value)
    return if_given(check_count, name, value, least=_MIN_COUNT.get(name, 1))


@lru_cache(maxsize=256)
def _needed(task: str, targets: tuple[tuple[str, Number | None], ...]) -> Needed:
    """Return what the targets of a task need."""
    rows_needed = guarantee(task).needed
    if rows_needed is None:
        raise ValueError(f"task {task!r} has no plan; its certificate says what it promises.")
    try:
        needed = rows_needed(**dict(targets))
        if math.isfinite(needed.rate):
            return needed
        problem: ArithmeticError | None = None
    except ArithmeticError as error:
        problem = error
    requested = ", ".join(f"{name}={value}" for name, value in targets)
    raise ValueError(
        f"{requested}: beyond what numbers can express; relax the targets."
    ) from problem
