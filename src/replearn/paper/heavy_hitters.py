"""Points that occur often: found point by point, as a whole set, or equal but for little mass.

The paper's Section on heavy hitters (``prop:finding-heavy``, ``lem:r-heavy-hitters``, ``prop:apx-
repl-heavy``). A point that occurs c times among n rows is a member iff its own shared number u is
below M(c / n); the law M rises from 0 at ``low`` to 1 at ``high``. Theory pages: heavy-
membership, replicable-heavy-hitters, approximate-heavy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from replearn.bounds.approximate import markov_rho
from replearn.bounds.laws import LAW_BITS, ROUNDING
from replearn.bounds.numeric import Floats, binomial_cdf, binomial_sf, round_up, upper_probability
from replearn.bounds.pairs import HALVED, gap_coefficients, largest_mean
from replearn.bounds.theorem import theorem
from replearn.guarantees.certificate import Certificate, certify
from replearn.guarantees.promise import Ledger, Promise, Task, reached, rounded_up
from replearn.paper.groups import one_of_each_group
from replearn.randomness.key import SharedKey
from replearn.randomness.points import Points, as_points
from replearn.records.checks import (
    check_choice,
    check_count,
    check_fraction,
    check_positive,
    if_given,
)
from replearn.records.search import bisect, geometric_mean, require_integer
from replearn.tables.rows import n_rows, row_chunks, take_rows

# Expected counts of a heavy point up to which all splits are computed.
_EXACT_COUNTS = 4000

# exp(-2 * 5^2): what the windows leave out on each side.
_WINDOW = 5.0
_NEGLECTED = 1e-20
_FLOAT_SLACK = 1e-11
# Up to here g(j) is tabulated; beyond, a formula is right to 2e-4.
_TABLE = 3000


_UNIFORM_BITS = 53


def below_levels(uniforms: NDArray[np.float64], levels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether ``u < level / 2**30``: the same bits on every machine.

    Examples
    --------
    >>> below_levels(np.array([0.0, 0.5, 0.75]), np.array([0, 2**29, 2**30]))
    array([False, False,  True])
    """
    scaled = (uniforms * 2.0**_UNIFORM_BITS).astype(np.int64)
    return scaled < levels << (_UNIFORM_BITS - LAW_BITS)


@dataclass(frozen=True)
class MembershipLaw:
    """Law of the threshold on a point's frequency: frozen parameters, exact values.

    Parameters
    ----------
    kind : {"sqrt", "uniform"}
        Uniform in the square root of the frequency (which spends the flip budget evenly), or
        uniform in the frequency.
    low, high : float
        Below ``low`` a point is never a member, from ``high`` on it always is;
        ``0 < low < high <= 1``.

    Examples
    --------
    >>> law = MembershipLaw.standard(0.01)
    >>> law.probabilities([0, 5, 10], 1000).round(4)
    array([0.    , 0.6095, 1.    ])
    """

    kinds: ClassVar[tuple[str, ...]] = ("sqrt", "uniform")

    kind: str
    low: float
    high: float

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, self.kinds)
        # Closer ends would let rounding of the values matter.
        if not 0.0 < self.low < self.low * (1.0 + 1e-4) <= self.high <= 1.0:
            raise ValueError(
                f"low={self.low!r} and high={self.high!r} must satisfy 0 < low < high <= 1."
            )

    @classmethod
    def standard(cls, nu: float) -> MembershipLaw:
        """Square-root law on [nu / 16, nu]: every point of frequency nu is a member."""
        return cls("sqrt", nu / 16.0, nu)

    @classmethod
    def paper(cls, nu: float) -> MembershipLaw:
        """Return the paper's law, uniform on [nu / 2, 2 nu]."""
        return cls("uniform", nu / 2.0, min(1.0, 2.0 * nu))

    def table(self, counts: ArrayLike, n: int) -> NDArray[np.int64]:
        """M(count / n) in units of 2**-30.

        Only operations that IEEE arithmetic rounds correctly: the same bits on every machine.
        """
        share = np.asarray(counts, float) / n
        return np.asarray(np.rint(self.exact_values(share) * 2.0**LAW_BITS), np.int64)

    def exact_values(self, share: Floats) -> Floats:
        """M(share) before it is rounded to 30 bits."""
        low = self.low
        high = self.high
        if self.kind == "sqrt":
            share = np.sqrt(share)
            low = math.sqrt(low)
            high = math.sqrt(high)
        return np.clip((share - low) / (high - low), 0.0, 1.0)

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


