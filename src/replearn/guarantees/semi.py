"""Semi-replicable learning: candidates from a shared unlabelled pool, then a replicable choice."""

import math

from replearn.bounds import (
    cover_distance,
    log_growth,
    selection_error_tail_sampled,
    selection_flip_bound_sampled,
    smallest_sample_selection,
)
from replearn.guarantees.guarantee import (
    THREE_TARGETS,
    Conclusion,
    Guarantee,
    Ledger,
    Needed,
    Number,
    above_budget,
    rounded_up,
)
from replearn.records import smallest_integer

_MAX_ROWS = 10**15
_LARGEST_LOG = 700.0


def selection_budget(
    alpha: float, beta: float, n_shared: int, d: int | None
) -> tuple[float | None, float]:
    """Return what the cover leaves of alpha and beta for the choice; None if no alpha is left.

    >>> selection_budget(0.1, 0.05, 0, None)
    (0.1, 0.05)
    >>> selection_budget(0.1, 0.05, 10, 3)
    (None, 0.025)
    """
    if d is None:
        return alpha, beta
    # theorem: semi-replicable
    rest = alpha - cover_distance(n_shared, d, beta / 2)
    return (rest if rest > 0 else None), beta / 2


def _derive(
    ledger: Ledger,
    n: int,
    n_shared: int,
    d: int | None,
    n_hypotheses: int,
    sharpness: float,
    rho: float,
    alpha: float,
    beta: float,
    candidates: str,
) -> Conclusion:
    items = {"sharpness": sharpness, "n_hypotheses": n_hypotheses, "m": n}
    flip = ledger.add(selection_flip_bound_sampled, **items)
    missed = above_budget("rho", flip, rho)
    same = (
        f"Two runs on fresh samples of {n} rows, with one shared pool, return different rules with "
        f"probability at most {rounded_up(flip)}."
    )
    rest = alpha
    share = beta
    best = "the best candidate's"
    if d is not None:
        distance = ledger.add(cover_distance, n_shared=n_shared, d=d, beta=beta / 2)
        rest = alpha - distance
        share = beta / 2
        best = "the best of the class's"
    if rest <= 0:
        small = (
            f"a pool of {n_shared} rows is too small for alpha = {alpha:g} (d = {d}, beta = "
            f"{beta:g}): share more rows"
        )
        return Conclusion((same,), rho=flip, reasons=(*missed, small))
    tail = ledger.add(selection_error_tail_sampled, alpha=rest, **items)
    failure = min(1.0, tail + (beta - share))
    near_best = (
        f"The error exceeds {best} by more than {alpha:g} with probability at most "
        f"{rounded_up(failure)}."
    )
    reasons = missed + above_budget("beta", failure, beta)
    return Conclusion((same, near_best), rho=flip, alpha=alpha, beta=failure, reasons=reasons)


def _needed(rho: float, alpha: float, beta: float, d: int, n_shared: int | None) -> Needed:
    pool, rest = pool_and_rest(alpha, beta, d, n_shared)
    n_candidates = listed_candidates(d, alpha, pool)
    n, sharpness = smallest_sample_selection(rho, rest, beta / 2, n_candidates)
    logs = math.log(max(d * math.log(1 / beta) / (rho * beta * alpha), math.e)) ** 2
    rate = (d / (rho * alpha)) ** 2 * logs * math.log(1 / rho) ** 3
    details: dict[str, Number | str] = {
        "rows of the shared pool": pool,
        "candidates at most": n_candidates,
        "sharpness": sharpness,
    }
    return Needed(n, details, rate=rate)


def pool_and_rest(
    alpha: float, beta: float, d: int, n_shared: int | None, *, share: float = 0.5
) -> tuple[int, float]:
    """Return the rows of the pool and what it leaves of alpha, with half of beta spent."""
    if n_shared is None:  # the pool has more than d rows, so there are 2^d candidates or more
        _refuse_too_many(d, alpha, d * math.log(2))
    pool = _pool(share * alpha, d, beta / 2) if n_shared is None else n_shared
    rest = alpha - cover_distance(pool, d, beta / 2)
    if rest <= 0:
        raise ValueError(
            f"n_shared={n_shared} is too small for alpha={alpha:g}, d={d}: leave it out, and the "
            "plan says how many rows to share."
        )
    return pool, rest


def listed_candidates(d: int, alpha: float, pool: int) -> int:
    """Return how many candidates a pool gives at most; more than can be listed are refused."""
    # theorem: semi-replicable (Sauer's bound: the true number of candidates is known from the pool)
    logarithm = log_growth(d, pool)
    _refuse_too_many(d, alpha, logarithm)
    return math.ceil(math.exp(logarithm))


def _refuse_too_many(d: int, alpha: float, logarithm: float) -> None:
    if logarithm > _LARGEST_LOG:  # cut off here, the plan would promise with too few rows
        raise ValueError(
            f"d={d}, alpha={alpha:g} would choose among e^{logarithm:.0f} candidates or more, "
            "which cannot be enumerated: use a smaller class or a larger alpha."
        )


def _pool(distance: float, d: int, beta: float) -> int:
    rows = smallest_integer(lambda u: cover_distance(u, d, beta) <= distance, limit=_MAX_ROWS)
    if rows is None:
        raise ValueError(f"a distance of {distance:g} needs a pool of more than {_MAX_ROWS} rows.")
    return rows


GUARANTEES = (
    Guarantee(
        "semi",
        _derive,
        learners=("SemiReplicableClassifier",),
        theorem="semi-replicable",
        needed=_needed,
        required=("d",),
        optional={**THREE_TARGETS, "n_shared": None},
        promise="Two runs with one shared pool return different rules with probability at most "
        "{rho:g}. The rule is worse than the best of the class by more than {alpha:g} with "
        "probability at most {beta:g}.",
    ),
)
