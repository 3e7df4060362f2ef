"""Rows of the heavy-point primitives against the mass nu: pointwise, and the whole set."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from replearn.paper.heavy_hitters import (
    MembershipLaw,
    SetLaw,
    smallest_sample_membership,
    smallest_sample_set,
)
from replearn_lab.bisection import Crossing, find_crossing, smallest_size
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.fitted import heavy_flips
from replearn_lab.measuring import weighted_exponent
from replearn_lab.power_law import draw_lines, fitted_line, line, said

# From this mass on so many points of the law fit side by side that their number is no limit.
_MANY = 0.1


def measure(
    bench: Bench, *, masses: list[float], rho: float, pairs: int, fitted: Numbers
) -> Numbers:
    """Find the rows at which one membership, and the whole set, differ with probability rho."""

    def one_point(nu: float, n: int) -> float:
        """Worst of a few masses inside the law's range."""
        law = MembershipLaw.standard(nu)
        places = _single_indices(nu)
        counts = bench.rng("one", n).binomial(n, places, (pairs, 2, len(places)))
        levels = law.probabilities(counts, n)
        return float(np.abs(levels[:, 0] - levels[:, 1]).mean(axis=0).max())

    def whole_set(nu: float, n: int) -> float:
        """Points spread evenly over the law's range, as many as fit: one threshold for all."""
        law = SetLaw.standard(nu)
        places = _set_indices(nu)
        rng = bench.rng("set", n)
        rest = 1.0 - places.sum()
        counts = rng.multinomial(n, np.append(places, rest), (pairs, 2))[..., :-1]
        levels = law.probabilities(counts, n)
        return float(np.mean([_covered(*pair) for pair in levels]))

    pointwise = [smallest_size(partial(one_point, nu), rho, 32) for nu in masses]
    sets = [smallest_size(partial(whole_set, nu), rho, 64) for nu in masses]
    certified = [smallest_sample_membership(rho, MembershipLaw.standard(nu)) for nu in masses]
    certified_sets = [smallest_sample_set(rho, SetLaw.standard(nu)) for nu in masses]
    return {
        "rho": rho,
        "pairs": pairs,
        "fitted": fitted,
        "lines": [
            line("pointwise, measured", masses, pointwise, "expected -1"),
            _fits(bench, "pointwise", fitted, "expected -1"),
            line("pointwise, certified", masses, certified, "expected -1"),
            line("whole set, measured", masses, sets, "paper: -3"),
            *_with_many_points(_fits(bench, "whole set", fitted, "paper: -3")),
            line("whole set, certified", masses, certified_sets, "paper: -3"),
        ],
    }


def _fits(bench: Bench, name: str, asked: Numbers, expected: str) -> Numbers:
    """Bisect the rows of find_heavy_hitters for each nu."""
    whole = name == "whole set"
    rho = asked["rho"]
    masses = asked[name]
    notion = "replicable" if whole else "pointwise"

    def crossing(nu: float) -> Crossing:
        places = _set_indices(nu) if whole else _single_indices(nu)
        flips = partial(heavy_flips, bench, nu, places, notion, asked["pairs"])
        return find_crossing(flips, rho, 64)

    return fitted_line(bench, f"{name}, fitted", masses, crossing, expected)


def _with_many_points(found: Numbers) -> list[Numbers]:
    """Return the line, and that of its part where many points lie side by side, if there is one."""
    many = [place for place, nu in enumerate(found["x"]) if nu <= _MANY]
    if len(many) < 2:
        return [found]
    x, sizes, errors = ([found[name][i] for i in many] for name in ("x", "sizes", "errors"))
    part = line(f"whole set, fitted, nu <= {_MANY}", x, sizes, found["expected"])
    return [found, {**part, "exponent": weighted_exponent(x, sizes, errors), "errors": errors}]


def _single_indices(nu: float) -> Any:
    """Return a few masses inside the law's range."""
    return MembershipLaw.standard(nu).frequency(np.array([0.1, 0.3, 0.5, 0.7, 0.9]))


def _set_indices(nu: float) -> Any:
    """Return masses spread evenly over the law's range, as many as fit."""
    law = SetLaw.standard(nu)
    count = max(2, int(0.9 / ((law.low + law.high) / 2.0)))
    places = law.frequency((np.arange(count) + 0.5) / count)
    return places * min(1.0, 0.99 / places.sum())


def _covered(one: Any, two: Any) -> float:
    """Return the length of the union of the intervals between levels: the chance of a change."""
    low = np.minimum(one, two)
    high = np.maximum(one, two)
    order = np.argsort(low)
    reached = np.maximum.accumulate(np.concatenate([[0.0], high[order]]))
    return float(np.maximum(0.0, high[order] - np.maximum(low[order], reached[:-1])).sum())


def draw(data: Numbers, figure: Any) -> None:
    """Draw rows against nu."""
    draw_lines(figure, "mass nu", data["lines"])


def read(data: Numbers) -> str:
    """Say the exponents."""
    point, _, _, whole, *_ = data["lines"]
    asked = data["fitted"]
    return (
        f"Rows at which two runs disagree with probability {data['rho']}, as a power of nu: "
        f"{said(data['lines'])}. Asking only that each point is treated alike costs 1/nu; asking "
        f"that the whole set is the same costs {whole['sizes'][-1] / point['sizes'][-1]:.0f} times "
        f"the rows at nu = {point['x'][-1]}. Measured means {data['pairs']} pairs of samples with "
        f"the exact chance that a shared threshold separates them; fitted means "
        f"{asked['pairs']} pairs of calls of find_heavy_hitters at each number of rows, by "
        f"bisection on how often their answers differ, at rho = {asked['rho']}. For the set the "
        f"points are spread over the range of the threshold, the hardest case we know of; above "
        f"nu = {_MANY} fewer than {len(_set_indices(_MANY))} of them fit beside each other, which "
        f"is easier."
    )


_COMPUTED = {"masses": [0.1, 0.05, 0.025, 0.0125], "rho": 0.1, "pairs": 300}
_FITTED = {
    "pointwise": [0.1, 0.05, 0.025, 0.0125, 0.00625],
    "whole set": [0.28, 0.2, 0.14, 0.1, 0.07, 0.05],
    "rho": 0.2,
}


LABELS = ("prop:finding-heavy", "lem:r-heavy-hitters", "table:results")
SUMMARY = "rows that heavy points need against their mass: one point, and the whole set"
SIZES = {
    "tiny": {
        "masses": [0.1, 0.05],
        "rho": 0.3,
        "pairs": 20,
        "fitted": {"pointwise": [0.4, 0.2], "whole set": [0.4, 0.2], "rho": 0.5, "pairs": 6},
    },
    "small": {**_COMPUTED, "fitted": {**_FITTED, "pairs": 60}},
    "full": {**_COMPUTED, "fitted": {**_FITTED, "pairs": 200}},
}
