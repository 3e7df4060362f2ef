"""Heavy points named as a whole: their set, or one of them, equal in two runs.

The set: a point that occurs c times among n rows is a member iff ``u < M(c / n)`` with one u for
all points. M rises like the power 3/2 of the frequency: a point of frequency s moves by about
sqrt(s / n), there are at most 1/s of them, and M' ~ sqrt(s) makes all of them equally expensive.

One of them: correlated sampling with weights count ** kappa. Finding the whole set costs about
1/nu^3 rows, naming one member only about 1/nu: a large power hides the crowd of lighter points,
and all heavy ones keep their shares of the weight.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from replearn.bounds.completeness import largest_mass
from replearn.bounds.membership import MembershipLaw
from replearn.bounds.numeric import Floats, binomial_cdf, binomial_sf, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import check_count, check_fraction, require_integer

# How far below its mean the heavy point's count may fall, in standard deviations; tried in turn.
_SHORTFALLS = (2.0, 3.0, 4.0, 5.0, 6.0)
# Counts are put into cells of this ratio.
_CELL = 1.02
_EXACT_STEPS = 2000


@dataclass(frozen=True)
class SetLaw(MembershipLaw):
    """Law of the one threshold on all frequencies: uniform in their power 3/2.

    Below ``low`` no point is a member, from ``high`` on every point is.

    >>> law = SetLaw.standard(0.1)
    >>> law.low, law.high
    (0.05, 0.2)
    """

    kinds: ClassVar[tuple[str, ...]] = ("power",)

    @classmethod
    def standard(cls, nu: float) -> "SetLaw":
        """Return the law on [nu / 2, 2 nu], the range of the paper's lemma."""
        return cls("power", nu / 2.0, min(1.0, 2.0 * nu))

    def least_count(self, u: float, n: int) -> int:
        """Smallest count that is a member under the shared number u in [0, 1)."""
        needed = math.ceil(n * float(self.frequency(u)))
        # The search only mends rounding: a count is a member iff u < M(count / n).
        while needed > 0 and u < self.exact_values(np.asarray((needed - 1) / n)):
            needed -= 1
        while not u < self.exact_values(np.asarray(needed / n)):
            needed += 1
        return needed

    def exact_values(self, share: Floats) -> Floats:
        """M(share) before it is rounded to 30 bits."""
        # s * sqrt(s) is correctly rounded on every machine, a power is not.
        first = self.low * math.sqrt(self.low)
        last = self.high * math.sqrt(self.high)
        return np.clip((share * np.sqrt(share) - first) / (last - first), 0.0, 1.0)

    def frequency(self, level: ArrayLike) -> Floats:
        """Frequency at which M has this value."""
        first = self.low**1.5
        last = self.high**1.5
        return np.asarray((first + (last - first) * np.asarray(level, float)) ** (2.0 / 3.0))


@theorem("replicable-heavy-hitters")
def set_flip_bound(n: int, law: SetLaw) -> float:
    """Probability that two runs find different sets of heavy points.

    Returns ``3 sqrt(1 + 1/(n low)) / (sqrt(pi n) (high^1.5 - low^1.5))``, cut at 1, rounded up.

    >>> round(set_flip_bound(50_000, SetLaw.standard(0.1)), 4)
    0.0967
    """
    check_count("n", n)
    # Only points that occur more than n low times in both runs together can differ.
    fewest = max(1, math.floor(n * law.low * (1.0 - 1e-12)))
    spread = law.high**1.5 - law.low**1.5
    bound = 3.0 * math.sqrt((1.0 + 1.0 / fewest) / (math.pi * n)) / spread
    # Each of at most 2n points may round once: 2n 2^-53.
    return upper_probability(bound + n * 2.0**-51)


def smallest_sample_set(rho: float, law: SetLaw) -> int:
    """Return the sample size at which the sets differ with probability at most ``rho``.

    >>> smallest_sample_set(0.1, SetLaw.standard(0.1))
    46793
    """
    check_fraction("rho", rho)
    return require_integer(
        lambda n: set_flip_bound(n, law) <= rho,
        f"rho={rho!r} needs more than 10**14 rows",
        limit=10**14,
    )


def one_heavy_power(nu: float) -> float:
    """Power that makes the cost about 1/nu: 2 + ln(1/nu).

    >>> one_heavy_power(0.1)
    4.3
    """
    check_fraction("nu", nu)
    return round(2.0 - math.log(nu), 2)


