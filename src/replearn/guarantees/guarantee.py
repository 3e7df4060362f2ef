"""What a guarantee is: from inputs to a conclusion, and from targets to the rows they need."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from replearn.guarantees.steps import Conclusion

Number = int | float
Reached = tuple[float, float | None]


@dataclass(frozen=True)
class Needed:
    """What a promise needs; theorem and words, where they depend on the targets."""

    n: int | None  # rows of each run; None: no number is enough
    details: Mapping[str, Number | str] = field(default_factory=dict)  # numbers to read
    settings: Mapping[str, Any] = field(
        default_factory=dict
    )  # of the estimator, beside the targets
    rate: float = math.nan  # the paper's, with constant 1
    theorem: str | None = None
    promise: str | None = None
    reasons: tuple[str, ...] = ()  # why nothing is certified whatever the number of rows


@dataclass(frozen=True)
class Guarantee:
    """One task: what its certificates say, and how many rows a promise needs.

    Parameters
    ----------
    task : str
        Name in certificates and in :func:`replearn.plan`.
    derive : callable
        Maps a ledger and the inputs to a `Conclusion`; every number is recorded in the ledger.
    estimators : tuple of str
        Names of the estimators and functions that perform the task.
    theorem : str
        Key of the main theorem.
    needed : callable or None
        Maps the targets to `Needed`; None if the task cannot be planned this way. If ``n`` is among
        the required targets, the design follows from the rows, and n is never computed.
    required : tuple of str
        Targets without a default.
    optional : dict
        Other targets with their defaults.
    promise : str
        The promise of a plan, with the targets in braces.
    estimates : tuple of str
        Inputs that each run estimates from its data: they differ from run to run, and the verdict
        is "estimated", never "certified".
    """

    task: str
    derive: Callable[..., Conclusion]
    learners: tuple[str, ...] = ()
    theorem: str = ""
    needed: Callable[..., Needed] | None = None
    required: tuple[str, ...] = ()
    optional: Mapping[str, Number | str | None] = field(default_factory=dict)
    promise: str = ""
    estimates: tuple[str, ...] = ()


def above_budget(name: str, reached: float, requested: float | None) -> tuple[str, ...]:
    """Say that a number exceeds what was requested, or nothing.

    >>> above_budget("rho", 0.2, 0.1), above_budget("rho", 0.05, 0.1)
    (('requested rho=0.1; reached rho=0.2',), ())
    """
    if requested is None or reached <= requested:
        return ()
    return (f"requested {name}={requested:g}; reached {name}={reached:.4g}",)


def reached(
    promises: tuple[str, ...],
    *,
    gamma: float | None = None,
    alpha: float | None = None,
    **numbers: Reached,
) -> Conclusion:
    """Conclude what is promised from pairs of a number that is reached and what was requested.

    >>> reached(("Two runs agree.",), rho=(0.2, 0.1), beta=(0.01, None)).reason
    'requested rho=0.1; reached rho=0.2'
    """
    reasons = tuple(text for name, pair in numbers.items() for text in above_budget(name, *pair))
    values: dict[str, Any] = {name: value for name, (value, _) in numbers.items()}
    return Conclusion(promises, gamma=gamma, alpha=alpha, **values, reasons=reasons)


# Promises of plans, in the letters of the glossary.
SAME_CHOICE = "Two runs choose different candidates with probability at most {rho:g}."
NEAR_BEST = (
    " The choice is worse than the best by more than {alpha:g} with probability at most {beta:g}."
)
SAME_POINT = "Two models predict one fixed point differently with probability at most {rho:g}."
SMALL_MASS = "Two rules differ on a mass above {gamma:g} with probability at most {rho:g}."

THREE_TARGETS: dict[str, Number | str | None] = {"rho": 0.1, "alpha": 0.1, "beta": 0.05}
FOUR_TARGETS: dict[str, Number | str | None] = {**THREE_TARGETS, "gamma": 0.1}
