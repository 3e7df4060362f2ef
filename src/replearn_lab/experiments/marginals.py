"""Signs of d coins out of the semi-replicable learner: where do rows run out."""

from __future__ import annotations

from typing import Any

import numpy as np

from replearn.paper.hypotheses import Conjunctions
from replearn_lab.distributions import Marginals
from replearn_lab.drawing import COLORS, legend, limits, panel
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.marginals import SignsFromSemiReplicable, semi_learner
from replearn_lab.measuring import share, shown


def measure(
    bench: Bench, *, d: int, alpha: float, rho: float, rows: list[int], pool: int, pairs: int
) -> Numbers:
    """Sweep the labelled rows: flips where all coins are fair, errors where they are not."""
    points = Conjunctions(d).shattered_set()
    learner = semi_learner(d, rho=rho, alpha=alpha)
    found = []
    for m in rows:
        reduction = SignsFromSemiReplicable(learner, points, m, pool)
        flips = 0
        wrong = 0
        most = []
        for pair in range(pairs):
            bench.say(f"{m} rows: pair {pair} of {pairs}")
            key = bench.key.child("pair", m, pair)
            fair = Marginals(np.zeros(d))
            runs = [reduction(fair, key, bench.rng("fair", m, pair, run)) for run in (0, 1)]
            flips += bool((runs[0].signs != runs[1].signs).any())
            rng = bench.rng("clear", m, pair)
            clear = Marginals(rng.choice([-1.0, 1.0], d) * 3.0 * alpha)
            answer = reduction(clear, key, rng)
            wrong += clear.loss(answer.signs) > 2.0 * alpha
            most += [run.vectors for run in runs]
        found.append(
            {
                "rows": m,
                "expected_vectors": m / d,
                "vectors": float(np.mean(most)),
                "flips": share(flips, pairs),
                "error": share(wrong, pairs),
            }
        )
    return {"d": d, "alpha": alpha, "rho": rho, "pool": pool, "pairs": pairs, "rows": found}


def draw(data: Numbers, figure: Any) -> None:
    """Draw flips and errors against the vectors."""
    axes = panel(figure, "vectors of d throws, m/d", "share of pairs", log="x")
    n = [row["expected_vectors"] for row in data["rows"]]
    limits(axes, n, [row["flips"] for row in data["rows"]], "sign vectors differ", COLORS[0])
    limits(axes, n, [row["error"] for row in data["rows"]], "loss above 2 alpha", COLORS[1])
    axes.axhline(data["rho"], ls="--", lw=1, color=COLORS[0], label="rho asked for")
    legend(axes)


def read(data: Numbers) -> str:
    """Say from how many rows on both hold."""
    rows = data["rows"]
    rho = data["rho"]
    bad = [row for row in rows if row["flips"][1] > rho or row["error"][1] > 0.05]
    where = f"refuted up to {bad[-1]['rows']} rows" if bad else "refuted at none of these rows"
    extra = max(row["vectors"] / row["expected_vectors"] for row in rows)
    return (
        f"Sign vectors of {data['d']} coins out of a semi-replicable learner of {data['d']} "
        f"shattered points ({data['pool']} shared unlabelled rows, alpha = {data['alpha']}). A row "
        f"uses one coordinate of one vector; the most wanted coordinate used {extra:.2f} times "
        f"m/d vectors at most. Where all coins are fair two runs return different vectors in "
        f"{shown(rows[0]['flips'])} of the pairs with {rows[0]['rows']} rows and in "
        f"{shown(rows[-1]['flips'])} with {rows[-1]['rows']}. Where all biases are "
        f"+-{3 * data['alpha']:.2g} the loss exceeds 2 alpha in {shown(rows[0]['error'])} and "
        f"{shown(rows[-1]['error'])}. What was asked for (rho = {rho}) is {where}. Few rows break "
        f"replicability, not accuracy: the learner keeps the sharpness of alpha and pays in "
        f"flips; with more rows it sharpens its choice until rho is spent, so flips stay near rho."
    )


LABELS = ("thm:semi-supervised-repl-lb", "def:sign-one-way-marginals")
SUMMARY = "signs of d coins out of a semi-replicable learner, as its rows run out"
SIZES = {
    "tiny": {"d": 3, "alpha": 0.2, "rho": 0.3, "rows": [600], "pool": 30, "pairs": 2},
    "small": {
        "d": 5, "alpha": 0.25, "rho": 0.2, "rows": [300, 1000, 3000, 10_000, 30_000],
        "pool": 60, "pairs": 40,
    },
    "full": {
        "d": 8, "alpha": 0.15, "rho": 0.1, "rows": [300, 1000, 3000, 10_000, 30_000, 100_000],
        "pool": 100, "pairs": 300,
    },
}  # fmt: skip
