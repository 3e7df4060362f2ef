"""A replicable choice among candidates: by noisy errors."""

import math

from replearn.bounds import (
    selection_error_tail_sampled,
    selection_flip_bound_sampled,
    smallest_sample_selection,
)
from replearn.guarantees.guarantee import (
    NEAR_BEST,
    SAME_CHOICE,
    THREE_TARGETS,
    Conclusion,
    Guarantee,
    Ledger,
    Needed,
    reached,
    rounded_up,
)


def same_and_good(
    n: int, flip: float, tail: float, *, rho: float, alpha: float, beta: float
) -> Conclusion:
    """Conclude that two choices are the same, and near the best.

    >>> same_and_good(900, 0.2, 0.01, rho=0.1, alpha=0.3, beta=0.05).reason
    'requested rho=0.1; reached rho=0.2'
    """
    promises = (
        f"Two runs on fresh samples of {n} rows choose different candidates with probability at "
        f"most {rounded_up(flip)}.",
        f"The chosen candidate's error exceeds the best one's by more than {alpha:g} with "
        f"probability at most {rounded_up(tail)}.",
    )
    return reached(promises, rho=(flip, rho), alpha=alpha, beta=(tail, beta))


def _select(
    ledger: Ledger,
    n: int,
    n_hypotheses: int,
    sharpness: float,
    rho: float,
    alpha: float,
    beta: float,
    candidates: str,
) -> Conclusion:
    items = {"sharpness": sharpness, "n_hypotheses": n_hypotheses, "m": n}
    flip = ledger.add(selection_flip_bound_sampled, **items)
    tail = ledger.add(selection_error_tail_sampled, alpha=alpha, **items)
    return same_and_good(n, flip, tail, rho=rho, alpha=alpha, beta=beta)


def selection_rate(rho: float, alpha: float, beta: float, n_hypotheses: int) -> float:
    """Return the paper's rate of a choice among candidates, with constant 1."""
    return math.log(n_hypotheses / beta) ** 4 / (rho * alpha) ** 2


def _selection_needed(rho: float, alpha: float, beta: float, n_hypotheses: int) -> Needed:
    n, sharpness = smallest_sample_selection(rho, alpha, beta, n_hypotheses)
    rate = selection_rate(rho, alpha, beta, n_hypotheses)
    return Needed(n, {"sharpness": sharpness}, rate=rate)


GUARANTEES = (
    Guarantee(
        "selection",
        _select,
        learners=("ReplicableSelector", "select_hypothesis"),
        theorem="hypothesis-selection",
        needed=_selection_needed,
        required=("n_hypotheses",),
        optional=THREE_TARGETS,
        promise=SAME_CHOICE + NEAR_BEST,
    ),
)
