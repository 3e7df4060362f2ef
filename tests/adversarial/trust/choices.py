"""Attacks on choices: selection, search, order and margin, draws, cuts of a line, abstaining.

A population has a few kinds of rows, and a table says which candidate errs on which kind; counts of
the kinds are all that a choice depends on.
"""

from typing import NamedTuple

import numpy as np

from replearn.bounds.multiclass import agreement_probability
from replearn.bounds.selection import selection_flip_bound_sampled
from replearn.paper.correlated_sampling import draw_flip
from replearn.paper.realizable import best_ceiling, realizable_flip_bound
from replearn.paper.thresholds import threshold_flip_bound
from replearn.randomness.hashing import gumbel_from_hashes
from replearn.randomness.points import as_points

from .attack import Claim, between, masses, whole
from .library import fresh_key, points_of_pairs

KINDS = 6
SEARCH_PAIRS = 1000


def names_of(pairs, count):
    """Names of the candidates of each pair."""
    return as_points(
        np.column_stack([np.repeat(np.arange(pairs), count), *[np.tile(np.arange(count), pairs)]])
    )


class Chosen(NamedTuple):
    n: int
    sharpness: float
    masses: np.ndarray
    wrong: np.ndarray  # candidate by kind of row


class Selection(Claim):
    """The smallest sharpness x error - Gumbel, Gumbels keyed by the candidate."""

    exact = False
    slack = "a mean over pairs of candidates, which cannot all be at their worst (two: 0.71)"

    def __init__(self, name, theorem, bound, *, most_candidates=6, ordered=False):
        self.name, self.theorem, self.bound = name, theorem, bound
        self.most_candidates, self.ordered = most_candidates, ordered
        self.size = 4 + 2 * KINDS + 6 * KINDS

    def case(self, z):
        n, count = whole(z[0], 8, 4000), whole(z[1], 2, self.most_candidates)
        sharpness = between(z[2], 0.05, 1.0) * np.sqrt(n)
        held = masses(z[4 : 4 + KINDS])
        wrong = (z[4 + 2 * KINDS :].reshape(6, KINDS)[:count] < 0.5).astype(float)
        if self.ordered:  # cuts of a line with labels: what a cover of thresholds looks like
            labels = wrong[0]
            wrong = np.array([(np.arange(KINDS) >= cut) != labels for cut in range(count)]) * 1.0
        return Chosen(n, float(sharpness), held, wrong)

    def certified(self, case):
        return self.bound(case)

    def _errors(self, case, rng, pairs):
        for _ in range(2):
            yield rng.multinomial(case.n, case.masses, pairs) @ case.wrong.T / case.n

    def value(self, case):
        both = self._errors(case, np.random.default_rng(2), SEARCH_PAIRS)
        weights = [np.exp(-case.sharpness * (e - e.min(axis=1, keepdims=True))) for e in both]
        return float(1.0 - agreement_probability(*weights).mean())

    def simulate(self, case, rng, pairs):
        count = len(case.wrong)
        # what `choose_by_errors` does, all pairs at once
        hashes = fresh_key(rng).child("selection").hashes(names_of(pairs, count))
        noise = gumbel_from_hashes(hashes).reshape(pairs, count)
        one, two = (
            (noise - case.sharpness * e).argmax(axis=1) for e in self._errors(case, rng, pairs)
        )
        return (one != two).sum()


class Weights(NamedTuple):
    deviation: float
    weights: np.ndarray
    moved: np.ndarray


class Draws(Claim):
    name, theorem, size = "correlated sampling", "correlated-sampling", 17

    def case(self, z):
        deviation = between(z[0], 0.02, 0.6)
        moved = np.where(z[9:17] < 0.5, -deviation, deviation)
        return Weights(deviation, masses(z[1:9]), moved)

    def certified(self, case):
        return draw_flip(case.deviation)

    def value(self, case):
        return float(1.0 - agreement_probability(case.weights, case.weights * np.exp(case.moved)))

    def simulate(self, case, rng, pairs):
        hashes = fresh_key(rng).child("correlated sampling").hashes(names_of(pairs, 8))
        noise = gumbel_from_hashes(hashes).reshape(pairs, 8)
        with np.errstate(divide="ignore"):
            logs = np.log(case.weights)
        return ((noise + logs).argmax(axis=1) != (noise + logs + case.moved).argmax(axis=1)).sum()


class Line(NamedTuple):
    n: int
    sharpness: float
    gamma: float
    masses: np.ndarray  # of the values, in order
    ones: np.ndarray  # chance of label 1 at each value


