"""How sample sizes grow: rho, gamma, alpha, the dimension and the mass of heavy points.

The paper's table of results as exponents. Certified sizes are those of `plan`; measured ones are
simulated on populations that are as hard as we know, with the exact chance that shared random
numbers separate two samples.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from replearn import plan
from replearn.bounds.laws import uniform_law
from replearn.bounds.selection import selection_agreement, selection_scale
from replearn.paper.heavy_hitters import MembershipLaw, SetLaw
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.measuring import draw_lines, line, said, smallest_size

TARGETS = {"rho": 0.2, "alpha": 0.2, "beta": 0.1}


def measure(bench: Bench, *, steps: int, pairs: int) -> Numbers:
    """Halve (or double) one parameter after the other, and find the rows that are needed."""
    halves = [0.2 / 2**step for step in range(steps)]
    doubles = [2 * 2**step for step in range(steps)]
    masses = [0.1 / 2**step for step in range(steps)]
    sets = masses[: max(2, steps - 1)]
    few = list(range(2, 2 + steps))

    def planned(task: str, name: str, values: list[Any], **fixed: Any) -> list[int]:
        bench.say(f"{task} against {name}")
        return [plan(task, **{**fixed, name: value}).n for value in values]

    def measured(flips: Any, values: list[Any], targets: list[float], start: int) -> list[float]:
        bench.say(flips.__name__)
        pairs_of = zip(values, targets, strict=False)
        return [smallest_size(partial(flips, bench, pairs, v), rho, start) for v, rho in pairs_of]

    complete = {**TARGETS, "d": 2}
    exact = {**complete, "label_noise": False}
    realizable = {**TARGETS, "gamma": 0.2, "d": 1}
    cuts = {**TARGETS, "gamma": 0.2}
    fixed = [0.2] * steps
    return {
        "pairs": pairs,
        "rho": [
            line("votes, measured", halves, measured(vote_flips, halves, halves, 4), "-2"),
            line("complete learner", halves, planned("complete", "rho", halves, **complete), "-2"),
            line("the same, no noise", halves, planned("complete", "rho", halves, **exact), "-2"),
            line("realizable", halves, planned("realizable", "rho", halves, **realizable), "-2"),
            line("thresholds", halves, planned("thresholds", "rho", halves, **cuts), "-2"),
        ],
        "gamma": [
            line(
                "whole models",
                halves,
                planned("approximate", "gamma", halves, rho=0.2, block_size=1, law="uniform"),
                "-2",
            ),
            line("realizable", halves, planned("realizable", "gamma", halves, **realizable), "-1"),
        ],
        "alpha": [
            line(
                "complete learner", halves, planned("complete", "alpha", halves, **complete), "-3"
            ),
            line("the same, no noise", halves, planned("complete", "alpha", halves, **exact), "-1"),
            line(
                "thresholds",
                halves,
                planned("thresholds", "alpha", halves, **cuts),
                "-2 and logarithms",
            ),
        ],
        "d": [
            line("complete learner", doubles, planned("complete", "d", doubles, **complete), "1"),
            line("realizable", doubles, planned("realizable", "d", doubles, **realizable), "1"),
            line("semi, labelled, measured", few, measured(rule_flips, few, fixed, 64), "2"),
            line("semi, labelled", few, choice_rows(few), "2"),
        ],
        "nu": [
            line("a point, measured", masses, measured(point_flips, masses, fixed, 32), "-1"),
            line("a point", masses, planned("heavy", "nu", masses, rho=0.2), "-1"),
            line(
                "the whole set, measured",
                sets,
                measured(set_flips, sets, fixed[: len(sets)], 64),
                "-3",
            ),
            line("the whole set", sets, planned("heavy, whole set", "nu", sets, rho=0.2), "-3"),
        ],
    }


# -- how often two runs differ, on a hard population -----------------------------------------------
def vote_flips(bench: Bench, pairs: int, rho: float, n_blocks: int) -> float:
    """Votes of fair coins: the mean chance that a shared threshold falls between."""
    votes = bench.rng("votes", n_blocks).binomial(n_blocks, 0.5, (20 * pairs, 2))
    levels = uniform_law(n_blocks).probabilities[votes]
    return float(np.abs(levels[:, 0] - levels[:, 1]).mean())


def rule_flips(bench: Bench, pairs: int, d: int, n: int) -> float:
    """All rules on d points with fair labels: the chance that two samples choose different ones."""
    signs = np.array(list(product((-1.0, 1.0), repeat=d)))
    scale = selection_scale(len(signs), TARGETS["alpha"], TARGETS["beta"], n)
    if scale is None:
        return 1.0
    rng = bench.rng("rules", d, n)
    agreed = []
    for _ in range(pairs):
        seen = rng.multinomial(n, np.full(d, 1.0 / d), 2)
        sums = 2.0 * rng.binomial(seen, 0.5) - seen
        one, two = 0.5 - sums @ signs.T / (2.0 * n)
        agreed.append(selection_agreement(scale, one, two))
    return 1.0 - float(np.mean(agreed))


def choice_rows(dimensions: list[int]) -> list[int]:
    """Rows that the choice among all rules on d points is certified with."""
    return [plan("selection", n_hypotheses=2**d, **TARGETS).n for d in dimensions]


def point_flips(bench: Bench, pairs: int, nu: float, n: int) -> float:
    """One point, of the worst of a few masses inside the law's range."""
    law = MembershipLaw.standard(nu)
    masses = law.frequency(np.array([0.1, 0.3, 0.5, 0.7, 0.9]))
    counts = bench.rng("one", n).binomial(n, masses, (pairs, 2, len(masses)))
    levels = law.probabilities(counts, n)
    return float(np.abs(levels[:, 0] - levels[:, 1]).mean(axis=0).max())


