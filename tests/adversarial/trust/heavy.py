"""Attacks on heavy points (membership, sets, labels, one of them) and on whole models."""

from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from replearn.bounds.approximate import disagreement_tail
from replearn.bounds.collisions import point_mass_limits
from replearn.bounds.flips import flip_supremum
from replearn.bounds.laws import ThresholdLaw, uniform_law
from replearn.bounds.multiclass import agreement_probability
from replearn.bounds.selection import selection_flip_bound_sampled
from replearn.bounds.whole_models import jensen_tail
from replearn.paper.heavy_hitters import (
    MembershipLaw,
    SetLaw,
    below_levels,
    membership_flip_bound,
    reuse_flip_bound,
    set_flip_bound,
)
from replearn.paper.heavy_labels import label_points
from replearn.paper.signs import label_flip_bound
from replearn.randomness.points import as_points

from .attack import Claim, among, between, masses, whole
from .library import fresh_key, points_of_pairs, threshold_rule
from .votes import levels, make

SEARCH_PAIRS = 2000


class BlockModel(NamedTuple):
    n: int
    law: MembershipLaw
    mass: float


class Membership(Claim):
    name, theorem, size = "heavy points: membership", "heavy-membership", 5

    def case(self, z):
        high = between(z[1], 0.02, 1.0)
        low = high * between(z[2], 0.02, 0.8)
        law = MembershipLaw(among(z[3], ("sqrt", "uniform")), low, high)
        return BlockModel(whole(z[0], 20, 800), law, float(z[4] * min(1.0, 2 * high)))

    def certified(self, case):
        return membership_flip_bound(case.n, case.law)

    def value(self, case):
        counts = np.arange(case.n + 1)
        below = np.minimum(np.cumsum(binom.pmf(counts, case.n, case.mass))[:-1], 1.0)
        steps = np.diff(case.law.probabilities(counts, case.n))
        return float(steps @ (2.0 * below * (1.0 - below)))

    def simulate(self, case, rng, pairs):
        noise = fresh_key(rng).child("membership").uniforms(points_of_pairs(pairs))
        one, two = (
            below_levels(noise, case.law.table(rng.binomial(case.n, case.mass, pairs), case.n))
            for _ in range(2)
        )
        return (one != two).sum()


class Crowd(NamedTuple):
    n: int
    law: MembershipLaw
    masses: np.ndarray


class WholeSet(Claim):
    """One threshold for all points: the sets differ if it falls between any point's counts."""

    name, theorem, exact, size = "heavy points: whole set", "replicable-heavy-hitters", False, 12
    slack = "the bound adds up all points at the worst mass; their intervals overlap"

    def case(self, z):
        law = SetLaw.standard(between(z[1], 0.05, 0.5))
        return Crowd(whole(z[0], 200, 20_000), law, masses(z[2:12]))

    def certified(self, case):
        return set_flip_bound(case.n, case.law)

    def _counts(self, case, rng, pairs):
        return rng.multinomial(case.n, case.masses, (2, pairs))

    def value(self, case):
        counts = self._counts(case, np.random.default_rng(3), 500)
        heights = np.sort(case.law.probabilities(counts, case.n), axis=0)
        # length of the union of the intervals between the two heights of each point
        order = np.argsort(heights[0], axis=1)
        low, high = (np.take_along_axis(part, order, axis=1) for part in heights)
        reach = np.maximum.accumulate(high, axis=1)
        before = np.column_stack([np.zeros(len(low)), reach[:, :-1]])
        return float((reach - np.maximum(low, before)).clip(0).sum(axis=1).mean())

    def simulate(self, case, rng, pairs):
        shared = fresh_key(rng).uniforms(points_of_pairs(pairs))[:, None]
        one, two = self._counts(case, rng, pairs)
        # what `SetLaw.least_count` decides, for all pairs at once
        inside = [shared < case.law.exact_values(counts / case.n) for counts in (one, two)]
        return (inside[0] != inside[1]).any(axis=1).sum()


class Labels(NamedTuple):
    k: int
    band: float
    chances: np.ndarray


