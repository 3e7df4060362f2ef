"""Deterministic learners of two points: each gives opposite labels to both somewhere."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from replearn_lab.deterministic import LIKELY, OUTCOMES, rule_of_learner
from replearn_lab.drawing import COLORS, legend, panel
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.learning import Learner, keyed, vote_learner


def measure(bench: Bench, *, n: int, n_blocks: int, learner: Learner | None = None) -> Numbers:
    """Reduce each learner of n rows to a rule for two coins; exact sides and meeting point."""
    learners = {"yours": learner} if learner is not None else _learners(n, n_blocks)
    rows = []
    for name, one in learners.items():
        bench.say(name)
        rule = rule_of_learner(one, n, name)
        sides = rule.sides()
        meeting = rule.meeting()
        rows.append(
            {
                "learner": name,
                "accurate": all(side.certified for side in sides),
                "least_chance": float(min(side.chance for side in sides)),
                "point": [float(value) for value in meeting.point],
                "labels": [list(OUTCOMES[index]) for index in meeting.pair],
                "chances": [float(meeting.chances[index]) for index in meeting.pair],
                "both_likely": min(meeting.chances[index] for index in meeting.pair) >= LIKELY,
                "opposite": float(meeting.opposite),
            }
        )
    return {"n": n, "n_blocks": n_blocks, "rows": rows}


def _learners(n: int, n_blocks: int) -> dict[str, Learner]:
    return {
        "decision tree": keyed(DecisionTreeClassifier()),
        "logistic regression": keyed(LogisticRegression(C=100)),
        "nearest neighbour": keyed(KNeighborsClassifier(1)),
        "vote, one key for ever": vote_learner(n, n_blocks),
    }


def draw(data: Numbers, figure: Any) -> None:
    """Draw the chances of the two opposite pairs of labels at each learner's point."""
    axes = panel(figure, "", "probability")
    names = [row["learner"] for row in data["rows"]]
    for part in (0, 1):
        heights = [row["chances"][part] for row in data["rows"]]
        axes.bar([k + 0.3 * part for k in range(len(names))], heights, 0.28, color=COLORS[part])
    axes.axhline(float(LIKELY), ls="--", lw=1, color=COLORS[2], label="likely")
    axes.set_xticks([k + 0.15 for k in range(len(names))], names, fontsize=8)
    legend(axes)


def read(data: Numbers) -> str:
    """Say where each learner contradicts itself."""
    rows = data["rows"]
    accurate = [row for row in rows if row["accurate"]]
    failing = [row for row in accurate if row["both_likely"]]
    found = "; ".join(
        f"{row['learner']} at biases ({row['point'][0]:.3f}, {row['point'][1]:.3f}): labels "
        f"{row['labels'][0]} and {row['labels'][1]} with probabilities {row['chances'][0]:.3f} and "
        f"{row['chances'][1]:.3f}, opposite in two runs with probability {row['opposite']:.3f}"
        for row in failing
    )
    wrong = ", ".join(
        f"{row['learner']} (right with probability {row['least_chance']:.3f} on its worst side)"
        for row in rows
        if not row["accurate"]
    )
    return (
        f"A deterministic learner of {data['n']} rows, drawn evenly from two points that are "
        f"labelled by two coins, is a rule for two coins; its outcome probabilities are computed "
        f"exactly by giving it every sample once. {len(accurate)} of {len(rows)} learners are "
        f"right with probability 0.99 wherever a coin always shows one face, certified in exact "
        f"arithmetic. At some pair of biases both labels are likely to be opposite in two runs, "
        f"found for {len(failing)} of them: {found or 'none'}. A replicable vote whose key is a "
        f"constant of the program is such a learner: only a key that is drawn after the population "
        f"is fixed makes its promise true. Not accurate: {wrong or 'none'}."
    )


LABELS = ("thm:shared-randomness-apx-repl-lb", "thm:shared-randomness-lb")
SUMMARY = "deterministic learners, any of them, contradict themselves on two points somewhere"
SIZES = {
    "tiny": {"n": 4, "n_blocks": 2},
    "small": {"n": 18, "n_blocks": 2},
    "full": {"n": 20, "n_blocks": 2},
}
