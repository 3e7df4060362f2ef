"""The paper's reductions as programs: a learner goes in, a coin tester comes out.

Each takes any learner of `replearn_lab.learning` and runs it on a sample in which one point is
labelled by an unknown coin and all others by coins of its own making. Throws of the unknown coin
are counted: a learner that needs few rows would make a coin tester that needs fewer throws than
there can be.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from replearn.randomness.key import SharedKey
from replearn.records.checks import check_count, check_fraction, check_positive
from replearn_lab.distributions import (
    PlantedCoins,
    RandomBias,
    numbered,
    realizable_coins,
    shattered,
)
from replearn_lab.learning import Learner


class Coin:
    """A coin of unknown bias that counts its throws."""

    def __init__(self, bias: float, rng: np.random.Generator) -> None:
        self._share = (1.0 + bias) / 2.0
        self._rng = rng
        self.thrown = 0

    def throw(self, n: int) -> NDArray[np.intp]:
        """Throw n times; 1 for +1, 0 for -1."""
        self.thrown += n
        return (self._rng.random(n) < self._share).astype(np.intp)


@dataclass(frozen=True)
class CoinDecision:
    """What a coin tester says about a coin."""

    answer: int  # the sign of the bias, -1 or 1
    throws: int  # how often the coin was thrown
    gave_up: bool  # whether the limit of throws was reached, so that the learner was not run
    labels: NDArray[np.intp] | None  # of all points, by the learner; None if it was not run
    planted: int  # the place of the point that carried the coin
    coins: PlantedCoins  # what the learner saw, the coin's own bias replaced by 0


@dataclass(frozen=True)
class PlantedCoinTester(ABC):
    """What the three reductions to coins share.

    Parameters
    ----------
    learner : callable of (X, y, key) to a fitted classifier
        The learner that is put to the test.
    d : int
        Size parameter of the shattered set.
    alpha : float
        Gap of the coin problem.
    rows : int
        Rows m that the learner takes.
    rho : float
        Replicability that is asked of the learner; sets the limit of throws.
    limit_factor : float or None
        Constant of the limit of throws. If None, that of the paper.
    """

    learner: Learner
    d: int
    alpha: float
    rows: int
    rho: float
    limit_factor: float | None = None
    FACTOR: ClassVar[float] = 200.0

    def __post_init__(self) -> None:
        check_count("d", self.d)
        check_count("rows", self.rows)
        check_fraction("alpha", self.alpha)
        check_fraction("rho", self.rho, one=False)
        if self.limit_factor is not None:
            check_positive("limit_factor", self.limit_factor)

    @property
    @abstractmethod
    def planted_mass(self) -> float:
        """Probability of the point that carries the coin."""

    @property
    def limit(self) -> float:
        """The limit of throws: FACTOR (m / d) ln(1 / rho)."""
        factor = self.limit_factor or self.FACTOR
        return factor * self.rows / self.d * math.log(1.0 / self.rho)

    @abstractmethod
    def _plant(self, shared: np.random.Generator) -> tuple[int, PlantedCoins]:
        """Choose the place of the coin and all other coins, by shared random numbers."""

    @property
    def expected_throws(self) -> float:
        """Mean number of throws of the coin."""
        return self.rows * self.planted_mass

    @property
    def most_throws(self) -> int:
        """Throws with which the tester does not give up: not more than the limit."""
        return math.floor(self.limit)

    @property
    def limit_chance(self) -> float:
        """Probability that the tester gives up, exactly."""
        return float(binom.sf(self.most_throws, self.rows, self.planted_mass))

    def __call__(self, coin: Coin, key: SharedKey, rng: np.random.Generator) -> CoinDecision:
        """Test a coin: the key is shared between runs, the generator is not."""
        planted, coins = self._plant(np.random.default_rng(key.seed_for("plant")))
        places = rng.choice(len(coins.points), self.rows, p=coins.masses)
        labels = coins.label(rng, places)
        mine = np.flatnonzero(places == planted)
        if len(mine) > self.most_throws:
            coin.throw(self.most_throws + 1)
            return CoinDecision(1, coin.thrown, True, None, planted, coins)
        labels[mine] = coin.throw(len(mine))
        model = self.learner(coins.points[places], labels, key.child("learner"))
        answers = np.asarray(model.predict(coins.points)).astype(np.intp)
        return CoinDecision(
            2 * int(answers[planted]) - 1, coin.thrown, False, answers, planted, coins
        )


class CoinTesterFromPointwise(PlantedCoinTester):
    """BiasEstimatorPointwise: a coin among 2d others, half of bias alpha, half of -alpha.

    Examples
    --------
    >>> from replearn_lab.learning import TableLearner, keyed
    >>> from replearn import SharedKey
    >>> tester = CoinTesterFromPointwise(keyed(TableLearner()), d=2, alpha=0.9, rows=500, rho=0.1)
    >>> rng = np.random.default_rng(0)
    >>> tester(Coin(0.9, rng), SharedKey("k"), rng).answer, tester.expected_throws
    (1, 100.0)
    """

    @property
    def planted_mass(self) -> float:
        """One of 2d + 1 points."""
        return 1.0 / (2 * self.d + 1)

    def _plant(self, shared: np.random.Generator) -> tuple[int, PlantedCoins]:
        order = shared.permutation(2 * self.d + 1)
        biases = np.zeros(2 * self.d + 1)
        biases[order[1 : self.d + 1]] = self.alpha
        biases[order[self.d + 1 :]] = -self.alpha
        return int(order[0]), shattered(biases)


class CoinTesterFromRealizable(PlantedCoinTester):
    """The same for realizable learners: labels are fixed, point 0 has mass 1 - 100 alpha.

    ``d`` light points (an odd number) share the mass 100 alpha; the coin always shows one face.

    Examples
    --------
    >>> from replearn_lab.learning import TableLearner, keyed
    >>> tester = CoinTesterFromRealizable(keyed(TableLearner()), 5, 0.005, 1000, 0.1)
    >>> tester.expected_throws
    100.0
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.d % 2 == 0:
            raise ValueError(f"d={self.d!r} must be odd: the others are split into equal halves.")

    @property
    def planted_mass(self) -> float:
        """One of d points that share 100 alpha."""
        return 100.0 * self.alpha / self.d

    @property
    def limit(self) -> float:
        """200 (alpha m / d) ln(1 / rho)."""
        factor = self.limit_factor or self.FACTOR
        return factor * self.alpha * self.rows / self.d * math.log(1.0 / self.rho)

    def _plant(self, shared: np.random.Generator) -> tuple[int, PlantedCoins]:
        order = shared.permutation(self.d)
        half = (self.d - 1) // 2
        signs = np.zeros(self.d)
        signs[order[1 : half + 1]] = 1.0
        signs[order[half + 1 :]] = -1.0
        return int(order[0]) + 1, realizable_coins(signs, self.alpha)


class CoinTesterFromApproximate(PlantedCoinTester):
    """ApxReplicabilityHardnessAmplification: a coin of random bias among others like it.

    Examples
    --------
    >>> from replearn_lab.learning import TableLearner, keyed
    >>> tester = CoinTesterFromApproximate(keyed(TableLearner()), 4, 0.2, 400, 0.1)
    >>> tester.expected_throws, tester.limit_chance
    (100.0, 0.0)
    """

    FACTOR = 10.0

    @property
    def most_throws(self) -> int:
        """Fewer than the limit: this tester gives up where it is reached, as in the paper."""
        return math.ceil(self.limit) - 1

    @property
    def planted_mass(self) -> float:
        """One of d points."""
        return 1.0 / self.d

    def _plant(self, shared: np.random.Generator) -> tuple[int, PlantedCoins]:
        planted = int(shared.integers(self.d))
        biases = np.asarray(RandomBias(self.alpha).draw(shared, self.d))
        biases[planted] = 0.0
        return planted, PlantedCoins(numbered(self.d), biases, np.full(self.d, 1.0 / self.d))
