"""What every choice among the same candidates promises, in one form of words."""

from __future__ import annotations

from replearn.guarantees._primitive_certificate import above_budget
from replearn.records.text import rounded_up

CONDITIONS = (
    "The runs use the same candidates, number of rows and key; rows are drawn independently from "
    "one population; the key was fixed before the data."
)


def same_and_good(
    n: int, flip: float, tail: float, *, rho: float, alpha: float, beta: float
) -> tuple[list[str], list[str]]:
    """Return the promises of a choice, and what was asked for but not reached.

    Examples
    --------
    >>> promises, missed = same_and_good(900, 0.2, 0.01, rho=0.1, alpha=0.3, beta=0.05)
    >>> len(promises), missed
    (3, ['asked for rho = 0.1, reached 0.2'])
    """
    promises = [
        f"Two runs on fresh samples of {n} rows choose different candidates with probability at "
        f"most {rounded_up(flip)}.",
        f"The chosen candidate's error exceeds the best one's by more than {alpha:g} with "
        f"probability at most {rounded_up(tail)}.",
        CONDITIONS,
    ]
    return promises, above_budget("rho", flip, rho) + above_budget("beta", tail, beta)
