"""A learner for finite domains on an infinite one, through a domain that is drawn lazily."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from replearn import plan
from replearn.learners.pointwise import PointwiseReplicableClassifier
from replearn.paper.domain_reduction import LazyDomain, collision_bound
from replearn_lab.drawing import COLORS, legend, panel
from replearn_lab.experiment import Bench, Numbers
from replearn_lab.learning import keyed

N_BLOCKS = 20


class MedianCut(ClassifierMixin, BaseEstimator):
    """Predict 1 above the median of the rows with label 1 (first feature)."""

    def fit(self, X: Any, y: Any) -> MedianCut:
        """Compute the cut."""
        self.classes_ = np.array([0, 1])
        ones = np.asarray(X)[np.asarray(y) == 1, 0]
        self.cut_ = float(np.median(ones)) if len(ones) else np.inf
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Predict class labels."""
        return (np.asarray(X)[:, 0] > self.cut_).astype(np.intp)


def draw_rows(rng: np.random.Generator, n: int) -> Any:
    """Draw from a normal distribution with noisy labels: no point occurs twice."""
    X = rng.standard_normal((n, 1))
    return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(np.intp)


def measure(bench: Bench, *, n: int, sizes: list[int], pairs: int, points: int) -> Numbers:
    """For each size of the imagined sample: disagreement on it, and on the real domain."""
    planned = plan(n=n, n_blocks=N_BLOCKS, n_partitions=1, classes=[0, 1])
    learn = keyed(PointwiseReplicableClassifier(MedianCut(), plan=planned))
    fresh, _ = draw_rows(bench.rng("points"), points)
    rows = []
    for size in sizes:
        inside = []
        outside = []
        collided = 0
        for pair in range(pairs):
            bench.say(f"N = {size}: pair {pair} of {pairs}")
            # One imagined sample for both runs, as in the proof.
            domain = LazyDomain(draw_rows, size, bench.rng("domain", size, pair))
            indices = [
                domain.sample_indices(bench.rng("indices", size, pair, run), n) for run in (0, 1)
            ]
            collided += len(np.unique(np.concatenate(indices))) < 2 * n
            key = bench.key.child("pair", pair)
            models = [learn(*domain.rows(chosen), key) for chosen in indices]
            known, _ = domain.rows(np.arange(min(size, points)))
            inside.append(float(np.mean(models[0].predict(known) != models[1].predict(known))))
            outside.append(float(np.mean(models[0].predict(fresh) != models[1].predict(fresh))))
        rows.append(
            {
                "size": size,
                "inside": float(np.mean(inside)),
                "outside": float(np.mean(outside)),
                "collided": collided / pairs,
                "collision_bound": collision_bound(size, 2 * n),
                "factor": size / (size - 2 * n),
                "excess": float(
                    np.max(np.array(outside) - np.array(inside) * size / (size - 2 * n))
                ),
            }
        )
    return {"n": n, "pairs": pairs, "rows": rows}


def draw(data: Numbers, figure: Any) -> None:
    """Draw disagreement inside and outside the imagined sample."""
    axes = panel(figure, "rows of the imagined sample, N", "mean disagreement", log="x")
    sizes = [row["size"] for row in data["rows"]]
    for name, label, color in (
        ("inside", "on the imagined sample", COLORS[0]),
        ("outside", "on the real domain", COLORS[1]),
    ):
        axes.plot(sizes, [row[name] for row in data["rows"]], "o-", color=color, label=label)
    allowed = [row["inside"] * row["factor"] for row in data["rows"]]
    axes.plot(sizes, allowed, ":", color=COLORS[5], label="times N/(N - 2n)")
    axes.set_ylim(bottom=0.0)
    legend(axes)


def read(data: Numbers) -> str:
    """Compare the real domain with the imagined sample."""
    first = data["rows"][0]
    last = data["rows"][-1]
    slack = max(row["excess"] for row in data["rows"])
    return (
        f"Two runs take {data['n']} indices each of one imagined sample of N rows of a continuous "
        f"distribution; only the rows asked for are drawn. With N = {first['size']} the models "
        f"differ on {first['inside']:.4f} of the imagined sample and on {first['outside']:.4f} of "
        f"the real domain, with N = {last['size']:.0e} on {last['inside']:.4f} and "
        f"{last['outside']:.4f}. The bound gamma N/(N - 2n) + t holds with t = "
        f"{max(0.0, slack):.4f} in every one of {data['pairs'] * len(data['rows'])} pairs. "
        f"Indices collide in "
        f"{first['collided']:.2f} of the pairs at first and {last['collided']:.2f} at last "
        f"(at most {last['collision_bound']:.1e} by the bound): the larger N, the more a run on "
        f"indices is a run on fresh rows, and nothing is paid for it."
    )


LABELS = (
    "prop:domain-reduction-apx-repl",
    "clm:domain-red-apx-repl",
    "clm:sample-simulation",
)
SUMMARY = "a learner for finite domains on an infinite one, as the imagined sample grows"
SIZES = {
    "tiny": {"n": 100, "sizes": [250, 10**9], "pairs": 2, "points": 200},
    "small": {
        "n": 400, "sizes": [900, 1600, 6400, 10**5, 10**9], "pairs": 25, "points": 2000,
    },
    "full": {
        "n": 400, "sizes": [900, 1600, 6400, 10**5, 10**7, 10**12], "pairs": 300,
        "points": 5000,
    },
}  # fmt: skip
