"""Attacks on the test of block votes, on Jensen's bound with mixed points, on Gini's difference."""

from typing import NamedTuple

import numpy as np
from scipy.stats import binom, multinomial

from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.regression import mean_rounding_flips
from replearn.bounds.whole_models import jensen_tail
from replearn.paper.realizable import ceiling_flip_bound

from .attack import Claim, among, between, masses, whole
from .library import fresh_key, points_of_pairs
from .votes import make

# -- do two runs vote alike? ----------------------------------------------------------------------


# -- two kinds of points --------------------------------------------------------------------------
class Mixed(NamedTuple):
    law: ThresholdLaw
    share: float  # mass of the first kind of points
    chances: tuple[float, float]  # of a vote at a point of each kind
    against: bool  # whether a block that votes for one kind tends to vote against the other
    gamma: float


class MixedPoints(Claim):
    """Whole models: two kinds of points without mass, whose votes depend on each other."""

    name, theorem, size = "approximate, by Jensen, mixed points", "approximate-jensen", 8
    slack = "Markov's inequality for the excess over a, which only two values attain"
    quick = 0.5

    def case(self, z):
        n_blocks = whole(z[0], 4, 22)
        width = max(round(between(z[1], 0.3, 1.0), 3), 1.0 / n_blocks)
        law = make(among(z[2], ("uniform", "arcsine")), n_blocks, width)
        chances = (float(z[4]), float(z[5]))
        return Mixed(law, float(z[3]), chances, bool(z[6] > 0.5), between(z[7], 0.02, 0.95))

    def certified(self, case):
        return jensen_tail(case.law, case.gamma)

    def _kinds(self, case):
        """Chances of a block's votes at both kinds of points: one uniform number decides both."""
        first, second = case.chances
        both = max(0.0, first + second - 1.0) if case.against else min(first, second)
        return np.array([both, first - both, second - both, 1.0 - first - second + both])

    def _heights(self, case, counts):
        levels = case.law.probabilities
        return levels[counts[..., 0] + counts[..., 1]], levels[counts[..., 0] + counts[..., 2]]

    def _mass(self, case, one, two):
        gaps = [np.abs(a - b) for a, b in zip(one, two, strict=True)]
        return case.share * gaps[0] + (1.0 - case.share) * gaps[1]

    def value(self, case):
        n = case.law.n_blocks
        kinds = np.clip(self._kinds(case), 0.0, 1.0)
        cells = np.array([(a, b, c, n - a - b - c)
                          for a in range(n + 1) if kinds[0] > 0 or a == 0
                          for b in range(n + 1 - a) if kinds[1] > 0 or b == 0
                          for c in range(n + 1 - a - b) if kinds[2] > 0 or c == 0])  # fmt: skip
        pmf = multinomial.pmf(cells, n, kinds / kinds.sum())
        kept = pmf > 1e-10
        heights = self._heights(case, cells[kept])
        mass = self._mass(case, [h[:, None] for h in heights], [h[None] for h in heights])
        return float(pmf[kept] @ (mass > case.gamma * (1 + 1e-12)) @ pmf[kept])

    def simulate(self, case, rng, pairs):
        kinds = np.clip(self._kinds(case), 0.0, 1.0)
        counts = rng.multinomial(case.law.n_blocks, kinds / kinds.sum(), (2, pairs))
        one, two = (self._heights(case, part) for part in counts)
        return (self._mass(case, one, two) > case.gamma * (1 + 1e-12)).sum()


# -- Gini's mean difference -----------------------------------------------------------------------
class Limit(NamedTuple):
    n: int
    largest: float
    chance: float


class AbstainsAlike(Claim):
    """One hypothesis whose training error is compared with a shared limit."""

    name, theorem, size = "realizable: abstains alike", "realizable", 3
    slack = "a count is nearly normal, and Gini's limit is attained by uniform laws"

    def case(self, z):
        return Limit(whole(z[0], 4, 600), between(z[1], 0.05, 1.0), float(z[2]))

    def certified(self, case):
        return ceiling_flip_bound(case.n, case.largest)

    def value(self, case):
        counts = np.arange(case.n + 1)
        pmf = binom.pmf(counts, case.n, case.chance)
        below = np.minimum(counts / case.n / case.largest, 1.0)
        return float(pmf @ np.abs(np.subtract.outer(below, below)) @ pmf)

    def simulate(self, case, rng, pairs):
        limit = case.largest * fresh_key(rng).child("limit").uniforms(points_of_pairs(pairs))
        one, two = rng.binomial(case.n, case.chance, (2, pairs)) / case.n > limit
        return (one != two).sum()


class Means(NamedTuple):
    places: np.ndarray  # of the mean of two blocks
    chances: np.ndarray
    resolution: float


class RoundedGivenVariance(Claim):
    """Rounded means of two blocks, given their variance: any law of the means."""

    name, theorem, size = "rounded regression (given the variance)", "rounded-regression", 13
    most = 0.9

    def case(self, z):
        chances = masses(z[1:7])
        places = np.linspace(0.0, 1.0, 6) + 0.15 * (z[7:13] - 0.5)
        return Means(places, chances, between(z[0], 1.2, 4.0))

    def certified(self, case):
        mean = case.chances @ case.places
        variance = float(case.chances @ (case.places - mean) ** 2)
        return float(mean_rounding_flips(2.0 * variance, 2, case.resolution))

    def value(self, case):
        gaps = np.abs(np.subtract.outer(case.places, case.places)) / case.resolution
        return float(case.chances @ np.minimum(gaps, 1.0) @ case.chances)

    def simulate(self, case, rng, pairs):
        offsets = fresh_key(rng).child("grid").uniforms(points_of_pairs(pairs))
        drawn = case.places[rng.choice(6, (2, pairs), p=case.chances)]
        one, two = np.floor(drawn / case.resolution - offsets)
        return (one != two).sum()


CLAIMS = [MixedPoints(), AbstainsAlike(), RoundedGivenVariance()]