@theorem("heavy-membership")
@lru_cache(maxsize=1024)
def membership_flip_bound(n: int, law: MembershipLaw) -> float:
    """Bound the probability that a point is heavy in only one of two runs, whatever its mass.

    Parameters
    ----------
    n : int
        Rows of each sample.
    law : MembershipLaw
        Law of the threshold.

    Returns
    -------
    float
        A rigorous bound on the supremum over the mass of the point: within 1e-6 of it for up to
        4,000 rows, and a few percent above it for more.

    Examples
    --------
    >>> round(membership_flip_bound(100_000, MembershipLaw.standard(0.01)), 4)
    0.0239
    """
    check_count("n", n)
    bound = quick_membership_bound(n, law)
    if n <= HALVED:
        # theorem: binomial-pairs
        members = law.probabilities(np.arange(n + 1), n)
        bound = min(bound, largest_mean(gap_coefficients(members)))
    elif n * law.high <= _EXACT_COUNTS:
        # Above twice the last count the larger part is always a member, and splits differ less.
        counts = np.arange(2 * math.ceil(n * law.high) + 2)
        splits = split_differences(law.probabilities(counts, n), 0, len(counts) - 1)
        bound = min(bound, float(splits.max()) * (1.0 + 1e-9) + _FLOAT_SLACK)
    return upper_probability(bound)


def quick_membership_bound(n: int, law: MembershipLaw) -> float:
    """Closed formula for any n, at least `membership_flip_bound`, which planners can afford.

    Only splits of more than n low occurrences can differ.

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

    >>> smallest_sample_membership(0.05, MembershipLaw.standard(0.01))
    23071
    """
    check_fraction("rho", rho)

    def passes(n: int) -> bool:
        return membership_flip_bound(n, law) <= rho

    # Every law needs about this many rows at least: the search may begin here.
    guess = max(1, int(0.2 / (rho * rho * law.high)))
    start = guess if not passes(guess) else 1
    return require_integer(
        passes,
        f"rho={rho!r} is below the rounding of the law, 2**-{LAW_BITS}",
        start=start,
        limit=10**15,
    )


