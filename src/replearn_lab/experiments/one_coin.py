"""One coin: every deterministic rule is a coin toss somewhere; a shared threshold is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from replearn.bounds.flips import flip_curve
from replearn.bounds.laws import arcsine_law
from replearn_lab.deterministic import even_point
from replearn_lab.drawing import COLORS, legend, panel
from replearn_lab.experiment import Bench, Numbers

INDICES = 201
Rule = Callable[[int, int], bool]

# Rules for one coin, by heads and throws: whether they answer +1.
RULES: dict[str, Rule] = {
    "majority": lambda heads, n: 2 * heads > n,
    "cautious": lambda heads, n: heads > n / 2 + math.sqrt(n) / 2,
    "unanimous": lambda heads, n: heads == n,
    "by last digit": lambda heads, n: 2 * heads > n + math.sqrt(n) * (2 * (heads % 4) / 3 - 1),
}


def measure(bench: Bench, *, n: int) -> Numbers:
    """Find the even point of each rule, and the flips along all biases."""
    biases = np.linspace(-1.0, 1.0, INDICES)
    rows: list[Numbers] = []
    for name, rule in RULES.items():
        bench.say(name)
        accept = [Fraction(int(rule(heads, n))) for heads in range(n + 1)]
        place, chance = even_point(accept)
        rows.append(
            {
                "rule": name,
                "place": str(place),
                "place_as_float": float(place),
                "flips": float(2 * chance * (1 - chance)),
                "curve": _curve(accept, biases).tolist(),
            }
        )
    shared = flip_curve(arcsine_law(n, 0.99), (1.0 + biases) / 2.0)
    return {"n": n, "biases": biases.tolist(), "rows": rows, "shared": shared.tolist()}


def _curve(accept: list[Fraction], biases: Any) -> Any:
    from scipy.stats import binom

    heads = np.arange(len(accept))
    pmf = binom.pmf(heads, len(accept) - 1, (1.0 + biases[:, np.newaxis]) / 2.0)
    chance = np.clip(pmf @ np.array(accept, dtype=float), 0.0, 1.0)
    return 2.0 * chance * (1.0 - chance)


def draw(data: Numbers, figure: Any) -> None:
    """Draw flips against the bias for every rule, and for a shared threshold."""
    axes = panel(figure, "bias of the coin", "flip probability", title=f"{data['n']} throws")
    for row, color in zip(data["rows"], COLORS[1:], strict=False):
        axes.plot(data["biases"], row["curve"], color=color, lw=1.2, label=row["rule"])
    axes.plot(data["biases"], data["shared"], color=COLORS[0], lw=2, label="shared threshold")
    axes.set_ylim(0.0, 0.55)
    legend(axes, loc="upper left")


def read(data: Numbers) -> str:
    """Say where the rules are even."""
    rows = data["rows"]
    places = ", ".join(f"{row['rule']} at bias {row['place_as_float']:.4f}" for row in rows)
    least = min(row["flips"] for row in rows)
    return (
        f"The chance of answer +1 is a polynomial of the bias that rises from 0 to 1, so it "
        f"passes through 1/2, and there two runs are two fair coins. With {data['n']} throws: "
        f"{places}. At these rational biases the exact flip probability is at least "
        f"{least:.6f} for every one of the {len(rows)} rules. The same throws with one shared "
        f"random threshold flip with probability {max(data['shared']):.4f} at most: the shared "
        f"number moves the even point to another place for every key, and no bias is the bad "
        f"one for many keys. This is why pointwise and semi-replicable learners need a shared "
        f"random number: one point labelled by such a coin is enough."
    )


LABELS = ("thm:non-uniform-repl-lb", "def:repl")
SUMMARY = "every deterministic rule for one coin is a coin toss at some bias"
SIZES = {"tiny": {"n": 9}, "small": {"n": 64}, "full": {"n": 200}}
