"""Separate keys give independent uniform numbers: measured, with a false alarm rate of 1e-8 each.

Keys and points are fixed, so a test that passes keeps passing; the rate says how surprising a
failure would be for a truly random function after a change. Counts of one event are compared with
exact binomial limits; chi-square is used only where every cell expects 100 or more.
"""

import numpy as np
import pytest
import scipy.stats

from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points

FALSE_ALARM = 1e-8
KEY = SharedKey("statistics of keyed numbers")
N_ROWS = 40_000


def structured_points(kind):
    """Points that a weak hash would not spread: counters, few bits, neighbours, text."""
    counter = np.arange(N_ROWS)
    if kind == "counter":
        return counter
    if kind == "two columns":
        return np.column_stack([counter // 200, counter % 200])
    if kind == "neighbouring floats":
        return 1.0 + counter * 2.0**-52
    if kind == "one-hot":
        return np.column_stack([counter % 4 == j for j in range(4)] + [counter])
    return [f"person {i}" for i in counter]


kinds = pytest.mark.parametrize(
    "kind", ["counter", "two columns", "neighbouring floats", "one-hot", "text"]
)


def fair_pvalues(ones, n_tosses):
    """Return the exact two-sided binomial p-values of counts of a fair coin, all at once."""
    ones = np.asarray(ones)
    rarer = np.minimum(ones, n_tosses - ones)
    return np.minimum(1.0, 2 * scipy.stats.binom.cdf(rarer, n_tosses, 0.5))


def ones_by_bit(hashes):
    """Return for each of the 64 bits how many hashes have it."""
    return np.array([np.count_nonzero(hashes & np.uint64(1 << bit)) for bit in range(64)])


def test_fair_pvalues_are_those_of_the_binomial_test():
    expected = [scipy.stats.binomtest(ones, 101).pvalue for ones in (0, 40, 50, 51, 70, 101)]
    np.testing.assert_allclose(fair_pvalues([0, 40, 50, 51, 70, 101], 101), expected)


def assert_uniform_counts(counts):
    assert scipy.stats.chisquare(counts).pvalue > FALSE_ALARM


@kinds
def test_uniforms_are_uniform(kind):
    uniforms = KEY.child(kind).uniforms(structured_points(kind))
    assert scipy.stats.kstest(uniforms, "uniform").pvalue > FALSE_ALARM
    assert_uniform_counts(np.bincount((uniforms * 256).astype(int), minlength=256))


@kinds
def test_every_bit_is_fair(kind):
    hashes = KEY.child(kind).hashes(structured_points(kind))
    # 64 tests, each at its share, so that the whole stays within the rate
    assert (fair_pvalues(ones_by_bit(hashes), N_ROWS) > FALSE_ALARM / 64).all()


@kinds
def test_neighbouring_points_are_uncorrelated(kind):
    uniforms = KEY.child(kind).uniforms(structured_points(kind))
    for lag in (1, 2, 200):
        pairs = (uniforms[lag:] * 16).astype(int) * 16 + (uniforms[:-lag] * 16).astype(int)
        # overlapping pairs: every second run of `lag` rows makes them independent
        separate = pairs[(np.arange(len(pairs)) // lag) % 2 == 0]
        assert_uniform_counts(np.bincount(separate, minlength=256))


def test_children_are_pairwise_uncorrelated():
    points = np.arange(N_ROWS)
    keys = [KEY, *(KEY.child(purpose) for purpose in ("vote", "seed", "membership"))]
    keys += [KEY.child("partition", j) for j in range(4)]
    keys += [KEY.child("partition", 0).child("vote"), SharedKey("statistics of keyed numbers.")]
    hashes = [key.hashes(points) for key in keys]
    n_pairs = len(keys) * (len(keys) - 1) // 2
    for i, first in enumerate(hashes):
        for second in hashes[:i]:
            different_bits = int(ones_by_bit(first ^ second).sum())
            p_bits = float(fair_pvalues(different_bits, 64 * N_ROWS))
            joint = (first >> np.uint64(60)) * np.uint64(16) + (second >> np.uint64(60))
            p_joint = scipy.stats.chisquare(np.bincount(joint.astype(int), minlength=256)).pvalue
            assert min(p_bits, p_joint) > FALSE_ALARM / (2 * n_pairs)


def test_avalanche_in_the_point():
    points = np.random.default_rng(0).normal(size=(4_000, 3))
    hashes = KEY.hashes(points)
    limit = FALSE_ALARM / (9 * 3 * 64)
    for bit in range(0, 63, 7):  # not the sign: it may turn 0.0 into -0.0
        for column in range(3):
            neighbours = points.copy()
            words = neighbours.view(np.uint64)
            words[:, column] ^= np.uint64(1) << np.uint64(bit)
            usable = np.isfinite(neighbours).all(axis=1)
            changed = KEY.hashes(neighbours[usable])
            counts = ones_by_bit(hashes[usable] ^ changed)
            assert (fair_pvalues(counts, int(usable.sum())) > limit).all()


def test_avalanche_in_the_key():
    points = np.arange(100)
    secrets = [int.from_bytes(np.random.default_rng(i).bytes(8), "little") for i in range(40)]
    for bit in range(0, 64, 7):
        counts = np.zeros(64, dtype=int)
        for secret in secrets:
            first = SharedKey(secret).hashes(points)
            counts += ones_by_bit(first ^ SharedKey(secret ^ 1 << bit).hashes(points))
        assert (fair_pvalues(counts, 4_000) > FALSE_ALARM / 640).all()


def test_gumbels_follow_their_law_and_labels_are_independent():
    gumbels = KEY.gumbels(np.arange(N_ROWS), ["a", "b", "c", "d"])
    for column in gumbels.T:
        assert scipy.stats.kstest(column, "gumbel_r").pvalue > FALSE_ALARM / 4
    # the label with the largest number is uniform, and so is each label's rank
    assert_uniform_counts(np.bincount(gumbels.argmax(axis=1), minlength=4))
    patterns = np.argsort(gumbels, axis=1) @ np.array([64, 16, 4, 1])
    _, counts = np.unique(patterns, return_counts=True)
    assert len(counts) == 24
    assert_uniform_counts(counts)


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 1]], ids=str)
def test_every_order_is_equally_likely(rows):
    # which *arrangement of places* the rows get; equal rows are told apart by position
    points = as_points(np.array(rows))
    orders = [KEY.child("order", i).order(points) for i in range(1_200)]  # 50 for each of 24
    _, counts = np.unique(np.array(orders) @ np.array([64, 16, 4, 1]), return_counts=True)
    assert len(counts) == 24
    assert_uniform_counts(counts)


def test_order_puts_every_row_everywhere():
    places = np.zeros((20, 20), dtype=int)
    for i in range(1_000):
        places[KEY.child("places", i).order(np.arange(20)), np.arange(20)] += 1
    for row in places:
        assert scipy.stats.chisquare(row).pvalue > FALSE_ALARM / 20


def test_seeds_are_uniform():
    seeds = np.array([KEY.seed_for("block", i) for i in range(20_000)])
    assert scipy.stats.kstest(seeds / 2**32, "uniform").pvalue > FALSE_ALARM
    assert_uniform_counts(np.bincount(seeds % 256, minlength=256))
