"""A coin tester out of a pointwise replicable learner: the agnostic lower bound, run."""

from __future__ import annotations

from typing import Any

from replearn.bounds.flips import flip_supremum
from replearn.bounds.laws import uniform_law
from replearn_lab.coin_limit import coin_limit
from replearn_lab.coin_runs import paired_predictions, sweep
from replearn_lab.drawing import COLORS, legend, limits, panel
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.learning import Learner, TableLearner, keyed, vote_learner
from replearn_lab.measuring import shown
from replearn_lab.reductions import CoinTesterFromPointwise

N_BLOCKS = 32
ALLOWED = 0.1


def measure(
    bench: Bench,
    *,
    d: int,
    alpha: float,
    throws: list[int],
    pairs: int,
    limited: int,
    learner: Learner | None = None,
) -> Numbers:
    """Sweep the rows; beside each the exact limit for as many throws and the error measured."""
    promised = flip_supremum(uniform_law(N_BLOCKS))
    rows = [n * (2 * d + 1) for n in throws]

    def tester(learner: Any, m: int, factor: float | None = None) -> CoinTesterFromPointwise:
        return CoinTesterFromPointwise(learner, d, alpha, m, promised, factor)

    def voting(m: int) -> Learner:
        return learner or vote_learner(m, N_BLOCKS)

    makers = {
        "voting": lambda m: tester(voting(m), m),
        "plain": lambda m: tester(keyed(TableLearner()), m),
    }
    found = sweep(bench, makers, rows, (-alpha, alpha), pairs)
    for row in found:
        limit = coin_limit(round(row["expected_throws"]), alpha=alpha, beta=ALLOWED)
        row["limit_flips"] = None if limit is None else limit.lower
    # The branch that gives up, made likely by a small constant.
    giving_up = tester(voting(rows[0]), rows[0], 0.15)
    tried = paired_predictions(bench, giving_up, 0.0, limited, "giving up")
    return {
        "d": d,
        "alpha": alpha,
        "learner": "yours" if learner else "our learner",
        "promised": promised,
        "pairs": pairs,
        "rows": found,
        "gave_up": {
            "limit": giving_up.limit,
            "chance": giving_up.limit_chance,
            "seen": sum(one.gave_up for one, _ in tried) / limited,
            "runs": limited,
        },
    }


def draw(data: Numbers, figure: Any) -> None:
    """Draw flips and errors against the throws."""
    figure.set_size_inches(8.0, 3.8)
    titles = (("voting", _name(data)), ("plain", "majority table"))
    for place, (name, title) in enumerate(titles):
        axes = panel(figure, "throws of the coin", "share", title=title, place=(1, 2, place + 1))
        rows = [row for row in data["rows"] if row["learner"] == name]
        n = [row["expected_throws"] for row in rows]
        limits(axes, n, [row["flips"] for row in rows], "flips, fair coin", COLORS[0])
        limits(axes, n, [row["error"] for row in rows], "error at +-alpha", COLORS[1])
        known = [row for row in rows if row["limit_flips"] is not None]
        axes.plot(
            [row["expected_throws"] for row in known],
            [row["limit_flips"] for row in known],
            color=COLORS[2],
            label=f"least flips of any rule\nwith error {ALLOWED}",
        )
        axes.axhline(data["promised"], ls="--", lw=1, color=COLORS[0])
        axes.axhline(ALLOWED, ls=":", lw=1, color=COLORS[1])
        axes.set_ylim(0.0, 0.75)
        legend(axes)


def _name(data: Numbers) -> str:
    return data.get("learner", "our learner")


def _promise(data: Numbers) -> str:
    return "Our learner promises" if _name(data) == "our learner" else "Your learner is held to"


def read(data: Numbers) -> str:
    """Say from how many throws on the learner is accurate, and what the limit is."""
    ours = [row for row in data["rows"] if row["learner"] == "voting"]
    plain = [row for row in data["rows"] if row["learner"] == "plain"]
    accurate = [row for row in ours if row["error"][0] <= ALLOWED]
    possible = [
        row
        for row in ours
        if row["limit_flips"] is not None and row["limit_flips"] <= data["promised"]
    ]
    below = [
        row
        for row in data["rows"]
        if row["error"][2] <= ALLOWED
        and row["limit_flips"]
        and row["flips"][2] < row["limit_flips"]
    ]
    first = f"{accurate[0]['expected_throws']:.0f}" if accurate else "none of these"
    least = f"{possible[0]['expected_throws']:.0f}" if possible else "more than these"
    off = max(abs(row["throws"] / row["expected_throws"] - 1.0) for row in data["rows"])
    broken = [row for row in ours if row["flips"][1] > data["promised"]]
    giving = data["gave_up"]
    return (
        f"One unknown coin hides among {2 * data['d']} coins of bias +-{data['alpha']} on a "
        f"shattered set; the learner's label of its point is the test. The throws used agree with "
        f"m/(2d+1) within {off:.1%}. {_promise(data)} {data['promised']:.4f} for a point: "
        f"{'kept' if not broken else 'BROKEN'} at every m, with flips from "
        f"{min(row['flips'] for row in ours)[0]:.3f} to "
        f"{max(row['flips'] for row in ours)[0]:.3f}. "
        f"With too few rows accuracy gives way instead: the error at +-alpha falls from "
        f"{shown(ours[0]['error'])} to {shown(ours[-1]['error'])} and is at most {ALLOWED} from "
        f"{first} throws on. The exact limit lets some rule do both from {least} throws on, so "
        f"the vote pays the rest for being a vote of small blocks. The plain majority is accurate "
        f"early (error {plain[0]['error'][0]:.3f} at {plain[0]['expected_throws']:.0f} throws) and "
        f"flips in {plain[-1]['flips'][0]:.3f} of the pairs however many throws it has. Cells that "
        f"are accurate and flip less than any rule can: {len(below)} (0 expected). The paper's "
        f"limit of throws is reached with probability {ours[0]['limit_chance']:.1e}; lowered to "
        f"{giving['limit']:.0f} throws the tester gave up in {giving['seen']:.2f} of "
        f"{giving['runs']} runs, {giving['chance']:.2f} expected."
    )


LABELS = ("alg:non-uniform-bias-estimator", "thm:non-uniform-repl-lb", "def:one-way-marginals")
SUMMARY = "a coin tester out of a pointwise learner: how few rows before it breaks"
_SMALL = {"d": 5, "alpha": 0.3, "throws": [40, 80, 160, 320, 640], "pairs": 60, "limited": 60}
SIZES = {
    "tiny": {"d": 2, "alpha": 0.4, "throws": [40, 64], "pairs": 2, "limited": 2},
    "small": _SMALL,
    "full": {**_SMALL, "throws": [40, 80, 160, 320, 640, 1280], "pairs": 600, "limited": 400},
}
