"""What the labels of heavy points promise, from their parameters alone."""

from __future__ import annotations

from replearn.guarantees._primitive_certificate import above_budget, derivation
from replearn.guarantees._steps import Ledger
from replearn.records.text import rounded_up

MANNERS = {
    "pointwise": "point by point",
    "replicable": "as a whole",
    "approximate": "up to a small mass",
}


@derivation("labels of heavy points, point by point")
def _pointwise(
    ledger: Ledger, k: int, band: float, n_points: int, alpha: float, rho: float, beta: float | None
) -> tuple[list[str], list[str]]:
    flip = ledger.add("label_flip", "heavy-labels", n_labels=k, band=band)
    data = {"n_labels": k, "alpha": alpha, "band": band, "n_points": n_points}
    error = ledger.add("label_errors", "heavy-labels", **data)
    promises = [
        "Two runs label a point that is heavy in both differently with probability at most "
        f"{rounded_up(flip)}.",
        _clear_labels(alpha, error),
    ]
    return promises, above_budget("rho", flip, rho) + above_budget("beta", error, beta)


@derivation("labels of heavy points, as a whole")
def _together(
    ledger: Ledger, k: int, band: float, n_points: int, alpha: float, rho: float, beta: float | None
) -> tuple[list[str], list[str]]:
    data = {"n_labels": k, "band": band, "n_points": n_points}
    flip = ledger.add("labels_flip_any", "coins-at-once", **data)
    error = ledger.add("label_errors", "heavy-labels", alpha=alpha, **data)
    promises = [
        "If the sets are equal, two runs label any member differently with probability at most "
        f"{rounded_up(flip)}.",
        _clear_labels(alpha, error),
    ]
    return promises, above_budget("rho", flip, rho) + above_budget("beta", error, beta)


@derivation("labels of heavy points, up to a small mass")
def _approximate(  # noqa: PLR0913
    ledger: Ledger,
    k: int,
    band: float,
    n_points: int,
    core_k: int,
    core_band: float,
    core_points: int,
    n: int,
    core_low: float,
    core_high: float,
    alpha: float,
    rho: float,
    beta: float | None,
    gamma: float,
) -> tuple[list[str], list[str]]:
    core = ledger.add(
        "labels_flip_any", "coins-at-once", n_labels=core_k, band=core_band, n_points=core_points
    )
    flip = ledger.add("label_flip", "heavy-labels", n_labels=k, band=band)
    data = {"label_flip": flip, "gamma": gamma}
    rest = min(
        ledger.add("markov_rho", "approximate-markov", flip_bound=flip, gamma=gamma),
        ledger.add("labels_rho", "approximate-heavy", n=n, low=core_low, high=core_high, **data),
    )
    total = ledger.add("union", "approximate-markov", first=core, second=rest)
    errors = [
        ledger.add(
            "label_errors", "heavy-labels", n_labels=used, alpha=alpha, band=width, n_points=most
        )
        for used, width, most in ((core_k, core_band, core_points), (k, band, n_points))
    ]
    wrong = ledger.add("union", "approximate-markov", first=errors[0], second=errors[1])
    promises = [
        "If the cores are equal, two runs label all of the core alike and differ on mass at most "
        f"{gamma:g} of the common members, except with probability {rounded_up(total)}.",
        _clear_labels(alpha, wrong),
    ]
    return promises, above_budget("rho", total, rho) + above_budget("beta", wrong, beta)


def _clear_labels(alpha: float, error: float) -> str:
    return (
        f"Any member whose mean label is at least {alpha:g} from 0 gets the wrong label with "
        f"probability at most {rounded_up(error)}."
    )
