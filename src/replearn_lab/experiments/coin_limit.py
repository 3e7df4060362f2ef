"""The exact limit of any rule that tells an all-heads coin from an all-tails coin."""

from __future__ import annotations

import math
from typing import Any

from replearn.bounds.flips import flip_supremum
from replearn.bounds.laws import arcsine_law, uniform_law
from replearn_lab.coin_limit import coin_limit, guaranteed_flips_exactly, information_limit
from replearn_lab.drawing import COLORS, legend, panel
from replearn_lab.experiment import Bench, Numbers

# Where sqrt(n) times the limit goes: evenly spent in the arcsine scale of length pi.
LAST_CONSTANT = 2.0 / math.pi**1.5
WIDTHS = (0.8, 0.85, 0.9, 0.94, 0.97, 0.98, 0.99, 0.995, 1.0)


def measure(bench: Bench, *, throws: list[int], exactly: int) -> Numbers:
    """Compute the limit, our laws and the paper's argument for each number of throws."""
    rows: list[Numbers] = []
    hardest: list[list[float]] = []
    for n in throws:
        bench.say(f"{n} throws")
        limit = coin_limit(n)
        assert limit is not None  # any rule that follows unanimous throws will do
        row = {
            "n": n,
            "lower": limit.lower,
            "upper": limit.upper,
            "arcsine": min(flip_supremum(arcsine_law(n, width)) for width in WIDTHS),
            "uniform": flip_supremum(uniform_law(n)),
            "information": information_limit(n),
            "inverse_n": 1.0 / n,
        }
        if n <= exactly:
            row["lower_rational"] = float(guaranteed_flips_exactly(n, limit.biases, limit.masses))
        rows.append(row)
        hardest = limit.to_dict()["adversary"]
    return {"rows": rows, "adversary": hardest}


def draw(data: Numbers, figure: Any) -> None:
    """Draw flips against throws, and the adversary of the longest game."""
    figure.set_size_inches(8.0, 3.8)
    rows = data["rows"]
    n = [row["n"] for row in rows]
    axes = panel(figure, "throws n", "worst flip probability", log="xy", place=(1, 2, 1))
    names = (
        ("uniform", "uniform law", "--"),
        ("arcsine", "arcsine law (ours)", "-"),
        ("upper", "best possible rule", "-"),
        ("information", "mutual-information bound", ":"),
        ("inverse_n", "1/n", ":"),
    )
    for (name, label, style), color in zip(names, COLORS, strict=False):
        axes.plot(n, [row[name] for row in rows], style, marker=".", color=color, label=label)
    legend(axes)
    other = panel(figure, "bias p", "mass", title=f"hardest biases, n = {n[-1]}", place=(1, 2, 2))
    biases, masses = zip(*data["adversary"], strict=True)
    other.vlines(biases, 0.0, masses, color=COLORS[0], lw=1)


def read(data: Numbers) -> str:
    """Say how far the arcsine law is from the best rule."""
    rows = data["rows"]
    last = rows[-1]
    ratios = [row["arcsine"] / row["lower"] for row in rows]
    gap = max(row["upper"] / row["lower"] - 1.0 for row in rows)
    constant = last["lower"] * math.sqrt(last["n"])
    exact = [row for row in rows if "lower_rational" in row]
    checked = all(abs(row["lower_rational"] - row["lower"]) < 1e-9 for row in exact)
    return (
        f"With {last['n']} throws no rule of any kind keeps the worst flip probability below "
        f"{last['lower']:.5f}, and one rule keeps it at {last['upper']:.5f}: the two certified "
        f"sides of the game are apart by {gap:.1e} at most (relative). The arcsine law, which the "
        f"learners use, has {last['arcsine']:.5f}; over all n shown it is between "
        f"{min(ratios):.3f} and {max(ratios):.3f} times the limit, the uniform law "
        f"{last['uniform'] / last['lower']:.2f} times at the end. The limit times sqrt(n) is "
        f"{constant:.4f} there and tends to 2/pi^1.5 = {LAST_CONSTANT:.4f}, so two runs that "
        f"differ with probability rho need about {LAST_CONSTANT**2:.3f}/rho^2 throws, and nothing "
        f"can be better. The mutual-information argument, with the best constants it admits, "
        f"proves {last['information'] / last['lower']:.2f} of the limit. A flip rate of 1/n is "
        f"out of reach from n = {_first_below(rows)} on. The lower sides were "
        f"{'confirmed' if checked else 'NOT confirmed'} in rational arithmetic for "
        f"{len(exact)} of {len(rows)} n."
    )


def _first_below(rows: list[Numbers]) -> str:
    below = [row["n"] for row in rows if row["inverse_n"] < row["lower"]]
    return str(below[0]) if below else "(none of these)"


LABELS = (
    "thm:0-1-bias-estimation",
    "def:0-1-bias-estimation",
    "clm:mi-alg-lb",
    "clm:sample-mi-ub",
)
SUMMARY = "the smallest flip probability that any rule for n throws of a coin can have"
_THROWS = [1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 100, 150]
SIZES = {
    "tiny": {"throws": [1, 4, 9], "exactly": 4},
    "small": {"throws": _THROWS, "exactly": 64},
    "full": {"throws": [*_THROWS, 250, 400, 600], "exactly": 100},
}
