"""Plans of every task but votes: targets in, rows needed out."""

import math
from functools import lru_cache
from typing import Any

from replearn.guarantees.guarantee import Guarantee, Needed, Number
from replearn.guarantees.steps import Conclusion
from replearn.guarantees.tasks import guarantee
from replearn.records.checks import (
    check_count,
    check_fraction,
    check_number,
    check_positive,
    if_given,
)

_FRACTIONS = ("rho", "gamma", "alpha", "beta", "nu", "drift", "delta", "standard_error")
_MEANS = ("p0", "q0")
_POSITIVE = ("epsilon", "resolution", "y_span")
_MIN_COUNT = {"cv": 2, "n_classes": 2}


def choice_inputs(task: str, n: int | None, **targets: Any) -> dict[str, Any]:
    """Check the targets of a task and put them together with n, solved if it is None."""
    entry = guarantee(task)
    names = tuple(name for name in (*entry.required, *entry.optional) if name != "n")
    _refuse_other_names(entry, names, targets, n)
    given = {**entry.optional, **{k: v for k, v in targets.items() if v is not None}}
    checked = {name: _checked(name, given[name]) for name in names}
    rows = if_given(check_count, "n", n)
    if rows is None:
        rows = needed_for(task, checked).n
    if rows is None:
        asked = ", ".join(f"{name}={value}" for name, value in checked.items())
        raise ValueError(f"no number of rows is enough for {asked}: ask for less.")
    return {"n": rows, **checked}


def _refuse_other_names(
    entry: Guarantee, names: tuple[str, ...], targets: dict[str, Any], n: int | None
) -> None:
    given = [name for name, value in targets.items() if value is not None]
    unknown = [name for name in given if name not in names]
    known = given if n is None else [*given, "n"]
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


def needed_for(task: str, inputs: dict[str, Any]) -> Needed:
    """Return what the targets of a task need.

    >>> needed_for("selection", {"rho": 0.2, "alpha": 0.2, "beta": 0.05, "n_hypotheses": 3}).n
    1517
    """
    known = {name: value for name, value in inputs.items() if name != "n"}
    if "n" in guarantee(task).required:
        known["n"] = inputs["n"]
    return _needed(task, tuple(known.items()))


@lru_cache(maxsize=256)
def _needed(task: str, targets: tuple[tuple[str, Number | None], ...]) -> Needed:
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
    asked = ", ".join(f"{name}={value}" for name, value in targets)
    raise ValueError(f"{asked}: beyond what numbers can express; ask for less.") from problem


def conclude_choice(task: str, inputs: dict[str, Any]) -> Conclusion:
    """Conclude whether so many rows are enough for the targets."""
    needed, entry = needed_for(task, inputs), guarantee(task)
    if needed.n is None:
        reasons: tuple[str, ...] = ("no number of rows is enough",)
    elif inputs["n"] < needed.n:
        reasons = (f"{needed.n} rows are needed, there are {inputs['n']}",)
    else:
        reasons = needed.reasons
    return Conclusion(
        promises=((needed.promise or entry.promise).format(**inputs),),
        rho=inputs.get("rho"),
        gamma=inputs.get("gamma"),
        alpha=inputs.get("alpha"),
        beta=inputs.get("beta"),
        reasons=reasons,
    )


def paper_rows(task: str, inputs: dict[str, Any]) -> tuple[tuple[str, str, str, str], ...]:
    """Return rows n beside the paper's rate with constant 1."""
    rate = needed_for(task, inputs).rate
    stated = "not in the paper" if rate == 0.0 else str(math.ceil(rate))
    return (("rows n", str(inputs["n"]), "not stated", stated),)
