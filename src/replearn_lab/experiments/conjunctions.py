"""A threshold learner out of a semi-private learner of conjunctions, and the pool it needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from replearn_lab.distributions import Sample, ThresholdsOnAxes, threshold_rows
from replearn_lab.drawing import COLORS, legend, panel
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.measuring import draw_lines, line, said, smallest_size
from replearn_lab.private import PublicCutsLearner, ThresholdFromConjunctions

EPSILON = 1.0
BETA = 0.1


def measure(
    bench: Bench,
    *,
    domain: int,
    dimensions: list[int],
    publics: list[int],
    private: int,
    alpha: float,
    runs: int,
) -> Numbers:
    """Run the reduction for growing public samples, and find the pool that reaches alpha."""
    rows = []
    d = dimensions[len(dimensions) // 2]
    for public in publics:
        bench.say(f"{public} public rows of one threshold")
        rows.append(_amplified(bench, domain, d, public, private, runs))
    needed = [_needed(bench, domain, k, private, alpha, runs) for k in dimensions]
    return {
        "domain": domain,
        "d": d,
        "private": private,
        "alpha": alpha,
        "beta": BETA,
        "runs": runs,
        "rows": rows,
        "lines": [line("public rows, measured", dimensions, needed, "expected +1")],
    }


def _amplified(bench: Bench, domain: int, d: int, public: int, private: int, runs: int) -> Numbers:
    """Return the errors of the threshold learner and of the conjunction behind it."""
    amplified = ThresholdFromConjunctions(PublicCutsLearner(EPSILON), d)
    grid = np.arange(1.0, domain + 1.0)[:, np.newaxis]
    own = []
    empirical = []
    whole = []
    for run in range(runs):
        rng = bench.rng("amplified", d, public, run)

        def rows(rng: np.random.Generator, cut: float) -> tuple[Sample, Sample]:
            one, two = (threshold_rows(rng, cut, n, domain) for n in (public, private))
            return one, two

        def fresh(rng: np.random.Generator) -> tuple[Sample, Sample]:
            return rows(rng, float(rng.integers(0, domain + 1)))

        cut = float(rng.integers(0, domain + 1))
        mine = rows(rng, cut)
        model = amplified(*mine, fresh, rng)
        own.append(float(np.mean(model.predict(grid) != (grid[:, 0] <= cut))))
        wrong = [np.sum(model.predict(X) != y) for X, y in mine]
        empirical.append(float(sum(wrong)) / (public + private))
        whole.append(abs(float(model.model.cuts[model.place]) - cut) / domain)
    return {
        "public": public,
        "rows_of_learner": list(amplified.rows_of_learner(public, private)),
        "error": float(np.mean(own)),
        "error_high": float(np.quantile(own, 0.9)),
        "empirical": float(np.mean(empirical)),
        "by_cuts": float(np.mean(whole)),
    }


def _needed(bench: Bench, domain: int, d: int, private: int, alpha: float, runs: int) -> float:
    """Return the public rows at which a conjunction of d thresholds has mean error alpha."""
    learner = PublicCutsLearner(EPSILON)

    def error(public: int) -> float:
        found = []
        for run in range(runs):
            rng = bench.rng("pool", d, public, run)
            hard = ThresholdsOnAxes(rng.integers(0, domain + 1, d).astype(float), domain)
            model = learner(hard.draw(rng, public), hard.draw(rng, d * private), rng)
            found.append(hard.error(model.cuts))
        return float(np.mean(found))

    return smallest_size(error, alpha, 4)


def draw(data: Numbers, figure: Any) -> None:
    """Draw the error of one threshold against its public rows, and the pool against d."""
    figure.set_size_inches(8.0, 3.8)
    axes = panel(
        figure, "public rows of one threshold", "error", log="xy", place=(1, 2, 1),
        title=f"one threshold out of {data['d']}",
    )  # fmt: skip
    public = [row["public"] for row in data["rows"]]
    axes.plot(public, [row["error"] for row in data["rows"]], "o-", color=COLORS[0], label="error")
    axes.plot(
        public, [row["empirical"] for row in data["rows"]], "s--", color=COLORS[1],
        label="on its own rows",
    )  # fmt: skip
    axes.plot(public, [1.0 / (2.0 * k) for k in public], ":", color=COLORS[5], label="1/(2 rows)")
    legend(axes)
    draw_lines(figure, "thresholds d", data["lines"], place=(1, 2, 2))


def read(data: Numbers) -> str:
    """Say what one threshold costs, and what d cost."""
    first = data["rows"][0]
    last = data["rows"][-1]
    gap = max(abs(row["error"] - row["empirical"]) for row in data["rows"])
    twice = all(row["error"] <= 2.0 * row["empirical"] + 0.01 for row in data["rows"])
    same = max(abs(row["error"] - row["by_cuts"]) for row in data["rows"])
    return (
        f"A semi-private learner (epsilon = {EPSILON}) of conjunctions of {data['d']} cuts on "
        f"1..{data['domain']} is turned into a learner of one: a {data['d']}th part of its public "
        f"rows belongs to that one. With {first['public']} public rows of its own (the learner "
        f"gets {first['rows_of_learner'][0]}) the mean error is {first['error']:.3f}, with "
        f"{last['public']} it is {last['error']:.4f}: like 1/rows, as many private rows as there "
        f"may be ({data['private']} here). Error on the population and on its own rows differ by "
        f"{gap:.4f} at most, so the empirical learner "
        f"{'is' if twice else 'is NOT'} a learner with twice its error. (The error by the place "
        f"of the cut agrees to {same:.1e}.) Public rows for a mean error of {data['alpha']}, as a "
        f"power of d: {said(data['lines'])}: d thresholds need d times the pool of one, which is "
        f"the lower bound d/alpha seen from above."
    )


LABELS = (
    "alg:semi-repl-dim-reduction",
    "thm:semi-private-dim-reduction",
    "thm:semi-supervised-repl-shared-lb",
    "lem:empirical-semi-private-learner-equivalence",
    "def:empirical-semi-private-learner",
)
SUMMARY = "a semi-private threshold learner out of one for conjunctions; public rows against d"
SIZES = {
    "tiny": {
        "domain": 200, "dimensions": [1, 4], "publics": [2, 16], "private": 200,
        "alpha": 0.1, "runs": 4,
    },
    "small": {
        "domain": 10_000, "dimensions": [1, 2, 4, 8, 16], "publics": [1, 2, 4, 8, 16, 32, 64],
        "private": 2000, "alpha": 0.03, "runs": 60,
    },
    "full": {
        "domain": 10**6, "dimensions": [1, 2, 4, 8, 16, 32],
        "publics": [1, 2, 4, 8, 16, 32, 64, 128], "private": 5000, "alpha": 0.03, "runs": 300,
    },
}  # fmt: skip
