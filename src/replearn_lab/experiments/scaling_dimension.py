"""Rows of the votes against the dimension: linear, on shattered sets with planted coins."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from replearn.bounds import agnostic_sample_size, flip_supremum, uniform_law
from replearn_lab.bisection import Crossing, find_crossing, smallest_size
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.fitted import vote_excess
from replearn_lab.power_law import draw_lines, fitted_line, line, said


def measure(
    bench: Bench,
    *,
    dimensions: list[int],
    bias: float,
    alpha: float,
    n_blocks: int,
    runs: int,
    fits: int,
) -> Numbers:
    """Find the rows at which the vote's mean excess error falls to alpha."""
    levels = uniform_law(n_blocks).probabilities

    def excess(d: int, block_size: int) -> float:
        """Mean excess error over thresholds, when every point has a coin of this bias."""
        rng = bench.rng("blocks", d, block_size)
        seen = rng.multinomial(block_size, np.full(d, 1.0 / d), (runs, n_blocks))
        votes = 2 * rng.binomial(seen, (1.0 + bias) / 2.0) > seen
        return float(bias * (1.0 - levels[votes.sum(axis=1)]).mean())

    def crossing(d: int) -> Crossing:
        excesses = partial(vote_excess, bench, d, bias, n_blocks, max(4, fits // d))
        return find_crossing(excesses, alpha, max(2, 2 * d))

    sizes = [smallest_size(partial(excess, d), alpha, max(2, d)) for d in dimensions]
    rows = [n_blocks * size for size in sizes]
    bounds = [n_blocks * agnostic_sample_size(d, alpha, 0.05) for d in dimensions]
    return {
        "bias": bias,
        "alpha": alpha,
        "n_blocks": n_blocks,
        "flips": flip_supremum(uniform_law(n_blocks)),
        "lines": [
            line("votes, measured", dimensions, rows, "expected +1"),
            fitted_line(bench, "fitted learners", dimensions, crossing, "expected +1", n_blocks),
            line("votes, by the VC bound", dimensions, bounds, "expected +1"),
        ],
    }


def draw(data: Numbers, figure: Any) -> None:
    """Draw rows against d."""
    draw_lines(figure, "points of the shattered set, d", data["lines"])


def read(data: Numbers) -> str:
    """Say the exponents."""
    measured, _, bound = data["lines"]
    return (
        f"Rows at which {data['n_blocks']} blocks of a majority table have a mean excess error of "
        f"{data['alpha']} on d points with coins of bias {data['bias']}, as a power of d: "
        f"{said(data['lines'])}. Votes are simulated with the exact mean over thresholds; fitted "
        f"learners are whole fits of the pointwise learner, by bisection on the excess error of "
        f"what they predict. The flip probability of any point is at most "
        f"{data['flips']:.4f} whatever d: replicability of single points does not pay for the "
        f"dimension, only accuracy does. The distribution-free VC bound asks for "
        f"{bound['sizes'][-1] / measured['sizes'][-1]:.0f} times the rows measured at the last d."
    )


LABELS = ("table:results", "thm:predict-formal", "thm:non-uniform-repl-lb")
SUMMARY = "rows of the light stage against the dimension"
_SMALL = {
    "dimensions": [4, 8, 16, 32, 64],
    "bias": 0.4,
    "alpha": 0.05,
    "n_blocks": 32,
    "runs": 40,
    "fits": 600,
}
SIZES = {
    "tiny": {**_SMALL, "dimensions": [2, 8], "alpha": 0.1, "runs": 4, "fits": 16},
    "small": _SMALL,
    "full": {**_SMALL, "fits": 1600},
}
