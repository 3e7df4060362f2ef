"""The coin's exact limit: how often any rule can agree in two runs of n throws.

A rule sees n throws of a coin of bias p (its mean, from -1 to 1) and answers +1 or -1; two runs
share the rule's random numbers. Its flip probability at p is the chance that they answer
differently. The smallest possible worst case over p is the value of a game, and both players'
best strategies come out of one linear programme: the rule mixes thresholds on the number of
heads, the adversary mixes biases. Why thresholds are enough is proved on the page coin-limit of
the documentation. Each strategy certifies one side of the value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special
from scipy.stats import binom

from replearn.bounds.flips import flip_supremum
from replearn.bounds.laws import ThresholdLaw, rounded_table
from replearn.records.checks import check_count, check_fraction

Floats = NDArray[np.float64]

# Starting points of the programme for each standard deviation of a share of heads, and how often
# the peaks that it missed are added.
_POINTS_PER_DEVIATION = 8
_ROUNDS = 4
# Biases of the adversary are rounded to this, so that sums over them can be exact.
_GRID = 2**-24


@dataclass(frozen=True)
class CoinLimit:
    """Value of the game for n throws, between certified limits, and both strategies.

    Parameters
    ----------
    n : int
        Throws of one run.
    alpha, beta : float
        Coins of bias +-alpha must be identified, except with probability beta.
    lower, upper : float
        No rule stays below ``lower`` at every bias in [-alpha, alpha]; the rule ``weights`` stays
        at or below ``upper`` at every bias.
    weights : ndarray of shape (n + 2,)
        The rule: answer +1 iff at least k of n throws show +1, k drawn with these weights (k = 0
        always, k = n + 1 never).
    biases, masses : ndarray
        The adversary: which biases, how often.
    price : float
        What one unit of accuracy costs, in flips.
    """

    n: int
    alpha: float
    beta: float
    lower: float
    upper: float
    weights: Floats
    biases: Floats
    masses: Floats
    price: float

    def to_dict(self) -> dict[str, Any]:
        """Return the limits and the adversary as JSON data."""
        return {
            **{name: getattr(self, name) for name in ("n", "alpha", "beta", "lower", "upper")},
            "adversary": [
                [float(bias), float(mass)]
                for bias, mass in zip(self.biases, self.masses, strict=True)
            ],
        }


def coin_limit(n: int, *, alpha: float = 1.0, beta: float = 0.0) -> CoinLimit | None:
    """Return the smallest worst-case flip probability of any rule for n throws.

    Parameters
    ----------
    n : int
        Throws of one run.
    alpha : float, default=1.0
        Coins of bias alpha and -alpha must be told apart; the adversary's biases lie between.
    beta : float, default=0.0
        Chance of a wrong answer at +-alpha.

    Returns
    -------
    CoinLimit or None
        None if no rule is as accurate as that with n throws.

    Examples
    --------
    >>> limit = coin_limit(16)
    >>> round(limit.lower, 4), round(limit.upper, 4)
    (0.0987, 0.0987)
    """
    check_count("n", n)
    check_fraction("alpha", alpha)
    check_fraction("beta", beta, zero=True)
    reach = math.asin(alpha)
    count = 24 + math.ceil(_POINTS_PER_DEVIATION * 2.0 * reach * math.sqrt(n))
    angles = np.linspace(-reach, reach, count)
    for _ in range(_ROUNDS):
        solved = _solve(n, np.sin(angles), alpha, beta)
        if solved is None:
            return None
        weights, biases, masses, price = solved
        angles = np.union1d(angles, _peaks(weights, reach, 8 * count))
    lower = guaranteed_flips(n, biases, masses, alpha=alpha, beta=beta, price=price)
    upper = rule_flips(weights)
    return CoinLimit(n, alpha, beta, lower, upper, weights, biases, masses, price)


def acceptance(n: int, biases: Floats) -> Floats:
    """Return P(at least k of n throws show +1), one row per bias, for k = 0, ..., n + 1."""
    share = (1.0 + np.atleast_1d(biases)) / 2.0
    return np.asarray(binom.sf(np.arange(n + 2) - 1, n, share[:, np.newaxis]))


def flips(accepted: Floats) -> Floats:
    """Return the chance that two runs differ, from the chance that one answers +1."""
    return 2.0 * accepted * (1.0 - accepted)


def rule_flips(weights: Floats) -> float:
    """Return a rigorous upper bound on the flips of a mixture of thresholds, at any bias."""
    inner = weights[1:-1]
    total = float(inner.sum())
    if total <= 0.0:
        return 0.0
    values = np.clip(np.concatenate([[0.0], np.cumsum(inner / total)]), 0.0, 1.0)
    values[-1] = 1.0
    law = ThresholdLaw("table", len(inner), None, rounded_table(values))
    return total * flip_supremum(law)


def guaranteed_flips(
    n: int,
    biases: Floats,
    masses: Floats,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    price: float = 0.0,
) -> float:
    """Return what an adversary's mixture of biases enforces on every rule of n throws.

    The mean of the flips over the mixture, less what accuracy is worth, minimised over
    thresholds. Rounded down by the error of the floating-point sums.
    """
    ends = acceptance(n, np.array([alpha, -alpha]))
    cost = masses @ flips(acceptance(n, biases)) - price * (ends[0] - ends[1])
    return float(cost.min() + price * (1.0 - 2.0 * beta) - 1e-12 * (1.0 + 2.0 * price))


def guaranteed_flips_exactly(n: int, biases: Floats, masses: Floats) -> Fraction:
    """Return `guaranteed_flips` at alpha = 1, beta = 0, in rational numbers."""
    shares = [(1 + Fraction(float(bias))) / 2 for bias in biases]
    weights = [Fraction(float(mass)) for mass in masses]
    total = sum(weights)
    means = [Fraction(0)] * n  # for the thresholds 1, ..., n
    for share, weight in zip(shares, weights, strict=True):
        tail = Fraction(0)
        for k in range(n, 0, -1):
            tail += math.comb(n, k) * share**k * (1 - share) ** (n - k)
            means[k - 1] += weight / total * 2 * tail * (1 - tail)
    return min(means)


def information_limit(n: int, beta: float = 0.0) -> float:
    """Return what the mutual-information argument proves for n throws, with its best constants.

    If the acceptance probability moves by t between two biases, one run guesses which of them it
    was with probability (1 + t)/2 and must have seen that much information. So around its even
    point it stays within t of 1/2 on an interval; few biases meet all such intervals.

    >>> 0.2 < information_limit(100) / coin_limit(100).lower < 0.5
    True
    """
    best = 0.0
    for t in np.linspace(0.22, 0.36, 8):
        needed = math.log(2.0) - float(_entropy((1.0 + t) / 2.0))
        best = max(best, 2.0 * (0.25 - t * t) / _meeting_points(n, needed))
    return float((1.0 - 2.0 * beta) * best)


def _solve(
    n: int, biases: Floats, alpha: float, beta: float
) -> tuple[Floats, Floats, Floats, float] | None:
    """Solve the programme; return both strategies, made symmetric, and the price of accuracy."""
    size = n + 2
    ends = acceptance(n, np.array([alpha, -alpha]))
    unit = math.sqrt(n)  # makes the value of order one, for the solver
    gains = unit * flips(acceptance(n, biases))
    gains[gains < 1e-9] = 0.0  # only trouble it; both sides are certified afterwards
    rows = np.vstack(
        [
            np.column_stack([gains, -np.ones(len(biases))]),
            np.append(-ends[0], 0.0),
            np.append(ends[1], 0.0),
        ]
    )
    limits = np.concatenate([np.zeros(len(biases)), [beta - 1.0, beta]])
    total = np.append(np.ones(size), 0.0)[np.newaxis]
    cost = np.append(np.zeros(size), 1.0)
    answer = _first_decision(cost, rows, limits, total)
    if answer is None:
        return None
    weights = np.maximum(answer.x[:-1], 0.0)
    weights = (weights + weights[::-1]) / 2.0
    duals = np.maximum(-answer.ineqlin.marginals, 0.0)
    met = duals[:-2] > 1e-12
    found = np.rint(biases[met] / _GRID) * _GRID
    masses = duals[:-2][met]
    both = np.concatenate([found, -found])
    masses = np.concatenate([masses, masses]) / (2.0 * masses.sum())
    return weights / weights.sum(), both, masses, float(duals[-2:].mean()) / unit


def _first_decision(cost: Floats, rows: Floats, limits: Floats, total: Floats) -> Any | None:
    """Minimise cost under rows x <= limits and total x = 1; None if there is no solution."""
    for method in ("highs", "highs-ds", "highs-ipm"):  # one may stop short of its tolerance
        answer = optimize.linprog(
            cost, A_ub=rows, b_ub=limits, A_eq=total, b_eq=[1.0], method=method
        )
        if answer.status == 0:
            return answer
        if answer.status == 2:
            return None
    raise RuntimeError(f"the linear programme was not solved: {answer.message}")


def _peaks(weights: Floats, reach: float, count: int) -> Floats:
    """Return the angles of biases at which the rule's flips have a local maximum."""
    angles = np.linspace(-reach, reach, count)
    height = flips(acceptance(len(weights) - 2, np.sin(angles))) @ weights
    padded = np.pad(height, 1, constant_values=-1.0)
    is_peak = (height >= padded[:-2]) & (height >= padded[2:]) & (height >= 0.9 * height.max())
    return angles[is_peak]


