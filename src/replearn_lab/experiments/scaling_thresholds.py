"""Rows of the proper threshold learner against alpha and rho."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from replearn.bounds import selection_agreement
from replearn.paper.thresholds import smallest_sample_threshold, threshold_scale
from replearn_lab.bisection import Crossing, find_crossing, smallest_size
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.fitted import cut_flips
from replearn_lab.measuring import exponent
from replearn_lab.power_law import draw_lines, fitted_line, line, said

CELLS = 256
GAMMA = 0.1
BETA = 0.05
# So small a beta that ln(1/(alpha beta)) hardly changes with alpha.
FLAT_BETA = 1e-12


def measure(
    bench: Bench,
    *,
    alphas: list[float],
    rhos: list[float],
    middle: list[float],
    pairs: int,
    fitted: Numbers,
) -> Numbers:
    """Find the rows at which two runs draw different levels with probability rho."""

    def flips(n: int, alpha: float, beta: float) -> float:
        # The certified tail has a term 1/n, so it says nothing about the tiny beta at these n.
        scale = threshold_scale(n, alpha, beta) if beta == BETA else _sharpness(alpha, beta)
        if scale is None:
            return 1.0
        rng = bench.rng("rows", n)
        drawn = [(_errors(rng, n), _errors(rng, n)) for _ in range(pairs)]
        return float(np.mean([1.0 - selection_agreement(scale, one, two) for one, two in drawn]))

    def needed(alpha: float, rho: float, beta: float = BETA) -> float:
        bench.say(f"alpha {alpha}, rho {rho}, beta {beta}")
        return smallest_size(lambda n: flips(n, alpha, beta), rho, 256)

    alpha, rho = middle
    flat = [needed(a, rho, FLAT_BETA) for a in alphas]
    by_alpha = [needed(a, rho) for a in alphas]
    by_rho = [needed(alpha, r) for r in rhos]
    logs = "expected -2 and logarithms"
    flat_logs = f"beta = {FLAT_BETA:g}: the logarithm is flat"
    of_the_log = _slope_of_the_log(fitted["alphas"], BETA)
    return {
        "middle": middle,
        "pairs": pairs,
        "fits": fitted["pairs"],
        "slope": _slope_of_the_log(alphas, BETA),
        "flat_slope": _slope_of_the_log(alphas, FLAT_BETA),
        "alpha": [
            line("measured", alphas, by_alpha, logs),
            line("measured / (alpha t)^2", alphas, _without(alphas, by_alpha), "expected -2"),
            line("measured, tiny beta", alphas, flat, flat_logs),
            _fits(bench, fitted, "alpha", f"expected -2 and {of_the_log:.2f} from logarithms"),
            line("certified", alphas, _certified([rho], alphas), logs),
        ],
        "rho": [
            line("measured", rhos, by_rho, "expected -2"),
            _fits(bench, fitted, "rho", "expected -2"),
            line("certified", rhos, _certified(rhos, [alpha]), "expected -2"),
        ],
    }


def _errors(rng: np.random.Generator, n: int) -> Any:
    """Errors of all cuts on n rows whose labels are fair coins: every cut is as good."""
    seen = rng.multinomial(n, np.full(CELLS, 1.0 / CELLS))
    ones = rng.binomial(seen, 0.5)
    below = np.concatenate([[0], np.cumsum(2 * ones - seen)])
    return (below + (seen - ones).sum()) / n


def _sharpness(alpha: float, beta: float) -> float:
    """Sharpness that alpha and beta ask for when there are rows without end."""
    scale = threshold_scale(10**15, alpha, beta)
    assert scale is not None
    return scale


def _without(alphas: list[float], sizes: list[float]) -> list[float]:
    """Divide by (alpha t)^2, the squared logarithm that the accuracy asks for."""
    pairs = zip(alphas, sizes, strict=True)
    return [size / (a * _sharpness(a, BETA)) ** 2 for a, size in pairs]


def _slope_of_the_log(alphas: list[float], beta: float) -> float:
    """Exponent of (alpha t)^2 in alpha over these alphas."""
    return exponent(alphas, [(a * _sharpness(a, beta)) ** 2 for a in alphas])[0]


def _certified(rhos: list[float], alphas: list[float]) -> list[float]:
    return [smallest_sample_threshold(r, GAMMA, a, BETA)[0] for r in rhos for a in alphas]


def _fits(bench: Bench, fitted: Numbers, name: str, expected: str) -> Numbers:
    """Bisect the rows of fitted thresholds for each alpha, or for each rho."""

    def crossing(value: float) -> Crossing:
        alpha, rho = (value if item == name else fitted[item] for item in ("alpha", "rho"))
        flips = partial(cut_flips, bench, rho, GAMMA, alpha, fitted["pairs"])
        return find_crossing(flips, rho, 256)

    return fitted_line(bench, "fitted learners", fitted[f"{name}s"], crossing, expected)


def draw(data: Numbers, figure: Any) -> None:
    """Draw rows against alpha and against rho."""
    figure.set_size_inches(8.0, 3.8)
    draw_lines(figure, "alpha", data["alpha"], place=(1, 2, 1))
    draw_lines(figure, "rho", data["rho"], place=(1, 2, 2))


def read(data: Numbers) -> str:
    """Say the exponents, and where the logarithm comes from."""
    return (
        f"Rows that the proper threshold learner needs when every cut is as good as any other, "
        f"the hardest case for agreement. Against alpha (rho = {data['middle'][1]}): "
        f"{said(data['alpha'])}. Against rho (alpha = {data['middle'][0]}): {said(data['rho'])}. "
        f"Measured means {data['pairs']} pairs of samples, each with the exact chance that "
        f"shared random numbers choose different levels; the sharpness t is the smallest that is "
        f"certified accurate at that n and alpha (tiny beta: at that alpha and n without end). "
        f"Fitted learners are {data['fits']} pairs of whole fits at each number of rows, by "
        f"bisection on how often their cuts are more than gamma = {GAMMA} apart. The "
        f"logarithm belongs to the algorithm: on fair coins flips are a function of t/sqrt(n) "
        f"alone, so n is t^2 times a function of rho, and accuracy asks for t exp(-alpha t) = "
        f"beta, because the levels near the best cut weigh 1/t against a plateau of weight "
        f"exp(-alpha t). So (alpha t)^2 is about ln(1/(alpha beta))^2, whose exponent over these "
        f"alphas is {data['slope']:.2f} at beta = {BETA}: the raw exponent is "
        f"{data['slope'] - 2:.2f} by this derivation, and the paper's formal bound has a power of "
        f"ln(1/(alpha beta)) too. With beta = {FLAT_BETA:g} the logarithm is nearly flat "
        f"({data['flat_slope']:.2f})."
    )


LABELS = ("prop:thresholds-proper-informal", "prop:thresholds-proper-formal", "table:results")
SUMMARY = "rows of the proper threshold learner against alpha and against rho"
SIZES = {
    "tiny": {
        "alphas": [0.4, 0.2],
        "rhos": [0.4, 0.2],
        "middle": [0.3, 0.3],
        "pairs": 3,
        "fitted": {
            "alphas": [0.5, 0.4],
            "rhos": [0.6, 0.5],
            "rho": 0.5,
            "alpha": 0.5,
            "pairs": 8,
        },
    },
    "small": {
        "alphas": [0.32, 0.16, 0.08, 0.04],
        "rhos": [0.2, 0.1, 0.05, 0.025],
        "middle": [0.1, 0.1],
        "pairs": 60,
        "fitted": {
            "alphas": [0.32, 0.226, 0.16, 0.113],
            "rhos": [0.4, 0.283, 0.2, 0.141],
            "rho": 0.2,
            "alpha": 0.2,
            "pairs": 50,
        },
    },
    "full": {
        "alphas": [0.32, 0.226, 0.16, 0.113, 0.08, 0.0566, 0.04],
        "rhos": [0.2, 0.141, 0.1, 0.0707, 0.05, 0.0354, 0.025],
        "middle": [0.1, 0.1],
        "pairs": 200,
        # Below rho = 0.2, where flips fall like a power of n.
        "fitted": {
            "alphas": [0.5, 0.4, 0.32, 0.226, 0.16],
            "rhos": [0.2, 0.141, 0.1, 0.0707, 0.05],
            "rho": 0.1,
            "alpha": 0.4,
            "pairs": 1000,
        },
    },
}
