"""Our own learner without its key: a fresh key per run, none, and a key by position."""

from __future__ import annotations

from typing import Any

import numpy as np

from replearn.bounds.flips import flip_supremum
from replearn.bounds.laws import uniform_law
from replearn_lab.distributions import shattered
from replearn_lab.drawing import COLORS, legend, limits, panel
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.learning import vote_learner
from replearn_lab.measuring import share, shown

N_BLOCKS = 33
N_POINTS = 2
NARROWEST = 1e-6  # the threshold is one half, as in a plain majority of the blocks


def measure(bench: Bench, *, pairs: int, n: int) -> Numbers:
    """Train pairs of models on fair coins, and count where they differ."""
    coins = shattered(np.zeros(N_POINTS))
    rows = {name: {"flips": 0, "both": 0} for name in ("shared", "fresh", "none", "position")}
    for pair in range(pairs):
        bench.say(f"pair {pair} of {pairs}")
        samples = [coins.draw(bench.rng("rows", pair, run), n) for run in (0, 1)]
        for name, counts in rows.items():
            answers = [
                _as_predictions(bench, name, pair, run, sample, coins.points)
                for run, sample in enumerate(samples)
            ]
            differ = answers[0] != answers[1]
            counts["flips"] += int(differ[0])
            counts["both"] += int(differ.all())
    return {
        "pairs": pairs,
        "n": n,
        "n_blocks": N_BLOCKS,
        "promised": flip_supremum(uniform_law(N_BLOCKS)),
        "rows": {
            name: {what: share(count, pairs) for what, count in counts.items()}
            for name, counts in rows.items()
        },
    }


def _as_predictions(bench: Bench, name: str, pair: int, run: int, sample: Any, points: Any) -> Any:
    """Train one run and predict the points, keyed in the way that has this name."""
    key = bench.key.child("pair", pair)
    if name == "fresh":
        key = key.child("run", run)
    width = NARROWEST if name == "none" else 1.0
    model = vote_learner(len(sample[1]), N_BLOCKS, width=width)(sample[0], sample[1], key)
    if name != "position":
        return model.predict(points)
    # The second lab reads the same points in another order, and counts them as it reads.
    order = np.roll(np.arange(len(points)), run)
    answers = np.empty(len(points), dtype=np.intp)
    answers[order] = model.predict(points[order], ids=np.arange(len(points)))
    return answers


def draw(data: Numbers, figure: Any) -> None:
    """Draw flips of one point, and of both, for each way of keying."""
    axes = panel(figure, "", "share of pairs of runs")
    names = list(data["rows"])
    places = np.arange(len(names))
    for shift, what, label, color in (
        (-0.1, "flips", "one fixed point flips", COLORS[0]),
        (0.1, "both", "both points flip", COLORS[1]),
    ):
        limits(axes, places + shift, [data["rows"][name][what] for name in names], label, color)
    axes.axhline(data["promised"], color=COLORS[0], lw=1, ls="--", label="promised for one point")
    axes.set_xticks(places, [f"{name} key" if name != "none" else "no key" for name in names])
    axes.set_ylim(0.0, 0.7)
    legend(axes)


def read(data: Numbers) -> str:
    """Compare the four ways of keying."""
    rows = data["rows"]
    promised = data["promised"]
    kept = rows["shared"]["flips"][1] <= promised
    broken = [name for name in rows if rows[name]["flips"][1] > promised]
    return (
        f"Two points, both labelled by fair coins; {data['pairs']} pairs of runs with "
        f"{data['n']} rows and {data['n_blocks']} blocks each. The promise for one point is "
        f"{promised:.4f}. With a shared key the point flips in {shown(rows['shared']['flips'])} "
        f"of the pairs, which {'agrees with' if kept else 'CONTRADICTS'} the promise. With a "
        f"fresh key in each run: {shown(rows['fresh']['flips'])}; without a key, that is by plain "
        f"majority of the blocks: {shown(rows['none']['flips'])}; with random numbers keyed by "
        f"the position in the batch, which the second lab reads in another order: "
        f"{shown(rows['position']['flips'])}. (Blocks break their ties towards one label, so "
        f"the plain majority is even at a bias a little off the fair coin.) Broken: "
        f"{', '.join(broken) or 'none'}. Both points flip together in "
        f"{shown(rows['shared']['both'])} of the pairs with a shared key and in "
        f"{rows['fresh']['both'][0]:.3f}, {rows['none']['both'][0]:.3f} and "
        f"{rows['position']['both'][0]:.3f} without; a model that is "
        f"(0.01, 0.5)-approximately replicable may do so in 0.01."
    )


LABELS = ("thm:shared-randomness-apx-repl-lb", "thm:non-uniform-repl-lb")
SUMMARY = "our learner with a shared key, a fresh key per run, no key, and a key by position"
SIZES = {
    "tiny": {"pairs": 2, "n": 330},
    "small": {"pairs": 150, "n": 330},
    "full": {"pairs": 2000, "n": 660},
}
