"""The same claims where other formulas take over: very many blocks, throws, rows."""

import numpy as np
from scipy.stats import binom

from replearn.bounds.flips import flip_bound
from replearn.paper.coins import CoinLaw
from replearn.paper.heavy_hitters import MembershipLaw

from .attack import among, between
from .heavy import BlockModel, Membership
from .others import Coin, Coins
from .votes import LawOfVotes, Votes, make


def within(n, chance):
    """Counts that a binomial variable takes except with probability 1e-20 or so."""
    reach = 10.0 * np.sqrt(n * chance * (1.0 - chance)) + 60.0
    first, last = max(0, int(n * chance - reach)), min(n, int(n * chance + reach))
    return np.arange(first, last + 1)


def mean_gap(heights, counts, n, chance):
    """E|G(B1) - G(B2)| for two counts, from the heights of the law at these counts."""
    below = np.minimum(np.cumsum(binom.pmf(counts, n, chance))[:-1], 1.0)
    return float(np.diff(heights) @ (2.0 * below * (1.0 - below)))


class ManyBlocks(LawOfVotes):
    """Suprema by cells up to 20,000 blocks, bounds for smooth laws beyond."""

    size = 4

    def __init__(self):
        super().__init__("uniform")
        self.name = "pointwise, very many blocks"
        self.slack = "beyond 20,000 blocks the arcsine law has a simpler bound"

    def case(self, z):
        kind, blocks = among(z[1], ("uniform", "arcsine")), among(z[0], (600, 2500, 25_000))
        law = make(kind, blocks, among(z[2], (0.02, 0.1, 0.4, 0.9, 1.0)))
        return Votes(law, 2, (float(z[3]), 0.0), 1.0)

    def certified(self, case):
        return flip_bound(case.law)

    def value(self, case):
        n, q = case.law.n_blocks, case.chances[0]
        counts = within(n, q)
        return mean_gap(case.law.probabilities[counts], counts, n, q)


class ManyRows(Membership):
    name, quick = "heavy points: membership, many rows", 0.3

    def case(self, z):
        high = between(z[1] ** 2, 1e-3, 1.0)
        low = high * between(z[2], 0.02, 0.8)
        law = MembershipLaw(among(z[3], ("sqrt", "uniform")), low, high)
        n = among(z[0], (3000, 30_000, 300_000))
        return BlockModel(n, law, float(z[4] * min(1.0, 2 * high)))

    def value(self, case):
        counts = within(case.n, case.mass)
        return mean_gap(case.law.probabilities(counts, case.n), counts, case.n, case.mass)


class ManyThrows(Coins):
    name = "coins, many throws"
    slack = "closed formulas from 600 throws on, sharp for coins near the middle"

    def case(self, z):
        low = between(z[1] ** 2, 0.0, 0.9)
        law = CoinLaw("arcsine", low, between(z[2] ** 2, low + 0.01, 1.0))
        return Coin(among(z[0], (700, 5000, 50_000)), law, float(z[3]))

    def value(self, case):
        counts = within(case.n, case.chance)
        return mean_gap(case.law.probabilities(counts, case.n), counts, case.n, case.chance)


CLAIMS = [ManyBlocks(), ManyRows(), ManyThrows()]
