"""A replicable choice among candidates: by noisy errors, or by a shared order (finite class)."""

import math

from replearn.bounds import (
    amplified_error_tail,
    amplified_flip_bound,
    order_error_tail,
    order_flip_bound,
    selection_error_tail_sampled,
    selection_flip_bound_sampled,
    smallest_sample_amplified,
    smallest_sample_order,
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
    Number,
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


def _order(
    ledger: Ledger,
    n: int,
    n_hypotheses: int,
    width: float,
    rho: float,
    alpha: float,
    beta: float,
    candidates: str,
) -> Conclusion:
    items = {"n_hypotheses": n_hypotheses, "width": width, "m": n}
    flip = ledger.add(order_flip_bound, **items)
    tail = ledger.add(order_error_tail, alpha=alpha, **items)
    return same_and_good(n, flip, tail, rho=rho, alpha=alpha, beta=beta)


def _amplified(  # noqa: PLR0913
    ledger: Ledger,
    n: int,
    n_hypotheses: int,
    n_blocks: int,
    block_size: int,
    n_strings: int,
    width: float,
    kappa: float,
    rho: float,
    alpha: float,
    beta: float,
    candidates: str,
) -> Conclusion:
    items = {
        "n_hypotheses": n_hypotheses,
        "width": width,
        "block_size": block_size,
        "n_blocks": n_blocks,
    }
    flip = ledger.add(amplified_flip_bound, n_strings=n_strings, kappa=kappa, **items)
    tail = ledger.add(amplified_error_tail, alpha=alpha, **items)
    return same_and_good(n, flip, tail, rho=rho, alpha=alpha, beta=beta)


def selection_rate(rho: float, alpha: float, beta: float, n_hypotheses: int) -> float:
    """Return the paper's rate of a choice among candidates, with constant 1."""
    return math.log(n_hypotheses / beta) ** 4 / (rho * alpha) ** 2


def _selection_needed(rho: float, alpha: float, beta: float, n_hypotheses: int) -> Needed:
    n, sharpness = smallest_sample_selection(rho, alpha, beta, n_hypotheses)
    rate = selection_rate(rho, alpha, beta, n_hypotheses)
    return Needed(n, {"sharpness": sharpness}, rate=rate)


def _finite_class_needed(rho: float, alpha: float, beta: float, n_hypotheses: int) -> Needed:
    amplified = smallest_sample_amplified(rho, alpha, beta, n_hypotheses)
    rows = {
        "select_hypothesis": smallest_sample_selection(rho, alpha, beta, n_hypotheses)[0],
        "learn_finite_class": smallest_sample_order(rho, alpha, beta, n_hypotheses)[0],
        "learn_finite_class(amplify=True)": amplified.n,
    }
    cheapest = min(rows, key=rows.__getitem__)
    logs = math.log(n_hypotheses) ** 2 + math.log(1 / (rho * beta))
    rate = logs / (rho * alpha) ** 2 * math.log(1 / rho) ** 3
    details: dict[str, Number | str] = {"cheapest": cheapest}
    details.update({f"rows of {name}": n for name, n in rows.items()})
    return Needed(rows[cheapest], details, rate=rate)


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
    Guarantee(
        "finite class",
        _order,
        learners=("learn_finite_class",),
        theorem="finite-class",
        needed=_finite_class_needed,
        required=("n_hypotheses",),
        optional=THREE_TARGETS,
        promise=SAME_CHOICE + NEAR_BEST,
    ),
    Guarantee("finite class, amplified", _amplified, theorem="finite-class"),
)
