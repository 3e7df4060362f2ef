"""Rules without shared randomness, and the coins at which they must fail.

A deterministic rule of n throws has outcome probabilities that are polynomials of the coins'
biases. For one coin the probability of +1 passes through 1/2. For two coins the theorem of
Poincare and Miranda gives a point at which two opposite answers are both likely, if the rule is
right on the four sides of the square. Here the polynomials are exact: the sides are checked by
subdivision of Bernstein coefficients, the meeting point by rational arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import binom

from replearn.randomness.key import SharedKey
from replearn.records.checks import check_count
from replearn_lab.distributions import numbered
from replearn_lab.learning import Learner

Floats = NDArray[np.float64]
Answer = tuple[int, int]
OUTCOMES: tuple[Answer, ...] = ((-1, -1), (-1, 1), (1, -1), (1, 1))
# Places in OUTCOMES that differ in both coins.
OPPOSITE = ((0, 3), (1, 2))
SIDES = {"left": (0, -1), "right": (0, 1), "bottom": (1, -1), "top": (1, 1)}
LIKELY = Fraction(1, 10)
_GRID = 81
_DYADIC = 2**20
_DEPTH = 12
_FIXED_KEY = SharedKey("a deterministic learner")


@dataclass(frozen=True)
class Side:
    """Whether a rule is right on one side of the square."""

    name: str  # where one coin always shows -1 or +1: one of `SIDES`
    certified: bool  # whether the right answer has a chance of 1 - beta along the whole side
    place: Fraction  # bias of the other coin where that chance is smallest, as far as was looked
    chance: Fraction  # the chance there


@dataclass(frozen=True)
class Meeting:
    """Two biases at which opposite answers are both likely."""

    point: tuple[Fraction, Fraction]
    chances: tuple[Fraction, ...]  # of each of `OUTCOMES` there, exactly
    pair: tuple[int, int]  # places of the two opposite answers in `OUTCOMES`

    @property
    def opposite(self) -> Fraction:
        """Probability that two runs give opposite answers for both coins."""
        first, second, third, fourth = self.chances
        return 2 * (first * fourth + second * third)


@dataclass(frozen=True, eq=False)
class TwoCoinRule:
    """A rule for two coins without random numbers of its own.

    Parameters
    ----------
    name : str
        For figures.
    shares : object array of shape (n + 1, n + 1, 4)
        Share of the throws with so many heads of each coin that get each outcome, as Fractions.

    Examples
    --------
    >>> rule = rule_of_counts(majority, 9)
    >>> all(side.certified for side in rule.sides()), rule.meeting().opposite
    (True, Fraction(1, 4))
    """

    name: str
    shares: NDArray[Any]

    @property
    def n(self) -> int:
        """Throws of each coin."""
        return len(self.shares) - 1

    def chances(self, first: Floats, second: Floats) -> Floats:
        """Return the probabilities of the four outcomes on a grid of biases, in floats."""
        heads = np.arange(self.n + 1)
        one = binom.pmf(heads, self.n, (1.0 + np.atleast_1d(first)[:, np.newaxis]) / 2.0)
        two = binom.pmf(heads, self.n, (1.0 + np.atleast_1d(second)[:, np.newaxis]) / 2.0)
        table = self.shares.astype(float)
        return np.einsum("ai,ijy,bj->aby", one, table, two)

    def chances_exactly(self, first: Fraction, second: Fraction) -> tuple[Fraction, ...]:
        """Return the probabilities of the four outcomes at rational biases."""
        one = _binomial(self.n, first)
        two = _binomial(self.n, second)
        totals = [Fraction(0)] * 4
        for i, j in product(range(self.n + 1), repeat=2):
            for y in np.flatnonzero(self.shares[i, j]):
                totals[y] += one[i] * two[j] * self.shares[i, j, y]
        return tuple(totals)

    def sides(self, beta: float = 0.01) -> list[Side]:
        """Check the four sides: where a coin always shows one face, the answer must say so."""
        least = 1 - Fraction(beta).limit_denominator(10**6)
        return [self._side(name, least) for name in SIDES]

    def _side(self, name: str, least: Fraction) -> Side:
        coin, face = SIDES[name]
        edge = self.n if face > 0 else 0
        rows = self.shares[edge] if coin == 0 else self.shares[:, edge]
        right = [y for y, answer in enumerate(OUTCOMES) if answer[coin] == face]
        coefficients = [sum((row[y] for y in right), Fraction(0)) for row in rows]
        return Side(name, *smallest_value(coefficients, least))

    def meeting(self) -> Meeting:
        """Return the biases at which two opposite answers are likeliest together."""
        grid = np.linspace(-1.0, 1.0, _GRID)
        chances = self.chances(grid, grid)
        best: tuple[float, tuple[int, int], Floats] = (-1.0, OPPOSITE[0], np.zeros(2))
        for pair in OPPOSITE:
            both = chances[..., list(pair)].min(axis=-1)
            i, j = np.unravel_index(both.argmax(), both.shape)
            point = self._refined(np.array([grid[i], grid[j]]), pair)
            best = max(best, (self._both(point, pair), pair, point), key=lambda found: found[0])
        _, pair, point = best
        first, second = (Fraction(round(float(p) * _DYADIC), _DYADIC) for p in point)
        return Meeting((first, second), self.chances_exactly(first, second), pair)

    def _both(self, point: Floats, pair: tuple[int, int]) -> float:
        inside = np.clip(point, -1.0, 1.0)
        return float(self.chances(inside[:1], inside[1:])[0, 0, list(pair)].min())

    def _refined(self, start: Floats, pair: tuple[int, int]) -> Floats:
        def loss(point: Floats) -> float:
            return -self._both(point, pair)

        return np.clip(minimize(loss, start, method="Nelder-Mead").x, -1.0, 1.0)


def rule_of_counts(rule: Callable[[int, int, int], Answer], n: int) -> TwoCoinRule:
    """Return the rule that looks at how often each coin shows +1.

    Parameters
    ----------
    rule : callable of (heads of coin 1, heads of coin 2, n) to a pair of -1 or +1
        Without random numbers.
    n : int
        Throws of each coin.
    """
    check_count("n", n)
    shares = np.full((n + 1, n + 1, 4), Fraction(0), dtype=object)
    for i, j in product(range(n + 1), repeat=2):
        answer = tuple(rule(i, j, n))
        if answer not in OUTCOMES:
            raise ValueError(f"a rule for two coins answers a pair of -1 or +1, got {answer!r}.")
        shares[i, j, OUTCOMES.index(answer)] = Fraction(1)
    name = getattr(rule, "__name__", type(rule).__name__).replace("_", " ")
    return TwoCoinRule(name, shares)


def rule_of_learner(learner: Learner, n: int, name: str = "learner") -> TwoCoinRule:
    """Return the rule for two coins that a deterministic learner of two points makes.

    The reduction of the paper: n rows are drawn evenly from two points, each labelled by the next
    throw of its coin, and the learner's labels of both points are the predictions. It uses at most
    n throws of each coin. The shares are exact: every number of rows at the first point and every
    number of heads among them is given to the learner once, rows sorted by point and label.

    Parameters
    ----------
    learner : callable of (X, y, key) to a fitted classifier
        Always called with one key, so that nothing random is left. Samples of a single label are
        not given to it: that label is predicted.
    n : int
        Rows of a sample; the learner is called about n**3 / 6 times.
    name : str
        For figures.

    Examples
    --------
    >>> from replearn_lab.learning import TableLearner, keyed
    >>> rule = rule_of_learner(keyed(TableLearner()), 7)
    >>> all(side.certified for side in rule.sides(beta=0.02)), rule.meeting().opposite > 0.02
    (True, True)
    """
    check_count("n", n)
    shares = np.full((n + 1, n + 1, 4), Fraction(0), dtype=object)
    for first in range(n + 1):  # rows at the first point, with probability comb(n, first) / 2**n
        counts = np.zeros(shares.shape, dtype=object)
        ways = _ways_to_take(n, first)
        other_ways = _ways_to_take(n, n - first)
        for i, j in product(range(first + 1), range(n - first + 1)):
            labels = [1] * i + [0] * (first - i) + [1] * j + [0] * (n - first - j)
            outcome = OUTCOMES.index(_labels_of_both(learner, first, labels))
            counts[:, :, outcome] += np.outer(ways[i], other_ways[j])
        # comb(n, first) ways to take these rows' throws from those of each coin
        shares = shares + counts * Fraction(1, 2**n * math.comb(n, first))
    return TwoCoinRule(name, shares)


def _ways_to_take(n: int, taken: int) -> NDArray[Any]:
    """Return in how many ways so many of n throws have i heads, [i, heads among all n]."""
    ways = [
        [math.comb(heads, i) * math.comb(n - heads, taken - i) for heads in range(n + 1)]
        for i in range(taken + 1)
    ]
    return np.array(ways, dtype=object)


def _labels_of_both(learner: Learner, first: int, labels: list[int]) -> Answer:
    """Return what a learner predicts at two points, given sorted rows; -1 or +1 each."""
    if len(set(labels)) == 1:
        sign = 2 * labels[0] - 1
        return (sign, sign)
    X = numbered(2)[[0] * first + [1] * (len(labels) - first)]
    model = learner(X, np.array(labels), _FIXED_KEY)
    one, two = (2 * int(label) - 1 for label in model.predict(numbered(2)))
    return (one, two)


def smallest_value(
    coefficients: list[Fraction], least: Fraction
) -> tuple[bool, Fraction, Fraction]:
    """Check that a polynomial in Bernstein form is at least ``least`` for all biases in [-1, 1].

    Returns whether it is, certified by its coefficients after halving the interval often enough,
    and the place and value of the smallest value at an end of the parts.
    """
    todo = [(coefficients, Fraction(-1), Fraction(1), 0)]
    certified = True
    worst = (Fraction(2), Fraction(0))
    while todo:
        part, low, high, depth = todo.pop()
        worst = min(worst, (part[0], low), (part[-1], high))
        if min(part) >= least:
            continue
        if min(part[0], part[-1]) < least or depth == _DEPTH:
            certified = False
            continue
        left, right = _halved(part)
        middle = (low + high) / 2
        todo += [(left, low, middle, depth + 1), (right, middle, high, depth + 1)]
    return certified, worst[1], worst[0]


def even_point(accept: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Return a bias at which a rule for one coin answers +1 nearly half of the time, and how often.

    ``accept`` holds, for each number of heads, the share of the throws that are answered +1; the
    rule must call coins that always show one face rightly.
    """
    n = len(accept) - 1
    if not accept[0] < Fraction(1, 2) < accept[-1]:
        raise ValueError("the rule must answer -1 after only -1, and +1 after only +1.")
    low = Fraction(-1)
    high = Fraction(1)
    for _ in range(24):
        middle = (low + high) / 2
        chance = sum(
            (a * b for a, b in zip(accept, _binomial(n, middle), strict=True)), Fraction(0)
        )
        if chance == Fraction(1, 2):
            break
        low, high = (middle, high) if chance < Fraction(1, 2) else (low, middle)
    return middle, chance


