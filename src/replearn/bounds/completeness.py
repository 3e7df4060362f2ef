"""Which points the heavy set may miss, and which it may contain by mistake."""

import math
from collections.abc import Callable

import numpy as np

from replearn.bounds.laws import ROUNDING
from replearn.bounds.membership import MembershipLaw
from replearn.bounds.numeric import binomial_cdf, binomial_sf, round_up, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import bisect, check_count, check_fraction, geometric_mean

# Above this many counts a tail is averaged over this many levels of the threshold instead.
_TAIL_COUNTS = 20_000
_LEVELS = 2048

# Masses are searched until the larger is at most 1.001 times the smaller, on the safe side.
_PRECISION = 1.0 - 1.0 / 1.001


def missed_point_bound(n: int, law: MembershipLaw, mass: float) -> float:
    """Probability that a point of at least this mass is not a member.

    Returns ``E[1 - M(c / n)]`` for ``c ~ Bin(n, mass)``, rounded up.

    >>> from replearn.bounds import MembershipLaw
    >>> missed_point_bound(10_000, MembershipLaw.standard(0.01), 0.02) < 1e-12
    True
    """
    check_count("n", n)
    check_fraction("mass", mass)
    # theorem: heavy-membership
    if n * law.high <= _TAIL_COUNTS:
        counts = np.arange(min(n, math.ceil(n * law.high)) + 1)
        levels = law.probabilities(counts, n)
        # M is 1 at the last count, so 1 - M(c / n) is the sum of the steps from c on.
        tails = binomial_cdf(counts[:-1], n, mass)
        return _rounded_tail(float(np.diff(levels) @ tails), n)
    # 1 - M(c / n) is the share of levels whose frequency c does not reach.
    reached = np.floor(n * law.frequency(np.arange(1, _LEVELS + 1) / _LEVELS) * (1.0 + 1e-12))
    return _rounded_tail(float(binomial_cdf(reached, n, mass).mean()) + ROUNDING, n)


@theorem("heavy-membership")
def some_missed_point_bound(n: int, law: MembershipLaw, mass: float) -> float:
    """Probability that any point of at least this mass is not a member.

    A union bound: there are at most ``1 / mass`` such points.

    >>> from replearn.bounds import MembershipLaw
    >>> some_missed_point_bound(10_000, MembershipLaw.standard(0.01), 0.02) < 1e-10
    True
    """
    most = math.floor((1.0 + 1e-12) / check_fraction("mass", mass))
    return upper_probability(most * missed_point_bound(n, law, mass))


def false_member_bound(n: int, law: MembershipLaw, mass: float) -> float:
    """Probability that a point of at most this mass is a member.

    Upper bound of ``E M(c / n)`` for ``c ~ Bin(n, mass)``.

    >>> from replearn.bounds import MembershipLaw
    >>> false_member_bound(100_000, MembershipLaw.standard(0.01), 0.0002) < 1e-9
    True
    """
    check_count("n", n)
    check_fraction("mass", mass, zero=True)
    # M(c / n) is at most the share of levels, from 0 on, whose frequency c reaches.
    frequencies = law.frequency(np.arange(_LEVELS) / _LEVELS)
    needed = np.ceil(n * frequencies * (1.0 - 1e-12))
    reached = float(binomial_sf(needed - 1.0, n, mass).mean())
    # theorem: heavy-membership. The law's values are rounded only where they are above 0.
    anywhere = float(binomial_sf(needed[0] - 1.0, n, mass))
    return _rounded_tail(reached + ROUNDING * anywhere, n)


def some_false_member_bound(n: int, law: MembershipLaw, mass: float) -> float:
    """Probability that any point of at most this mass is a member, however many there are.

    ``P(1 + Bin(n - 1, mass) >= n low) / low``, rounded up.

    >>> from replearn.bounds import MembershipLaw
    >>> some_false_member_bound(100_000, MembershipLaw.standard(0.01), 0.0002) < 1e-4
    True
    """
    check_count("n", n)
    check_fraction("mass", mass, zero=True)
    needed = math.ceil(n * law.low * (1.0 - 1e-12))
    # theorem: heavy-membership
    if n == 1:
        return 1.0
    return _rounded_tail(float(binomial_sf(needed - 2.0, n - 1, mass)) / law.low, n)


def _rounded_tail(value: float, n: int) -> float:
    """Round up: the beta function loses about one digit in 10^16 per trial."""
    return min(1.0, value * (1.0 + max(1e-10, 1e-15 * n)))


@theorem("heavy-membership")
def found_from(n: int, law: MembershipLaw, beta: float) -> float | None:
    """Return a mass from which on every point is found, except with probability ``beta``.

    None where not even a point of mass 1 is certain.

    >>> law = MembershipLaw.standard(0.01)
    >>> 0.01 < found_from(20_000, law, 0.01) < 0.013
    True
    """
    check_fraction("beta", beta)

    def complete(mass: float) -> bool:
        return some_missed_point_bound(n, law, mass) <= beta

    if not complete(1.0):
        return None
    mass = bisect(complete, 1.0, law.high, tolerance=_PRECISION, mean=geometric_mean)
    return min(1.0, round_up(mass))


@theorem("heavy-membership")
def false_members_below(n: int, law: MembershipLaw, beta: float) -> float:
    """Return a mass below which no point is a member, except with probability ``beta``; or 0.

    >>> law = MembershipLaw.standard(0.01)
    >>> 0.0003 < false_members_below(100_000, law, 0.01) < 0.01 / 16
    True
    """
    check_fraction("beta", beta)

    mass = largest_mass(lambda mass: some_false_member_bound(n, law, mass) <= beta, law.low)
    return mass * (1.0 - 1e-12)


def largest_mass(passes: Callable[[float], bool], limit: float) -> float:
    """Largest mass up to ``limit`` that passes, to a thousandth, on the passing side; 0 if none."""
    least = limit * 2.0**-20
    if not passes(least):
        return 0.0
    return bisect(passes, least, limit, tolerance=_PRECISION, mean=geometric_mean)
