"""Signs from k labels or throws each, the same in two runs: heavy points one by one, coins at once.

The threshold on the mean label is uniform on [-a, a].
All of d signs are equal in two ways. One threshold per coin with a d-th of the budget each: n grows
like d^2. Or the vector of signs drawn by correlated sampling from a product of coins, whose total
variation grows like sqrt(d) only: n grows like d, at the price of 2^d candidates. Beyond 20 coins
the second way draws groups of at most 20, and n grows like d^2/20.
"""

import math

import numpy as np

from replearn.bounds.flips import central_binomial
from replearn.bounds.foreseen import binomial_rows
from replearn.bounds.laws import MAX_BLOCKS, ROUNDING, uniform_law
from replearn.bounds.numeric import upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import bisect, check_count, check_counts, check_fraction, check_fractions

# Up to here the error is summed exactly; beyond, Hoeffding's inequality has to do.
_EXACT_LABELS = 100_000

# More coins than this have too many sign vectors to draw among: they are drawn in groups.
JOINT_COINS = 20


@theorem("heavy-labels")
def label_flip_bound(k: int, a: float) -> float:
    """Probability that two runs label a heavy point differently.

    Returns ``f(k) / a``, rounded up.

    >>> round(label_flip_bound(1000, 0.2), 4)
    0.0892
    """
    check_count("k", k, most=MAX_BLOCKS)
    check_fraction("a", a)
    return upper_probability(central_binomial(k) / a + ROUNDING)


@theorem("heavy-labels")
def label_error_bound(k: int, alpha: float, a: float) -> float:
    """Probability that a heavy point whose mean label is alpha from 0 gets the other label.

    Averaged over thresholds; at most ``exp(-k (alpha - a)^2 / 2)`` where ``a < alpha``.

    >>> label_error_bound(1000, 0.4, 0.2) < 2e-9
    True
    >>> label_error_bound(10, 1.0, 1.0)
    0.0
    """
    check_count("k", k, most=MAX_BLOCKS)
    check_fractions(alpha=alpha, a=a)
    hoeffding = math.exp(-k * (alpha - a) ** 2 / 2.0) if a < alpha else 1.0
    if k > _EXACT_LABELS:
        return upper_probability(hoeffding)
    wrong = 1.0 - uniform_law(k, a).probabilities
    exact = float(binomial_rows(k, np.array([(1.0 + alpha) / 2.0]))[0] @ wrong)
    return upper_probability(min(hoeffding, exact * (1.0 + 1e-8)))


def joint_groups(n_coins: int) -> list[int]:
    """Sizes of the groups in which this many coins are drawn at once, as equal as can be.

    >>> joint_groups(20), joint_groups(50)
    ([20], [17, 17, 16])
    """
    count = -(-n_coins // JOINT_COINS)
    return [(n_coins + count - 1 - group) // count for group in range(count)]


@theorem("coins-at-once")
def sign_flip_bound(n: int, n_coins: int, a: float) -> float:
    """Probability that two runs differ in any sign: one threshold per coin.

    Returns ``d f(n) / a``, cut at 1.

    >>> round(sign_flip_bound(100_000, 5, 0.1), 4)
    0.0892
    """
    check_counts(n=n, n_coins=n_coins)
    return upper_probability(n_coins * (central_binomial(n) / check_fraction("a", a) + ROUNDING))


@theorem("coins-at-once")
def joint_sign_flip_bound(n: int, n_coins: int, a: float) -> float:
    """Bound the probability that two runs differ in any sign, drawn by correlated sampling.

    Returns ``2 t / (1 + t)`` with ``t = pi sqrt(2 d / n) / (4 a)``, at most 1; for more than 20
    coins the sum over groups.

    >>> round(joint_sign_flip_bound(1_000_000, 20, 0.1), 4)
    0.0946
    """
    check_counts(n=n, n_coins=n_coins)
    steep = math.pi * math.sqrt(2.0 / n) / (4.0 * check_fraction("a", a))
    tvs = [min(1.0, steep * math.sqrt(size)) for size in joint_groups(n_coins)]
    return upper_probability(sum(2.0 * t / (1.0 + t) for t in tvs) * (1.0 + 1e-9))


def sign_width(n: int, n_coins: int, rho: float, *, joint: bool) -> float | None:
    """Smallest half-width that keeps the budget, or None if even 1 does not.

    >>> round(sign_width(100_000, 5, 0.1, joint=False), 3)
    0.089
    """
    check_fraction("rho", rho)
    bound = joint_sign_flip_bound if joint else sign_flip_bound
    if bound(n, n_coins, 1.0) > rho:
        return None
    width = bisect(lambda a: bound(n, n_coins, a) <= rho, 1.0, 0.0, tolerance=1e-4, least_gap=1e-7)
    return min(1.0, math.ceil(width * 1e6) / 1e6)


@theorem("coins-at-once")
def sign_error_bound(n: int, n_coins: int, alpha: float, a: float, *, joint: bool) -> float:
    """Probability that any coin whose mean is at least alpha from 0 gets the wrong sign.

    A union over the coins; ``joint``: the vector is drawn at once.

    >>> sign_error_bound(100_000, 5, 0.2, 0.1, joint=False) < 1e-12
    True
    """
    check_fractions(alpha=alpha, a=a)
    if joint:
        hoeffding = math.exp(-n * (alpha - a) ** 2 / 2.0) if a < alpha else 1.0
        return upper_probability(n_coins * hoeffding)
    return upper_probability(n_coins * label_error_bound(n, alpha, a))
