"""A coin tester out of an approximately replicable learner: hardness amplification, run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from replearn_lab.coin_runs import differences, mean_throws, paired_predictions
from replearn_lab.distributions import RandomBias
from replearn_lab.drawing import COLORS, legend, limits, panel
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.learning import Learner, vote_learner
from replearn_lab.measuring import share, shown
from replearn_lab.reductions import CoinTesterFromApproximate

N_BLOCKS = 32


def measure(
    bench: Bench,
    *,
    d: int,
    alpha: float,
    gamma: float,
    throws: list[int],
    pairs: int,
    learner: Learner | None = None,
) -> Numbers:
    """For each number of rows: how often models are far apart, and how often the testers differ."""
    rows = []
    for n in throws:
        m = n * d
        tester = CoinTesterFromApproximate(learner or vote_learner(m, N_BLOCKS), d, alpha, m, 0.1)
        found = paired_predictions(bench, tester, RandomBias(alpha).draw, pairs, "random", m)
        rows.append(_counted(found, gamma, tester) | {"throws": mean_throws(found)})
    giving_up = CoinTesterFromApproximate(
        learner or vote_learner(throws[0] * d, N_BLOCKS), d, alpha, throws[0] * d, 0.1, 0.42
    )
    tried = paired_predictions(bench, giving_up, 0.0, max(2, pairs // 2), "giving up")
    return {
        "d": d,
        "alpha": alpha,
        "gamma": gamma,
        "pairs": pairs,
        "rows": rows,
        "gave_up": {
            "chance": giving_up.limit_chance,
            "seen": share(sum(one.gave_up for one, _ in tried), len(tried)),
            "answers": sorted({one.answer for one, _ in tried if one.gave_up}),
        },
    }


def _counted(found: Any, gamma: float, tester: CoinTesterFromApproximate) -> Numbers:
    """Count far pairs of models; the share of differing points is the tester's mean flip."""
    ran = [(one, two) for one, two in found if not (one.gave_up or two.gave_up)]
    distances = [one.coins.distance(one.labels, two.labels) for one, two in ran]
    return {
        "rows": tester.rows,
        "expected_throws": tester.expected_throws,
        "flips": differences(found),
        "far": share(sum(distance > gamma for distance in distances), len(ran)),
        "mean_distance": float(np.mean(distances)),
    }


def draw(data: Numbers, figure: Any) -> None:
    """Draw flips of the tester beside what the models' distances allow."""
    axes = panel(figure, "throws of the coin", "share of pairs", log="x")
    n = [row["expected_throws"] for row in data["rows"]]
    limits(axes, n, [row["flips"] for row in data["rows"]], "the tester flips", COLORS[0])
    limits(axes, n, [row["far"] for row in data["rows"]], "models differ on > gamma", COLORS[1])
    axes.plot(
        n, [row["mean_distance"] for row in data["rows"]], color=COLORS[2], label="mean distance"
    )
    axes.axhline(data["gamma"], ls=":", lw=1, color=COLORS[5], label="gamma")
    legend(axes)


def read(data: Numbers) -> str:
    """Compare the tester's flips with rho + gamma."""
    rows = data["rows"]
    claims = [row["far"][0] + data["gamma"] for row in rows]
    over = [row for row, claim in zip(rows, claims, strict=True) if row["flips"][1] > claim]
    agree = max(abs(row["flips"][0] - row["mean_distance"]) for row in rows)
    spread = max(row["mean_distance"] for row in rows)
    noise = 2.0 * math.sqrt(spread * (1.0 - spread) / data["pairs"])
    last = rows[-1]
    giving = data["gave_up"]
    return (
        f"Every point of a shattered set of {data['d']} is labelled by a coin of bias uniform in "
        f"+-{data['alpha']}; one of them, at a random place, is the unknown coin. The learner "
        f"cannot know which, so the tester flips as often as an average point: its flips agree "
        f"with the mean distance of the two models within {agree:.3f} (two standard errors are "
        f"{noise:.3f}; another --key gives other pairs). With "
        f"{last['expected_throws']:.0f} throws ({last['throws']:.1f} seen) the models differ on "
        f"more than gamma = {data['gamma']} in {shown(last['far'])} of {data['pairs']} pairs and "
        f"the tester flips in {shown(last['flips'])}. The lemma allows P(far) + gamma (and the "
        f"chance of giving up): exceeded in {len(over)} of {len(rows)} cells. The branch that "
        f"gives up, with its constant lowered, was taken in {shown(giving['seen'])} of the runs "
        f"({giving['chance']:.2f} expected) and answers {giving['answers']}."
    )


LABELS = (
    "alg:apx-repl-dim-reduction",
    "lem:dim-reduction-semi-replicable",
    "thm:approx-repl-d-lb",
    "def:dist-repl",
    "def:dist-acc",
)
SUMMARY = "a coin tester out of an approximate learner, against coins of random bias"
_SMALL = {"d": 9, "alpha": 0.3, "gamma": 0.15, "throws": [64, 128, 256, 512], "pairs": 200}
SIZES = {
    "tiny": {"d": 4, "alpha": 0.3, "gamma": 0.2, "throws": [64], "pairs": 4},
    "small": _SMALL,
    "full": {**_SMALL, "throws": [64, 128, 256, 512, 1024], "pairs": 600},
}
