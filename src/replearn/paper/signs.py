"""The signs of many coins at once (``lem:r-linf-extimate``, ``def:one-way-marginals``).

Each sign by a shared threshold near 0, or all of them by one shared draw. Theory page: coins-at-
once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds.foreseen import binomial_rows
from replearn.bounds.laws import MAX_BLOCKS, ROUNDING, uniform_law
from replearn.bounds.numeric import upper_probability
from replearn.bounds.pairs import central_binomial
from replearn.bounds.theorem import theorem
from replearn.guarantees.certificate import Certificate, certify
from replearn.guarantees.promise import Ledger, Promise, Task, reached, rounded_up
from replearn.paper.coins import (
    below_levels,
    coin_names,
    heads_of,
    independent_throws,
)
from replearn.paper.correlated_sampling import sample_correlated
from replearn.randomness.key import SharedKey
from replearn.records.checks import (
    check_choice,
    check_count,
    check_counts,
    check_fraction,
    check_fractions,
    if_given,
)
from replearn.records.search import bisect

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


def _signs(
    ledger: Ledger,
    n: int,
    n_coins: int,
    alpha: float,
    rho: float,
    beta: float | None,
    width: float,
    joint: bool,
) -> Promise:
    flip_bound = joint_sign_flip_bound if joint else sign_flip_bound
    flip = ledger.add(flip_bound, n=n, n_coins=n_coins, a=width)
    error = ledger.add(sign_error_bound, n=n, n_coins=n_coins, alpha=alpha, a=width, joint=joint)
    promises = (
        f"Two runs differ in any of the {n_coins} signs with probability at most "
        f"{rounded_up(flip)}.",
        f"Any coin with a mean at least {alpha:g} from 0 has the wrong sign with probability at "
        f"most {rounded_up(error)}.",
    )
    return reached(promises, rho=(flip, rho), alpha=alpha, beta=(error, beta))


TASKS = (Task("signs", _signs, learners=("estimate_signs",), theorem="coins-at-once"),)

_METHODS = ("auto", "thresholds", "joint")


@dataclass(frozen=True, eq=False)
class Signs:
    """The signs of some coins.

    Parameters
    ----------
    signs : ndarray of int
        +1 or -1 for each coin.
    means : ndarray of float
        Means of the throws, in [-1, 1].
    width : float
        Distance of the mean from 0 beyond which a sign is certain.
    method : str
        ``"thresholds"`` or ``"joint"``.
    certificate : Certificate
        What is promised for the whole vector.
    """

    signs: NDArray[np.int64]
    means: NDArray[np.float64]
    width: float
    method: str
    certificate: Certificate


def estimate_signs(
    flips: Any,
    alpha: float,
    *,
    key: SharedKey | str | bytes | int,
    rho: float = 0.1,
    beta: float | None = None,
    method: str = "auto",
    names: Any = None,
    groups: ArrayLike | None = None,
) -> Signs:
    """Estimate the signs of the means of d coins, the same vector in two runs.

    Parameters
    ----------
    flips : array-like of shape (n, n_coins)
        Outcomes, -1 and +1 or 0 and 1.
    alpha : float
        Coins whose mean is closer to 0 than this may get either sign; in (0, 1].
    key : SharedKey, str, bytes or int
        The same in both runs.
    rho : float, default=0.1
        Probability that the vectors of two runs differ anywhere.
    beta : float, default=None
        Requested probability of any wrong sign. If None, it is only stated.
    method : {"auto", "thresholds", "joint"}, default="auto"
        One threshold per coin (n grows like d^2), or the vector drawn by correlated sampling (n
        grows like d for up to 20 coins; beyond, in groups of at most 20, and n grows like d^2/20),
        or the better of the two for these n and d. The rate d beyond 20 coins needs a rounding of
        space into cells of small surface, of which no fast one is known (theory: coins-at-once).
    names : sequence, default=None
        Names of the coins, which key the shared numbers. If None, 0, 1, 2, ...
    groups : array-like of shape (n,), default=None
        As for `decide_coins`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> flips = rng.random((20_000, 4)) < [0.2, 0.4, 0.6, 0.8]
    >>> result = estimate_signs(flips, 0.2, key="a", beta=0.01)
    >>> result.signs.tolist(), result.certificate.certified
    ([-1, -1, 1, 1], True)
    """
    key = SharedKey(key)
    heads = independent_throws(key, heads_of(flips), groups)
    n, n_coins = heads.shape
    targets = {"alpha": check_fraction("alpha", alpha), "rho": check_fraction("rho", rho)}
    if_given(check_fraction, "beta", beta)
    joint = _choose(method, n, n_coins)
    width = sign_width(n, n_coins, rho, joint=joint) or 1.0
    labels = coin_names(names, n_coins)
    counts = heads.sum(axis=0)
    means = 2.0 * counts / n - 1.0
    if joint:
        signs = _joint_signs(means, width, labels, key.child("sign vector"))
    else:
        uniforms = key.child("sign").uniforms(labels)
        # theorem: coins-at-once
        above = below_levels(uniforms, uniform_law(n, width).table[counts])
        signs = np.where(above, 1, -1)
    run: dict[str, Any] = {"n": n, "n_coins": n_coins, **targets, "beta": beta}
    certificate = certify("signs", key.fingerprint, **run, width=width, joint=joint)
    return Signs(signs, means, width, "joint" if joint else "thresholds", certificate)


def _choose(method: str, n: int, n_coins: int) -> bool:
    check_choice("method", method, _METHODS)
    if method != "auto":
        return method == "joint"
    return joint_sign_flip_bound(n, n_coins, 1.0) < sign_flip_bound(n, n_coins, 1.0)


def _joint_signs(
    means: NDArray[np.float64], width: float, labels: list[Any], key: SharedKey
) -> NDArray[np.int64]:
    """Draw the vector from a product of coins, group by group."""
    # Names decide which coins form a group and in which order: never the index in the list.
    order = np.argsort(key.child("order").hashes(labels), kind="stable")
    signs = np.empty(len(means), dtype=np.int64)
    start = 0
    for number, size in enumerate(joint_groups(len(means))):
        coins = order[start : start + size]
        signs[coins] = _draw_signs(means[coins], width, key.child("group", number))
        start += size
    return signs


def _draw_signs(means: NDArray[np.float64], width: float, key: SharedKey) -> NDArray[np.int64]:
    """Draw the signs of one group; only coins within the width are open."""
    angles = np.pi / 4.0 * (1.0 + np.clip(means / width, -1.0, 1.0))
    open_coins = np.flatnonzero(np.abs(means) < width)
    signs = np.where(means > 0.0, 1, -1)
    if not len(open_coins):
        return signs
    codes = np.arange(1 << len(open_coins))
    bits = (codes[:, np.newaxis] >> np.arange(len(open_coins))) & 1
    up, down = (2.0 * np.log(f(angles[open_coins])) for f in (np.sin, np.cos))
    log_weights = np.where(bits == 1, up, down).sum(axis=1)
    # Keyed by the whole vector of the group.
    vectors = np.broadcast_to(signs, (len(codes), len(signs))).copy()
    vectors[:, open_coins] = 2 * bits - 1
    return vectors[sample_correlated(vectors, log_weights, key=key).index]
