"""Coins called above or below a gap, the same in two runs (``lem:replicable-coin-testing``).

The share of heads is compared with a shared threshold inside the gap. Theory page: coin-testing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds.laws import ROUNDING, portable_arcsine
from replearn.bounds.numeric import Floats, upper_probability
from replearn.bounds.pairs import HALVED, central_binomial, gap_coefficients, largest_mean
from replearn.bounds.theorem import theorem
from replearn.guarantees.certificate import Certificate, certify
from replearn.guarantees.promise import Ledger, Promise, Task, reached, rounded_up
from replearn.paper.groups import one_of_each_group
from replearn.paper.heavy_hitters import (
    MembershipLaw,
    below_levels,
    false_member_bound,
    missed_point_bound,
    root_difference_bound,
)
from replearn.randomness.key import SharedKey
from replearn.records.checks import (
    check_choice,
    check_count,
    check_fraction,
    check_fractions,
    if_given,
)
from replearn.records.search import require_integer, smallest_integer

# Fractions of the gap that are tried for the threshold.
_FRACTIONS = 256
_WIDEST = (256, 252, 248, 244)


@dataclass(frozen=True)
class CoinLaw(MembershipLaw):
    """Law of the threshold on a coin's share of heads, uniform in the arcsine scale.

    Below ``low`` the decision is never +1, from ``high`` on always; 0 <= low < high <= 1.

    >>> CoinLaw("arcsine", 0.25, 0.75).probabilities([0, 5, 10], 10).tolist()
    [0.0, 0.5, 1.0]
    """

    kinds: ClassVar[tuple[str, ...]] = ("arcsine",)

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, self.kinds)
        if not 0.0 <= self.low < self.low + 1e-9 < self.high <= 1.0:
            raise ValueError(
                f"low={self.low!r} and high={self.high!r} must satisfy 0 <= low < high <= 1."
            )

    @property
    def angles(self) -> tuple[float, float]:
        """Both ends in the arcsine scale."""
        first, last = _angle(np.array([self.low, self.high]))
        return float(first), float(last)

    def exact_values(self, share: Floats) -> Floats:
        """G(share) before it is rounded to 30 bits."""
        first, last = self.angles
        values = np.clip((_angle(share) - first) / (last - first), 0.0, 1.0)
        # The ends are exact, whatever the arcsine rounds to.
        return np.where(share <= self.low, 0.0, np.where(share >= self.high, 1.0, values))

    def frequency(self, level: ArrayLike) -> Floats:
        """Share of heads at which G has this value."""
        first, last = self.angles
        return np.asarray(np.sin(first + (last - first) * np.asarray(level, float)) ** 2, float)


def _angle(share: Floats) -> Floats:
    """Arcsine of the square root, portable; folded at 1/2, where the series is best."""
    folded = np.sqrt(np.minimum(share, 1.0 - share))
    angle = portable_arcsine(folded)
    return np.where(share <= 0.5, angle, math.pi / 2.0 - angle)


@theorem("coin-testing")
@lru_cache(maxsize=1024)
def coin_flip_bound(n: int, law: CoinLaw) -> float:
    """Bound the probability that two runs of n throws decide differently, whatever the bias.

    >>> round(coin_flip_bound(100, CoinLaw("arcsine", 0.0, 1.0)), 4)
    0.0443
    """
    check_count("n", n)
    bound = min(_steepest(n, law), _skewed(n, law.low, law.high, law))
    bound = min(bound, _skewed(n, 1.0 - law.high, 1.0 - law.low, law))
    if n <= HALVED:
        # theorem: binomial-pairs
        bound = min(bound, largest_mean(gap_coefficients(law.probabilities(np.arange(n + 1), n))))
    return upper_probability(bound)


def _steepest(n: int, law: CoinLaw) -> float:
    """Slope of the law times E|share1 - share2|, which is f(n) at most."""
    first, last = law.angles
    flattest = min(law.low * (1.0 - law.low), law.high * (1.0 - law.high))
    if flattest <= 0.0:
        return 1.0
    slope = 0.5 / (math.sqrt(flattest) * (last - first))
    return slope * central_binomial(n) * (1.0 + 1e-9) + ROUNDING


def _skewed(n: int, low: float, high: float, law: CoinLaw) -> float:
    """Bound in the square-root scale, whose slope differs by 1/sqrt(1 - high) at most."""
    first, last = law.angles
    if high >= 1.0:
        return 1.0
    fewest = max(1, math.floor(n * low * (1.0 - 1e-12)))
    width = math.sqrt(n * (1.0 - high)) * (last - first)
    return root_difference_bound(fewest) / width * (1.0 + 1e-9) + ROUNDING


@theorem("coin-testing")
def coin_error_bound(n: int, law: CoinLaw, p0: float, q0: float) -> float:
    """Bound the probability of a wrong decision about a coin outside the gap.

    It is the larger of the probabilities of +1 for a bias of at most p0 and of -1 for a bias of at
    least q0, averaged over thresholds; p0 and q0 are means of a coin that shows -1 or +1.

    >>> coin_error_bound(100, CoinLaw("arcsine", 0.0, 1.0), -1.0, 1.0)
    0.0
    """
    low, high = _shares(p0, q0)
    above = 0.0 if high >= 1.0 else missed_point_bound(n, law, high)
    below = 0.0 if low <= 0.0 else false_member_bound(n, law, low)
    return max(above, below)


def coin_law(n: int, p0: float, q0: float, rho: float) -> CoinLaw:
    """Return the narrowest law inside the gap that keeps the flip budget, else the widest.

    A function of these numbers only, the same on every machine; -1 <= p0 < q0 <= 1.

    >>> law = coin_law(1000, -0.2, 0.2, 0.1)
    >>> 0.4 < law.low < 0.5 < law.high < 0.6
    True
    """
    check_fraction("rho", rho)
    _shares(p0, q0)

    def passes(part: int) -> bool:
        return coin_flip_bound(n, _law_of_part(p0, q0, part)) <= rho

    # Near the whole circle a wider law is not always a better one: try a few.
    widest = next((part for part in _WIDEST if passes(part)), None)
    if widest is None:
        return _law_of_part(p0, q0, _FRACTIONS)
    return _law_of_part(p0, q0, smallest_integer(passes, limit=widest) or widest)


def _law_of_part(p0: float, q0: float, part: int) -> CoinLaw:
    """Return the law on the middle part / 256 of the gap, in the arcsine scale."""
    low, high = _shares(p0, q0)
    if part == _FRACTIONS:
        return CoinLaw("arcsine", low, high)
    first, last = (float(angle) for angle in _angle(np.array([low, high])))
    middle = (first + last) / 2.0
    reach = (last - first) / 2.0 * part / _FRACTIONS
    # Rounded, so that the law is the same number on every machine.
    ends = [round(math.sin(middle + sign * reach) ** 2, 12) for sign in (-1.0, 1.0)]
    return CoinLaw("arcsine", max(low, ends[0]), min(high, ends[1]))


def smallest_throws(rho: float, beta: float, p0: float, q0: float) -> int:
    """Return how many throws a decision needs.

    Two runs differ with probability at most rho, and the decision about a coin outside the gap is
    wrong with probability at most beta; n passes and n - 1 fails.

    >>> smallest_throws(0.1, 0.05, -1.0, 1.0)
    19
    """
    check_fractions(rho=rho, beta=beta)

    def passes(n: int) -> bool:
        law = coin_law(n, p0, q0, rho)
        return coin_flip_bound(n, law) <= rho and coin_error_bound(n, law, p0, q0) <= beta

    return require_integer(
        passes, f"the gap from {p0!r} to {q0!r} needs more than 10**12 throws", limit=10**12
    )


def _shares(p0: float, q0: float) -> tuple[float, float]:
    if not -1.0 <= p0 < q0 <= 1.0:
        raise ValueError(f"p0={p0!r} and q0={q0!r} must satisfy -1 <= p0 < q0 <= 1.")
    return (1.0 + p0) / 2.0, (1.0 + q0) / 2.0


def _coins(
    ledger: Ledger,
    n: int,
    p0: float,
    q0: float,
    rho: float,
    beta: float | None,
    low: float,
    high: float,
) -> Promise:
    law = CoinLaw("arcsine", low, high)
    flip = ledger.add(coin_flip_bound, n=n, law=law)
    error = ledger.add(coin_error_bound, n=n, law=law, p0=p0, q0=q0)
    promises = (
        f"Two runs call a coin differently with probability at most {rounded_up(flip)}, whatever "
        "its bias.",
        f"A coin with mean above {q0:g} or below {p0:g} is called wrongly with probability at most "
        f"{rounded_up(error)}.",
    )
    return reached(promises, rho=(flip, rho), beta=(error, beta))


def _solve(
    p0: float, q0: float, n: int | None = None, rho: float = 0.1, beta: float = 0.05
) -> dict[str, Any]:
    throws = smallest_throws(rho, beta, p0, q0) if n is None else n
    law = coin_law(throws, p0, q0, rho)
    targets = {"p0": p0, "q0": q0, "rho": rho, "beta": beta}
    return {"n": throws, **targets, "low": law.low, "high": law.high}


TASKS = (
    Task(
        "coins",
        _coins,
        _solve,
        learners=("decide_coins", "decide_coin"),
        theorem="coin-testing",
    ),
)


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


def independent_throws(
    key: SharedKey, heads: NDArray[np.bool_], groups: ArrayLike | None
) -> NDArray[np.bool_]:
    """Return one throw of each group, all of them without groups."""
    if groups is None:
        return heads
    rows = one_of_each_group(key, heads.astype(np.int64), np.zeros(len(heads), np.intp), groups)
    return heads[rows]


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
    groups: ArrayLike | None = None,
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
    groups : array-like of shape (n,), default=None
        One id for each throw: throws of one group (one person) are not independent, so that one
        of each group is used, and n counts groups.

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
    key = SharedKey(key)
    heads = independent_throws(key, heads_of(flips), groups)
    n, n_coins = heads.shape
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
    groups: ArrayLike | None = None,
) -> CoinDecision:
    """Decide for one coin whether its mean is above q0 or below p0.

    Parameters
    ----------
    flips : array-like of shape (n,)
        Outcomes, -1 and +1 or 0 and 1.
    p0, q0 : float, default=-1, 1
        Ends of the gap. The default is for a coin that always shows the same side.
    key, rho, beta, groups
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
    return decide_coins(throws, p0, q0, key=key, rho=rho, beta=beta, names=[name], groups=groups)