class HeavyLabels(Claim):
    theorem = "heavy-labels"

    def __init__(self, n_classes):
        self.n_classes, self.size, self.exact = n_classes, 2 + n_classes, n_classes == 2
        self.name = f"heavy points: labels, {n_classes} classes"
        if n_classes > 2:
            self.slack = "the bound pays nothing for the number of classes and allows the worst"

    def case(self, z):
        k = whole(z[0], 2, 400)
        low = 0.05 if self.n_classes == 2 else 2.0 / np.sqrt(k)
        return Labels(k, between(z[1], low, 1.0), masses(z[2:]))

    def certified(self, case):
        if self.n_classes == 2:
            return label_flip_bound(case.k, case.band)
        return selection_flip_bound_sampled(1.0 / case.band, self.n_classes, case.k)

    def value(self, case):
        if self.n_classes == 2:
            pmf = binom.pmf(np.arange(case.k + 1), case.k, case.chances[1])
            return levels(pmf, uniform_law(case.k, case.band))
        tallies = np.random.default_rng(3).multinomial(case.k, case.chances, (2, SEARCH_PAIRS))
        return float(1 - agreement_probability(*np.exp(tallies / case.k / case.band)).mean())

    def simulate(self, case, rng, pairs):
        key, names = fresh_key(rng), np.arange(self.n_classes)
        tallies = rng.multinomial(case.k, case.chances, (2, pairs))
        shared = (points_of_pairs(pairs), case.k, case.band, names, key)
        one, two = (label_points(shared[0], t, *shared[1:]).label_codes for t in tallies)
        return (one != two).sum()


class Reuse(NamedTuple):
    blocks: int
    rows: int  # of a block
    membership: MembershipLaw
    labels: int
    band: float
    law: ThresholdLaw
    mass: float
    bias: float  # of the labels of the point
    votes: np.ndarray  # chance of a vote for 1 by a block without, with one, with more such rows


class SampleReuse(Claim):
    """Membership, labels and votes from one sample: blocks vote by how often they saw the point."""

    name, theorem, exact, size = "heavy stage and votes", "sample-reuse", False, 12
    slack = "membership, labels and votes are rarely all undecided at one point"

    def case(self, z):
        blocks, rows = whole(z[0], 10, 60), whole(z[1], 2, 8)
        n = blocks * rows
        high = between(z[2], 0.1, 1.0)
        low = max(high * between(z[3], 0.05, 0.7), 4.0 / n)
        stage = MembershipLaw("sqrt", min(low, 0.9 * high), high)
        k = max(1, int(n * stage.low))
        width = max(round(between(z[4], 0.2, 1.0), 3), 1.0 / blocks)
        law = make("uniform", blocks, width)
        chances = np.array([z[9], z[10], z[11]])
        return Reuse(
            blocks, rows, stage, k, between(z[5], 0.2, 1), law, z[6] * high, float(z[7]), chances
        )

    def certified(self, case):
        n = case.blocks * case.rows
        return reuse_flip_bound(
            membership_flip_bound(n, case.membership),
            label_flip_bound(case.labels, case.band),
            flip_supremum(case.law),
        )

    def _runs(self, case, rng, pairs):
        """Return each run's counts of the point, of its labels and of its votes."""
        n = case.blocks * case.rows
        sizes = binom.pmf(np.arange(case.rows + 1), case.rows, case.mass)
        for _ in range(2):
            blocks = rng.multinomial(case.blocks, sizes / sizes.sum(), pairs)
            counts = blocks @ np.arange(case.rows + 1)
            kinds = np.column_stack([blocks[:, 0], blocks[:, 1], blocks[:, 2:].sum(axis=1)])
            votes = rng.binomial(kinds, case.votes).sum(axis=1)
            labels = rng.binomial(case.labels, case.bias, pairs)
            yield case.membership.table(np.minimum(counts, n), n), labels, votes

    def _as_predictions(self, case, rng, pairs):
        key, points = fresh_key(rng), points_of_pairs(pairs)
        noise = key.child("vote").uniforms(points)
        rule, names = threshold_rule(case.law), np.arange(2)
        for levels_, labels, votes in self._runs(case, rng, pairs):
            member = below_levels(key.child("membership").uniforms(points), levels_)
            tallies = np.column_stack([case.labels - labels, labels])
            own = label_points(points, tallies, case.labels, case.band, names, key).label_codes
            yield np.where(member, own, rule.predictions(votes[:, None], noise))

    def value(self, case):
        one, two = self._as_predictions(case, np.random.default_rng(9), SEARCH_PAIRS)
        return float((one != two).mean())

    def simulate(self, case, rng, pairs):
        one, two = self._as_predictions(case, rng, pairs)
        return (one != two).sum()


class Mass(NamedTuple):
    law: ThresholdLaw
    points: int  # of equal mass, all voted on alike
    chance: float
    gamma: float


