"""Whether a learner, its sample and the plan that labs share belong together."""

from __future__ import annotations

from inspect import signature
from typing import Any

from numpy.typing import NDArray

FREE = frozenset({"estimator", "shared_key", "plan", "n_jobs", "verbose"})
"""Parameters that a plan leaves open."""


def refuse_planned(learner: type, params: dict[str, Any]) -> None:
    """Refuse parameters that a plan fixes, instead of passing over them."""
    fixed = [name for name in params if name in signature(learner).parameters and name not in FREE]
    if fixed:
        raise ValueError(f"the plan fixes {', '.join(fixed)}: leave it out, or plan anew.")


def check_followed(learner: Any, available: int, unit: str, classes: NDArray[Any]) -> None:
    """Refuse a plan that is not for this learner, or that this sample cannot follow.

    Parameters
    ----------
    learner : BlockVotingClassifier
        Its ``plan`` is not None.
    available : int
        Rows or groups of the sample.
    unit : {"rows", "groups"}
        Which of both.
    classes : ndarray
        The list of classes, named by the plan or found.
    """
    made = learner.plan
    defaults = signature(type(learner)).parameters
    changed = {
        name: value
        for name, value in learner.get_params(deep=False).items()
        if name not in FREE and not _same(value, defaults[name].default)
    }
    refuse_planned(type(learner), changed)
    if made.task != learner._notion:
        raise ValueError(f"plan is for the {made.task} notion, not for {type(learner).__name__}.")
    if made.unit == "groups" and unit == "rows":
        raise ValueError("plan counts groups: pass groups to fit, so that they stay together.")
    if available < made.n:
        raise ValueError(
            f"plan needs n={made.n} {unit}, but the sample has {available}. Make a plan "
            "for the smallest sample among the labs."
        )
    if max(2, len(classes)) != made.n_classes:
        raise ValueError(
            f"plan is for {made.n_classes} classes, but y has {len(classes)}: "
            f"{classes[:5].tolist()}. Name them in the plan (classes=[...]), so that a class which "
            "a sample misses is known."
        )


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, int | float | str) and value == default)
