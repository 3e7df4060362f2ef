"""A tester for all-heads or all-tails coins out of a realizable learner."""

from __future__ import annotations

from typing import Any

from replearn.bounds.flips import flip_supremum
from replearn.bounds.laws import uniform_law
from replearn_lab.coin_limit import coin_limit
from replearn_lab.coin_runs import sweep
from replearn_lab.drawing import COLORS, legend, limits, panel
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.learning import Learner, vote_learner
from replearn_lab.measuring import shown
from replearn_lab.reductions import CoinTesterFromRealizable

N_BLOCKS = 32


def measure(
    bench: Bench,
    *,
    d: int,
    alpha: float,
    throws: list[int],
    pairs: int,
    learner: Learner | None = None,
) -> Numbers:
    """Sweep the rows of a learner that sees fixed labels, but for one unknown coin."""
    promised = flip_supremum(uniform_law(N_BLOCKS))
    rows = [round(n * d / (100.0 * alpha)) for n in throws]
    makers = {
        "voting": lambda m: CoinTesterFromRealizable(
            learner or vote_learner(m, N_BLOCKS), d, alpha, m, promised
        )
    }
    found = sweep(bench, makers, rows, (-1.0, 1.0), pairs)
    for row in found:
        limit = coin_limit(max(1, round(row["expected_throws"])))
        assert limit is not None
        row["limit_flips"] = (1.0 - 2.0 * min(0.5, row["error"][2])) * limit.lower
    return {"d": d, "alpha": alpha, "promised": promised, "pairs": pairs, "rows": found}


def draw(data: Numbers, figure: Any) -> None:
    """Draw flips and errors against the throws."""
    axes = panel(figure, "throws of the coin", "share", log="x")
    n = [row["expected_throws"] for row in data["rows"]]
    limits(axes, n, [row["flips"] for row in data["rows"]], "flips, fair coin", COLORS[0])
    limits(axes, n, [row["error"] for row in data["rows"]], "error at +-1", COLORS[1])
    least = [row["limit_flips"] for row in data["rows"]]
    axes.plot(n, least, color=COLORS[2], label="least flips at this error")
    axes.axhline(data["promised"], ls="--", lw=1, color=COLORS[0], label="promised")
    legend(axes)


def read(data: Numbers) -> str:
    """Say where accuracy sets in."""
    rows = data["rows"]
    good = [row for row in rows if row["error"][0] <= 1.0 / 3.0]
    below = [row for row in rows if row["flips"][2] < row["limit_flips"]]
    broken = [row for row in rows if row["flips"][1] > data["promised"]]
    mass = 100.0 * data["alpha"]
    return (
        f"One point has mass {1.0 - mass:.2f} and a known label, {data['d']} others share "
        f"{mass:.2f}; one of them carries a coin that always shows the same face, or, where the "
        f"data are not realizable, a fair coin. The flips at the fair coin are "
        f"{shown(rows[0]['flips'])} with {rows[0]['expected_throws']:.0f} throws and "
        f"{shown(rows[-1]['flips'])} with {rows[-1]['expected_throws']:.0f}; the promise of "
        f"{data['promised']:.4f} is {'kept' if not broken else 'BROKEN'}. A block that never sees "
        f"the point votes -1, so the all-heads coin is missed in {shown(rows[0]['error'])} of the "
        f"runs at first and in {shown(rows[-1]['error'])} at last; the 2/3 of the definition is "
        f"reached from {good[0]['expected_throws'] if good else 'no'} throws on. The exact limit, "
        f"(1 - 2 error) times the coin's, lies below the measured flips in "
        f"{len(rows) - len(below)} of {len(rows)} cells (all expected)."
    )


LABELS = ("thm:repl-prediction-real-lb", "def:0-1-bias-estimation")
SUMMARY = "a tester for all-heads or all-tails coins out of a realizable learner"
SIZES = {
    "tiny": {"d": 3, "alpha": 0.005, "throws": [8, 24], "pairs": 2},
    "small": {"d": 5, "alpha": 0.005, "throws": [8, 16, 32, 64, 128], "pairs": 60},
    "full": {"d": 5, "alpha": 0.002, "throws": [4, 8, 16, 32, 64, 128, 256], "pairs": 500},
}