def set_flips(bench: Bench, pairs: int, nu: float, n: int) -> float:
    """As many points as fit, spread evenly over the law's range: one threshold for all."""
    law = SetLaw.standard(nu)
    count = max(2, int(0.9 / ((law.low + law.high) / 2.0)))
    masses = law.frequency((np.arange(count) + 0.5) / count)
    masses = masses * min(1.0, 0.99 / masses.sum())
    shares = np.append(masses, 1.0 - masses.sum())
    counts = bench.rng("set", n).multinomial(n, shares, (pairs, 2))[..., :-1]
    levels = law.probabilities(counts, n)
    return float(np.mean([covered(one, two) for one, two in levels]))


def covered(one: Any, two: Any) -> float:
    """Return the length of the union of the intervals between levels: the chance of a change."""
    low = np.minimum(one, two)
    high = np.maximum(one, two)
    order = np.argsort(low)
    reached = np.maximum.accumulate(np.concatenate([[0.0], high[order]]))
    return float(np.maximum(0.0, high[order] - np.maximum(low[order], reached[:-1])).sum())


PANELS = {"rho": "rho", "gamma": "gamma", "alpha": "alpha", "d": "dimension d", "nu": "mass nu"}


def draw(data: Numbers, figure: Any) -> None:
    """Draw rows against each parameter."""
    figure.set_size_inches(11.0, 6.4)
    for index, (name, text) in enumerate(PANELS.items()):
        draw_lines(figure, text, data[name], place=(2, 3, index + 1))


def read(data: Numbers) -> str:
    """Say the exponents."""
    lines = [f"against {text}: {said(data[name])}" for name, text in PANELS.items()]
    return (
        "Rows (of whole models: blocks) that are needed, as a power of one parameter; in brackets "
        f"95 % limits of the fit, then the exponent of the theory. {'. '.join(lines)}. Measured "
        f"means {data['pairs']} pairs of samples of a population that is as hard as we know, each "
        "pair with the exact chance that shared random numbers separate it; all other sizes are "
        "those of plan()."
    )


LABELS = ("table:results", "thm:predict-formal", "thm:apx-repl-chernoff", "prop:finding-heavy")
SUMMARY = "rows against rho, gamma, alpha, d and nu: the table of results as exponents"
SIZES = {
    "tiny": {"steps": 2, "pairs": 20},
    "small": {"steps": 4, "pairs": 200},
    "full": {"steps": 5, "pairs": 1000},
}