def split_differences(levels: Floats, first: int, last: int) -> Floats:
    """Return gamma(j) for j = first..last; ``levels`` holds M at 0..last."""
    factorials = special.gammaln(np.arange(last + 2.0) + 1.0)
    pieces = []
    rows = max(1, 1_000_000 // (int(_WINDOW * math.sqrt(last + 1.0)) + 2))
    for start in range(first, last + 1, rows):
        j = np.arange(start, min(start + rows, last + 1))[:, None]
        width = int(_WINDOW * math.sqrt(float(j[-1, 0]))) + 2
        larger = j // 2 + 1 + np.arange(width)
        inside = larger <= j
        a = np.minimum(larger, j)
        logs = factorials[j] - factorials[a] - factorials[j - a] - j * math.log(2.0)
        terms = np.exp(logs) * (levels[a] - levels[j - a])
        pieces.append(2.0 * np.where(inside, terms, 0.0).sum(axis=1))
    return np.concatenate([np.zeros(0), *pieces]) + _NEGLECTED


@lru_cache(maxsize=1)
def _root_table() -> Floats:
    """Largest g(i) over i >= j, j = 0.._TABLE, for g(j) = E|sqrt(A) - sqrt(j - A)|."""
    exact = split_differences(np.sqrt(np.arange(_TABLE + 1.0)), 0, _TABLE)
    exact[-1] = max(float(exact[-1]), _root_formula(_TABLE))
    return np.asarray(np.maximum.accumulate(exact[::-1])[::-1])


def _root_formula(j: int) -> float:
    """Return a falling upper bound of g(j): 1/sqrt(pi) and a term of order 1/j."""
    half = (j + 1) / 2.0
    leading = 1.0 / math.sqrt(math.pi * (1.0 - 0.25 / half - 0.125 / half**2))
    return leading + (math.sqrt(2.0) - 1.0) * math.sqrt(1.5) / j


def root_difference_bound(first: int) -> float:
    """Upper bound of E|sqrt(A) - sqrt(j - A)|, A ~ Bin(j, 1/2), over all j >= first."""
    if first < _TABLE:
        return float(_root_table()[first]) + _FLOAT_SLACK
    return _root_formula(first) * (1.0 + 1e-12)


def mean_walk_bound(steps: int) -> float:
    """Upper bound of E|S|, S the sum of that many independent signs; rises with ``steps``."""
    half = (steps + 1) // 2
    # 2 i C(2i, i) / 4^i <= 2 i / sqrt(pi (i + 1/4))
    return 2.0 * half / math.sqrt(math.pi * (half + 0.25)) * (1.0 + 1e-12)


# Above this many counts a tail is averaged over this many levels of the threshold instead.
_TAIL_COUNTS = 20_000
_LEVELS = 2048

# Masses are searched until the larger is at most 1.001 times the smaller, on the safe side.
_PRECISION = 1.0 - 1.0 / 1.001


def missed_point_bound(n: int, law: MembershipLaw, mass: float) -> float:
    """Probability that a point of at least this mass is not a member.

    Returns ``E[1 - M(c / n)]`` for ``c ~ Bin(n, mass)``, rounded up.

    >>> from replearn.paper.heavy_hitters import MembershipLaw
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

    >>> from replearn.paper.heavy_hitters import MembershipLaw
    >>> some_missed_point_bound(10_000, MembershipLaw.standard(0.01), 0.02) < 1e-10
    True
    """
    most = math.floor((1.0 + 1e-12) / check_fraction("mass", mass))
    return upper_probability(most * missed_point_bound(n, law, mass))


def false_member_bound(n: int, law: MembershipLaw, mass: float) -> float:
    """Probability that a point of at most this mass is a member.

    Upper bound of ``E M(c / n)`` for ``c ~ Bin(n, mass)``.

    >>> from replearn.paper.heavy_hitters import MembershipLaw
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

    >>> from replearn.paper.heavy_hitters import MembershipLaw
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
    def standard(cls, nu: float) -> SetLaw:
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


_EXPONENTS = 900

# Shares and failure probabilities that are tried: every one gives a valid bound.
_LABEL_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_MISSED = (1e-2, 1e-3, 1e-4, 1e-6)
# Share of rho for points that are missed although they are heavy.
_MISSED_SHARE = 0.02
_HALVINGS = 26


def crowd_bound(mean: float, spread: float, mass: float, rho: float) -> float:
    """Mass of differing points, except with probability ``rho``, when no point is heavy.

    ``min over l of (ln(1/rho) + s mean + s^2 spread/4) / l``, ``s = (e^(l mass) - 1)/mass``,
    and at most Markov's ``mean / rho``, rounded up.

    >>> round(crowd_bound(0.01, 0.0, 0.001, 0.1), 4), round(crowd_bound(0.01, 0.0, 1.0, 0.1), 4)
    (0.0175, 0.1)
    """
    exponents, slopes = _exponents(mean, spread, mass)
    check_fraction("rho", rho)
    # theorem: approximate-heavy
    logs = -math.log(rho) + 1e-11 + slopes * mean + slopes * slopes * spread / 4.0
    return round_up(round_up(min(float((logs / exponents).min()), mean / rho)))


def crowd_tail(mean: float, spread: float, mass: float, gamma: float) -> float:
    """Probability that differing points carry more than ``gamma``; see `crowd_bound`.

    Rounded up, at most 1.

    >>> round(crowd_tail(0.01, 0.0, 0.001, 0.02), 4), round(crowd_tail(0.01, 0.0, 1.0, 0.02), 4)
    (0.021, 0.5)
    """
    exponents, slopes = _exponents(mean, spread, mass)
    check_positive("gamma", gamma)
    # theorem: approximate-heavy
    logs = slopes * mean + slopes * slopes * spread / 4.0 - exponents * gamma
    return upper_probability(min(math.exp(min(0.0, float(logs.min()))), mean / gamma))


def _exponents(mean: float, spread: float, mass: float) -> tuple[Floats, Floats]:
    """Exponents l and slopes (e^(l mass) - 1)/mass, from far too small to far too large.

    Every exponent gives a valid bound, so a grid is as good as the exact minimum.
    """
    check_positive("mean", mean, zero=True)
    check_positive("spread", spread, zero=True)
    size = max(check_fraction("mass", mass, zero=True), 1e-12)
    exponents = np.geomspace(0.01, 60.0 / max(size, min(mean, 1e-3), 1e-9), _EXPONENTS)
    return exponents, np.expm1(exponents * size) / size * (1.0 + 1e-12)


def membership_spread(n: int, law: MembershipLaw, mass: float) -> float:
    """Spread of the expected mass whose membership differs, over the rows of both samples.

    Returns ``n (2 mass g)^2``, g the largest step of the law from one count to the next.

    >>> round(membership_spread(1_000_000, MembershipLaw.standard(0.01), 0.01) * 1e6, 2)
    28.44
    """
    if law.kind == "sqrt":
        step = 0.5 / (n * math.sqrt(law.low) * (math.sqrt(law.high) - math.sqrt(law.low)))
    else:
        step = 1.0 / (n * (law.high - law.low))
    # theorem: approximate-heavy
    return round_up(n * (2.0 * mass * (step + 2.0 * ROUNDING)) ** 2)


@lru_cache(maxsize=4096)
def _complete_from(n: int, law: MembershipLaw, beta: float) -> tuple[float, float] | None:
    """A mass from which on all points are members, and the probability that one is not."""
    mass = found_from(n, law, beta)
    return None if mass is None else (mass, some_missed_point_bound(n, law, mass))


@theorem("approximate-heavy")
def membership_disagreement_tail(
    n: int, law: MembershipLaw, membership_flip: float, gamma: float
) -> float:
    """Probability that two heavy sets differ on more than ``gamma``.

    ``membership_flip`` holds for one point; each point has a threshold of its own.

    >>> law = MembershipLaw.standard(0.01)
    >>> round(membership_disagreement_tail(100_000, law, 0.024, 0.1), 4)
    0.0305
    """
    check_positive("gamma", gamma)

    def tail(mass: float) -> float:
        return crowd_tail(membership_flip, membership_spread(n, law, mass), mass, gamma)

    return best_tail(n, law, tail)


def best_tail(n: int, law: MembershipLaw, tail: Callable[[float], float]) -> float:
    """Return the smallest tail of points lighter than a mass from which on none is missed."""
    best = 1.0
    for beta in _MISSED:
        complete = _complete_from(n, law, beta)
        if complete is not None:
            mass, missed = complete
            # theorem: approximate-heavy
            best = min(best, 2.0 * missed + tail(mass))
    return upper_probability(best)


@theorem("sample-reuse")
def reuse_flip_bound(membership: float, labels: float, votes: float) -> float:
    """Pointwise flip bound of an estimator with a heavy stage that uses its sample three times.

    Returns ``membership + max(labels, votes)``, cut at 1 and rounded up: bounds of P(heavy in one
    run only), of P(labels differ) if heavy in both, of P(votes differ) without a heavy stage.

    >>> round(reuse_flip_bound(0.02, 0.05, 0.08), 6)
    0.1
    """
    for name, value in (("membership", membership), ("labels", labels), ("votes", votes)):
        check_fraction(name, value, zero=True)
    return upper_probability(membership + max(labels, votes))


POINTWISE = "heavy"
WHOLE_SET = "heavy, whole set"
SMALL_MASS = "heavy, small mass"
TASK_NAMES = (POINTWISE, WHOLE_SET, SMALL_MASS)
"""Tasks of a search for heavy points, in the order of its notions."""


@theorem("approximate-markov")
def union_bound(first: float, second: float) -> float:
    """Probability that one of two things happens, at most."""
    return min(1.0, first + second)


# -- finding them ----------------------------------------------------------------------------------
def _range(ledger: Ledger, n: int, law: MembershipLaw, beta: float) -> str:
    """Completeness and soundness, half of beta each."""
    mass = ledger.add(found_from, n=n, law=law, beta=beta / 2.0)
    below = ledger.add(false_members_below, n=n, law=law, beta=beta / 2.0)
    all_from = "no mass is surely found" if mass is None else f"mass {rounded_up(mass)} and more"
    return (
        f"Except with probability {rounded_up(beta)} every point of {all_from} is a member, and "
        f"none of mass below {below:.4g}."
    )


def _pointwise(
    ledger: Ledger, n: int, rho: float | None, beta: float, kind: str, low: float, high: float
) -> Promise:
    law = MembershipLaw(kind, low, high)
    flip = ledger.add(membership_flip_bound, n=n, law=law)
    promises = (
        "A fixed point is a member in one of two runs only with probability at most "
        f"{rounded_up(flip)}.",
        _range(ledger, n, law, beta),
    )
    return reached(promises, rho=(flip, rho), beta=(beta, None))


def _whole_set(
    ledger: Ledger, n: int, rho: float | None, beta: float, core_low: float, core_high: float
) -> Promise:
    law = SetLaw("power", core_low, core_high)
    flip = ledger.add(set_flip_bound, n=n, law=law)
    promises = (
        f"The sets of two runs differ at all with probability at most {rounded_up(flip)}.",
        _range(ledger, n, law, beta),
    )
    return reached(promises, rho=(flip, rho), beta=(beta, None))


def _small_mass(
    ledger: Ledger,
    n: int,
    rho: float | None,
    beta: float,
    kind: str,
    low: float,
    high: float,
    core_low: float,
    core_high: float,
    gamma: float,
) -> Promise:
    law = MembershipLaw(kind, low, high)
    core = SetLaw("power", core_low, core_high)
    core_flip = ledger.add(set_flip_bound, n=n, law=core)
    flip = ledger.add(membership_flip_bound, n=n, law=law)
    rest = min(
        ledger.add(markov_rho, pointwise=flip, gamma=gamma),
        ledger.add(membership_disagreement_tail, n=n, law=law, membership_flip=flip, gamma=gamma),
    )
    total = ledger.add(union_bound, first=core_flip, second=rest)
    promises = (
        "The cores of two runs are equal and the sets differ on mass at most "
        f"{gamma:g}, except with probability {rounded_up(total)}.",
        "Core: " + _range(ledger, n, core, beta),
        "Set: " + _range(ledger, n, law, beta),
    )
    return reached(promises, rho=(total, rho), gamma=gamma, beta=(beta, None))


def _solve_pointwise(
    nu: float, n: int | None = None, rho: float = 0.1, beta: float = 0.05
) -> dict[str, Any]:
    law = MembershipLaw.standard(nu)
    rows = smallest_sample_membership(rho, law) if n is None else n
    ends = {"kind": law.kind, "low": law.low, "high": law.high}
    return {"n": rows, "rho": rho, "beta": beta, **ends}


def _solve_whole_set(
    nu: float, n: int | None = None, rho: float = 0.1, beta: float = 0.05
) -> dict[str, Any]:
    law = SetLaw.standard(nu)
    rows = smallest_sample_set(rho, law) if n is None else n
    return {"n": rows, "rho": rho, "beta": beta, "core_low": law.low, "core_high": law.high}


_LEARNERS = ("find_heavy_hitters",)

TASKS = (
    Task(POINTWISE, _pointwise, _solve_pointwise, _LEARNERS, "heavy-membership"),
    Task(WHOLE_SET, _whole_set, _solve_whole_set, _LEARNERS, "replicable-heavy-hitters"),
    Task(SMALL_MASS, _small_mass, learners=_LEARNERS, theorem="approximate-heavy"),
)

INDEX_KEY = SharedKey("replearn point index")
_CELLS_AT_A_TIME = 1 << 22


class Counts(NamedTuple):
    """Distinct points of a sample with their numbers of occurrences, most frequent first."""

    values: Any  # one row for each point, in the sample's own kind of container
    points: Points  # the same in canonical encoding
    counts: NDArray[np.int64]
    n: int  # rows of the sample


def count_points(X: Any, *, at_least: int = 1, decimals: int | None = None) -> Counts:
    """Count the distinct points of a sample.

    Parameters
    ----------
    X : container of rows
        The sample.
    at_least : int, default=1
        Leave out points with fewer occurrences.
    decimals : int, optional
        Number of decimals to which numbers are rounded first.

    Returns
    -------
    Counts
        In an order that does not depend on that of the rows.

    Examples
    --------
    >>> counted = count_points([["a", 1], ["b", 2], ["a", 1.0]], at_least=2)
    >>> counted.values, counted.counts.tolist(), counted.n
    ([['a', 1]], [2], 3)
    """
    frame = None if decimals is not None else _plain_frame(X)
    if frame is not None:
        values, counts = _group_frame(frame, at_least)
        values = values.to_numpy().astype(X.dtype) if isinstance(X, np.ndarray) else values
    else:
        rows, counts = _group_points(as_points(X, decimals=decimals))
        kept = counts >= at_least
        values = take_rows(X, rows[kept])
        counts = counts[kept]
    points = as_points(values, decimals=decimals)
    order = by_frequency(points, counts)
    return Counts(take_rows(values, order), points.take(order), counts[order], n_rows(X))


def by_frequency(points: Points, counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the order of distinct points: most frequent first, ties by their hashes."""
    if not len(counts):
        return np.zeros(0, dtype=np.intp)
    return np.lexsort((INDEX_KEY.hashes(points), -counts))


def _plain_frame(X: Any) -> Any:
    """See numbers and polars columns as a frame whose own equality is that of the points."""
    if n_rows(X) == 0:
        return None
    try:
        import polars as pl
    except ImportError:
        return None
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub":
        if X.dtype.itemsize > 8 or X.shape[1] == 0:
            return None
        X = pl.from_numpy(X, schema=[f"c{i}" for i in range(X.shape[1])])
    if not isinstance(X, pl.DataFrame) or not all(_is_plain(pl, kind) for kind in X.dtypes):
        return None
    floats = [name for name, kind in X.schema.items() if kind.is_float()]
    # One missing value, one zero; an infinite number has no canonical encoding and is refused.
    if floats and X.select(pl.col(floats).is_infinite().any()).unpivot()["value"].any():
        as_points(X).encoded()
    if floats and X.select(pl.col(floats).is_nan().any()).unpivot()["value"].any():
        X = X.with_columns(pl.col(floats).fill_nan(None))
    return X


def _is_plain(pl: Any, kind: Any) -> bool:
    return (kind.is_numeric() and not kind.is_decimal()) or kind in (pl.Boolean, pl.String)


def _group_frame(frame: Any, at_least: int) -> tuple[Any, NDArray[np.int64]]:
    import polars as pl

    names = frame.columns
    count = "__count__"
    groups = frame.group_by(names).agg(pl.len().alias(count)).filter(pl.col(count) >= at_least)
    return groups.select(names), groups[count].to_numpy().astype(np.int64)


def _group_points(points: Points) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Sort by a hash; rows that share one but differ are separated by all their words."""
    n = len(points)
    if n == 0:
        return np.zeros(0, np.intp), np.zeros(0, np.int64)
    hashes = INDEX_KEY.hashes(points)
    order = np.argsort(hashes, kind="stable")
    same = hashes[order][1:] == hashes[order][:-1]
    if not _all_equal(points, order[1:][same], order[:-1][same]):
        return _group_words(*points.encoded())
    starts = np.flatnonzero(np.concatenate([[True], ~same]))
    counts = np.diff(np.append(starts, n)).astype(np.int64)
    return order[starts].astype(np.intp), counts


def _all_equal(points: Points, rows: NDArray[np.intp], others: NDArray[np.intp]) -> bool:
    """Compare pairs of rows word by word, a few at a time."""
    size = max(1, _CELLS_AT_A_TIME // max(1, points.n_columns))
    for start, stop in row_chunks(len(rows), size):
        first = points.take(rows[start:stop]).encoded()
        second = points.take(others[start:stop]).encoded()
        if not np.array_equal(first[0], second[0]) or not np.array_equal(first[1], second[1]):
            return False
    return True


def _group_words(
    words: NDArray[np.uint64], kinds: NDArray[np.uint8]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Group by all words: what is left when hashes collide."""
    rows = np.column_stack([words, kinds.astype(np.uint64)])
    _, firsts, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    return firsts.astype(np.intp), counts.astype(np.int64)


class PointIndex:
    """A short list of distinct points that other points are looked up in, exactly.

    >>> index = PointIndex(as_points([["a", 1], ["b", 2]]))
    >>> index.locate(as_points([["b", 2.0], ["c", 1], ["a", True]])).tolist()
    [1, -1, 0]
    """

    def __init__(self, points: Points) -> None:
        self._words, self._kinds = points.encoded()
        self._hashes = INDEX_KEY.hashes(points) if len(points) else np.zeros(0, np.uint64)
        self._order = np.argsort(self._hashes, kind="stable")

    def __len__(self) -> int:
        return len(self._hashes)

    def locate(self, points: Points) -> NDArray[np.intp]:
        """Return each point's number in the list, or -1."""
        numbers = np.full(len(points), -1, dtype=np.intp)
        if not len(self) or not len(points):
            return numbers
        hashes = INDEX_KEY.hashes(points)
        known = self._hashes[self._order]
        index = np.searchsorted(known, hashes)
        # As many listed points may share one hash: 1 unless hashes collide.
        for step in range(np.unique(self._hashes, return_counts=True)[1].max()):
            at = np.minimum(index + step, len(known) - 1)
            candidates = np.flatnonzero((known[at] == hashes) & (numbers < 0))
            if not len(candidates):
                continue
            words, kinds = points.take(candidates).encoded()
            listed = self._order[at[candidates]]
            same = (words == self._words[listed]).all(axis=1)
            same &= (kinds == self._kinds[listed]).all(axis=1)
            numbers[candidates[same]] = listed[same]
        return numbers


_NOTIONS = ("pointwise", "replicable", "approximate")


@dataclass(frozen=True, eq=False)
class HeavyHitters:
    """The heavy points of a sample, most frequent first.

    Parameters
    ----------
    values : container of rows
        One row for each member, in a container of the same kind as the sample.
    points : Points
        The same in canonical encoding.
    counts : ndarray of int
        Occurrences in the sample.
    thresholds : ndarray of float
        Shared number u of each member.
    core : ndarray of bool
        Members of the set that is identical in both runs (S_gamma); all False for the pointwise
        notion, all True for the replicable one.
    n : int
        Rows of the sample that were used.
    rows : ndarray of int or None
        Which rows they were, one of each group; None if all of them.
    law : MembershipLaw or SetLaw
        Law of the thresholds outside the core or, for the replicable notion, of the one threshold.
    gamma_prime : float or None
        Level of the core (approximate notion).
    certificate : Certificate
        What is promised.
    """

    values: Any
    points: Points
    counts: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    core: NDArray[np.bool_]
    n: int
    rows: NDArray[np.intp] | None
    law: MembershipLaw | SetLaw
    gamma_prime: float | None
    certificate: Certificate

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def notion(self) -> str:
        """What two runs agree on: "pointwise", "replicable" or "approximate"."""
        return _NOTIONS[TASK_NAMES.index(self.certificate.task)]

    @property
    def core_law(self) -> SetLaw | None:
        """Law of the one threshold of the core, if there is a core."""
        return None if self.gamma_prime is None else SetLaw.standard(self.gamma_prime)

    @property
    def masses(self) -> NDArray[np.float64]:
        """Frequencies in the sample."""
        return self.counts / self.n

    def locate(self, X: Any) -> NDArray[np.intp]:
        """Return which member each point is, or -1.

        Parameters
        ----------
        X : container of rows, or Points
            Any points.
        """
        return self._index.locate(as_points(X))

    @cached_property
    def _index(self) -> PointIndex:
        return PointIndex(self.points)

    def contains(self, X: Any) -> NDArray[np.bool_]:
        """Whether each point is a member."""
        return self.locate(X) >= 0


def find_heavy_hitters(
    points: Any,
    nu: float,
    *,
    key: SharedKey | str | bytes | int,
    notion: str = "pointwise",
    rho: float | None = None,
    beta: float = 0.05,
    gamma: float = 0.1,
    law: str | MembershipLaw = "standard",
    decimals: int | None = None,
    groups: ArrayLike | None = None,
) -> HeavyHitters:
    """Find the points of mass about nu and more.

    Parameters
    ----------
    points : container of rows
        The sample.
    nu : float
        Points of this mass are heavy, in (0, 1].
    key : SharedKey, str, bytes or int
        The same in both runs.
    notion : {"pointwise", "replicable", "approximate"}, default="pointwise"
        What two runs agree on: the membership of each fixed point (about 1/nu rows); the whole
        set, with one threshold for all points (about 1/nu^3 rows); or a core of very heavy points
        as a whole, and the rest up to a mass gamma.
    rho : float, default=None
        Requested probability of disagreement. If None, it is only stated.
    beta : float, default=0.05
        Failure probability of completeness and soundness.
    gamma : float, default=0.1
        Mass on which the sets may differ (approximate notion only).
    law : {"standard", "paper"} or MembershipLaw, default="standard"
        Law of the thresholds of single points: uniform in the square root of the frequency on
        [nu/16, nu], or that of the paper, uniform on [nu/2, 2 nu].
    decimals : int, default=None
        Number of decimals to which numbers are rounded before points are compared.
    groups : array-like, default=None
        One id for each row: rows of one group (one person) are not independent, so that one of
        each group is used, and n counts groups.

    Examples
    --------
    >>> sample = [1] * 600 + [2] * 300 + list(range(10, 110))
    >>> heavy = find_heavy_hitters(sample, 0.25, key="a")
    >>> heavy.values, heavy.counts.tolist()
    ([1, 2], [600, 300])
    """
    for name, value in (("nu", nu), ("beta", beta), ("gamma", gamma)):
        check_fraction(name, value)
    if_given(check_fraction, "rho", rho)
    check_choice("notion", notion, _NOTIONS)
    key = SharedKey(key)
    kept = None
    if groups is not None:
        # Labels are not known here: rows of a group that are equal are told apart by position.
        position = np.arange(n_rows(points))
        kept = one_of_each_group(key, as_points(points, decimals=decimals), position, groups)
        points = take_rows(points, kept)
    single = _membership_law(law, nu)
    core_law = _core_law(notion, nu, gamma, rho)
    # The pointwise law plays no part in the replicable notion, the core none in the pointwise one.
    both = (None if notion == "replicable" else single, core_law)
    laws = [law for law in both if law is not None]
    low = min(law.low for law in laws)
    least = max(1, math.ceil(n_rows(points) * low * (1.0 - 1e-12)))
    counted = count_points(points, at_least=least, decimals=decimals)
    member, uniforms = draw_members(counted.points, counted.counts, counted.n, single, key)
    core = np.zeros(len(counted.counts), dtype=bool)
    if core_law is not None:
        shared = key.child("core membership").uniforms(["one threshold for all points"])[0]
        core = counted.counts >= core_law.least_count(float(shared), counted.n)
    rows = np.flatnonzero(core if notion == "replicable" else core | member)
    return HeavyHitters(
        values=take_rows(counted.values, rows),
        points=counted.points.take(rows),
        counts=counted.counts[rows],
        thresholds=uniforms[rows],
        core=core[rows],
        n=counted.n,
        rows=kept,
        law=laws[0],
        gamma_prime=None if core_law is None else 2.0 * core_law.low,
        certificate=certify(
            TASK_NAMES[_NOTIONS.index(notion)],
            key.fingerprint,
            n=counted.n,
            rho=rho,
            beta=float(beta),
            **_law_inputs(notion, single, core_law, gamma),
        ),
    )


def draw_members(
    points: Points, counts: NDArray[np.int64], n: int, law: MembershipLaw, key: SharedKey
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which points are members, by one shared threshold for each, and the thresholds.

    >>> law = MembershipLaw("sqrt", 0.2, 0.3)
    >>> draw_members(as_points([5, 6]), np.array([1, 9]), 10, law, SharedKey(0))[0]
    array([False,  True])
    """
    uniforms = key.child("membership").uniforms(points)
    # theorem: heavy-membership
    return below_levels(uniforms, law.table(counts, n)), uniforms


def _membership_law(law: str | MembershipLaw, nu: float) -> MembershipLaw:
    if isinstance(law, MembershipLaw):
        return law
    if law == "standard":
        return MembershipLaw.standard(nu)
    if law == "paper":
        return MembershipLaw.paper(nu)
    raise ValueError(f'law={law!r} must be "standard", "paper" or a MembershipLaw.')


def _core_law(notion: str, nu: float, gamma: float, rho: float | None) -> SetLaw | None:
    if notion == "pointwise":
        return None
    if notion == "replicable":
        return SetLaw.standard(nu)
    budget = 0.1 if rho is None else rho
    return SetLaw.standard(round(gamma / (2.0 * math.log(2.0 / min(budget, 0.5))), 12))


def _law_inputs(
    notion: str, law: MembershipLaw, core: SetLaw | None, gamma: float
) -> dict[str, Any]:
    """Return what the certificate says of the laws in use."""
    inputs: dict[str, Any] = {}
    if notion != "replicable":
        inputs |= {"kind": law.kind, "low": law.low, "high": law.high}
    if core is not None:
        inputs |= {"core_low": core.low, "core_high": core.high}
    if notion == "approximate":
        inputs["gamma"] = float(gamma)
    return inputs
