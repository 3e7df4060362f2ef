"""Rows of the heavy-point primitives against the mass nu: pointwise, and the whole set."""

from __future__ import annotations

from typing import Any

import numpy as np

from replearn.bounds.heavy_sets import SetLaw, smallest_sample_set
from replearn.bounds.membership import MembershipLaw, smallest_sample_membership
from replearn.lab.experiment import Bench, Experiment, Numbers
from replearn.lab.measuring import smallest_size
from replearn.lab.power_law import draw_lines, line, said


def measure(bench: Bench, *, masses: list[float], rho: float, pairs: int) -> Numbers:
    """Find the rows at which one membership, and the whole set, differ with probability rho."""

    def one_point(n: int, nu: float) -> float:
        """Worst of a few masses inside the law's range."""
        law = MembershipLaw.standard(nu)
        places = law.frequency(np.array([0.1, 0.3, 0.5, 0.7, 0.9]))
        counts = bench.rng("one", n).binomial(n, places, (pairs, 2, len(places)))
        levels = law.probabilities(counts, n)
        return float(np.abs(levels[:, 0] - levels[:, 1]).mean(axis=0).max())

    def whole_set(n: int, nu: float) -> float:
        """Points spread evenly over the law's range, as many as fit: one threshold for all."""
        law = SetLaw.standard(nu)
        count = max(2, int(0.9 / ((law.low + law.high) / 2.0)))
        places = law.frequency((np.arange(count) + 0.5) / count)
        places *= min(1.0, 0.99 / places.sum())
        rng, rest = bench.rng("set", n), 1.0 - places.sum()
        counts = rng.multinomial(n, np.append(places, rest), (pairs, 2))[..., :-1]
        levels = law.probabilities(counts, n)
        return float(np.mean([_covered(*pair) for pair in levels]))

    pointwise, sets = [], []
    for nu in masses:
        bench.say(f"nu = {nu}")
        pointwise.append(smallest_size(lambda n, nu=nu: one_point(n, nu), rho, 32))  # type: ignore[misc]
        sets.append(smallest_size(lambda n, nu=nu: whole_set(n, nu), rho, 64))  # type: ignore[misc]
    return {
        "rho": rho,
        "pairs": pairs,
        "lines": [
            line("pointwise, measured", masses, pointwise, "expected -1"),
            line("pointwise, certified", masses, _certified(masses, rho), "expected -1"),
            line("whole set, measured", masses, sets, "paper: -3"),
            line("whole set, certified", masses, _certified_sets(masses, rho), "paper: -3"),
        ],
    }


def _certified(masses: list[float], rho: float) -> list[float]:
    return [smallest_sample_membership(rho, MembershipLaw.standard(nu)) for nu in masses]


def _certified_sets(masses: list[float], rho: float) -> list[float]:
    return [smallest_sample_set(rho, SetLaw.standard(nu)) for nu in masses]


def _covered(one: Any, two: Any) -> float:
    """Return the length of the union of the intervals between levels: the chance of a change."""
    low, high = np.minimum(one, two), np.maximum(one, two)
    order = np.argsort(low)
    reached = np.maximum.accumulate(np.concatenate([[0.0], high[order]]))
    return float(np.maximum(0.0, high[order] - np.maximum(low[order], reached[:-1])).sum())


def draw(data: Numbers, figure: Any) -> None:
    """Draw rows against nu."""
    draw_lines(figure, "mass nu", data["lines"])


def read(data: Numbers) -> str:
    """Say the exponents."""
    point, _, whole, _ = data["lines"]
    return (
        f"Rows at which two runs disagree with probability {data['rho']}, as a power of nu: "
        f"{said(data['lines'])}. Asking only that each point is treated alike costs 1/nu; asking "
        f"that the whole set is the same costs {whole['sizes'][-1] / point['sizes'][-1]:.0f} times "
        f"the rows at nu = {point['x'][-1]}. Measured means {data['pairs']} pairs of samples with "
        f"the exact chance that a shared threshold separates them; for the set the points are "
        f"spread over the range of the threshold, the hardest case we know of."
    )


EXPERIMENT = Experiment(
    name="scaling-heavy",
    labels=("prop:finding-heavy", "lem:r-heavy-hitters", "table:results"),
    summary="rows that heavy points need against their mass: one point, and the whole set",
    measure=measure,
    draw=draw,
    read=read,
    sizes={
        "tiny": {"masses": [0.1, 0.05], "rho": 0.3, "pairs": 20},
        "small": {"masses": [0.1, 0.05, 0.025, 0.0125], "rho": 0.1, "pairs": 300},
        "full": {"masses": [0.1, 0.05, 0.025, 0.0125, 0.00625], "rho": 0.1, "pairs": 3000},
    },
)
