"""Sign-one-way marginals out of a semi-replicable learner: the labelled lower bound, run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.paper.hypotheses import Conjunctions
from replearn.paper.semi_replicable import SemiReplicableClassifier
from replearn.randomness.key import SharedKey
from replearn.records.checks import check_count, check_positive
from replearn_lab.distributions import Marginals
from replearn_lab.learning import fit_quietly

SemiReplicableLearner = Callable[[Any, Any, Any, SharedKey], Any]


@dataclass(frozen=True)
class SignDecision:
    """What the reduction says about d coins."""

    signs: NDArray[np.intp]  # -1 or +1 for each coin
    vectors: int  # throws of the whole vector: as many as the most wanted coordinate needed
    gave_up: bool  # whether some coordinate needed more throws than there were


@dataclass(frozen=True)
class SignsFromSemiReplicable:
    """Signs of d coins by a learner of d shattered points with a shared unlabelled pool.

    Parameters
    ----------
    learner : callable of (X, y, pool, key) to a classifier
        A semi-replicable learner.
    points : ndarray of shape (d, k)
        A set that its class shatters.
    rows : int
        Labelled rows m that it takes.
    pool : int
        Unlabelled rows that the runs share.
    factor : float, default=3.0
        Vectors that are drawn, in units of m / d.

    Examples
    --------
    >>> learner = semi_learner(3, rho=0.3, alpha=0.3)
    >>> points = Conjunctions(3).shattered_set()
    >>> reduction = SignsFromSemiReplicable(learner, points, rows=3000, pool=60)
    >>> coins = Marginals(np.array([0.8, -0.8, 0.8]))
    >>> answer = reduction(coins, SharedKey("k"), np.random.default_rng(0))
    >>> answer.signs.tolist(), reduction.vectors
    ([1, -1, 1], 3000)
    """

    learner: SemiReplicableLearner
    points: NDArray[np.float64]
    rows: int
    pool: int
    factor: float = 3.0

    def __post_init__(self) -> None:
        check_count("rows", self.rows)
        check_count("pool", self.pool)
        check_positive("factor", self.factor)

    @property
    def vectors(self) -> int:
        """Vectors that are drawn: C m / d."""
        return math.ceil(self.factor * self.rows / len(self.points))

    def __call__(self, coins: Marginals, key: SharedKey, rng: np.random.Generator) -> SignDecision:
        """Draw vectors, label uniform points by their coordinates, and ask the learner."""
        d = len(self.points)
        shared = np.random.default_rng(key.seed_for("pool"))
        pool = self.points[shared.integers(0, d, self.pool)]
        places = rng.integers(0, d, self.rows)
        counts = np.bincount(places, minlength=d)
        most = int(counts.max())
        if most > self.vectors:
            return SignDecision(np.ones(d, dtype=np.intp), self.vectors, True)
        throws = coins.draw(rng, self.vectors)
        labels = np.empty(self.rows, dtype=np.intp)
        for i in range(d):
            labels[places == i] = throws[: counts[i], i] > 0
        model = self.learner(self.points[places], labels, pool, key.child("learner"))
        answers = np.asarray(model.predict(self.points)).astype(np.intp)
        return SignDecision(2 * answers - 1, most, False)


def semi_learner(d: int, *, rho: float, alpha: float) -> SemiReplicableLearner:
    """Return our semi-replicable learner for conjunctions of d thresholds."""

    def learn(X: Any, y: Any, pool: Any, key: SharedKey) -> Any:
        model = SemiReplicableClassifier(
            Conjunctions(d), rho=rho, alpha=alpha, classes=[0, 1], shared_key=key
        )
        return fit_quietly(model, X, y, pool)

    return learn
