"""Coins: on which side of a gap the bias of a coin lies, with the same decision in two runs.

A coin shows heads in c of n throws and is called +1 iff ``u < G(c / n)``, u shared between runs.
G rises evenly in the arcsine scale between two shares inside the gap: that scale stabilises the
variance of a share, so skewed coins pay for their own small variance only.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.completeness import false_member_bound, missed_point_bound
from replearn.bounds.flips import central_binomial, flip_supremum
from replearn.bounds.laws import ROUNDING, ThresholdLaw, portable_arcsine
from replearn.bounds.membership import MembershipLaw, largest_mean_difference, root_difference_bound
from replearn.bounds.numeric import Floats, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import (
    check_choice,
    check_count,
    check_fraction,
    check_fractions,
    require_integer,
    smallest_integer,
)

# Up to here the supremum over biases is computed exactly; beyond, closed formulas are as good.
_EXACT_THROWS = 600
# The same for coins that seldom show heads (or tails): expected number of the rarer side.
_EXACT_RARE = 60
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

    def mirrored(self) -> "CoinLaw":
        """Return the law of the tails."""
        return CoinLaw(self.kind, 1.0 - self.high, 1.0 - self.low)


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
    if n <= _EXACT_THROWS:
        table = law.table(np.arange(n + 1), n)
        bound = min(bound, flip_supremum(ThresholdLaw("table", n, None, table)))
    elif n * min(law.high, 1.0 - law.low) <= _EXACT_RARE:
        rare = law if law.high <= 1.0 - law.low else law.mirrored()
        counts = np.arange(min(n, math.ceil(n * rare.high)) + 1)
        bound = min(bound, largest_mean_difference(rare.probabilities(counts, n), n) + ROUNDING)
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
