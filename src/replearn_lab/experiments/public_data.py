"""A private learner out of a semi-private one: public rows that say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from replearn_lab.distributions import threshold_rows
from replearn_lab.drawing import COLORS, legend, panel
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.measuring import share, shown
from replearn_lab.private import PrivateFromSemiPrivate, PublicCutsLearner

EPSILON = 1.0


def measure(bench: Bench, *, domain: int, publics: list[int], private: int, runs: int) -> Numbers:
    """Run the reduction for several sizes of the public sample."""
    rows = []
    for public in publics:
        bench.say(f"{public} public rows")
        rows.append(_reduced(bench, domain, public, private, runs))
    return {"domain": domain, "private": private, "runs": runs, "rows": rows}


def _reduced(bench: Bench, domain: int, public: int, private: int, runs: int) -> Numbers:
    """Measure the semi-private learner on the mixture, and the private one behind it."""
    learner = PublicCutsLearner(EPSILON)
    reduced = PrivateFromSemiPrivate(learner, public, private)
    thin = 1.0 / (100 * public)
    mixture = []
    behind = []
    failed = 0
    blind = 0
    for run in range(runs):
        rng = bench.rng("runs", public, run)
        cut = float(rng.integers(1, domain + 1))
        # The semi-private learner, on honest public rows of the mixture.
        samples = []
        for n in (public, private):
            X, y = threshold_rows(rng, cut, n, domain)
            dummies = rng.random(n) >= thin
            X[dummies] = 0.0
            y[dummies] = 1
            samples.append((X, y))
        blind += not samples[0][0].any()
        mixture.append(thin * abs(learner(samples[0], samples[1], rng).cuts[0] - cut) / domain)
        # The private learner, which sees only real rows.
        real = threshold_rows(rng, cut, reduced.rows, domain)
        model = reduced(real, ([0.0], 1), rng)
        failed += model is None
        behind.append(1.0 if model is None else abs(model.cuts[0] - cut) / domain)
    alpha = float(np.mean(mixture))
    return {
        "public": public,
        "rows": reduced.rows,
        "alpha": alpha,
        "claimed": reduced.error_factor * alpha,
        "error": float(np.mean(behind)),
        "out_of_rows": share(failed, runs),
        "blind": share(blind, runs),
    }


def draw(data: Numbers, figure: Any) -> None:
    """Draw the private learner's error beside what the lemma allows."""
    axes = panel(figure, "public rows of the semi-private learner", "error", log="x")
    public = [row["public"] for row in data["rows"]]
    for name, label, style, color in (
        ("error", "private learner", "o-", COLORS[0]),
        ("claimed", "100 n_pub times the error on the mixture", "s--", COLORS[1]),
    ):
        axes.plot(public, [row[name] for row in data["rows"]], style, color=color, label=label)
    axes.set_ylim(0.0, 1.0)
    legend(axes)


def read(data: Numbers) -> str:
    """Say what becomes of the accuracy."""
    rows = data["rows"]
    first = rows[0]
    last = rows[-1]
    ratio = [row["error"] / row["claimed"] for row in rows if row["claimed"] > 0]
    sizes = f"{first['public']} to {last['public']}"
    return (
        f"A row of the mixture is a dummy with probability 1 - 1/(100 n_pub), so {sizes} honest "
        f"public rows are all dummies in {shown(first['blind'])} to {shown(last['blind'])} of "
        f"{data['runs']} runs (0.99 by design), and the private learner may invent them. It uses "
        f"{first['rows']} to {last['rows']} rows where the semi-private one has "
        f"{data['private']}, and runs out of them in {shown(last['out_of_rows'])} of the runs at "
        f"most. Its mean error is {first['error']:.3f} to {last['error']:.3f}; the lemma allows "
        f"100 n_pub times the error on the mixture, of which it takes {min(ratio):.2f} to "
        f"{max(ratio):.2f}. This semi-private learner cuts at public points only: with nothing "
        f"but dummies it cannot cut at all, and its error on the mixture stays near "
        f"1/(200 n_pub), however many private rows it has. For every learner the theorem says "
        f"the same as the domain grows, through log* of its size, which no machine can make "
        f"large: 1/alpha shared rows are necessary for thresholds."
    )


LABELS = ("lem:public-data-reduction", "thm:threshold-semi-supervised-repl-shared-lb")
SUMMARY = "a private learner out of a semi-private one, whose public rows say nothing"
SIZES = {
    "tiny": {"domain": 100, "publics": [1, 3], "private": 2000, "runs": 6},
    "small": {"domain": 10_000, "publics": [1, 2, 4, 8, 16], "private": 40_000, "runs": 150},
    "full": {"domain": 10**6, "publics": [1, 2, 4, 8, 16, 32], "private": 200_000, "runs": 400},
}
