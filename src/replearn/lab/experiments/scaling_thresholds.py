"""Rows of the proper threshold learner against alpha and rho."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from replearn.bounds.selection import selection_agreement
from replearn.bounds.thresholds import smallest_sample_threshold, threshold_scale
from replearn.lab.experiment import Bench, Experiment, Numbers
from replearn.lab.measuring import smallest_size
from replearn.lab.power_law import draw_lines, line, said

CELLS, GAMMA, BETA = 256, 0.1, 0.05


def measure(
    bench: Bench, *, alphas: list[float], rhos: list[float], middle: list[float], pairs: int
) -> Numbers:
    """Find the rows at which two runs draw different levels with probability rho."""

    def errors(rng: np.random.Generator, n: int) -> Any:
        """Errors of all cuts on n rows whose labels are fair coins: every cut is as good."""
        seen = rng.multinomial(n, np.full(CELLS, 1.0 / CELLS))
        ones = rng.binomial(seen, 0.5)
        below = np.concatenate([[0], np.cumsum(2 * ones - seen)])
        return (below + (seen - ones).sum()) / n

    def flips(n: int, alpha: float) -> float:
        scale = threshold_scale(n, alpha, BETA)
        if scale is None:
            return 1.0
        rng = bench.rng("rows", n)
        drawn = [(errors(rng, n), errors(rng, n)) for _ in range(pairs)]
        return float(np.mean([1.0 - selection_agreement(scale, one, two) for one, two in drawn]))

    def needed(alpha: float, rho: float) -> float:
        bench.say(f"alpha {alpha}, rho {rho}")
        return smallest_size(lambda n: flips(n, alpha), rho, 256)

    alpha, rho = middle
    by_alpha, by_rho = [needed(a, rho) for a in alphas], [needed(alpha, r) for r in rhos]
    logs = [
        size / math.log(4.0 / (a * BETA)) ** 2 for a, size in zip(alphas, by_alpha, strict=True)
    ]
    certified = {
        "alpha": [smallest_sample_threshold(rho, GAMMA, a, BETA)[0] for a in alphas],
        "rho": [smallest_sample_threshold(r, GAMMA, alpha, BETA)[0] for r in rhos],
    }
    return {
        "middle": middle,
        "pairs": pairs,
        "alpha": [
            line("measured", alphas, by_alpha, "expected -2 and logarithms"),
            line("measured / log^2", alphas, logs, "expected -2"),
            line("certified", alphas, certified["alpha"], "expected -2 and logarithms"),
        ],
        "rho": [
            line("measured", rhos, by_rho, "expected -2"),
            line("certified", rhos, certified["rho"], "expected -2"),
        ],
    }


def draw(data: Numbers, figure: Any) -> None:
    """Draw rows against alpha and against rho."""
    figure.set_size_inches(8.0, 3.8)
    draw_lines(figure, "alpha", data["alpha"], place=(1, 2, 1))
    draw_lines(figure, "rho", data["rho"], place=(1, 2, 2))


def read(data: Numbers) -> str:
    """Say the exponents."""
    return (
        f"Rows that the proper threshold learner needs when every cut is as good as any other, "
        f"the hardest case for agreement. Against alpha (rho = {data['middle'][1]}): "
        f"{said(data['alpha'])}. Against rho (alpha = {data['middle'][0]}): {said(data['rho'])}. "
        f"Measured means {data['pairs']} pairs of samples, each with the exact chance that "
        f"shared random numbers choose different levels; the sharpness is the smallest that is "
        f"certified accurate at that n and alpha. The scale carries ln(4/(alpha beta)), whose "
        f"square is divided out in the line measured / log^2."
    )


EXPERIMENT = Experiment(
    name="scaling-thresholds",
    labels=("prop:thresholds-proper-informal", "prop:thresholds-proper-formal", "table:results"),
    summary="rows of the proper threshold learner against alpha and against rho",
    measure=measure,
    draw=draw,
    read=read,
    sizes={
        "tiny": {"alphas": [0.4, 0.2], "rhos": [0.4, 0.2], "middle": [0.3, 0.3], "pairs": 3},
        "small": {
            "alphas": [0.32, 0.16, 0.08, 0.04],
            "rhos": [0.2, 0.1, 0.05, 0.025],
            "middle": [0.1, 0.1],
            "pairs": 60,
        },
        "full": {
            "alphas": [0.32, 0.16, 0.08, 0.04, 0.02],
            "rhos": [0.2, 0.1, 0.05, 0.025, 0.0125],
            "middle": [0.1, 0.1],
            "pairs": 400,
        },
    },
)
