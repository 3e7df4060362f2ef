"""Simulations of the worlds that the bounds on heavy points, choice and fresh samples speak of.

Each comparison uses an exact binomial limit with a false-alarm rate of 1e-8.
"""

import numpy as np
import pytest
from scipy import stats

from replearn.bounds.approximate import disagreement_bound
from replearn.bounds.flips import flip_curve
from replearn.bounds.fresh import block_disagreement, flip_rate_limit
from replearn.bounds.laws import uniform_law
from replearn.bounds.selection import selection_agreement, selection_flip_bound_sampled

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-8


def not_above(events, trials, probability):
    """Whether so many events are compatible with at most this probability."""
    return stats.binom.sf(events - 1, trials, probability) >= FALSE_ALARM


def compatible(events, trials, probability):
    return stats.binomtest(int(events), trials, probability).pvalue >= FALSE_ALARM


def partition_votes(rows, offsets, n_blocks, n_partitions, rng):
    """Votes of blocks for points: a block votes 1 where its mean exceeds the point's offset."""
    votes = []
    for _ in range(n_partitions):
        blocks = rng.permutation(rows).reshape(n_blocks, -1).mean(axis=1)
        votes.append((blocks[:, None] > offsets).sum(axis=0))
    return np.stack(votes, axis=1)


def test_flip_rate_limit_with_points_that_share_blocks():
    rng = np.random.default_rng(8)
    law, runs, delta = uniform_law(32), 2000, 0.1
    q = np.linspace(0.01, 0.6, 40)
    truth = flip_curve(law, q).mean()
    missed = 0
    for _ in range(runs):
        shared = rng.random((32, 1))
        votes = (shared < q).sum(axis=0)
        missed += truth > flip_rate_limit(law, block_disagreement(votes, 32), delta=delta)
    assert not_above(missed, runs, delta)


@pytest.mark.parametrize("n_atoms", [1, 10, 200])
def test_disagreement_with_atoms_and_blocks_that_agree_on_all_points(n_atoms):
    rng = np.random.default_rng(9)
    law, runs, rho = uniform_law(100), 20_000, 0.05
    gamma = disagreement_bound(law, rho, max_point_mass=1 / n_atoms)
    first, second = law.probabilities[rng.binomial(100, 0.5, (2, runs))]
    between = np.abs(first - second)
    distance = rng.binomial(n_atoms, between) / n_atoms
    assert not_above((distance > gamma).sum(), runs, rho)
    # Without the atoms' share the promise would be broken by one atom.
    if n_atoms == 1:
        bare = disagreement_bound(law, rho)
        assert (distance > bare).mean() > rho


def test_disagreement_of_samples_with_equal_rows():
    """Six possible rows, blocks of two: each sample is cut by a key of its own."""
    rng = np.random.default_rng(10)
    n_blocks, runs, rho = 40, 4000, 0.1
    law = uniform_law(n_blocks)
    gamma = disagreement_bound(law, rho)
    points = np.linspace(0, 1, 50)
    exceeded = 0
    for _ in range(runs):
        scores = []
        for _ in range(2):
            # A row's place is a keyed hash of its content and how many equal ones came before.
            key = rng.random((6, 2 * n_blocks))
            counts = rng.multinomial(2 * n_blocks, np.full(6, 1 / 6))
            rows = np.repeat(np.arange(6), counts)
            place = np.concatenate([key[v, : counts[v]] for v in range(6)])
            blocks = rows[np.argsort(place)].reshape(n_blocks, 2).mean(axis=1) / 5
            scores.append(law.probabilities[(blocks[:, None] > points).sum(axis=0)])
        exceeded += np.abs(scores[0] - scores[1]).mean() > gamma
    assert not_above(exceeded, runs, rho)


def test_agreement_of_shared_gumbels_is_the_formula():
    rng = np.random.default_rng(11)
    first, second, t, draws = rng.random(30), rng.random(30), 6.0, 40_000
    gumbels = rng.gumbel(size=(draws, 30))
    agree = np.argmax(gumbels - t * first, axis=1) == np.argmax(gumbels - t * second, axis=1)
    assert compatible(agree.sum(), draws, selection_agreement(t, first, second))


def test_gumbels_that_are_not_shared_break_the_bound():
    rng = np.random.default_rng(12)
    errors, t = np.full(20, 0.3), 60.0
    first, second = rng.gumbel(size=(2, 2000, 20))
    differ = np.argmax(first - t * errors, axis=1) != np.argmax(second - t * errors, axis=1)
    assert differ.mean() > 0.9 > selection_flip_bound_sampled(t, 20, 270_000)


@pytest.mark.parametrize("n_hypotheses", [2, 20])
def test_fresh_samples_choose_alike(n_hypotheses):
    """Near-ties: all hypotheses have error 1/2 and err independently."""
    rng = np.random.default_rng(13)
    m, t, runs = 5000, 10.0, 20_000
    errors = rng.binomial(m, 0.5, (2, runs, n_hypotheses)) / m
    gumbels = rng.gumbel(size=(runs, n_hypotheses))
    choices = np.argmax(gumbels - t * errors, axis=2)
    differ = (choices[0] != choices[1]).sum()
    assert not_above(differ, runs, selection_flip_bound_sampled(t, n_hypotheses, m))
