"""Attacks on votes with a shared threshold: laws, seeds, scores, many runs, limits from one run."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from replearn.bounds.flips import halves_supremum, runs_bound
from replearn.bounds.fresh import flip_rate_limit
from replearn.bounds.laws import ThresholdLaw, arcsine_law, table_law, uniform_law

from .attack import Claim, among, between, masses, whole
from .library import fresh_key, points_of_pairs, threshold_rule


def levels(pmf, law, runs=2):
    """P(runs are not all equal): sum over the law's steps of 1 - F^r - (1 - F)^r."""
    below = np.minimum(np.cumsum(pmf)[:-1], 1.0)
    return float(law.steps @ (1.0 - below**runs - (1.0 - below) ** runs))


def sum_of_blocks(n_blocks, chances, first):
    """Distribution of the votes if ``first`` blocks have the first chance, the rest the second."""
    parts = [binom.pmf(np.arange(k + 1), k, q) for k, q in zip(first, chances, strict=True)]
    return np.convolve(*parts)[: n_blocks + 1]


@lru_cache(maxsize=1024)
def make(kind, n_blocks, *items):
    if kind == "uniform":
        return uniform_law(n_blocks, items[0])
    if kind == "arcsine":
        return arcsine_law(n_blocks, items[0])
    return table_law(np.array(items))


class Votes(NamedTuple):
    law: ThresholdLaw
    runs: int
    chances: tuple
    share: float  # of the blocks whose seed gives the first chance


class LawOfVotes(Claim):
    """Hard votes; the seed of a block, shared by the runs, picks one of two chances."""

    size = 16

    def __init__(self, kind, runs=(2,)):
        self.kind, self.runs = kind, runs
        self.name = f"pointwise, {kind} law" + (", many runs" if runs != (2,) else "")
        self.theorem = "pointwise-threshold" if runs == (2,) else "many-runs"

    def case(self, z):
        n_blocks = whole(z[0], 1, 40)
        if self.kind == "table":
            steps = np.cumsum(masses(z[5 : 5 + min(n_blocks, 11)]))
            law = make("table", len(steps), 0.0, *np.minimum(steps, 1.0)[:-1].tolist(), 1.0)
        else:
            width = round(between(z[1], 0.05, 1.0), 3)
            law = make(self.kind, n_blocks, max(width, 1.0 / n_blocks))
        runs = among(z[15], self.runs)
        return Votes(law, runs, (float(z[2]), float(z[3])), among(z[4], (1.0, float(z[4]))))

    def certified(self, case):
        return runs_bound(case.law, case.runs)

    def value(self, case):
        n = case.law.n_blocks
        if case.share == 1.0:
            return levels(binom.pmf(np.arange(n + 1), n, case.chances[0]), case.law, case.runs)
        weights = binom.pmf(np.arange(n + 1), n, case.share)
        # Given the seeds the runs are alike; the mean over seeds is what is promised.
        given = [
            levels(sum_of_blocks(n, case.chances, (k, n - k)), case.law, case.runs)
            for k in np.flatnonzero(weights > 1e-12)
        ]
        return float(weights[weights > 1e-12] @ given)

    def simulate(self, case, rng, pairs):
        n = case.law.n_blocks
        first = rng.binomial(n, case.share, pairs)
        rule, noise = threshold_rule(case.law), fresh_key(rng).uniforms(points_of_pairs(pairs))
        answers = []
        for _ in range(case.runs):
            votes = rng.binomial(first, case.chances[0]) + rng.binomial(n - first, case.chances[1])
            answers.append(rule.predictions(votes[:, None], noise))
        return (np.array(answers) != answers[0]).any(axis=0).sum()


class Scores(NamedTuple):
    law: ThresholdLaw
    runs: int
    chances: np.ndarray  # of scores 0, 1/4, 1/2, 3/4, 1


def sums(case):
    pmf = np.ones(1)
    for _ in range(case.law.n_blocks):
        pmf = np.convolve(pmf, case.chances)
    return pmf


class SoftVotes(Claim):
    """Scores on five values; the sum of a run has a closed distribution."""

    theorem = "soft-votes"
    size = 9

    def __init__(self, runs=(2,)):
        self.runs = runs
        self.name = "soft votes" + (", many runs" if runs != (2,) else "")

    def case(self, z):
        n_blocks = whole(z[0], 1, 24)
        width = max(round(between(z[1], 0.05, 1.0), 3), 1.0 / n_blocks)
        law = make(among(z[2], ("uniform", "arcsine")), n_blocks, width)
        return Scores(law, among(z[3], self.runs), masses(z[4:9]))

    def certified(self, case):
        return runs_bound(case.law, case.runs, "soft")

    def value(self, case):
        # not all equal: the shared threshold lies between the least and the largest level
        pmf = sums(case)
        heights = case.law.at(np.linspace(0.0, 1.0, len(pmf)))
        below = np.minimum(np.cumsum(pmf)[:-1], 1.0)
        differ = 1.0 - below**case.runs - (1.0 - below) ** case.runs
        return float(np.diff(heights) @ differ)

    def simulate(self, case, rng, pairs):
        n = case.law.n_blocks
        rule = threshold_rule(case.law, vote="soft")
        noise = fresh_key(rng).uniforms(points_of_pairs(pairs))
        answers = []
        for _ in range(case.runs):
            scores = rng.multinomial(n, case.chances, pairs) @ np.linspace(0.0, 1.0, 5) / n
            answers.append(rule.predictions(np.clip(scores, 0.0, 1.0)[:, None], noise))
        return (np.array(answers) != answers[0]).any(axis=0).sum()


