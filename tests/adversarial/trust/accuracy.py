"""Attacks on what is promised about errors: factors, wrong calls, missed points, bad choices."""

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from replearn.bounds.accuracy import light_point_slack
from replearn.bounds.laws import ThresholdLaw, error_factor, uniform_law
from replearn.bounds.multiclass import (
    agreement_probability,
    class_disagreement_tail,
    class_weights,
)
from replearn.bounds.scores import any_score_flip_bound, mismatch_flip_bound
from replearn.bounds.selection import selection_error_tail_sampled
from replearn.paper.coins import CoinLaw, coin_error_bound
from replearn.paper.heavy_hitters import (
    MembershipLaw,
    below_levels,
    false_member_bound,
    missed_point_bound,
)
from replearn.paper.signs import label_error_bound
from replearn.randomness.points import as_points

from .attack import Claim, among, between, masses, whole
from .choices import names_of
from .library import ErrorCurve, ScoreRule, fresh_key, gumbel_rule, points_of_pairs, threshold_rule
from .others import Scored, ScoreThresholds
from .votes import make


class Wrong(NamedTuple):
    law: ThresholdLaw
    wrong: int  # blocks that err
    share: float  # of the points at which they do


class ErrorFactor(Claim):
    """Averaged over keys the vote errs at most C times as often as the blocks."""

    name, theorem, size = "accuracy factor", "accuracy-factor", 5

    def case(self, z):
        n_blocks = whole(z[0], 1, 60)
        width = max(round(between(z[1], 0.05, 1.0), 3), 1.0 / n_blocks)
        law = make(among(z[2], ("uniform", "arcsine")), n_blocks, width)
        return Wrong(law, max(1, round(z[3] * n_blocks)), between(z[4], 0.05, 1.0))

    def certified(self, case):
        return error_factor(case.law) * case.share * case.wrong / case.law.n_blocks

    def value(self, case):
        return case.share * (1.0 - float(case.law.probabilities[case.law.n_blocks - case.wrong]))

    def simulate(self, case, rng, pairs):
        votes = np.full((pairs, 1), case.law.n_blocks - case.wrong)
        noise = fresh_key(rng).uniforms(points_of_pairs(pairs))
        wrong = threshold_rule(case.law).predictions(votes, noise) == 0
        return (wrong & (rng.random(pairs) < case.share)).sum()


class Call(NamedTuple):
    n: int
    law: CoinLaw
    gap: tuple
    chance: float
    heads: bool  # whether the coin is above the gap


class CoinError(Claim):
    """A coin outside the gap is called wrongly."""

    name, theorem, size = "coins: wrong calls", "coin-testing", 6

    def case(self, z):
        low = between(z[1], 0.02, 0.8)
        high = between(z[2], low + 0.05, 0.98)
        middle, reach = (low + high) / 2, (high - low) / 2 * between(z[3], 0.1, 1.0)
        law = CoinLaw("arcsine", middle - reach, middle + reach)
        heads = z[5] < 0.5
        chance = high + (1 - high) * z[4] if heads else low * (1 - z[4])
        return Call(whole(z[0], 2, 400), law, (2 * low - 1, 2 * high - 1), float(chance), heads)

    def certified(self, case):
        return coin_error_bound(case.n, case.law, *case.gap)

    def value(self, case):
        counts = np.arange(case.n + 1)
        up = float(binom.pmf(counts, case.n, case.chance) @ case.law.probabilities(counts, case.n))
        return 1.0 - up if case.heads else up

    def simulate(self, case, rng, pairs):
        noise = fresh_key(rng).child("coin").uniforms(points_of_pairs(pairs))
        table = case.law.table(rng.binomial(case.n, case.chance, pairs), case.n)
        return (below_levels(noise, table) != case.heads).sum()


class LabelOf(NamedTuple):
    k: int
    band: float
    alpha: float
    mean: float


