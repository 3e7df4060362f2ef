"""The set of heavy points, equal as a whole in two runs.

A point that occurs c times among n rows is a member iff ``u < M(c / n)`` with one u for
all points. M rises like the power 3/2 of the frequency: a point of frequency s moves by about
sqrt(s / n), there are at most 1/s of them, and M' ~ sqrt(s) makes all of them equally expensive.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.membership import MembershipLaw
from replearn.bounds.numeric import Floats, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import check_count, check_fraction, require_integer


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