@theorem("single-heavy-hitter")
@lru_cache(maxsize=256)
def one_heavy_flip_bound(n: int, nu: float, kappa: float, *, points_per_row: int = 1) -> float:
    """Probability that two runs name different points, when some point has mass nu.

    ``kappa`` is the power of the counts, at least 2; each row names ``points_per_row`` points.

    >>> round(one_heavy_flip_bound(40_000, 0.1, 4.3), 3)
    0.1
    """
    check_count("n", n)
    check_fraction("nu", nu)
    if not kappa >= 2.0:
        raise ValueError(f"kappa={kappa!r} must be at least 2.")
    best = 1.0
    for shortfall in _SHORTFALLS:
        least = math.floor(2 * n * nu - shortfall * math.sqrt(2 * n * nu * (1.0 - nu)))
        if least >= 1:
            missed = float(binomial_cdf(least - 1.0, 2 * n, nu))
            crowd = 2 * n * points_per_row - least
            best = min(best, _given_count(crowd, least, kappa) + missed * (1.0 + 1e-9))
    return upper_probability(best)


def _given_count(others: int, least: int, kappa: float) -> float:
    """Bound when one point occurs ``least`` times in both runs together, others this many times."""
    edges = _cell_edges(least)
    changes = np.array([_relative_change(int(j), kappa) for j in edges])
    # Worst crowd: all other rows on points of one count j, at the ends of its cell that hurt.
    log_crowd = math.log(others + 1) + (kappa - 1.0) * np.log(edges[1:])
    crowd = np.exp(np.minimum(log_crowd - kappa * math.log(least), 700.0))
    own = _relative_change(least, kappa)
    worst = (own + crowd * np.maximum(changes[:-1], own)) / (1.0 + crowd)
    return float(max(own, worst.max())) * (1.0 + 1e-9)


def _cell_edges(least: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    grown = np.ceil(_CELL ** np.arange(math.ceil(math.log(least + 1.0, _CELL)) + 1))
    small = np.arange(1, min(least, 60) + 1)
    return np.unique(np.clip(np.concatenate([small, grown]), 1, max(least, 2))).astype(np.int64)


@lru_cache(maxsize=65536)
def _relative_change(j: int, kappa: float) -> float:
    """E[(1 + |d|)^kappa - (1 - |d|)^kappa], d the mean of j fair signs; falls with j."""
    if j <= _EXACT_STEPS:
        heads = np.arange(j // 2, j + 1.0)
        logs = special.gammaln(j + 1.0) - special.gammaln(heads + 1.0)
        weights = np.exp(logs - special.gammaln(j - heads + 1.0) - j * math.log(2.0))
        d = np.maximum(2.0 * heads / j - 1.0, 0.0)
        terms = (1.0 + d) ** kappa - (1.0 - d) ** kappa
        return 2.0 * float(weights @ terms) * (1.0 + 1e-10)
    # (1+x)^k - (1-x)^k <= 2 k x cosh((k-1) x)
    rate = (kappa - 1.0) / math.sqrt(j)
    return 2.0 * kappa / math.sqrt(j) * _mean_tilted(rate)


def _mean_tilted(rate: float) -> float:
    """Bound E|Z| cosh(rate Z), Z = S / sqrt(j): E|Z| <= sqrt(2/pi), then E|Z|(cosh - 1)."""
    # E|S| <= sqrt(2 (j + 1) / pi); Cauchy-Schwarz on the small rest, E cosh <= exp(rate^2 / 2).
    square = math.expm1(2.0 * rate * rate) / 2.0
    leading = math.sqrt(2.0 / math.pi * (1.0 + 1.0 / _EXACT_STEPS))
    return leading + math.sqrt(square)


@theorem("single-heavy-hitter")
def one_heavy_least_mass(n: int, nu: float, kappa: float, beta: float) -> float:
    """Mass that the named point has at least, except with probability ``beta``; or 0.

    >>> 0.005 < one_heavy_least_mass(40_000, 0.1, 4.3, 0.05) < 0.1
    True
    """
    check_count("n", n)
    part = check_fraction("beta", beta, one=False) / 3.0
    least = largest_mass(lambda mass: float(binomial_cdf(n * mass, n, nu)) <= part, nu)
    if least <= 0.0:
        return 0.0
    # All points below this frequency together have at most the weight that beta allows.
    crowd = math.exp((math.log(part) + kappa * math.log(least)) / (kappa - 1.0)) * (1.0 - 1e-9)
    needed = math.ceil(n * crowd)

    def unlikely(mass: float) -> bool:
        return n > 1 and float(binomial_sf(needed - 2.0, n - 1, mass)) / crowd <= part

    return largest_mass(unlikely, crowd)


def smallest_sample_one(rho: float, nu: float) -> int:
    """Return how many rows are needed to find the same heavy point in two runs.

    >>> smallest_sample_one(0.2, 0.1) < 15_000
    True
    """
    check_fraction("rho", rho)
    power = one_heavy_power(nu)
    return require_integer(
        lambda n: one_heavy_flip_bound(n, nu, power) <= rho,
        f"rho={rho!r}, nu={nu!r} need more than 10**13 rows",
        start=max(1, math.ceil(1.0 / nu)),
    )