def _halved(part: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    """Split a polynomial in Bernstein form in the middle (de Casteljau)."""
    left = []
    right = []
    row = list(part)
    while row:
        left.append(row[0])
        right.append(row[-1])
        row = [(a + b) / 2 for a, b in pairwise(row)]
    return left, right[::-1]


def _binomial(n: int, bias: Fraction) -> list[Fraction]:
    share = (1 + bias) / 2
    return [math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]


def majority(heads: int, others: int, n: int) -> Answer:
    """Answer each coin by the majority of its throws; ties are -1."""
    return (1 if 2 * heads > n else -1, 1 if 2 * others > n else -1)


def cautious(heads: int, others: int, n: int) -> Answer:
    """Answer +1 only after a clear majority: the thresholds lie a deviation above the middle."""
    cut = n / 2.0 + math.sqrt(n) / 2.0
    return (1 if heads > cut else -1, 1 if others > cut else -1)


def staggered(heads: int, others: int, n: int) -> Answer:
    """Shift the threshold of coin 1 by the answer for coin 2, so that no four regions meet."""
    second = 1 if 2 * others > n else -1
    return (1 if 2 * heads > n + second * math.sqrt(n) / 2.0 else -1, second)


def borrowed(heads: int, others: int, n: int) -> Answer:
    """Take the threshold of each coin from the last digit of the other coin's count."""
    reach = math.sqrt(n)
    cuts = [n + reach * (2 * (count % 4) / 3.0 - 1.0) for count in (others, heads)]
    inside = [0 < count < n for count in (heads, others)]
    first, second = (
        2 * count > (cut if within else n)
        for count, cut, within in zip((heads, others), cuts, inside, strict=True)
    )
    return (1 if first else -1, 1 if second else -1)


def deaf(heads: int, others: int, n: int) -> Answer:
    """Answer +1 whatever the throws: replicable, and wrong on two sides."""
    return (1, 1)


RULES = (majority, cautious, staggered, borrowed, deaf)
