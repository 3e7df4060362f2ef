"""A realizable estimator that abstains replicably: the best training error and a shared limit."""

import math

from replearn.bounds import realizable_flip_bound, realizable_tail, smallest_sample_realizable
from replearn.guarantees.guarantee import (
    FOUR_TARGETS,
    SMALL_MASS,
    Conclusion,
    Guarantee,
    Ledger,
    Needed,
    reached,
    rounded_up,
)

_NO_CLASS = (
    "the estimator is no exact minimiser over a class of known VC dimension: measure how often "
    "models of fresh samples differ"
)


def _derive(
    ledger: Ledger,
    n: int,
    d: int | None,
    max_error_limit: float,
    rho: float,
    gamma: float,
    alpha: float,
    beta: float,
) -> Conclusion:
    if d is None:
        return Conclusion(("Nothing is promised.",), reasons=(_NO_CLASS,))
    flip = ledger.add(realizable_flip_bound, n=n, d=d, gamma=gamma, max_error_limit=max_error_limit)
    tail = ledger.add(realizable_tail, m=n, d=d, alpha=alpha)
    promises = (
        f"The models of two runs on fresh samples of {n} rows differ on a mass above {gamma:g} "
        f"with probability at most {rounded_up(flip)}, on every distribution.",
        f"If some hypothesis makes no error, the error exceeds {alpha:g} with probability at most "
        f"{rounded_up(tail)}; otherwise nothing is promised about the error.",
    )
    return reached(promises, rho=(flip, rho), gamma=gamma, alpha=alpha, beta=(tail, beta))


def _needed(rho: float, gamma: float, alpha: float, beta: float, d: int) -> Needed:
    n, limit = smallest_sample_realizable(rho, gamma, alpha, beta, d)
    rate = (d + math.log(1 / min(rho, beta))) / (rho**2 * min(alpha, gamma))
    return Needed(n, {"largest error limit": limit}, {"max_error_limit": limit}, rate)


GUARANTEES = (
    Guarantee(
        "realizable",
        _derive,
        learners=("RealizableReplicableClassifier",),
        theorem="realizable",
        needed=_needed,
        required=("d",),
        optional={**FOUR_TARGETS, "gamma": 0.2},
        promise=SMALL_MASS + " If some rule makes no error, the error exceeds {alpha:g} with "
        "probability at most {beta:g}.",
    ),
)
