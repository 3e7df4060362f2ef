"""The signs of d coins at once: the whole vector is the same in two runs.

Two ways. One threshold per coin with a d-th of the budget each: n grows like d^2. Or the vector of
signs drawn by correlated sampling from a product of coins, whose total variation grows like
sqrt(d) only: n grows like d, at the price of 2^d candidates. Beyond 20 coins the second way draws
groups of at most 20, and n grows like d^2/20.
"""

import math

from replearn.bounds._numeric import upper_probability
from replearn.bounds.flips import central_binomial
from replearn.bounds.heavy_labels import label_error_bound
from replearn.bounds.laws import ROUNDING
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count, check_fraction
from replearn.records.search import bisect

__all__ = [
    "JOINT_COINS",
    "joint_groups",
    "joint_sign_flip_bound",
    "sign_error_bound",
    "sign_flip_bound",
    "sign_width",
]

JOINT_COINS = 20
"""More coins than this have too many sign vectors to draw among: they are drawn in groups."""


def joint_groups(n_coins: int) -> list[int]:
    """Sizes of the groups in which so many coins are drawn at once, as equal as can be.

    Examples
    --------
    >>> joint_groups(20), joint_groups(50)
    ([20], [17, 17, 16])
    """
    count = -(-n_coins // JOINT_COINS)
    return [(n_coins + count - 1 - group) // count for group in range(count)]


@theorem("coins-at-once")
def sign_flip_bound(n: int, n_coins: int, a: float) -> float:
    """Probability that two runs differ in any sign: one threshold per coin.

    Parameters
    ----------
    n : int
        Throws of each coin.
    n_coins : int
        Number of coins, d.
    a : float
        Half-width of the thresholds on the mean, in (0, 1].

    Returns
    -------
    float
        ``d f(n) / a``, cut at 1.

    Examples
    --------
    >>> round(sign_flip_bound(100_000, 5, 0.1), 4)
    0.0892
    """
    check_count("n", n)
    check_count("n_coins", n_coins)
    # theorem: coins-at-once
    return upper_probability(n_coins * (central_binomial(n) / check_fraction("a", a) + ROUNDING))


@theorem("coins-at-once")
def joint_sign_flip_bound(n: int, n_coins: int, a: float) -> float:
    """Probability that two runs differ in any sign: the vector drawn by correlated sampling.

    Parameters
    ----------
    n : int
        Throws of each coin.
    n_coins : int
        Number of coins, d.
    a : float
        Beyond this distance of the mean from 0 a sign is certain, in (0, 1].

    Returns
    -------
    float
        ``2 t / (1 + t)`` with ``t = pi sqrt(2 d / n) / (4 a)``, cut at 1; the sum over groups
        for more than 20 coins.

    Examples
    --------
    >>> round(joint_sign_flip_bound(1_000_000, 20, 0.1), 4)
    0.0946
    """
    check_count("n", n)
    check_count("n_coins", n_coins)
    # theorem: coins-at-once
    steep = math.pi * math.sqrt(2.0 / n) / (4.0 * check_fraction("a", a))
    tvs = [min(1.0, steep * math.sqrt(size)) for size in joint_groups(n_coins)]
    return upper_probability(sum(2.0 * t / (1.0 + t) for t in tvs) * (1.0 + 1e-9))


def sign_width(n: int, n_coins: int, rho: float, *, joint: bool) -> float | None:
    """Smallest half-width that keeps the budget, or None if even 1 does not.

    Parameters
    ----------
    n : int
        Throws of each coin.
    n_coins : int
        Number of coins, d.
    rho : float
        Budget for the whole vector, in (0, 1].
    joint : bool
        Whether the vector is drawn at once.

    Returns
    -------
    float or None

    Examples
    --------
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

    Parameters
    ----------
    n : int
        Throws of each coin.
    n_coins : int
        Number of coins, d.
    alpha : float
        Coins closer to 0 may get either sign, in (0, 1].
    a : float
        Half-width, in (0, 1].
    joint : bool
        Whether the vector is drawn at once.

    Returns
    -------
    float
        Union over the coins, cut at 1.

    Examples
    --------
    >>> sign_error_bound(100_000, 5, 0.2, 0.1, joint=False) < 1e-12
    True
    """
    check_fraction("alpha", alpha)
    check_fraction("a", a)
    # theorem: coins-at-once
    if joint:
        hoeffding = math.exp(-n * (alpha - a) ** 2 / 2.0) if a < alpha else 1.0
        return upper_probability(n_coins * hoeffding)
    return upper_probability(n_coins * label_error_bound(n, alpha, a))
