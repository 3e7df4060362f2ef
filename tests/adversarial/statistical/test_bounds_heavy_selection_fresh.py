"""Simulations of the worlds that the bounds on heavy points, choice and fresh samples speak of.

Each comparison uses an exact binomial limit with a false-alarm rate of 1e-8.
"""

import numpy as np
import pytest
from scipy import stats

from replearn.bounds import (
    MembershipLaw,
    arcsine_law,
    disagreement_bound,
    flip_bound,
    flip_curve,
    flip_estimate,
    flip_limits,
    flip_rate_limit,
    membership_flip_bound,
    selection_flip_bound_sampled,
    uniform_law,
)
from replearn.bounds.approximate_heavy import reuse_flip_bound
from replearn.bounds.foreseen import joint_variance
from replearn.bounds.fresh import block_disagreement
from replearn.bounds.selection import selection_agreement
from replearn.bounds.signs import label_flip_bound

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


@pytest.mark.parametrize("n_partitions", [1, 5])
def test_limits_and_estimates_from_real_partitions(n_partitions):
    """Coverage per point, and the mean estimate near the true flip probability."""
    rng = np.random.default_rng(7)
    law, block_size, runs, delta = arcsine_law(32, 0.85), 6, 4000, 0.1
    offsets = np.array([-0.6, -0.3, -0.05, 0.2, 0.5])
    u = np.array([0.9, 0.7, 0.5, 0.35, 0.02])
    votes = np.stack(
        [
            partition_votes(rng.normal(size=32 * block_size), offsets, 32, n_partitions, rng)
            for _ in range(runs)
        ]
    )
    answers = u < law.probabilities[votes].mean(axis=2)
    ones = answers.mean(axis=0)
    flips = np.where(answers, 1 - ones, ones)
    flat = votes.reshape(-1, n_partitions)
    thresholds = np.tile(u, runs)
    lower, upper = (x.reshape(runs, -1) for x in flip_limits(law, flat, thresholds, delta=delta))
    error = 4 * np.sqrt(ones * (1 - ones) / runs) + 1e-3
    missed = (flips > upper + error) | (flips < lower - error)
    for point in range(len(offsets)):
        assert not_above(missed[:, point].sum(), runs, delta)
    # Next to a threshold no run can know it is there: estimates are right on average over keys.
    fresh_u = rng.random(runs * len(offsets))
    joint = joint_variance(flat, 32) if n_partitions > 1 else None
    estimates = flip_estimate(law, flat, fresh_u, joint=joint)
    other = votes[rng.permutation(runs)].reshape(-1, n_partitions)
    seen, again = (fresh_u < law.probabilities[v].mean(axis=1) for v in (flat, other))
    assert estimates.mean() == pytest.approx((seen != again).mean(), rel=0.1)


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


def test_the_heavy_stage_as_a_whole():
    """A point at the worst mass for membership, with labels and votes from the same rows."""
    rng = np.random.default_rng(14)
    runs, n_blocks, block_size, k = 40_000, 16, 125, 40
    n = n_blocks * block_size
    law, votes_law, labels_law = (
        MembershipLaw("sqrt", 0.02, 0.2),
        uniform_law(16),
        uniform_law(k, 1.0),
    )
    mass, positive = 0.08, 0.5
    inside = rng.binomial(block_size, mass, (2, runs, n_blocks))
    ones = rng.binomial(inside, positive)
    count = inside.sum(axis=2)
    # The first k labels in order of blocks: those of a uniformly random subset of size k.
    first_ones = rng.hypergeometric(
        ones.sum(axis=2), count - ones.sum(axis=2), np.minimum(k, count)
    )
    member = rng.random(runs) < law.probabilities(count, n)
    label = rng.random(runs) < labels_law.probabilities[first_ones]
    vote = rng.random(runs) < votes_law.probabilities[(2 * ones > inside).sum(axis=2)]
    answer = np.where(member, label, vote)
    membership = membership_flip_bound(n, law)
    bound = reuse_flip_bound(membership, label_flip_bound(k, 1.0), flip_bound(votes_law))
    assert count.min() >= 40
    assert not_above((member[0] != member[1]).sum(), runs, membership)
    assert (member[0] != member[1]).mean() > 0.9 * membership
    assert not_above((answer[0] != answer[1]).sum(), runs, bound)
