"""What can n promise: the best certified rho, the proofs' constants, and what is impossible."""

from __future__ import annotations

import math
from typing import Any

from scipy.stats import binom

from replearn.bounds.flips import flip_supremum
from replearn.bounds.laws import uniform_law
from replearn.bounds.selection import smallest_sample_selection
from replearn.guarantees.votes import block_size_needed
from replearn.paper.thresholds import smallest_sample_threshold
from replearn.records.search import bisect, smallest_integer
from replearn_lab.coin_limit import information_limit_in_gap
from replearn_lab.drawing import COLORS, legend, panel
from replearn_lab.experiment import Bench, Numbers

BETA = 0.05
D = 10
GAMMA = 0.1
MAX_BLOCKS = 10**6
LEARNERS = ("pointwise", "pointwise, realizable", "thresholds", "semi-replicable")


def measure(bench: Bench, *, rows: list[int], alphas: list[float]) -> Numbers:
    """Find the best rho of each learner for every n."""
    found = []
    for alpha in alphas:
        for n in rows:
            bench.say(f"alpha {alpha}, n = {n:.0e}")
            found.append(
                {
                    "alpha": alpha,
                    "n": n,
                    "pointwise": _vote(n, alpha, realizable=False),
                    "pointwise, realizable": _vote(n, alpha, realizable=True),
                    "thresholds": _smallest_rho(n, smallest_sample_threshold, GAMMA, alpha, BETA),
                    # for a cover of the d shattered points, the smallest there is
                    "semi-replicable": _smallest_rho(
                        n, smallest_sample_selection, alpha, BETA, 2**D
                    ),
                    "proofs": _by_the_proofs(n, alpha),
                    "impossible": _impossible(n, alpha),
                }
            )
    return {"d": D, "beta": BETA, "gamma": GAMMA, "rows": found}


def _blocks(n: int, size: Any) -> int:
    """Return the largest number of blocks of the size that so many blocks need; 0: not one."""
    too_many = smallest_integer(lambda blocks: blocks * size(blocks) > n, limit=MAX_BLOCKS)
    return MAX_BLOCKS if too_many is None else too_many - 1


def _vote(n: int, alpha: float, *, realizable: bool) -> float | None:
    blocks = _blocks(n, lambda t: block_size_needed(D, alpha, BETA, t, 1, realizable, 0.0))
    return flip_supremum(uniform_law(blocks)) if blocks else None


def _by_the_proofs(n: int, alpha: float) -> float | None:
    """Return rho of T = 200/rho^2 blocks of m(alpha/3, beta/(4T)) rows."""
    blocks = _blocks(n, lambda t: block_size_needed(D, alpha / 3, BETA / 4, t, 1, False, 0.0))
    return min(1.0, math.sqrt(200.0 / blocks)) if blocks else None


def _smallest_rho(n: int, needed: Any, *asked: float) -> float | None:
    def enough(rho: float) -> bool:
        return bool(needed(rho, *asked)[0] <= n)

    return bisect(enough, 0.999, 1e-6, tolerance=1e-4) if enough(0.999) else None


def _impossible(n: int, alpha: float) -> float:
    """Return a rho that no pointwise learner of dimension d reaches with n rows; 0: nothing proved.

    The coin hides among 2k others (2k + 1 <= d), and its error is at most
    beta + alpha (2k + 1) / (gap (k + 1)).
    """
    k = (D - 1) // 2
    points = 2 * k + 1
    miss = 1e-12
    throws = int(binom.isf(miss, n, 1.0 / points))
    best = 0.0
    for gap in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99):
        beta = BETA + alpha * points / (gap * (k + 1)) + miss
        best = max(best, information_limit_in_gap(throws, gap, beta) - 2.0 * miss)
    return best


def draw(data: Numbers, figure: Any) -> None:
    """Draw rho against n for each accuracy."""
    figure.set_size_inches(8.0, 3.8)
    alphas = sorted({row["alpha"] for row in data["rows"]})
    for place, alpha in enumerate(alphas):
        axes = panel(
            figure, "rows n", "rho", log="xy", title=f"alpha = {alpha}",
            place=(1, len(alphas), place + 1),
        )  # fmt: skip
        rows = [row for row in data["rows"] if row["alpha"] == alpha]
        styles = [*((name, "o-") for name in LEARNERS), ("proofs", "s--"), ("impossible", ":")]
        for (name, style), color in zip(styles, COLORS, strict=False):
            known = [(row["n"], row[name]) for row in rows if row[name]]
            if known:
                axes.plot(*zip(*known, strict=True), style, ms=3, color=color, label=name)
        legend(axes)


def read(data: Numbers) -> str:
    """Compare at the largest n."""
    parts = []
    for alpha in sorted({row["alpha"] for row in data["rows"]}):
        rows = [row for row in data["rows"] if row["alpha"] == alpha]
        last = rows[-1]
        shown = ", ".join(
            f"{name} {last[name]:.4f}" if last[name] else f"{name} nothing" for name in LEARNERS
        )
        proofs = f"{last['proofs']:.3f}" if last["proofs"] else "nothing"
        first = next(
            (row["n"] for row in rows if row["pointwise"] and row["pointwise"] <= 0.1), None
        )
        start = f"from n = {first:.0e} on" if first else "at none of these n"
        parts.append(
            f"alpha = {alpha}, n = {last['n']:.0e}: {shown}; the proofs' constants give {proofs}; "
            f"no pointwise learner is below {last['impossible']:.1e}; the pointwise learner "
            f"certifies rho = 0.1 {start}"
        )
    return (
        f"Best certified rho at beta = {data['beta']}, VC dimension {data['d']} (thresholds: "
        f"gamma = {data['gamma']}; semi-replicable: the smallest cover, 2^d candidates). "
        f"{'. '.join(parts)}. The impossible rho has proved constants: the reduction to a coin, "
        f"with its own loss of accuracy, and the mutual-information bound for as many throws as "
        f"n rows can hide. It is far below what is certified. The distance lies in the "
        f"distribution-free size of a block, in the accuracy that the reduction loses, and in the "
        f"information bound (a third of the exact limit); not in the vote, whose uniform law has "
        f"at most 1.6 times the least flips that as many votes can have."
    )


LABELS = ("table:results", "thm:predict-formal", "thm:non-uniform-repl-lb")
SUMMARY = "what n rows can promise: ours, the proofs' constants, and what nobody can"
SIZES = {
    "tiny": {"rows": [10**6], "alphas": [0.1]},
    "small": {"rows": [10**k for k in range(4, 10)], "alphas": [0.05, 0.1]},
    "full": {"rows": [10**k for k in range(4, 13)], "alphas": [0.02, 0.05, 0.1]},
}
