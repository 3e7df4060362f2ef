"""The signs of many coins at once: the whole vector is the same in two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.bounds import (
    joint_groups,
    joint_sign_flip_bound,
    sign_flip_bound,
    sign_width,
    uniform_law,
)
from replearn.guarantees import Certificate, certify
from replearn.primitives.coins import below_levels, coin_names, heads_of
from replearn.primitives.correlated import sample_correlated
from replearn.randomness import SharedKey
from replearn.records import check_choice, check_fraction, if_given

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

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> flips = rng.random((20_000, 4)) < [0.2, 0.4, 0.6, 0.8]
    >>> result = estimate_signs(flips, 0.2, key="a", beta=0.01)
    >>> result.signs.tolist(), result.certificate.certified
    ([-1, -1, 1, 1], True)
    """
    heads = heads_of(flips)
    n, n_coins = heads.shape
    targets = {"alpha": check_fraction("alpha", alpha), "rho": check_fraction("rho", rho)}
    if_given(check_fraction, "beta", beta)
    key = SharedKey(key)
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
