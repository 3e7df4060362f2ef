"""Finitely many shared bits: global thresholds on one vote, then a replicable choice among them."""

import math
from typing import Any

from replearn.bounds import finite_randomness_flip_bound
from replearn.guarantees.guarantee import (
    SAME_POINT,
    SMALL_MASS,
    THREE_TARGETS,
    Conclusion,
    Guarantee,
    Ledger,
    Needed,
    above_budget,
    rounded_up,
)
from replearn.records import smallest_integer

_MAX_BLOCKS = 10_000_000
_MAX_ROWS = 10**15


def blocks_needed(n_candidates: int, sharpness: float, rho: float, gamma: float | None) -> int:
    """Return about how many blocks a promise needs, however many rows are held out.

    >>> blocks_needed(8, 50.0, 0.1, 0.1)
    2495550
    """
    cost = n_candidates * ((1.0 if gamma is None else 1.0 / gamma) + sharpness / 2.0)
    return math.ceil((cost / rho) ** 2 / math.pi)


def _derive(
    ledger: Ledger,
    n_test: int,
    n_blocks: int,
    n_candidates: int,
    sharpness: float,
    rho: float,
    gamma: float | None,
    **shared: Any,
) -> Conclusion:
    items = {
        "n_blocks": n_blocks,
        "n_candidates": n_candidates,
        "sharpness": sharpness,
        "m": n_test,
    }
    flip = ledger.add(finite_randomness_flip_bound, gamma=None, **items)
    promises = [
        "Two models predict one fixed point differently with probability at most "
        f"{rounded_up(flip)}."
    ]
    if gamma is not None:
        flip = ledger.add(finite_randomness_flip_bound, gamma=gamma, **items)
        promises.append(
            f"Two models differ on a mass above {gamma:g} with probability at most "
            f"{rounded_up(flip)}."
        )
    needed = blocks_needed(n_candidates, sharpness, rho, gamma)
    reasons = tuple(
        f"{text} (at least {needed} blocks are needed, there are {n_blocks})"
        for text in above_budget("rho", flip, rho)
    )
    return Conclusion(tuple(promises), rho=flip, gamma=gamma, reasons=reasons)


def _needed(
    rho: float, gamma: float | None, alpha: float, beta: float, n_candidates: int, block_size: int
) -> Needed:
    sharpness = math.log(n_candidates / beta) / alpha

    def flip(n_blocks: int, m: int) -> float:
        return finite_randomness_flip_bound(n_blocks, n_candidates, sharpness, m, gamma)

    blocks = smallest_integer(lambda count: flip(count, _MAX_ROWS) <= 0.9 * rho, limit=_MAX_BLOCKS)
    tests = blocks and smallest_integer(lambda m: flip(blocks, m) <= rho, limit=_MAX_ROWS)
    log = math.log(1 / beta)
    mass = 1.0 if gamma is None else gamma
    calls = log**3 / (rho**2 * mass**2 * alpha**3) + log**4 / (rho**4 * alpha**5)
    rate = block_size * calls
    words = SAME_POINT if gamma is None else SMALL_MASS
    if not blocks or not tests:
        few = {"blocks": f"more than {_MAX_BLOCKS}"}
        return Needed(None, few, {"n_candidates": n_candidates}, rate, promise=words)
    n = blocks * block_size + tests
    settings = {"n_blocks": blocks, "n_candidates": n_candidates, "test_share": tests / n}
    details = {"blocks": blocks, "rows held out": tests, "sharpness": sharpness}
    return Needed(n, details, settings, rate, promise=words)


GUARANTEES = (
    Guarantee(
        "finite randomness",
        _derive,
        learners=("FiniteRandomnessClassifier",),
        theorem="finite-randomness",
        needed=_needed,
        optional={**THREE_TARGETS, "gamma": None, "n_candidates": 8, "block_size": 100},
    ),
)
