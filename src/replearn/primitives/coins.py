"""Decide on which side of a gap a coin's bias lies, with the same result in two runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.bounds import LAW_BITS, CoinLaw, coin_law
from replearn.guarantees import Certificate, certify
from replearn.randomness import SharedKey
from replearn.records import check_fraction, if_given

_UNIFORM_BITS = 53


@dataclass(frozen=True, eq=False)
class CoinDecision:
    """Decisions about some coins.

    Parameters
    ----------
    decisions : ndarray of int
        +1 or -1 for each coin.
    means : ndarray of float
        Mean of the throws, in [-1, 1].
    thresholds : ndarray of float
        The coin's shared number u in [0, 1).
    law : CoinLaw
        Law of the threshold.
    certificate : Certificate
        What is promised for each coin.
    """

    decisions: NDArray[np.int64]
    means: NDArray[np.float64]
    thresholds: NDArray[np.float64]
    law: CoinLaw
    certificate: Certificate


def below_levels(uniforms: NDArray[np.float64], levels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether ``u < level / 2**30``: the same bits on every machine.

    Examples
    --------
    >>> below_levels(np.array([0.0, 0.5, 0.75]), np.array([0, 2**29, 2**30]))
    array([False, False,  True])
    """
    scaled = (uniforms * 2.0**_UNIFORM_BITS).astype(np.int64)
    return scaled < levels << (_UNIFORM_BITS - LAW_BITS)


def heads_of(flips: Any) -> NDArray[np.bool_]:
    """Return the throws as truth values, one column per coin; they are -1/+1, 0/1 or booleans."""
    throws = np.asarray(flips)
    if throws.ndim == 1:
        throws = throws[:, np.newaxis]
    if throws.ndim != 2 or throws.shape[0] == 0:
        raise ValueError(f"flips must have one row per throw, got shape {np.shape(flips)}.")
    if throws.dtype.kind == "b":
        return throws
    heads = throws == 1
    others = throws[~heads]
    if others.size and not (np.all(others == 0) or np.all(others == -1)):
        raise ValueError("flips must be -1 and +1, or 0 and 1.")
    return heads


def coin_names(names: Any, n_coins: int) -> list[Any]:
    """Return the names of the coins, which key their random numbers: 0, 1, 2, ... for None."""
    labels = list(range(n_coins)) if names is None else list(names)
    if len(labels) != n_coins:
        raise ValueError(f"names has {len(labels)} entries for {n_coins} coins.")
    return labels


def decide_coins(
    flips: Any,
    p0: float,
    q0: float,
    *,
    key: SharedKey | str | bytes | int,
    rho: float = 0.1,
    beta: float | None = None,
    names: Any = None,
) -> CoinDecision:
    """Decide for several coins whether the mean is above q0 or below p0.

    Parameters
    ----------
    flips : array-like of shape (n, n_coins)
        Outcomes, -1 and +1 or 0 and 1.
    p0, q0 : float
        Ends of the gap on the scale from -1 to 1; between them either decision is right.
    key : SharedKey, str, bytes or int
        The same in both runs.
    rho : float, default=0.1
        Probability that two runs decide differently about a coin. The threshold is as concentrated
        as this allows.
    beta : float, default=None
        Requested probability of a wrong decision. If None, it is only stated.
    names : sequence, default=None
        Names of the coins, which key their thresholds. If None, 0, 1, 2, ...

    Returns
    -------
    CoinDecision
        ``certificate.certified`` is False if there are too few throws; see `smallest_throws`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> flips = rng.random((2000, 3)) < [0.3, 0.5, 0.7]
    >>> result = decide_coins(flips, -0.2, 0.2, key="a")
    >>> result.decisions[[0, 2]].tolist(), result.certificate.certified
    ([-1, 1], True)
    """
    heads = heads_of(flips)
    n, n_coins = heads.shape
    key = SharedKey(key)
    check_fraction("rho", rho)
    if_given(check_fraction, "beta", beta)
    law = coin_law(n, p0, q0, rho)
    uniforms = key.child("coin").uniforms(coin_names(names, n_coins))
    counts = heads.sum(axis=0)
    # theorem: coin-testing
    above = below_levels(uniforms, law.table(counts, n))
    targets: dict[str, Any] = {"p0": float(p0), "q0": float(q0), "rho": float(rho), "beta": beta}
    certificate = certify("coins", key.fingerprint, n=n, **targets, low=law.low, high=law.high)
    means = 2.0 * counts / n - 1.0
    return CoinDecision(np.where(above, 1, -1), means, uniforms, law, certificate)


def decide_coin(
    flips: Any,
    p0: float = -1.0,
    q0: float = 1.0,
    *,
    key: SharedKey | str | bytes | int,
    rho: float = 0.1,
    beta: float | None = None,
    name: Any = "coin",
) -> CoinDecision:
    """Decide for one coin whether its mean is above q0 or below p0.

    Parameters
    ----------
    flips : array-like of shape (n,)
        Outcomes, -1 and +1 or 0 and 1.
    p0, q0 : float, default=-1, 1
        Ends of the gap. The default is for a coin that always shows the same side.
    key, rho, beta
        As for `decide_coins`.
    name : object, default="coin"
        Name of the coin, which keys its threshold.

    Returns
    -------
    CoinDecision
        With one entry.

    Examples
    --------
    >>> result = decide_coin([1] * 20, key="a")
    >>> result.decisions.tolist(), result.certificate.value("coin_error_bound")
    ([1], 0.0)
    """
    throws = np.asarray(flips)
    if throws.ndim != 1:
        raise ValueError(f"flips must be one row of throws, got shape {throws.shape}.")
    return decide_coins(throws, p0, q0, key=key, rho=rho, beta=beta, names=[name])