class Half(NamedTuple):
    law: ThresholdLaw
    ones: int


class Halves(Claim):
    name, theorem, size = "two halves of one file", "halves-of-one-file", 4

    def case(self, z):
        n_blocks = whole(z[0], 1, 40)
        width = max(round(between(z[1], 0.05, 1.0), 3), 1.0 / n_blocks)
        law = make(among(z[2], ("uniform", "arcsine")), n_blocks, width)
        return Half(law, round(between(z[3], 0, 2 * n_blocks)))

    def certified(self, case):
        return halves_supremum(case.law)

    def value(self, case):
        from scipy.stats import hypergeom

        n, heights = case.law.n_blocks, case.law.probabilities
        first = np.arange(max(0, case.ones - n), min(n, case.ones) + 1)
        pmf = hypergeom.pmf(first, 2 * n, case.ones, n)
        return float(pmf @ np.abs(heights[first] - heights[case.ones - first]))

    def simulate(self, case, rng, pairs):
        n, rule = case.law.n_blocks, threshold_rule(case.law)
        noise = fresh_key(rng).uniforms(points_of_pairs(pairs))
        first = rng.hypergeometric(case.ones, 2 * n - case.ones, n, pairs)
        one, two = (rule.predictions(v[:, None], noise) for v in (first, case.ones - first))
        return (one != two).sum()


class Rate(NamedTuple):
    law: ThresholdLaw
    weight: float  # of the first of two kinds of points
    joint: np.ndarray  # chances of the votes (0, 0), (0, 1), (1, 0), (1, 1) of a block
    delta: float


class FlipRate(Claim):
    """Coverage of the limit of the flip rate: two kinds of points that share the blocks."""

    name, theorem, size = "flip_rate limit", "fresh-sample-rate", 9
    slack = "Chernoff's inequality for half as many pairs of blocks as there are blocks"

    def case(self, z):
        n_blocks, width = among(z[0], (4, 8, 12)), among(z[1], (0.3, 0.6, 1.0))
        law = make(among(z[2], ("uniform", "arcsine")), n_blocks, width)
        return Rate(law, float(z[3]), masses(z[4:8]), among(z[8], (0.01, 0.05, 0.2, 0.5)))

    def certified(self, case):
        return case.delta

    def _truth(self, case):
        n, both = case.law.n_blocks, case.joint
        chances = (both[2] + both[3], both[1] + both[3])
        rates = [levels(binom.pmf(np.arange(n + 1), n, min(q, 1.0)), case.law) for q in chances]
        return case.weight * rates[0] + (1.0 - case.weight) * rates[1]

    def _missed(self, case, counts):
        """Whether the limit is too small, for rows of (0, 1), (1, 0) and (1, 1) blocks."""
        n, truth = case.law.n_blocks, self._truth(case)
        first, second = counts[:, 1] + counts[:, 2], counts[:, 0] + counts[:, 2]
        pairs = [2.0 * v * (n - v) / (n * (n - 1)) for v in (first, second)]
        seen = np.round(case.weight * pairs[0] + (1.0 - case.weight) * pairs[1], 12)
        values, place = np.unique(seen, return_inverse=True)
        # the limit grows with the disagreement: bisect for the largest one that is too small
        low, high = 0, len(values)
        while low < high:
            middle = (low + high) // 2
            seen_here = min(float(values[middle]), 1.0)
            if flip_rate_limit(case.law, seen_here, delta=case.delta) < truth - 1e-12:
                low = middle + 1
            else:
                high = middle
        return place.ravel() < low

    def value(self, case):
        n = case.law.n_blocks
        cells = np.stack(np.meshgrid(*[np.arange(n + 1)] * 3, indexing="ij"), -1).reshape(-1, 3)
        cells = cells[cells.sum(axis=1) <= n]
        from scipy.stats import multinomial

        every = np.column_stack([n - cells.sum(axis=1), cells])
        return float(multinomial.pmf(every, n, case.joint) @ self._missed(case, cells))

    def simulate(self, case, rng, pairs):
        drawn = rng.multinomial(case.law.n_blocks, case.joint, pairs)
        return self._missed(case, drawn[:, 1:]).sum()


CLAIMS = [
    *(LawOfVotes(kind) for kind in ("uniform", "arcsine", "table")),
    LawOfVotes("uniform", runs=(3, 5, 12)),
    LawOfVotes("arcsine", runs=(3, 5, 12)),
    SoftVotes(),
    SoftVotes(runs=(3, 5, 12)),
    Halves(),
    FlipRate(),
]
