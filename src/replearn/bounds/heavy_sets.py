"""The whole set of heavy points, equal in two runs: one shared threshold on all frequencies.

A point that occurs c times among n rows is a member iff ``u < M(c / n)`` with one u for all
points. M rises like the power 3/2 of the frequency: a point of frequency s moves by about
sqrt(s / n), there are at most 1/s of them, and M' ~ sqrt(s) makes all of them equally expensive.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds._numeric import Floats, round_up, upper_probability
from replearn.bounds.completeness import some_false_member_bound, some_missed_point_bound
from replearn.bounds.membership import MembershipLaw
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_choice, check_count, check_fraction
from replearn.records.search import bisect, geometric_mean, require_integer

__all__ = [
    "SetLaw",
    "false_members_below",
    "found_from",
    "set_flip_bound",
    "smallest_sample_set",
]

# Masses are searched until the larger is at most 1.001 times the smaller, on the safe side.
_PRECISION = 1.0 - 1.0 / 1.001


@dataclass(frozen=True)
class SetLaw(MembershipLaw):
    """Law of the one threshold on all frequencies: uniform in their power 3/2.

    Parameters
    ----------
    kind : {"power"}
        The scale.
    low, high : float
        Below ``low`` no point is a member, from ``high`` on every point is.

    Examples
    --------
    >>> law = SetLaw.standard(0.1)
    >>> law.low, law.high
    (0.05, 0.2)
    """

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, ("power",))
        if not 0.0 < self.low < self.low * (1.0 + 1e-4) <= self.high <= 1.0:
            raise ValueError(
                f"low={self.low!r} and high={self.high!r} must satisfy 0 < low < high <= 1."
            )

    @classmethod
    def standard(cls, nu: float) -> "SetLaw":
        """Return the law on [nu / 2, 2 nu], the range of the paper's lemma."""
        return cls("power", nu / 2.0, min(1.0, 2.0 * nu))

    def least_count(self, u: float, n: int) -> int:
        """Smallest count that is a member under the shared number u in [0, 1)."""
        needed = math.ceil(n * float(self.frequency(u)))
        # The search only mends rounding: a count is a member iff u < M(count / n).
        while needed > 0 and u < self._value(needed - 1, n):
            needed -= 1
        while not u < self._value(needed, n):
            needed += 1
        return needed

    def _value(self, count: int, n: int) -> float:
        return float(self._values(np.array([count]), n)[0])

    def _values(self, counts: ArrayLike, n: int) -> Floats:
        share = np.asarray(counts, float) / n
        # s * sqrt(s) is correctly rounded on every machine, a power is not.
        first, last = self.low * math.sqrt(self.low), self.high * math.sqrt(self.high)
        values = (share * np.sqrt(share) - first) / (last - first)
        return np.asarray(np.clip(values, 0.0, 1.0), float)

    def table(self, counts: ArrayLike, n: int) -> NDArray[np.int64]:
        """M(count / n) in units of 2**-30."""
        return np.asarray(np.rint(self._values(counts, n) * 2.0**30), np.int64)

    def frequency(self, level: ArrayLike) -> Floats:
        """Frequency at which M has this value."""
        first, last = self.low**1.5, self.high**1.5
        return np.asarray((first + (last - first) * np.asarray(level, float)) ** (2.0 / 3.0))


@theorem("replicable-heavy-hitters")
def set_flip_bound(n: int, law: SetLaw) -> float:
    """Probability that two runs find different sets of heavy points.

    Parameters
    ----------
    n : int
        Rows of each sample.
    law : SetLaw
        Law of the shared threshold.

    Returns
    -------
    float
        ``3 sqrt(1 + 1/(n low)) / (sqrt(pi n) (high^1.5 - low^1.5))``, cut at 1, rounded up.

    Examples
    --------
    >>> round(set_flip_bound(50_000, SetLaw.standard(0.1)), 4)
    0.0967
    """
    check_count("n", n)
    # theorem: replicable-heavy-hitters
    # Only points that occur more than n low times in both runs together can differ.
    fewest = max(1, math.floor(n * law.low * (1.0 - 1e-12)))
    spread = law.high**1.5 - law.low**1.5
    bound = 3.0 * math.sqrt((1.0 + 1.0 / fewest) / (math.pi * n)) / spread
    # Each of at most 2n points may round once: 2n 2^-53.
    return upper_probability(bound + n * 2.0**-51)


def smallest_sample_set(rho: float, law: SetLaw) -> int:
    """Return the sample size at which the sets differ with probability at most ``rho``.

    Parameters
    ----------
    rho : float
        Budget, in (0, 1].
    law : SetLaw
        Law of the shared threshold.

    Returns
    -------
    int
        n passes and n - 1 fails.

    Examples
    --------
    >>> smallest_sample_set(0.1, SetLaw.standard(0.1))
    46793
    """
    check_fraction("rho", rho)
    return require_integer(
        lambda n: set_flip_bound(n, law) <= rho,
        f"rho={rho!r} needs more than 10**14 rows",
        limit=10**14,
    )


@theorem("heavy-membership")
def found_from(n: int, law: MembershipLaw, beta: float) -> float | None:
    """Return a mass from which on every point is found, except with probability ``beta``.

    Parameters
    ----------
    n : int
        Rows of the sample.
    law : MembershipLaw
        Law of the threshold.
    beta : float
        Failure probability, in (0, 1].

    Returns
    -------
    float or None
        None where not even a point of mass 1 is certain.

    Examples
    --------
    >>> law = MembershipLaw.standard(0.01)
    >>> 0.01 < found_from(20_000, law, 0.01) < 0.013
    True
    """
    check_fraction("beta", beta)

    def complete(mass: float) -> bool:
        # theorem: heavy-membership
        return some_missed_point_bound(n, law, mass) <= beta

    if not complete(1.0):
        return None
    mass = bisect(complete, 1.0, law.high, tolerance=_PRECISION, mean=geometric_mean)
    return min(1.0, round_up(mass))


@theorem("heavy-membership")
def false_members_below(n: int, law: MembershipLaw, beta: float) -> float:
    """Return a mass below which no point is a member, except with probability ``beta``.

    Parameters
    ----------
    n : int
        Rows of the sample.
    law : MembershipLaw
        Law of the threshold.
    beta : float
        Failure probability, in (0, 1].

    Returns
    -------
    float
        0 where no mass is certain.

    Examples
    --------
    >>> law = MembershipLaw.standard(0.01)
    >>> 0.0003 < false_members_below(100_000, law, 0.01) < 0.01 / 16
    True
    """
    check_fraction("beta", beta)

    def clean(mass: float) -> bool:
        # theorem: heavy-membership
        return some_false_member_bound(n, law, mass) <= beta

    least = law.low * 2.0**-20
    if not clean(0.0) or not clean(least):
        return 0.0
    mass = bisect(clean, least, law.low, tolerance=_PRECISION, mean=geometric_mean)
    return mass * (1.0 - 1e-12)