class Approximate(Claim):
    """Whole models: all points are voted on alike, each has a threshold of its own."""

    name, theorem, size = "approximate, direct", "approximate-direct", 6
    slack = "Hoeffding's inequality twice: over the blocks and over the thresholds"

    def case(self, z):
        n_blocks = whole(z[0], 10, 400)
        width = max(round(between(z[1], 0.1, 1.0), 3), 1.0 / n_blocks)
        law = make(among(z[2], ("uniform", "arcsine")), n_blocks, width)
        return Mass(law, whole(z[3], 1, 40), float(z[4]), between(z[5], 0.02, 0.95))

    def certified(self, case):
        return disagreement_tail(case.law, case.gamma, max_point_mass=1.0 / case.points)

    def value(self, case):
        n = case.law.n_blocks
        pmf = binom.pmf(np.arange(n + 1), n, case.chance)
        keep = pmf > 1e-13
        gaps = np.abs(np.subtract.outer(*[case.law.probabilities[keep]] * 2))
        most = np.floor(case.gamma * case.points * (1 + 1e-12))
        return float(pmf[keep] @ binom.sf(most, case.points, gaps) @ pmf[keep])

    def simulate(self, case, rng, pairs):
        rule, n = threshold_rule(case.law), case.law.n_blocks
        pair = np.repeat(np.arange(pairs), case.points)
        points = as_points(np.column_stack([pair, np.tile(np.arange(case.points), pairs)]))
        noise = fresh_key(rng).uniforms(points)
        runs = rng.binomial(n, case.chance, (2, pairs))
        one, two = (rule.predictions(v[pair][:, None], noise) for v in runs)
        share = (one != two).reshape(pairs, -1).sum(axis=1)
        return (share > case.gamma * case.points * (1 + 1e-12)).sum()


class ApproximateByJensen(Approximate):
    """The same models against the bound by Jensen's inequality."""

    name, theorem, size = "approximate, by Jensen", "approximate-jensen", 6
    slack = "Markov's inequality for the excess over a, which only two values attain"

    def certified(self, case):
        return jensen_tail(case.law, case.gamma, max_point_mass=1.0 / case.points)


class ApproximateWithoutAtoms(ApproximateByJensen):
    """All points are voted on alike, and none carries mass: the mass that differs is one gap."""

    name = "approximate, by Jensen, no atoms"

    def certified(self, case):
        return jensen_tail(case.law, case.gamma)

    def value(self, case):
        n = case.law.n_blocks
        pmf = binom.pmf(np.arange(n + 1), n, case.chance)
        gaps = np.abs(np.subtract.outer(*[case.law.probabilities] * 2))
        return float(pmf @ (gaps > case.gamma) @ pmf)

    def simulate(self, case, rng, pairs):
        levels_ = case.law.probabilities[rng.binomial(case.law.n_blocks, case.chance, (2, pairs))]
        return (np.abs(levels_[0] - levels_[1]) > case.gamma).sum()


class Pairs(NamedTuple):
    n: int
    masses: np.ndarray
    delta: float
    side: int


class Collisions(Claim):
    """False alarms of the limits of the sum of squared masses: each side on its own."""

    name, theorem, exact, size = "collisions (refutation)", "collisions", False, 11
    slack = "a self-bounding inequality: valid for every population, sharp for none"

    def case(self, z):
        masses_ = masses(z[1:9])
        return Pairs(whole(z[0], 2, 400), masses_, among(z[9], (0.01, 0.05, 0.2)), int(z[10] < 0.5))

    def certified(self, case):
        return case.delta

    def _hits(self, case, rng, pairs):
        truth = float((case.masses**2).sum())
        counts = rng.multinomial(case.n, case.masses, pairs)
        equal = (counts * (counts - 1) // 2).sum(axis=1)
        values, place = np.unique(equal, return_inverse=True)
        # both limits grow with the equal pairs: bisect for the border
        low, high = 0, len(values)
        while low < high:
            middle = (low + high) // 2
            limit = point_mass_limits(case.n, int(values[middle]), case.delta)[case.side]
            if limit < truth if case.side else limit <= truth:
                low = middle + 1
            else:
                high = middle
        return (place < low) if case.side else (place >= low)

    def value(self, case):
        hits = float(self._hits(case, np.random.default_rng(8), SEARCH_PAIRS).mean())
        # where it never happens, a limit near the truth is next best
        truth = float((case.masses**2).sum())
        usual = round(case.n * (case.n - 1) / 2 * truth)
        low, high = point_mass_limits(case.n, usual, case.delta)
        return hits + 1e-3 * (1.0 - truth) * (truth / high if case.side else low / truth)

    def simulate(self, case, rng, pairs):
        return self._hits(case, rng, pairs).sum()


CLAIMS = [
    Membership(),
    WholeSet(),
    HeavyLabels(2),
    HeavyLabels(4),
    SampleReuse(),
    Approximate(),
    ApproximateByJensen(),
    ApproximateWithoutAtoms(),
    Collisions(),
]
