"""Attacks on decision thresholds that are chosen from the data, block by block."""

from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from replearn.bounds.flips import flip_bound
from replearn.bounds.laws import ThresholdLaw
from replearn.learners.threshold import block_thresholds

from .attack import Claim, among, between, whole
from .library import fresh_key, points_of_pairs, threshold_rule
from .votes import levels, make


class Prevalences(NamedTuple):
    law: ThresholdLaw
    rows: int  # of a block
    chance: float  # of the second class
    scores: tuple  # probabilities that a block estimator may give the point
    first: float  # how likely it gives the first of them


class BlockThresholds(Claim):
    """Each block compares its score of the point with the prevalence of its own rows."""

    name = "votes at the prevalence of each block"
    theorem = "decision-threshold"
    size = 8

    def case(self, z):
        kind = among(z[0], ("arcsine", "uniform"))
        n_blocks = whole(z[1], 1, 40)
        width = max(round(between(z[2], 0.05, 1.0), 3), 1.0 / n_blocks)
        scores = (float(z[5]), float(z[6]))
        law = make(kind, n_blocks, width)
        return Prevalences(law, whole(z[3], 1, 60), float(z[4]), scores, float(z[7]))

    def certified(self, case):
        # theorem: decision-threshold (blocks stay independent: the bound without a threshold)
        return flip_bound(case.law)

    def value(self, case):
        n_blocks = case.law.n_blocks
        chance = self.chance_of_a_vote(case)
        return levels(binom.pmf(np.arange(n_blocks + 1), n_blocks, chance), case.law)

    def chance_of_a_vote(self, case):
        counts = np.arange(case.rows + 1)
        weights = binom.pmf(counts, case.rows, case.chance)
        thresholds = block_thresholds(len(counts), "prevalence", counts / case.rows)
        first, second = ((score >= thresholds) @ weights for score in case.scores)
        return float(np.clip(case.first * first + (1.0 - case.first) * second, 0.0, 1.0))

    def thresholds(self, case, counts):
        """Return the threshold of each block, from the positive rows of all blocks of a run."""
        shares = counts.ravel() / case.rows
        return block_thresholds(len(shares), "prevalence", shares).reshape(counts.shape)

    def simulate(self, case, rng, pairs):
        shape = (pairs, case.law.n_blocks)
        rule, noise = threshold_rule(case.law), fresh_key(rng).uniforms(points_of_pairs(pairs))
        answers = []
        for _ in range(2):
            counts = rng.binomial(case.rows, case.chance, shape)
            scores = np.where(rng.random(shape) < case.first, *case.scores)
            votes = (scores >= self.thresholds(case, counts)).sum(axis=1)
            answers.append(rule.predictions(votes[:, None], noise))
        return (answers[0] != answers[1]).sum()


class WholeSampleThreshold(BlockThresholds):
    """A broken twin: one prevalence of all rows, which moves all blocks together."""

    def thresholds(self, case, counts):
        return np.broadcast_to(counts.mean(axis=1, keepdims=True) / case.rows, counts.shape)


CLAIMS = [BlockThresholds()]
