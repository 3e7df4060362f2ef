"""Littlestone dimension of finite pools, and the mistakes of online learners on them."""

from __future__ import annotations

from typing import Any

import numpy as np

from replearn.paper.hypotheses import Intervals, Thresholds
from replearn_lab.distributions import numbered
from replearn_lab.drawing import COLORS, legend, panel
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.littlestone import (
    by_dimension,
    first_consistent,
    halving,
    littlestone_dimension,
    worst_mistakes,
)

LEARNERS = {"by dimension": by_dimension, "halving": halving, "first": first_consistent}


def measure(
    bench: Bench, *, thresholds: list[int], intervals: list[int], singletons: list[int]
) -> Numbers:
    """Compute dimensions and worst-case mistakes of each class on pools of each size."""
    rows = []
    for name, sizes in (
        ("thresholds", thresholds),
        ("intervals", intervals),
        ("singletons", singletons),
    ):
        for n in sizes:
            bench.say(f"{name} on {n} points")
            labels = _labels(name, n)
            mistakes = {word: worst_mistakes(labels, rule) for word, rule in LEARNERS.items()}
            rows.append(
                {
                    "class": name,
                    "points": n,
                    "hypotheses": len(labels),
                    "vc": _vc_dimension(labels),
                    "littlestone": littlestone_dimension(labels),
                    "mistakes": mistakes,
                }
            )
    return {"rows": rows}


def _labels(name: str, n: int) -> Any:
    """Return the labels of all hypotheses of a class on n points of a line."""
    if name == "singletons":
        return np.vstack([np.zeros((1, n), dtype=bool), np.eye(n, dtype=bool)])
    hypotheses: Any = {"thresholds": Thresholds(">"), "intervals": Intervals()}[name]
    return np.vstack([block.labels for block in hypotheses.dichotomies(numbered(n))])


def _vc_dimension(labels: Any) -> int:
    """Return the size of the largest shattered set; none of these classes shatters three points."""
    n = labels.shape[1]
    kinds = [[len(np.unique(labels[:, [i, j]], axis=0)) for i in range(n)] for j in range(n)]
    pairs = np.array(kinds)
    return 2 if (pairs == 4).any() else 1 if (pairs >= 2).any() else 0


def draw(data: Numbers, figure: Any) -> None:
    """Draw the dimensions against the size of the pool."""
    axes = panel(figure, "points of the pool", "mistakes", log="x")
    names = dict.fromkeys(row["class"] for row in data["rows"])
    for color, name in zip(COLORS, names, strict=False):
        rows = [row for row in data["rows"] if row["class"] == name]
        points = [row["points"] for row in rows]
        axes.plot(points, [row["littlestone"] for row in rows], "o-", color=color, label=name)
        halved = [row["mistakes"]["halving"] for row in rows]
        axes.plot(points, halved, "x:", color=color, label=f"{name}, halving")
    legend(axes)


def read(data: Numbers) -> str:
    """Say how the dimensions grow, and whether mistakes equal them."""
    rows = data["rows"]
    optimal = [row for row in rows if row["mistakes"]["by dimension"] == row["littlestone"]]
    cuts = [row for row in rows if row["class"] == "thresholds"]
    exact = [row for row in cuts if row["littlestone"] == (row["points"] + 1).bit_length() - 1]
    last = cuts[-1]
    largest = {row["class"]: row for row in rows if row["class"] != "thresholds"}
    others = "; ".join(
        f"{name} on {row['points']} points: dimension {row['littlestone']}, worst case "
        f"of halving {row['mistakes']['halving']}"
        for name, row in largest.items()
    )
    others = others[0].upper() + others[1:]
    return (
        f"The Littlestone dimension of a class on a pool, by recursion over the hypotheses that "
        f"are left. Thresholds on {last['points']} points have VC dimension {last['vc']} and "
        f"Littlestone dimension {last['littlestone']}; it is the integer part of log2(points + 1) "
        f"in {len(exact)} of {len(cuts)} pools, so on the line it is infinite. The learner that "
        f"predicts the label of larger dimension makes as many mistakes in the worst case as the "
        f"dimension says in {len(optimal)} of {len(rows)} cases (all expected); a learner that "
        f"takes the first consistent threshold makes {last['mistakes']['first']}. {others}. What "
        f"private learning needs grows with log* of this dimension, which is at most 5 for every "
        f"pool that fits into a machine: that bound stays out of reach of a measurement."
    )


LABELS = ("def:littlestone", "thm:private-implies-finite-littlestone")
SUMMARY = "the Littlestone dimension of finite pools, and mistakes of online learners"
_SMALL = {
    "thresholds": [1, 3, 7, 15, 31],
    "intervals": [2, 4, 6, 8, 10],
    "singletons": [2, 8, 16],
}
SIZES = {
    "tiny": {"thresholds": [1, 3, 6], "intervals": [3], "singletons": [3]},
    "small": _SMALL,
    "full": {**_SMALL, "thresholds": [1, 3, 7, 15, 31, 63]},
}
