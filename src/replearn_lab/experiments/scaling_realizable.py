"""Rows against rho, gamma and d: what a realizable learner costs that abstains alike."""

from __future__ import annotations

from functools import partial
from typing import Any

from replearn import plan
from replearn_lab.bisection import Crossing, find_crossing
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.fitted import released_flips
from replearn_lab.measuring import exponent
from replearn_lab.power_law import draw_lines, fitted_line, line, said

ALPHA = 0.1
BETA = 0.05


def measure(
    bench: Bench,
    *,
    rhos: list[float],
    gammas: list[float],
    dimensions: list[int],
    fits: int,
    fitted: list[float],
) -> Numbers:
    """Find the rows at which certificates and fits reach each rho and gamma, and each d."""
    rho = rhos[0]
    gamma = gammas[0]

    def certified(rho: float, gamma: float, d: int) -> int:
        alpha = min(ALPHA, gamma)
        return plan(task="realizable", rho=rho, gamma=gamma, alpha=alpha, beta=BETA, d=d).n

    def crossing(one: float) -> Crossing:
        start = max(8, round(0.3 / (one**2 * gamma)))
        return find_crossing(partial(released_flips, bench, gamma, fits), one, start)

    by_rho = [
        line("certified, d = 1", rhos, [certified(r, gamma, 1) for r in rhos], "expected -2"),
        fitted_line(bench, "fitted learners", fitted, crossing, "expected -2"),
    ]
    by_gamma = [
        line("certified, d = 1", gammas, [certified(rho, g, 1) for g in gammas], "expected -1")
    ]
    sizes = [certified(rho, gamma, d) for d in dimensions]
    by_dimension = [line("certified", dimensions, sizes, "expected 1, for large d")]
    return {
        "rho": by_rho,
        "gamma": by_gamma,
        "dimension": by_dimension,
        "at": [rho, gamma],
        "fits": fits,
    }


def draw(data: Numbers, figure: Any) -> None:
    """Draw rows against rho, gamma and d."""
    figure.set_size_inches(10.0, 3.6)
    names = {"rho": "rho", "gamma": "gamma", "dimension": "VC dimension"}
    for index, (group, name) in enumerate(names.items()):
        draw_lines(figure, name, data[group], place=(1, 3, index + 1))


def _last_exponent(one: Numbers) -> float:
    return exponent(one["x"][-2:], one["sizes"][-2:])[0]


def read(data: Numbers) -> str:
    """Say the exponents."""
    rho, gamma = data["at"]
    return (
        f"Rows n at which a learner that minimises the training error, and abstains where it "
        f"exceeds a shared limit, differs in two runs on more than gamma with probability at most "
        f"rho. Against rho at gamma = {gamma:g}: {said(data['rho'])} (certified, between the two "
        f"smallest rho: {_last_exponent(data['rho'][0]):.3f}; at large rho uniform convergence "
        f"costs more than the limit, and does not depend on rho). Against gamma at rho = "
        f"{rho:g}: {said(data['gamma'])}. Against the VC dimension: {said(data['dimension'])}; at "
        f"small d most rows are paid for the limit, which does not depend on d. Fitted learners "
        f"are pairs of fits of thresholds ({data['fits']} at each n) with label noise of half the "
        f"largest limit, by bisection on how often one abstains and the other does not; the "
        f"certificate must hold for all populations."
    )


LABELS = ("thm:realizable-apx-repl", "thm:apx-repl-informal", "lem:repl-reject", "table:results")
SUMMARY = "rows against rho, gamma and d for realizable learners: certified and fitted"
_SMALL = {
    "rhos": [0.2, 0.1, 0.05, 0.02, 0.01, 0.005],
    "gammas": [0.2, 0.14, 0.1, 0.07, 0.05],
    "dimensions": [1, 3, 10, 30, 100, 300, 1000],
    "fits": 300,
    "fitted": [0.3, 0.2, 0.12, 0.08],
}
SIZES = {
    "tiny": {
        "rhos": [0.3, 0.2],
        "gammas": [0.3, 0.2],
        "dimensions": [1, 3],
        "fits": 4,
        "fitted": [0.3, 0.2],
    },
    "small": _SMALL,
    "full": {**_SMALL, "fits": 1000, "fitted": [0.3, 0.2, 0.12, 0.08, 0.05]},
}
