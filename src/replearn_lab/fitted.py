"""Pairs of the library's own fitted learners on hard distributions: what a bisection measures.

Each function measures one size, its last argument: one number for each pair of fits (whether, or on
what share of points, the two differ), with rows of their own and a shared key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.guarantees.planner import plan
from replearn.learners import PointwiseReplicableClassifier
from replearn.paper.heavy_hitters import find_heavy_hitters
from replearn.paper.hypotheses import Conjunctions, Thresholds
from replearn.paper.realizable import RealizableReplicableClassifier
from replearn.paper.thresholds import ReplicableThresholdClassifier
from replearn.randomness import SharedKey
from replearn_lab.distributions import numbered, shattered
from replearn_lab.experiment import Bench
from replearn_lab.learning import MajorityLabel, fit_quietly, vote_learner
from replearn_lab.marginals import semi_learner

Fit = Callable[[np.random.Generator, SharedKey], Any]
POINTS = numbered(100)


def fitted_pairs(bench: Bench, fit: Fit, pairs: int, *name: str | int) -> Iterator[tuple[Any, Any]]:
    """Fit in pairs: one key for both, a sample for each."""
    for pair in range(pairs):
        key = bench.key.child("fitted", *name, pair)
        one, two = (fit(bench.rng("fitted", *name, pair, run), key) for run in (0, 1))
        yield one, two


def vote_flips(bench: Bench, pairs: int, n_blocks: int) -> list[float]:
    """Flips of the pointwise learner with T one-row blocks and fair labels, over 100 points."""
    learn = vote_learner(n_blocks, n_blocks, base=MajorityLabel)

    def fit(rng: np.random.Generator, key: SharedKey) -> Any:
        X = np.zeros((n_blocks, 1))
        y = rng.integers(0, 2, n_blocks)
        return learn(X, y, key).predict(POINTS)

    both = fitted_pairs(bench, fit, pairs, "votes", n_blocks)
    return [float(np.mean(one != two)) for one, two in both]


def vote_excess(
    bench: Bench, d: int, bias: float, n_blocks: int, runs: int, block_size: int
) -> list[float]:
    """Excess error of the fitted pointwise learner on d coins, by rows of one block."""
    coins = shattered(np.full(d, bias))
    n = n_blocks * block_size
    learn = vote_learner(n, n_blocks)
    found = []
    for run in range(runs):
        name = ("excess", d, block_size, run)
        model = learn(*coins.draw(bench.rng(*name), n), bench.key.child(*name))
        found.append(coins.excess(model.predict(coins.points)))
    return found


def cut_flips(
    bench: Bench, rho: float, gamma: float, alpha: float, pairs: int, n: int
) -> list[float]:
    """Whether fitted thresholds differ on a mass above gamma; x uniform, labels fair coins."""

    def fit(rng: np.random.Generator, key: SharedKey) -> float:
        model = ReplicableThresholdClassifier(
            rho=rho, gamma=gamma, alpha=alpha, direction=">", classes=[0, 1], shared_key=key
        )
        fit_quietly(model, rng.random((n, 1)), rng.integers(0, 2, n))
        return max(0.0, model.cut_)

    both = fitted_pairs(bench, fit, pairs, "cuts", n, repr(alpha), repr(rho))
    return [float(abs(one - two) > gamma) for one, two in both]


def rule_flips(bench: Bench, d: int, rho: float, alpha: float, pairs: int, n: int) -> list[float]:
    """Whether semi-replicable learners choose different rules on d points with fair labels."""
    points = Conjunctions(d).shattered_set()
    learn = semi_learner(d, rho=rho, alpha=alpha)

    def fit(rng: np.random.Generator, key: SharedKey) -> Any:
        X = points[rng.integers(0, d, n)]
        y = rng.integers(0, 2, n)
        return learn(X, y, points, key).hypothesis_

    both = fitted_pairs(bench, fit, pairs, "rules", d, n)
    return [float(one != two) for one, two in both]


def heavy_flips(
    bench: Bench, nu: float, masses: NDArray[np.float64], notion: str, pairs: int, n: int
) -> Any:
    """Whether points of these masses are heavy in one run only.

    The worst one for the pointwise notion, any of them for the replicable one.
    """
    shares = np.append(masses, 1.0 - masses.sum())
    places = np.arange(len(masses))

    def fit(rng: np.random.Generator, key: SharedKey) -> Any:
        rows = rng.choice(len(shares), n, p=shares)
        rest = rows == len(masses)  # whatever else there is occurs once
        rows[rest] = -1 - np.arange(np.count_nonzero(rest))
        return find_heavy_hitters(rows, nu, key=key, notion=notion).contains(places)

    both = fitted_pairs(bench, fit, pairs, notion, repr(nu), n)
    flips = np.array([one != two for one, two in both], dtype=float)
    if notion == "replicable":
        return flips.max(axis=1)
    return flips[:, flips.mean(axis=0).argmax()]


def far_models(bench: Bench, gamma: float, pairs: int, n_blocks: int) -> list[float]:
    """Whether approximately replicable fits differ on more than gamma of 1,000 points.

    One row to a block and fair labels: at every point the blocks vote alike.
    """
    points = numbered(1000)
    made = plan(
        "approximate",
        n=n_blocks,
        rho=1.0,
        gamma=1.0,
        n_blocks=n_blocks,
        n_partitions=1,
        law="uniform",
        width=1.0,
        classes=[0, 1],
    )

    def fit(rng: np.random.Generator, key: SharedKey) -> Any:
        model = PointwiseReplicableClassifier(MajorityLabel(), plan=made, shared_key=key)
        rows = rng.random((n_blocks, 1))
        return fit_quietly(model, rows, rng.integers(0, 2, n_blocks)).predict(points)

    both = fitted_pairs(bench, fit, pairs, "far", n_blocks)
    return [float(np.mean(one != two) > gamma) for one, two in both]


def released_flips(bench: Bench, gamma: float, pairs: int, n: int) -> list[float]:
    """Whether one of two realizable learners abstains and the other does not.

    Thresholds on uniform points, labels with noise of half the largest limit.
    """
    most = gamma / 3.0

    def fit(rng: np.random.Generator, key: SharedKey) -> bool:
        X = rng.random((n, 1))
        y = (X[:, 0] > 0.5) ^ (rng.random(n) < most / 2.0)
        model = RealizableReplicableClassifier(
            Thresholds(">"), gamma=gamma, max_error_limit=most, classes=[0, 1], shared_key=key
        )
        return bool(fit_quietly(model, X, y.astype(int)).released_)

    both = fitted_pairs(bench, fit, pairs, "released", repr(gamma), n)
    return [float(one != two) for one, two in both]
