"""Two coins: every deterministic rule gives opposite answers somewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from replearn_lab.deterministic import LIKELY, OUTCOMES, RULES, rule_of_counts
from replearn_lab.drawing import COLORS, panel
from replearn_lab.experiment import Bench, Numbers

INDICES = 81


def measure(bench: Bench, *, n: int) -> Numbers:
    """Examine every rule: exact sides, exact meeting point, regions for the figure."""
    grid = np.linspace(-1.0, 1.0, INDICES)
    rows = []
    for rule in (rule_of_counts(function, n) for function in RULES):
        bench.say(rule.name)
        meeting = rule.meeting()
        sides = rule.sides()
        regions = (rule.chances(grid, grid) >= float(LIKELY)) @ (1 << np.arange(4))
        rows.append(
            {
                "rule": rule.name,
                "sides": {
                    side.name: {
                        "certified": side.certified,
                        "place": str(side.place),
                        "chance": str(side.chance),
                    }
                    for side in sides
                },
                "accurate": all(side.certified for side in sides),
                "point": [str(value) for value in meeting.point],
                "point_as_floats": [float(value) for value in meeting.point],
                "answers": [list(OUTCOMES[place]) for place in meeting.pair],
                "chances": [float(meeting.chances[place]) for place in meeting.pair],
                "both_likely": min(meeting.chances[place] for place in meeting.pair) >= LIKELY,
                "opposite": float(meeting.opposite),
                # one hexadecimal digit per pair of biases: which answers are likely there, as bits
                "regions": ["".join(f"{value:x}" for value in row) for row in regions.tolist()],
            }
        )
    return {"n": n, "rows": rows}


def draw(data: Numbers, figure: Any) -> None:
    """Draw the regions in which each answer is likely, as the paper's figure does."""
    figure.set_size_inches(7.2, 3.0)
    rows = [row for row in data["rows"] if row["accurate"]][:4]
    for place, row in enumerate(rows):
        axes = panel(
            figure, "bias of coin 1", "", title=row["rule"], place=(1, len(rows), place + 1)
        )
        regions = np.array([[int(digit, 16) for digit in line] for line in row["regions"]]).T
        for answer, color in zip(
            range(4), ("#e08a3c", "#4a7fc1", "#5aa469", "#e8d15a"), strict=True
        ):
            inside = np.ma.masked_equal((regions >> answer) & 1, 0)
            axes.imshow(
                inside, origin="lower", extent=(-1, 1, -1, 1), cmap=_plain(color), alpha=0.55
            )
        axes.plot(*row["point_as_floats"], "o", ms=5, color=COLORS[1])
        axes.grid(visible=False)
        axes.set_xticks([-1, 0, 1])
        axes.set_yticks([-1, 0, 1] if place == 0 else [])
        if place == 0:
            axes.set_ylabel("bias of coin 2")


def _plain(color: str) -> Any:
    from matplotlib.colors import ListedColormap

    return ListedColormap([color])


def read(data: Numbers) -> str:
    """Say where each rule fails."""
    accurate = [row for row in data["rows"] if row["accurate"]]
    others = [row for row in data["rows"] if not row["accurate"]]
    failing = [row for row in accurate if row["both_likely"]]
    places = "; ".join(
        f"{row['rule']} at ({row['point_as_floats'][0]:.3f}, {row['point_as_floats'][1]:.3f}), "
        f"answers {row['answers'][0]} and {row['answers'][1]} with probabilities "
        f"{row['chances'][0]:.3f} and {row['chances'][1]:.3f}, opposite in two runs with "
        f"probability {row['opposite']:.3f}"
        for row in failing
    )
    wrong = "; ".join(
        f"{row['rule']} on the side {name}, right with probability {side['chance']} only"
        for row in others
        for name, side in row["sides"].items()
        if not side["certified"]
    )
    least = min((row["opposite"] for row in failing), default=0.0)
    return (
        f"{len(accurate)} of {len(data['rows'])} deterministic rules of {data['n']} throws are "
        f"right on all four sides of the square, certified in exact arithmetic. The theorem then "
        f"says that two opposite answers are both likely (at least 0.1) at some pair of biases; "
        f"this was found for {len(failing)} of them, with rational biases and exact "
        f"probabilities: {places}. The least of these chances of opposite answers is "
        f"{least:.3f}, where 0.02 would refute the claim already. Not accurate: "
        f"{wrong or 'none'}. In the figure each color is the region where one answer is likely: "
        f"the point is where two opposite regions overlap."
    )


LABELS = (
    "thm:shared-randomness-lb",
    "thm:shared-randomness-apx-repl-lb",
    "thm:poincare-miranda",
    "fig:poincare-miranda",
    "def:apx-repl-sign-one-way",
)
SUMMARY = "without shared randomness opposite answers for two coins are both likely somewhere"
SIZES = {"tiny": {"n": 5}, "small": {"n": 25}, "full": {"n": 61}}
