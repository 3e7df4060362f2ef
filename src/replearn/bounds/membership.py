"""Which points are heavy: counts against a shared random threshold.

A point that occurs c times among n rows is a member iff ``u < M(c / n)``, u shared between runs.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds._counts import (
    largest_mean_difference,
    mean_walk_bound,
    root_difference_bound,
)
from replearn.bounds._numeric import Floats, upper_probability
from replearn.bounds.laws import LAW_BITS, ROUNDING
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_choice, check_count, check_fraction
from replearn.records.search import require_integer

__all__ = [
    "MembershipLaw",
    "membership_flip_bound",
    "smallest_sample_membership",
]

# Expected counts of a heavy point up to which the exact supremum is computed.
_EXACT_COUNTS = 4000


@dataclass(frozen=True)
class MembershipLaw:
    """Law of the threshold on a point's frequency: frozen parameters, exact values.

    Parameters
    ----------
    kind : {"sqrt", "uniform"}
        Uniform in the square root of the frequency (spends the flip budget evenly), or uniform in
        the frequency.
    low, high : float
        Below ``low`` a point is never a member, from ``high`` on it always is;
        ``0 < low < high <= 1``.

    Examples
    --------
    >>> law = MembershipLaw.standard(0.01)
    >>> law.probabilities([0, 5, 10], 1000).round(4)
    array([0.    , 0.6095, 1.    ])
    """

    kind: str
    low: float
    high: float

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, ("sqrt", "uniform"))
        # Closer ends would let rounding of the values matter.
        if not 0.0 < self.low < self.low * (1.0 + 1e-4) <= self.high <= 1.0:
            raise ValueError(
                f"low={self.low!r} and high={self.high!r} must satisfy 0 < low < high <= 1."
            )

    @classmethod
    def standard(cls, nu: float) -> "MembershipLaw":
        """Square-root law on [nu / 16, nu]: every point of frequency nu is a member."""
        return cls("sqrt", nu / 16.0, nu)

    @classmethod
    def paper(cls, nu: float) -> "MembershipLaw":
        """Return the paper's law, uniform on [nu / 2, 2 nu]."""
        return cls("uniform", nu / 2.0, 2.0 * nu)

    def table(self, counts: ArrayLike, n: int) -> NDArray[np.int64]:
        """M(count / n) in units of 2**-30.

        Only operations that IEEE arithmetic rounds correctly: the same bits on every machine.
        """
        scale, low, high = np.asarray(counts, float) / n, self.low, self.high
        if self.kind == "sqrt":
            scale, low, high = np.sqrt(scale), math.sqrt(low), math.sqrt(high)
        values = np.clip((scale - low) / (high - low), 0.0, 1.0)
        return np.asarray(np.rint(values * 2.0**LAW_BITS), np.int64)

    def probabilities(self, counts: ArrayLike, n: int) -> Floats:
        """M(count / n): the probability, over keys, that a point with this count is a member."""
        return self.table(counts, n) / 2.0**LAW_BITS

    def frequency(self, level: ArrayLike) -> Floats:
        """Frequency at which M has this value."""
        share = np.asarray(level, float)
        if self.kind == "uniform":
            return self.low + (self.high - self.low) * share
        root = math.sqrt(self.low) + (math.sqrt(self.high) - math.sqrt(self.low)) * share
        return np.asarray(root * root, float)

    @property
    def digest(self) -> str:
        """SHA-256 of version and parameters: equal for equal laws only."""
        text = f"replearn-membership-1:{self.kind}:{self.low.hex()}:{self.high.hex()}"
        return hashlib.sha256(text.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """Return the law as JSON data."""
        return {"kind": self.kind, "low": self.low, "high": self.high}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "MembershipLaw":
        """Rebuild a law from `to_dict`."""
        return cls(data["kind"], data["low"], data["high"])


@theorem("heavy-membership")
@lru_cache(maxsize=1024)
def membership_flip_bound(n: int, law: MembershipLaw) -> float:
    """Probability that a point is heavy in one of two runs only, for every mass it may have.

    Parameters
    ----------
    n : int
        Rows of each sample.
    law : MembershipLaw
        Law of the threshold.

    Returns
    -------
    float
        Rigorous supremum over the point's mass, rounded up, and at most about 1 % above it
        (3 % for the uniform law where heavy points occur over 4000 times).

    Examples
    --------
    >>> round(membership_flip_bound(100_000, MembershipLaw.standard(0.01)), 4)
    0.0239
    """
    check_count("n", n)
    # theorem: heavy-membership
    bound = quick_membership_bound(n, law)
    if n * law.high <= _EXACT_COUNTS:
        counts = np.arange(min(n, math.ceil(n * law.high)) + 1)
        bound = min(bound, largest_mean_difference(law.probabilities(counts, n), n))
    return upper_probability(bound)


def quick_membership_bound(n: int, law: MembershipLaw) -> float:
    """Closed formula for any n, at least `membership_flip_bound`, which planners can afford.

    Only splits of more than n low occurrences can differ.

    Parameters
    ----------
    n : int
        Rows of each sample.
    law : MembershipLaw
        Law of the threshold.

    Returns
    -------
    float
        May exceed 1.

    Examples
    --------
    >>> round(quick_membership_bound(100_000, MembershipLaw.standard(0.01)), 4)
    0.024
    """
    if law.kind == "sqrt":
        width = math.sqrt(n) * (math.sqrt(law.high) - math.sqrt(law.low))
        first = max(1, math.floor(n * law.low * (1.0 - 1e-12)))
        return root_difference_bound(first) / width + ROUNDING
    largest = math.ceil(2.0 * n * law.high * (1.0 + 1e-12))
    return mean_walk_bound(largest) / (n * (law.high - law.low)) + ROUNDING


def smallest_sample_membership(rho: float, law: MembershipLaw) -> int:
    """Return the sample size at which membership differs with probability at most ``rho``.

    Parameters
    ----------
    rho : float
        Budget, in (0, 1].
    law : MembershipLaw
        Law of the threshold.

    Returns
    -------
    int
        n passes and n - 1 fails.

    Examples
    --------
    >>> smallest_sample_membership(0.05, MembershipLaw.standard(0.01))
    23071
    """
    check_fraction("rho", rho)

    def passes(n: int) -> bool:
        return membership_flip_bound(n, law) <= rho

    # Every law needs about this many rows at least: a shorter way to the same place.
    guess = max(1, int(0.2 / (rho * rho * law.high)))
    start = guess if not passes(guess) else 1
    return require_integer(
        passes,
        f"rho={rho!r} is below the rounding of the law, 2**-{LAW_BITS}",
        start=start,
        limit=10**15,
    )
