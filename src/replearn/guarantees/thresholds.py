"""One replicable threshold on one feature, ties or not."""

import math
from typing import Any

from replearn.bounds import smallest_sample_threshold, threshold_error_tail, threshold_flip_bound
from replearn.guarantees.guarantee import (
    FOUR_TARGETS,
    NEAR_BEST,
    SMALL_MASS,
    Conclusion,
    Guarantee,
    Ledger,
    Needed,
    reached,
    rounded_up,
)


def _derive(
    ledger: Ledger,
    n: int,
    sharpness: float,
    n_directions: int,
    rho: float,
    gamma: float,
    alpha: float,
    beta: float,
    **shared: Any,
) -> Conclusion:
    items = {"sharpness": sharpness, "n": n, "n_directions": n_directions}
    flip = ledger.add(threshold_flip_bound, gamma=gamma, **items)
    tail = ledger.add(threshold_error_tail, alpha=alpha, **items)
    promises = (
        f"The rules of two runs on fresh samples of {n} rows differ on a mass above {gamma:g} with "
        f"probability at most {rounded_up(flip)}, ties or not.",
        f"The error exceeds that of the best threshold by more than {alpha:g} with probability at "
        f"most {rounded_up(tail)}.",
    )
    return reached(promises, rho=(flip, rho), gamma=gamma, alpha=alpha, beta=(tail, beta))


def _needed(rho: float, gamma: float, alpha: float, beta: float, n_directions: int) -> Needed:
    n, sharpness = smallest_sample_threshold(rho, gamma, alpha, beta, n_directions)
    logs = math.log(1 / (alpha * beta)) ** 3 / (rho * alpha) ** 2
    rate = math.log(1 / beta) / gamma**2 + logs
    settings = {"direction": "both" if n_directions == 2 else ">"}
    return Needed(n, {"sharpness": sharpness}, settings, rate)


GUARANTEES = (
    Guarantee(
        "thresholds",
        _derive,
        learners=("ReplicableThresholdClassifier",),
        theorem="thresholds-proper",
        needed=_needed,
        optional={**FOUR_TARGETS, "n_directions": 2},
        promise=SMALL_MASS + NEAR_BEST,
    ),
)
