"""Several partitions, and partitions keyed by content: the pointwise bound stands for both."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from replearn.bounds.flips import flip_curve, flip_supremum
from replearn.bounds.laws import arcsine_law, table_law, uniform_law

LAWS = [uniform_law(2), table_law([0.0, 0.1, 1.0]), table_law([0.0, 0.5, 1.0])]


def content_keyed_votes(learner, block_size=2, n_blocks=2):
    """Votes for each order of the items (value, occurrence) and each number of ones in a sample.

    The rows are bits, so nearly all rows have equals; a sample is given by its number of ones, and
    the key by the order of the 2 n items that can occur.
    """
    n = block_size * n_blocks
    orders = np.array(list(itertools.permutations(range(2 * n))))
    value, place = orders // n, orders % n
    votes = []
    for ones in range(n + 1):
        present = value[place < np.where(value, ones, n - ones)].reshape(-1, n_blocks, block_size)
        votes.append(learner(present[:, :, 0], present[:, :, 1]).sum(axis=1))
    return np.stack(votes, axis=1)


LEARNERS = {
    "first row": lambda a, b: a,
    "or": lambda a, b: a | b,
    "rises": lambda a, b: 1 * (a < b),  # depends on the order within the block
}


@pytest.fixture(scope="module")
def votes_by_learner():
    return {name: content_keyed_votes(learner) for name, learner in LEARNERS.items()}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("chance", [0.2, 0.5, 0.7])
def test_every_key_and_every_sample_of_a_file_full_of_duplicates(votes_by_learner, name, chance):
    votes = votes_by_learner[name]
    sample = stats.binom.pmf(np.arange(5), 4, chance)
    weight = [1 - chance, chance]
    q = sum(weight[a] * weight[b] * LEARNERS[name](a, b) for a in (0, 1) for b in (0, 1))
    # over all keys, the votes are binomial: a uniformly random partition into independent blocks
    marginal = [sample @ (votes == k).mean(axis=0) for k in range(3)]
    assert marginal == pytest.approx(stats.binom.pmf(np.arange(3), 2, q), abs=1e-12)
    # given the key they are not, but the two runs are alike: 2 sum dG F (1 - F), averaged over keys
    levels = np.stack([(votes <= k) @ sample for k in range(2)], axis=1)
    for law in LAWS:
        flips = float((2 * levels * (1 - levels)).mean(axis=0) @ law.steps)
        assert flips <= flip_curve(law, [q])[0] + 1e-12
        assert flips <= flip_supremum(law)


def test_given_one_key_the_votes_are_not_binomial(votes_by_learner):
    sample = stats.binom.pmf(np.arange(5), 4, 0.5)
    levels = (votes_by_learner["rises"] <= 0) @ sample
    assert levels.std() > 0.05


def simulated_scores(law, n_partitions, trials, rng, block_size=3):
    """Mean over partitions of G(vote share), of samples of normal rows cut in several ways."""
    n = law.n_blocks * block_size
    rows = rng.normal(0.3, 1.0, size=(trials, n))
    scores = np.zeros(trials)
    for _ in range(n_partitions):
        blocks = rng.permuted(rows, axis=1).reshape(trials, law.n_blocks, block_size)
        votes = (np.median(blocks, axis=2) > 0.3).sum(axis=1)
        scores += law.probabilities[votes] / n_partitions
    return scores


@pytest.mark.parametrize("law", [uniform_law(8), arcsine_law(8, 0.9), table_law([0, 0, 0.5, 1, 1])])
def test_several_partitions_flip_less_and_stay_within_the_bound_of_one(law):
    rng, trials = np.random.default_rng(2), 40_000
    flips = []
    for n_partitions in (1, 4):
        first = simulated_scores(law, n_partitions, trials, rng)
        second = simulated_scores(law, n_partitions, trials, rng)
        u = rng.random(trials)
        flips.append(int(np.sum((u < first) != (u < second))))
    bound = flip_supremum(law)
    for count in flips:
        assert stats.binomtest(count, trials, bound, "greater").pvalue > 1e-8
    assert flips[1] < flips[0] - 5 * math.sqrt(flips[0])


def test_partitions_that_agree_gain_nothing_and_lose_nothing():
    # worst case of Jensen: both partitions give the same votes
    law = uniform_law(16)
    k = np.arange(17)
    mass = stats.binom.pmf(k, 16, 0.5)
    score = (law.probabilities[k] + law.probabilities[k]) / 2
    flips = float(mass @ np.abs(score[:, None] - score[None]) @ mass)
    assert flips == pytest.approx(flip_supremum(law), rel=1e-6)