class LabelError(Claim):
    name, theorem, size = "heavy points: wrong labels", "heavy-labels", 4

    def case(self, z):
        alpha = between(z[2], 0.05, 1.0)
        mean = between(z[3] ** 2, alpha, 1.0)
        return LabelOf(whole(z[0], 1, 400), between(z[1], 0.05, 1.0), alpha, mean)

    def certified(self, case):
        return label_error_bound(case.k, case.alpha, case.band)

    def value(self, case):
        law = uniform_law(case.k, case.band)
        pmf = binom.pmf(np.arange(case.k + 1), case.k, (1 + case.mean) / 2)
        return float(pmf @ (1.0 - law.probabilities))

    def simulate(self, case, rng, pairs):
        noise = fresh_key(rng).child("heavy label").uniforms(points_of_pairs(pairs))
        ones = rng.binomial(case.k, (1 + case.mean) / 2, pairs)
        return (~below_levels(noise, uniform_law(case.k, case.band).table[ones])).sum()


class Found(NamedTuple):
    n: int
    law: MembershipLaw
    mass: float
    missed: bool


class Completeness(Claim):
    """A heavy point is missed, or a light one is a member."""

    name, theorem, size = "heavy points: missed, or by mistake", "heavy-membership", 6
    most = 0.9

    def case(self, z):
        high = between(z[1], 0.02, 1.0)
        low = high * between(z[2], 0.02, 0.8)
        law = MembershipLaw(among(z[3], ("sqrt", "uniform")), low, high)
        return Found(whole(z[0], 5, 800), law, max(z[4] * min(1.0, 2 * high), 1e-3), z[5] < 0.5)

    def certified(self, case):
        bound = missed_point_bound if case.missed else false_member_bound
        return bound(case.n, case.law, case.mass)

    def value(self, case):
        counts = np.arange(case.n + 1)
        member = float(
            binom.pmf(counts, case.n, case.mass) @ case.law.probabilities(counts, case.n)
        )
        return 1.0 - member if case.missed else member

    def simulate(self, case, rng, pairs):
        noise = fresh_key(rng).child("membership").uniforms(points_of_pairs(pairs))
        table = case.law.table(rng.binomial(case.n, case.mass, pairs), case.n)
        return (below_levels(noise, table) != case.missed).sum()


class Bad(NamedTuple):
    n: int
    scale: float  # sharpness, or width of the margin
    alpha: float
    best: float
    count: int
    together: bool  # whether bad candidates err on the same rows


class BadChoice(Claim):
    """One good candidate, all others worse by just more than alpha."""

    name, theorem, exact, size = "selection: bad choice", "hypothesis-selection", False, 6
    slack = "a union over the candidates, Hoeffding's inequality for each"

    def case(self, z):
        alpha = between(z[1], 0.05, 0.6)
        scale = between(z[2], 0.5, 20.0) / alpha
        best = (1.0 - alpha - 0.011) * z[3]
        return Bad(whole(z[0], 10, 2000), scale, alpha, best, whole(z[4], 2, 30), z[5] < 0.5)

    def certified(self, case):
        return selection_error_tail_sampled(case.scale, case.count, case.alpha, case.n)

    def _errors(self, case, rng, pairs):
        worse = case.best + case.alpha + 0.01
        bad = rng.binomial(case.n, worse, (pairs, 1 if case.together else case.count - 1))
        bad = np.broadcast_to(bad, (pairs, case.count - 1))
        return np.column_stack([rng.binomial(case.n, case.best, pairs), bad]) / case.n

    def _chosen(self, case, rng, pairs, noise):
        return (noise - case.scale * self._errors(case, rng, pairs)).argmax(axis=1)

    def value(self, case):
        rng = np.random.default_rng(3)
        noise = rng.gumbel(size=(1000, case.count))
        return float((self._chosen(case, rng, 1000, noise) != 0).mean())

    def simulate(self, case, rng, pairs):
        key, hits = fresh_key(rng), 0
        for start in range(0, pairs, 20_000):
            now = min(20_000, pairs - start)
            child = key.child("part", start)
            noise = child.gumbels(names_of(now, case.count), ["draw"]).reshape(now, case.count)
            hits += (self._chosen(case, rng, now, noise) != 0).sum()
        return hits


class Light(NamedTuple):
    points: int
    chance: float
    beta: float