def _entropy(share: Any) -> Any:
    return special.entr(share) + special.entr(1.0 - np.asarray(share))


def _information(p: Any, q: Any) -> Any:
    """Return how much one throw says about which of two biases the coin has, in nats."""
    first = (1.0 + np.asarray(p)) / 2.0
    second = (1.0 + np.asarray(q)) / 2.0
    return _entropy((first + second) / 2.0) - (_entropy(first) + _entropy(second)) / 2.0


def _meeting_points(n: int, needed: float) -> int:
    """Return how many biases meet every interval on which n throws say less than needed."""
    start = -1.0
    count = 0
    while start < 1.0:
        middle = _reach(start, n, needed)
        start = _reach(middle, n, needed)
        count = count + 1
    return count


def _reach(p: float, n: int, needed: float) -> float:
    """Return the largest bias from which n throws cannot tell p with this information."""
    if n * float(_information(p, 1.0)) < needed:
        return 1.0
    return float(optimize.brentq(lambda q: n * float(_information(p, q)) - needed, p, 1.0))


def information_limit_in_gap(n: int, alpha: float, beta: float) -> float:
    """Return what the same argument proves when only coins of bias +-alpha must be identified.

    A share 1 - 4 beta of the random strings is even somewhere in [-alpha, alpha]. One throw says
    most about two biases at a given distance where they are farthest out, so the interval
    there serves for all.

    >>> 0.0 < information_limit_in_gap(400, 0.3, 0.05) < coin_limit(400, alpha=0.3, beta=0.05).lower
    True
    """
    if beta >= 0.25:
        return 0.0
    t = math.sqrt(1.0 / 12.0)
    needed = math.log(2.0) - float(_entropy((1.0 + t) / 2.0))

    def surplus(q: float) -> float:
        return n * float(_information(alpha, q)) - needed

    reach = 2.0 * alpha
    if surplus(-alpha) > 0.0:
        reach = alpha - float(optimize.brentq(surplus, -alpha, alpha))
    # One bias meets all intervals within its reach on either side.
    return (1.0 - 4.0 * beta) * 2.0 * (0.25 - t * t) / math.ceil(alpha / reach)
