"""Blocks against rho: the quadratic price of replicability."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from replearn.bounds import arcsine_law, flip_supremum, uniform_law
from replearn.records import smallest_integer
from replearn_lab.bisection import Crossing, find_crossing, smallest_size
from replearn_lab.coin_limit import coin_limit
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.fitted import vote_flips
from replearn_lab.power_law import draw_lines, fitted_line, line, said

WIDTH = 0.99


def measure(
    bench: Bench, *, rhos: list[float], pairs: int, fits: int, programme: list[int]
) -> Numbers:
    """Find the blocks at which fits, votes, certificates and the best rule reach each rho."""

    def flips(law: Any, q: float) -> float:
        """Mean over pairs of votes of the chance that the shared threshold falls between."""
        votes = bench.rng("votes", law.n_blocks).binomial(law.n_blocks, q, (pairs, 2))
        levels = law.probabilities[votes]
        return float(np.abs(levels[:, 0] - levels[:, 1]).mean())

    def worst(n_blocks: int) -> float:
        law = arcsine_law(n_blocks, WIDTH)
        return max(flips(law, q) for q in (0.5, 0.7, 0.85, 0.95, 0.98))

    def crossing(rho: float) -> Crossing:
        return find_crossing(partial(vote_flips, bench, fits), rho, max(2, round(0.3 / rho**2)))

    def certified_blocks(rho: float, make_law: Any) -> int:
        passes = smallest_integer(lambda t: flip_supremum(make_law(t)) <= rho)
        assert passes is not None
        return passes

    certified = [certified_blocks(rho, uniform_law) for rho in rhos]
    arcsine = [certified_blocks(rho, partial(arcsine_law, width=WIDTH)) for rho in rhos]
    bench.say("certified blocks found")
    measured = [smallest_size(lambda t: flips(uniform_law(t), 0.5), rho, 4) for rho in rhos]
    measured_arcsine = [smallest_size(worst, rho, 4) for rho in rhos]
    best = [(limit.lower, n) for n in programme if (limit := coin_limit(n)) is not None]
    larger = rhos[: len(rhos) - len(rhos) // 3]
    lines = [
        line("uniform law, measured", rhos, measured, "expected -2"),
        fitted_line(bench, "uniform law, fitted learners", larger, crossing, "expected -2"),
        line("uniform law, certified", rhos, certified, "expected -2"),
        line("arcsine law, measured", rhos, measured_arcsine, "expected -2"),
        line("arcsine law, certified", rhos, arcsine, "expected -2"),
        line("best possible rule", [v for v, _ in best], [n for _, n in best], "a limit"),
    ]
    return {"lines": lines, "pairs": pairs, "fits": fits}


def draw(data: Numbers, figure: Any) -> None:
    """Draw blocks against rho."""
    draw_lines(figure, "rho", data["lines"])


def read(data: Numbers) -> str:
    """Say the exponents."""
    first, fitted, second = data["lines"][:3]
    off = max(abs(a / b - 1.0) for a, b in zip(first["sizes"], second["sizes"], strict=True))
    return (
        f"Number of votes T at which two runs differ with probability rho, as a power of rho: "
        f"{said(data['lines'])}. Measured means {data['pairs']} pairs of votes of fair coins (for "
        f"the arcsine law the worst of five biases), each with the exact chance that a shared "
        f"threshold falls between them. Fitted learners are pairs of whole fits of the pointwise "
        f"learner ({data['fits']} at each T, one row to a block, labels by fair coins, flips "
        f"counted at 100 points), by bisection on the counted flips; the last T is "
        f"{fitted['sizes'][-1]:.0f} at rho = {fitted['x'][-1]}. Measured and certified T of the "
        f"uniform law differ by "
        f"{off:.1%} at most: the certificate is attained, not only an upper bound. Of the arcsine "
        f"law and the best rule sqrt(T) rho still falls towards its limit at these T (the ends of "
        f"the scale weigh less and less), so their exponents are nearer to 0 than -2 and steepen "
        f"as rho falls."
    )


LABELS = ("thm:predict", "table:results", "thm:non-uniform-repl-lb")
SUMMARY = "blocks against rho: measured, certified, and the least that any rule needs"
_SMALL = {
    "rhos": [0.2, 0.14, 0.1, 0.07, 0.05, 0.035, 0.025],
    "pairs": 40_000,
    "fits": 60,
    "programme": [8, 16, 32, 64, 128],
}
SIZES = {
    "tiny": {"rhos": [0.2, 0.1], "pairs": 300, "fits": 5, "programme": [5, 10]},
    "small": _SMALL,
    "full": {**_SMALL, "fits": 150},
}
