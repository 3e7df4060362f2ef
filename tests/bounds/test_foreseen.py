"""Flips that one run foresees: right on average, better ranked by pooling, alone as in company."""

import numpy as np
import pytest
from scipy import stats

from replearn.bounds.foreseen import average_flip_estimate, flip_estimate, joint_variance
from replearn.bounds.laws import arcsine_law, uniform_law

T, PARTITIONS = 96, 8
LAW = arcsine_law(T, 0.55)


def partitions_with(rng, shares, common):
    """Votes of partitions that have ``common`` of their blocks' votes in common."""
    alike = rng.binomial(common, shares)[:, np.newaxis]
    return alike + rng.binomial(T - common, shares[:, np.newaxis], (len(shares), PARTITIONS))


def expected_joint(common):
    return (common + (T - common) / PARTITIONS) / T


def test_estimate_is_the_beta_binomial_tail():
    law = arcsine_law(32, 0.85)
    counts = np.repeat(np.arange(33), 5)
    u = np.tile([0.0, 0.2, 0.5, 0.81, 0.99], 33)
    needed = np.searchsorted(law.probabilities, u, side="right")
    below = stats.betabinom.cdf(needed - 1, 32, counts + 0.5, 32 - counts + 0.5)
    expected = np.where(counts >= needed, below, 1 - below)
    np.testing.assert_allclose(flip_estimate(law, counts, u), expected, atol=1e-10)


def mean_over_samples(law, q, values):
    return float(stats.binom.pmf(np.arange(law.n_blocks + 1), law.n_blocks, q) @ values)


def test_plugging_in_the_vote_share_understates_flips_and_the_estimate_does_not():
    law = uniform_law(32)
    counts = np.arange(33)
    distance = np.abs(law.probabilities[:, None] - law.probabilities)
    plugged = np.array([distance[k] @ stats.binom.pmf(counts, 32, k / 32) for k in counts])
    estimated = average_flip_estimate(law, counts)
    for q in (0.3, 0.5, 0.8):
        truth = mean_over_samples(law, q, distance @ stats.binom.pmf(counts, 32, q))
        assert mean_over_samples(law, q, plugged) < 0.75 * truth
        assert 0.93 * truth < mean_over_samples(law, q, estimated) < 1.07 * truth


def test_many_blocks_use_the_continuous_estimate():
    law = uniform_law(5000)
    estimate = flip_estimate(law, [2500, 2600, 5000], [0.5 - 1e-4, 0.5, 0.5])
    exact = stats.betabinom.cdf(2500, 5000, 2600.5, 2400.5)
    assert estimate[0] == pytest.approx(0.5, abs=0.02)
    assert estimate[1] == pytest.approx(exact, rel=0.03)
    assert estimate[2] < 1e-12


@pytest.mark.parametrize("common", [0, 24, 60, T])
def test_joint_variance_finds_what_partitions_have_in_common(common):
    rng = np.random.default_rng(common)
    votes = partitions_with(rng, rng.random(20_000), common)
    assert joint_variance(votes, T) == pytest.approx(expected_joint(common), abs=0.01)


def test_joint_variance_stays_within_what_is_possible():
    assert joint_variance([[1, 7], [7, 1]], 8) == 0.5  # further apart than if independent
    assert joint_variance([[3], [5]], 8) == 1.0
    assert joint_variance([[8, 8], [0, 0]], 8) == 1.0  # unanimous: nothing is known
    assert joint_variance(np.zeros((0, 3), dtype=int), 8) == 1.0


@pytest.fixture(scope="module")
def two_samples():
    """Two samples' votes on points near all thresholds, and whether the predictions differ."""
    rng = np.random.default_rng(7)
    shares, u = rng.uniform(0.05, 0.95, 60_000), rng.random(60_000)
    seen, fresh = (partitions_with(rng, shares, 24) for _ in range(2))
    answers = [u < LAW.probabilities[votes].mean(axis=1) for votes in (seen, fresh)]
    return seen, u, answers[0] != answers[1]


def test_several_partitions_are_calibrated(two_samples):
    votes, u, flipped = two_samples
    estimate = flip_estimate(LAW, votes, u, joint=expected_joint(24))
    assert estimate.mean() == pytest.approx(flipped.mean(), rel=0.03)
    for low, high in ((0.003, 0.03), (0.03, 0.1), (0.1, 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.5)):
        rows = (estimate > low) & (estimate <= high)
        error = np.sqrt(estimate[rows].mean() / rows.sum())
        assert estimate[rows].mean() == pytest.approx(flipped[rows].mean(), abs=0.012 + 4 * error)
    # Partitions that count as one, or as independent, are not.
    assert flip_estimate(LAW, votes, u, joint=1.0).mean() > 1.4 * flipped.mean()
    assert flip_estimate(LAW, votes, u, joint=1 / PARTITIONS).mean() < 0.75 * flipped.mean()


def test_corners_of_the_law_are_averaged_over_the_partitions(two_samples):
    """Near the ends of the law the mean of levels is not the level of the mean."""
    votes, u, flipped = two_samples
    ends = (u < 0.03) | (u > 0.97)
    estimate = flip_estimate(LAW, votes[ends], u[ends], joint=expected_joint(24))
    assert estimate.mean() == pytest.approx(flipped[ends].mean(), rel=0.08)


def test_the_average_over_keys_is_calibrated(two_samples):
    votes, _, flipped = two_samples
    estimate = average_flip_estimate(LAW, votes, joint=expected_joint(24))
    assert estimate.mean() == pytest.approx(flipped.mean(), rel=0.06)


def test_a_point_is_judged_alone_as_in_company(two_samples):
    votes, u, _ = two_samples
    together = flip_estimate(LAW, votes[:50], u[:50], joint=0.4)
    alone = [flip_estimate(LAW, votes[[i]], u[[i]], joint=0.4)[0] for i in range(50)]
    np.testing.assert_array_equal(together, alone)


def test_a_joint_variance_that_cannot_be_is_named():
    with pytest.raises(ValueError, match="joint=0"):
        flip_estimate(uniform_law(8), [[3, 4]], [0.5], joint=0.0)
