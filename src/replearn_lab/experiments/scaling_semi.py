"""Labelled rows of the semi-replicable learner against the dimension."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from replearn.bounds import (
    selection_agreement,
    selection_scale,
    smallest_sample_selection,
)
from replearn_lab.bisection import Crossing, find_crossing, smallest_size
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.fitted import rule_flips
from replearn_lab.power_law import draw_lines, fitted_line, line, said

BETA = 0.05


def measure(
    bench: Bench, *, dimensions: list[int], alpha: float, rho: float, pairs: int, fitted: Numbers
) -> Numbers:
    """Find the rows at which two runs choose different sign vectors with probability rho."""
    measured = []
    certified = []
    for d in dimensions:
        bench.say(f"d = {d}")
        signs = np.array(list(product((-1.0, 1.0), repeat=d)))

        def flips(m: int, signs: Any = signs, d: int = d) -> float:
            scale = selection_scale(len(signs), alpha, BETA, m)
            if scale is None:
                return 1.0
            rng = bench.rng("rows", d, m)
            agreed = []
            for _ in range(pairs):
                seen = rng.multinomial(m, np.full(d, 1.0 / d), 2)
                sums = 2.0 * rng.binomial(seen, 0.5) - seen
                one, two = 0.5 - sums @ signs.T / (2.0 * m)
                agreed.append(selection_agreement(scale, one, two))
            return 1.0 - float(np.mean(agreed))

        measured.append(smallest_size(flips, rho, 64))
        certified.append(smallest_sample_selection(rho, alpha, BETA, 2**d)[0])
    return {
        "alpha": alpha,
        "rho": rho,
        "pairs": pairs,
        "fitted": fitted,
        "lines": [
            line("labelled rows, measured", dimensions, measured, "paper: 2 up to logarithms"),
            _fits(bench, **fitted),
            line("labelled rows, certified", dimensions, certified, "expected 2 for large d"),
        ],
    }


def _fits(bench: Bench, *, dimensions: list[int], alpha: float, rho: float, pairs: int) -> Numbers:
    """Bisect the rows of fitted semi-replicable learners for each d."""

    def crossing(d: int) -> Crossing:
        return find_crossing(partial(rule_flips, bench, d, rho, alpha, pairs), rho, 256)

    expected = "paper: 2 up to logarithms"
    return fitted_line(bench, "labelled rows, fitted", dimensions, crossing, expected)


def draw(data: Numbers, figure: Any) -> None:
    """Draw rows against d."""
    draw_lines(figure, "points of the shattered set, d", data["lines"])


def read(data: Numbers) -> str:
    """Say the exponents."""
    measured, fitted, certified = data["lines"]
    asked = data["fitted"]
    places = [_index(one["exponent"][0]) for one in (measured, fitted)]
    return (
        f"All labels are fair coins on d shattered points, the shared pool holds all of them, so "
        f"there are 2^d candidates. Rows at which two runs choose different ones with probability "
        f"{data['rho']} at alpha = {data['alpha']}, as a power of d: {said(data['lines'])}. The "
        f"measured exponent {places[0]}, that of fitted learners {places[1]} on this range of d; "
        f"the paper's bound is d^2 up to logarithms, and ln(2^d/beta) grows less than linearly "
        f"for small d. Fitted learners are {asked['pairs']} pairs of whole fits "
        f"of the semi-replicable learner of conjunctions at each number of rows (alpha = "
        f"{asked['alpha']}, of which the choice gets half and the pool the other; rho = "
        f"{asked['rho']}), by bisection on how often their rules differ. What is certified "
        f"is {certified['sizes'][0] / measured['sizes'][0]:.1f} to "
        f"{certified['sizes'][-1] / measured['sizes'][-1]:.1f} times what is measured."
    )


def _index(slope: float) -> str:
    return "lies between 1 and 2" if 1.0 <= slope <= 2.0 else "does NOT lie between 1 and 2"


LABELS = (
    "thm:semi-supervised-repl-ub",
    "thm:semi-supervised-repl-lb",
    "thm:sign-one-way-marginals-lb",
    "table:results",
)
SUMMARY = "labelled rows of the semi-replicable learner against the dimension"
_COMPUTED = {"dimensions": [2, 3, 4, 6, 8, 10], "alpha": 0.1, "rho": 0.1, "pairs": 25}
_FITTED = {"dimensions": [2, 3, 4, 6], "alpha": 0.4, "rho": 0.3, "pairs": 60}
SIZES = {
    "tiny": {
        "dimensions": [2, 4],
        "alpha": 0.3,
        "rho": 0.3,
        "pairs": 3,
        "fitted": {"dimensions": [2, 3], "alpha": 0.8, "rho": 0.5, "pairs": 8},
    },
    "small": {**_COMPUTED, "fitted": _FITTED},
    "full": {
        **_COMPUTED,
        "fitted": {**_FITTED, "dimensions": [2, 3, 4, 6, 8], "pairs": 150},
    },
}
