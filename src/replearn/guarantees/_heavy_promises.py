"""What the searches for heavy points promise, from their parameters alone."""

from __future__ import annotations

from typing import Any

from replearn.guarantees._primitive_certificate import above_budget, derivation
from replearn.guarantees._steps import Ledger
from replearn.records.text import rounded_up

POINTWISE = "heavy points, point by point"
REPLICABLE = "heavy points, as a whole set"
APPROXIMATE = "heavy points, up to a small mass"
TASKS = (POINTWISE, REPLICABLE, APPROXIMATE)
ONE = "one heavy point"

Promises = tuple[list[str], list[str]]


def _range(ledger: Ledger, law: dict[str, Any], beta: float) -> str:
    """Completeness and soundness, half of beta each."""
    found = ledger.add("found_from", "heavy-membership", **law, beta=beta / 2.0)
    below = ledger.add("none_below", "heavy-membership", **law, beta=beta / 2.0)
    all_from = "no mass is surely found" if found is None else f"mass {rounded_up(found)} and more"
    return (
        f"Except with probability {rounded_up(beta)} every point of {all_from} is a member, and "
        f"none of mass below {below:.4g}."
    )


@derivation(POINTWISE)
def _pointwise(
    ledger: Ledger, n: int, rho: float | None, beta: float, kind: str, low: float, high: float
) -> Promises:
    law = {"n": n, "kind": kind, "low": low, "high": high}
    flip = ledger.add("membership_flip", "heavy-membership", **law)
    promises = [
        "A fixed point is a member in one of two runs only with probability at most "
        f"{rounded_up(flip)}.",
        _range(ledger, law, beta),
    ]
    return promises, above_budget("rho", flip, rho)


@derivation(REPLICABLE)
def _replicable(
    ledger: Ledger, n: int, rho: float | None, beta: float, core_low: float, core_high: float
) -> Promises:
    flip = ledger.add("set_flip", "replicable-heavy-hitters", n=n, low=core_low, high=core_high)
    law = {"n": n, "kind": "power", "low": core_low, "high": core_high}
    promises = [
        f"The sets of two runs differ at all with probability at most {rounded_up(flip)}.",
        _range(ledger, law, beta),
    ]
    return promises, above_budget("rho", flip, rho)


@derivation(APPROXIMATE)
def _approximate(
    ledger: Ledger,
    n: int,
    rho: float | None,
    beta: float,
    kind: str,
    low: float,
    high: float,
    core_low: float,
    core_high: float,
    gamma: float,
) -> Promises:
    core = ledger.add("set_flip", "replicable-heavy-hitters", n=n, low=core_low, high=core_high)
    law = {"n": n, "kind": kind, "low": low, "high": high}
    flip = ledger.add("membership_flip", "heavy-membership", **law)
    rest = min(
        ledger.add("markov_rho", "approximate-markov", flip_bound=flip, gamma=gamma),
        ledger.add("set_rho", "approximate-heavy", membership_flip=flip, gamma=gamma, **law),
    )
    total = ledger.add("union", "approximate-markov", first=core, second=rest)
    promises = [
        "The cores of two runs are equal and the sets differ on mass at most "
        f"{gamma:g}, except with probability {rounded_up(total)}.",
        "Core: "
        + _range(ledger, {"n": n, "kind": "power", "low": core_low, "high": core_high}, beta),
        "Set: " + _range(ledger, law, beta),
    ]
    return promises, above_budget("rho", total, rho)


@derivation(ONE)
def _one(
    ledger: Ledger, n: int, nu: float, kappa: float, rho: float | None, beta: float
) -> Promises:
    data = {"n": n, "nu": nu, "kappa": kappa}
    flip = ledger.add("one_heavy_flip", "single-heavy-hitter", **data)
    mass = ledger.add("one_heavy_mass", "single-heavy-hitter", **data, beta=beta)
    promises = [
        f"If some point has mass {nu:g}, two runs name different points with probability at most "
        f"{rounded_up(flip)}.",
        f"The named point then has mass at least {mass:.4g}, except with probability "
        f"{rounded_up(beta)}.",
    ]
    return promises, above_budget("rho", flip, rho)
