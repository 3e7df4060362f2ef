"""Which points are heavy: a shared threshold on the frequency of each, the same in two runs.

For independent counts c1, c2 ~ Bin(n, D) of one point the sum J = c1 + c2 is Bin(2n, D), and given
J = j the split is hypergeometric, whatever D is. Its distance from j/2 is stochastically smaller
than that of A ~ Bin(j, 1/2), so E|M(c1) - M(c2)| <= E gamma(J), gamma(j) = E|M(A) - M(j - A)|: a
function of one whole number instead of a supremum over masses. Proof:
docs/theory/heavy-membership.md.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from replearn.bounds.laws import LAW_BITS, ROUNDING
from replearn.bounds.numeric import Floats, binomial_cdf, upper_probability
from replearn.bounds.theorem import theorem
from replearn.records import check_choice, check_count, check_fraction, require_integer

# Expected counts of a heavy point up to which the exact supremum is computed.
_EXACT_COUNTS = 4000

# exp(-2 * 5^2): what the windows leave out on each side.
_WINDOW = 5.0
_NEGLECTED = 1e-20
# Cells of the mass at the start, and by how much a cell's bound may exceed the best value found in
# each round; the last round settles everything. A largest gamma so close to it is taken at once.
_CELLS = 150
_CLOSE = 1.01
_TOLERANCES = (1e-3, 1e-3, 1e-3, 2e-3, 4e-3, math.inf)
_FLOAT_SLACK = 1e-11
# Up to here g(j) is tabulated; beyond, a formula is right to 2e-4.
_TABLE = 3000


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
    def standard(cls, nu: float) -> "MembershipLaw":
        """Square-root law on [nu / 16, nu]: every point of frequency nu is a member."""
        return cls("sqrt", nu / 16.0, nu)

    @classmethod
    def paper(cls, nu: float) -> "MembershipLaw":
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
        A rigorous bound on the supremum over the mass of the point, at most about 1 % above it
        (3 % for the uniform law if heavy points occur more than 4000 times).

    Examples
    --------
    >>> round(membership_flip_bound(100_000, MembershipLaw.standard(0.01)), 4)
    0.0239
    """
    check_count("n", n)
    bound = quick_membership_bound(n, law)
    if n * law.high <= _EXACT_COUNTS:
        counts = np.arange(min(n, math.ceil(n * law.high)) + 1)
        bound = min(bound, largest_mean_difference(law.probabilities(counts, n), n))
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


def largest_mean_difference(levels: Floats, n: int) -> float:
    """Upper bound over D of E gamma(J), J ~ Bin(2n, D); ``levels`` rises to 1 at its last count.

    Above j = 2 (last count) the larger part is always a member and gamma falls.
    """
    top = len(levels) - 1
    reach = min(2 * n, 2 * top + int(6.0 * math.sqrt(2.0 * top + 1.0)) + 10)
    padded = np.concatenate([levels, np.ones(max(0, reach - top))])[: reach + 1]
    gamma = split_differences(padded, 0, reach)
    end = min((reach + _radius(reach)) / (2.0 * n), 1.0)
    # Beyond the last cell J is above the table except with the probability of a lower tail.
    missed = float(binomial_cdf(reach, 2 * n, end)) if end < 1.0 else 0.0
    beyond = float(gamma[-1]) + missed * float(gamma.max())
    return max(_largest_on_cells(gamma, n, end), beyond) * (1.0 + 1e-9) + _FLOAT_SLACK


def _largest_on_cells(gamma: Floats, n: int, end: float) -> float:
    """Branch and bound over cells of D in [0, end]."""
    # |d/dD E gamma(J)| <= 2n max|gamma(j+1) - gamma(j)| over the j that matter.
    changes = np.abs(np.diff(gamma))
    highest = float(gamma.max())
    edges = np.linspace(0.0, end, _CELLS + 1)
    low = edges[:-1]
    high = edges[1:]
    best = 0.0
    settled = 0.0
    for tolerance in _TOLERANCES:
        masses, index = np.unique(np.concatenate([low, high]), return_inverse=True)
        at_low, at_high = _means_at(gamma, n, masses)[index].reshape(2, -1)
        best = max(best, float(at_low.max()), float(at_high.max()))
        if highest <= best * _CLOSE:
            return highest
        slopes = [_largest_change(changes, n, a, b) for a, b in zip(low, high, strict=True)]
        bounds = 0.5 * (at_low + at_high) + n * np.array(slopes) * (high - low)
        wide = bounds > best * (1.0 + tolerance)
        settled = max(settled, float(bounds[~wide].max(initial=0.0)))
        if not wide.any():
            break
        cuts = np.linspace(low[wide], high[wide], 5)
        low = cuts[:-1].ravel()
        high = cuts[1:].ravel()
    return min(settled, highest)


def _largest_change(changes: Floats, n: int, a: float, b: float) -> float:
    """Largest step of gamma for the J that matter on the cell, and a trace of all others."""
    low = max(0, int(2 * n * a - _radius(2 * n * a)))
    high = int(2 * n * b + _radius(2 * n * b)) + 2
    return float(changes[low:high].max(initial=0.0)) + _NEGLECTED


def _radius(mean: float) -> float:
    """Distance from its mean that J keeps except with probability 1e-16 a side (Bernstein)."""
    return 9.0 * math.sqrt(mean) + 50.0


def _means_at(gamma: Floats, n: int, masses: Floats) -> Floats:
    """E gamma(J) for J ~ Bin(2n, mass); counts beyond the table take its last value."""
    trials = 2 * n
    last = len(gamma) - 1
    mean = trials * float(masses.max())
    j = np.arange(min(trials, int(mean + _radius(mean)) + 1) + 1.0)
    # Summed term by term: differences of log-factorials of 10^10 would lose seven digits.
    log_choose = np.cumsum(np.log(np.maximum(trials - j + 1.0, 1.0) / np.maximum(j, 1.0)))
    log_choose -= log_choose[0]
    heights = gamma[np.minimum(j.astype(np.intp), last)]
    rows = max(1, 1_000_000 // len(j))
    pieces = []
    for start in range(0, len(masses), rows):
        p = masses[start : start + rows, None]
        logs = log_choose + special.xlogy(j, p) + special.xlog1py(trials - j, -p)
        pieces.append(np.exp(logs) @ heights)
    return np.concatenate(pieces)


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
