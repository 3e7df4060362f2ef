"""A replicable choice among candidates: by noisy errors."""

import math
from typing import Any

from replearn.bounds.selection import (
    selection_error_tail_sampled,
    selection_flip_bound_sampled,
    selection_scale,
    smallest_sample_selection,
    stable_scale,
)
from replearn.guarantees.promise import (
    CHOICE_ASSUMPTIONS,
    Ledger,
    Promise,
    Task,
    reached,
    rounded_up,
)


def choice_scale(
    n_hypotheses: int, m: int, rho: float, alpha: float, beta: float, tau: float | None = None
) -> float:
    """Return the sharpness of a selection, from the request and the number of rows alone.

    It is the largest one that keeps rho, if that is accurate enough. Otherwise no value keeps both
    promises, and the result is the value that (alpha, beta) requires.

    Parameters
    ----------
    n_hypotheses : int
        Number of candidates.
    m : int
        Number of rows.
    rho, alpha, beta : float
        Probability of a different choice, excess error, and its failure probability.
    tau : float, default=None
        Largest difference of a candidate's error between the runs; None: the same candidates.

    Examples
    --------
    >>> [round(choice_scale(20, m, 0.1, 0.1, 0.05), 1) for m in (300_000, 9000)]
    [138.8, 61.5]
    """
    if n_hypotheses == 1:
        return 0.0
    stable = stable_scale(rho, n_hypotheses, m, drift=tau)
    if selection_error_tail_sampled(stable, n_hypotheses, alpha, m) <= beta:
        return stable
    accurate = selection_scale(n_hypotheses, alpha, beta, m)
    return math.log(n_hypotheses / beta) / alpha if accurate is None else accurate


def _derive(
    ledger: Ledger,
    n: int,
    n_hypotheses: int,
    sharpness: float,
    tau: float | None,
    rho: float,
    alpha: float,
    beta: float,
) -> Promise:
    items = {"sharpness": sharpness, "n_hypotheses": n_hypotheses, "m": n}
    flip = ledger.add(selection_flip_bound_sampled, drift=tau, **items)
    tail = ledger.add(selection_error_tail_sampled, alpha=alpha, **items)
    promises = (
        f"Two runs on fresh samples of {n} rows choose different candidates with probability at "
        f"most {rounded_up(flip)}.",
        f"The chosen candidate's error exceeds the best one's by more than {alpha:g} with "
        f"probability at most {rounded_up(tail)}.",
    )
    candidates = ("candidates-fixed",) if tau is None else ("candidates-fixed", "candidates-near")
    assumptions = (*CHOICE_ASSUMPTIONS, *candidates)
    return reached(
        promises, rho=(flip, rho), alpha=alpha, beta=(tail, beta), assumptions=assumptions
    )


def _solve(
    n_hypotheses: int,
    n: int | None = None,
    rho: float = 0.1,
    alpha: float = 0.1,
    beta: float = 0.05,
    tau: float | None = None,
) -> dict[str, Any]:
    if n is None:
        n, sharpness = smallest_sample_selection(rho, alpha, beta, n_hypotheses, drift=tau)
    else:
        sharpness = choice_scale(n_hypotheses, n, rho, alpha, beta, tau=tau)
    scale = {"sharpness": float(sharpness), "tau": tau}
    targets = {"rho": rho, "alpha": alpha, "beta": beta}
    return {"n": n, "n_hypotheses": n_hypotheses, **scale, **targets}


TASKS = (
    Task(
        "selection",
        _derive,
        _solve,
        learners=("select_hypothesis",),
        theorem="hypothesis-selection",
    ),
)
