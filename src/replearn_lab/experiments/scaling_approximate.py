"""Blocks against gamma and rho: what whole models cost that differ on little mass."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import binom

from replearn.bounds import disagreement_bound, jensen_bound, uniform_law
from replearn.records import require_integer
from replearn_lab.bisection import Crossing, find_crossing
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.fitted import far_models
from replearn_lab.power_law import draw_lines, fitted_line, line, said


def measure(
    bench: Bench, *, gammas: list[float], rhos: list[float], fits: int, fitted: list[float]
) -> Numbers:
    """Find the blocks at which certificates, shared votes and fits reach each gamma and rho."""
    rho = rhos[0]
    gamma = gammas[0]
    logs = [math.log(1.0 / one) for one in rhos]
    by_gamma = [
        line(name, gammas, [blocks(g, rho) for g in gammas], "expected -2")
        for name, blocks in _SIZES.items()
    ]
    bench.say("against gamma")
    by_rho = [
        line(name, logs, [blocks(gamma, r) for r in rhos], "1 by theorem")
        for name, blocks in _SIZES.items()
    ]
    bench.say("against rho")

    def crossing(g: float) -> Crossing:
        start = max(2, round(0.2 / g**2))
        return find_crossing(partial(far_models, bench, g, fits), rho, start)

    by_gamma.append(fitted_line(bench, "fitted learners", fitted, crossing, "expected -2"))
    return {"gamma": by_gamma, "rho": by_rho, "at": [gamma, rho], "fits": fits}


def _smallest(passes: Callable[[int], bool]) -> int:
    return require_integer(passes, "more than 4,000 blocks are needed", limit=4000)


def _certified(bound: Callable[..., float], gamma: float, rho: float) -> int:
    return _smallest(lambda t: bound(uniform_law(t), rho) <= gamma)


def _shared(gamma: float, rho: float) -> int:
    """Return T from which on |B1 - B2| / T exceeds gamma with probability at most rho, exactly."""
    return _smallest(lambda t: far_chance(t, gamma) <= rho)


def far_chance(n_blocks: int, gamma: float) -> float:
    """Probability that two counts of fair votes differ by more than a share gamma of all.

    If all points have the same votes, this is the chance that two models differ on more than gamma.
    """
    counts = np.arange(n_blocks + 1)
    chances = binom.pmf(counts, n_blocks, 0.5)
    reach = math.floor(gamma * n_blocks * (1.0 + 1e-12))
    return float(2.0 * chances @ binom.sf(counts + reach, n_blocks, 0.5))


_SIZES: dict[str, Callable[[float, float], int]] = {
    "all points share their votes, exactly": _shared,
    "certified (Jensen)": partial(_certified, jensen_bound),
    "certified (bounded differences)": partial(_certified, disagreement_bound),
}


def draw(data: Numbers, figure: Any) -> None:
    """Draw blocks against gamma, and against ln(1/rho)."""
    figure.set_size_inches(8.4, 3.8)
    draw_lines(figure, "gamma", data["gamma"], place=(1, 2, 1))
    draw_lines(figure, "ln(1/rho)", data["rho"], place=(1, 2, 2))


def read(data: Numbers) -> str:
    """Say the exponents."""
    gamma, rho = data["at"]
    shared, jensen = data["gamma"][:2]
    factor = [a / b for a, b in zip(jensen["sizes"], shared["sizes"], strict=True)]
    return (
        f"Number of votes T at which two models differ on more than gamma with probability at "
        f"most rho. Against gamma at rho = {rho:g}, as a power of gamma: {said(data['gamma'])}. "
        f"Against rho at gamma = {gamma:g}, as a power of ln(1/rho): {said(data['rho'])}. The "
        f"first line is a hard population for votes with one threshold per point: at every point "
        f"the blocks vote alike, by fair coins; T jumps, since gamma T is compared with whole "
        f"numbers. The certificate holds for all populations and takes {min(factor):.2f} to "
        f"{max(factor):.2f} times as many blocks. Fitted learners are pairs of whole fits of the "
        f"approximately replicable learner ({data['fits']} at each T), by bisection on how often "
        f"they differ on more than gamma of 1,000 points."
    )


LABELS = ("thm:apx-repl-chernoff", "thm:apx-repl-informal", "table:results")
SUMMARY = "blocks against gamma and rho for whole models: certified, exact, and fitted"
_SMALL = {
    "gammas": [0.3, 0.2, 0.15, 0.1],
    "rhos": [0.2, 0.1, 0.05, 0.02, 0.01],
    "fits": 60,
    "fitted": [0.4, 0.3, 0.2],
}
SIZES = {
    "tiny": {"gammas": [0.4, 0.3], "rhos": [0.2, 0.1], "fits": 4, "fitted": [0.4, 0.3]},
    "small": _SMALL,
    "full": {**_SMALL, "gammas": [0.3, 0.2, 0.15, 0.1, 0.07], "fits": 200},
}