class LightPoints(Claim):
    """The error at points with thresholds of their own exceeds its mean by more than allowed."""

    name, theorem, size = "light points: deviation", "light-point-deviation", 3
    slack = "Hoeffding's inequality for a sum of independent points"

    def case(self, z):
        return Light(whole(z[0], 1, 200), float(z[1]), among(z[2], (0.01, 0.05, 0.2)))

    def certified(self, case):
        return case.beta

    def _most(self, case):
        slack = light_point_slack(case.beta, 1.0 / case.points)
        return math.floor((case.chance + slack) * case.points * (1 + 1e-12))

    def value(self, case):
        return float(binom.sf(self._most(case), case.points, case.chance))

    def simulate(self, case, rng, pairs):
        pair = np.repeat(np.arange(pairs), case.points)
        points = as_points(np.column_stack([pair, np.tile(np.arange(case.points), pairs)]))
        wrong = fresh_key(rng).uniforms(points).reshape(pairs, -1) < case.chance
        return (wrong.sum(axis=1) > self._most(case)).sum()


class ClassMass(NamedTuple):
    blocks: int
    sharpness: float
    chances: np.ndarray
    points: int
    gamma: float


class ApproximateClasses(Claim):
    """Whole models of three classes: all points are voted on alike."""

    name, theorem, exact, size = "approximate, several classes", "approximate-direct", False, 7
    slack = "Hoeffding's inequality twice, and the worst chances with the worst range"

    def case(self, z):
        blocks, gamma = whole(z[0], 30, 800), between(z[6], 0.1, 0.9)
        return ClassMass(blocks, between(z[1], 2.7, 6), masses(z[2:5]), whole(z[5], 1, 30), gamma)

    def certified(self, case):
        return class_disagreement_tail(
            case.blocks, 3, case.sharpness, case.gamma, max_point_mass=1.0 / case.points
        )

    def value(self, case):
        votes = np.random.default_rng(2).multinomial(case.blocks, case.chances, (2, 1500))
        chances = class_weights(votes / case.blocks, case.sharpness)
        differ = 1.0 - agreement_probability(*chances)
        most = math.floor(case.gamma * case.points * (1 + 1e-12))
        return float(binom.sf(most, case.points, np.clip(differ, 0, 1)).mean())

    def simulate(self, case, rng, pairs):
        rule, hits = gumbel_rule(case.blocks, 3, case.sharpness), 0
        key = fresh_key(rng)
        for start in range(0, pairs, 10_000):
            now = min(10_000, pairs - start)
            pair = np.repeat(np.arange(now), case.points)
            places = np.tile(np.arange(case.points), now)
            points = as_points(np.column_stack([pair, places]))
            noise = rule.noise(key.child("part", start), points)
            votes = rng.multinomial(case.blocks, case.chances, (2, now)) / case.blocks
            one, two = (rule.predictions(v[pair][:, None], noise) for v in votes)
            share = (one != two).reshape(now, -1).sum(axis=1)
            hits += (share > case.gamma * case.points * (1 + 1e-12)).sum()
        return hits


class MismatchedScores(ScoreThresholds):
    """Two labs whose estimates of the standard error differ by a tenth."""

    name = "score thresholds (two standard errors)"
    slack = "what spread and mismatch cost are added; rarely are both at their worst"
    RATIO = 1.1

    def certified(self, case):
        return any_score_flip_bound(case.half_width, case.excess) + mismatch_flip_bound(self.RATIO)

    def _rules(self, case: Scored):
        levels = (case.level, case.level * self.RATIO)
        return [ScoreRule(ErrorCurve(v, 0.5), case.half_width, 1, 2) for v in levels]

    def value(self, case):
        heights = [rule.chance(self._scores(case)[:, None]) for rule in self._rules(case)]
        return float(case.chances @ np.abs(np.subtract.outer(*heights)) @ case.chances)

    def simulate(self, case, rng, pairs):
        key, points = fresh_key(rng), points_of_pairs(pairs)
        answers = []
        for rule in self._rules(case):
            scores = self._scores(case)[rng.choice(5, pairs, p=case.chances)]
            answers.append(rule.predictions(scores[:, None], rule.noise(key, points)))
        return (answers[0] != answers[1]).sum()


CLAIMS = [
    ErrorFactor(),
    CoinError(),
    LabelError(),
    Completeness(),
    BadChoice(),
    LightPoints(),
    ApproximateClasses(),
    MismatchedScores(),
]