class ProperThreshold(Claim):
    """A level of the distribution function, drawn by the errors of its cuts.

    Between two levels at which a run changes its cut the process of levels is one candidate whose
    weight is the length: a draw among finitely many cells (checked against the learner's own draw).
    """

    name, theorem, exact, size = "thresholds", "thresholds-proper", False, 15
    slack = "three terms, two of them by uniform deviations of the distribution function"

    def case(self, z):
        n = whole(z[0], 2000, 200_000)
        sharpness = between(z[1], 0.02, 0.5) * np.sqrt(n) / 20
        return Line(n, sharpness, between(z[2], 0.05, 0.5), masses(z[3:9]), z[9:15])

    def certified(self, case):
        return threshold_flip_bound(case.sharpness, case.n, case.gamma)

    def cells(self, case, rng, pairs):
        """Return ends of cells, and for each run the cut of each cell and its error."""
        k = len(case.masses)
        joint = np.concatenate([case.masses * (1 - case.ones), case.masses * case.ones])
        counts = rng.multinomial(case.n, joint / joint.sum(), (2, pairs)) / case.n
        below = np.cumsum(counts[..., :k] + counts[..., k:], axis=2)
        ones_below = np.cumsum(counts[..., k:], axis=2)
        zero = np.zeros((2, pairs, 1))
        level = np.concatenate([zero, below], axis=2)
        ones = np.concatenate([zero, ones_below], axis=2)
        errors = ones + (1.0 - level) - (ones[..., -1:] - ones)
        switches = (level[..., :-1] + level[..., 1:]) / 2.0
        edges = np.sort(np.concatenate([switches[0], switches[1]], axis=1), axis=1)
        edges = np.column_stack([np.zeros(pairs), edges, np.ones(pairs)])
        middle = (edges[:, 1:] + edges[:, :-1]) / 2.0
        cuts = (middle[None, :, :, None] >= switches[:, :, None, :]).sum(axis=3)
        return np.diff(edges, axis=1).clip(0), cuts, np.take_along_axis(errors, cuts, axis=2)

    def _differ(self, case, rng, pairs, noise):
        lengths, cuts, errors = self.cells(case, rng, pairs)
        noise = noise(lengths.shape)
        with np.errstate(divide="ignore"):
            scores = np.log(lengths) - case.sharpness * errors + noise
        rows = np.arange(pairs)
        drawn = [cuts[run, rows, scores[run].argmax(axis=1)] for run in range(2)]
        true = np.concatenate([[0.0], np.cumsum(case.masses)])
        return np.abs(true[drawn[0]] - true[drawn[1]]) > case.gamma

    def value(self, case):
        rng = np.random.default_rng(6)
        differ = self._differ(case, rng, SEARCH_PAIRS, lambda shape: rng.gumbel(size=shape))
        return float(differ.mean())

    def simulate(self, case, rng, pairs):
        key = fresh_key(rng)

        def noise(shape):
            return gumbel_from_hashes(key.hashes(names_of(*shape))).reshape(shape)

        return self._differ(case, rng, pairs, noise).sum()


class Abstaining(NamedTuple):
    n: int
    gamma: float
    ceiling: float
    masses: np.ndarray
    ones: np.ndarray


class Realizable(Claim):
    """The best threshold on a few values, or the constant answer if its error is above a limit."""

    name, theorem, exact, size = "realizable", "realizable", False, 14
    slack = "uniform convergence over all thresholds of all distributions"

    def case(self, z):
        n, gamma = whole(z[0], 2000, 200_000), between(z[1], 0.05, 0.5)
        return Abstaining(n, gamma, best_ceiling(n, 1, gamma), masses(z[2:8]), z[8:14] ** 3)

    def certified(self, case):
        return realizable_flip_bound(case.n, 1, case.gamma, case.ceiling)

    def _differ(self, case, rng, pairs, limit):
        k = len(case.masses)
        wrong = np.array([(np.arange(k) >= cut) for cut in range(k + 1)]) * 1.0
        # the first half of the kinds leans to 0, the second to 1
        ones = np.where(np.arange(k) < k // 2, case.ones, 1.0 - case.ones)
        joint = np.concatenate([case.masses * (1 - ones), case.masses * ones])
        rules = []
        for _ in range(2):
            counts = rng.multinomial(case.n, joint / joint.sum(), pairs) / case.n
            errors = counts[:, :k] @ wrong.T + counts[:, k:] @ (1.0 - wrong).T
            best = errors.argmin(axis=1)
            gave_up = errors.min(axis=1) > case.ceiling * limit
            rules.append(np.where(gave_up, 0, best))  # cut 0 says 1 everywhere
        apart = np.abs(wrong[rules[0]] - wrong[rules[1]]) @ case.masses
        return apart > case.gamma

    def value(self, case):
        rng = np.random.default_rng(6)
        return float(self._differ(case, rng, SEARCH_PAIRS, rng.random(SEARCH_PAIRS)).mean())

    def simulate(self, case, rng, pairs):
        limit = fresh_key(rng).child("limit").uniforms(points_of_pairs(pairs))
        return self._differ(case, rng, pairs, limit).sum()


def _same(case):
    return selection_flip_bound_sampled(case.sharpness, len(case.wrong), case.n)


CLAIMS = [
    Selection("selection", "hypothesis-selection", _same),
    Selection("selection, two candidates", "hypothesis-selection", _same, most_candidates=2),
    Selection("semi (cover of a pool)", "semi-replicable", _same, ordered=True),
    Draws(),
    ProperThreshold(),
    Realizable(),
]
