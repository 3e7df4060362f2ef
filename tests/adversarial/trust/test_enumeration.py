"""Flip probabilities without any sampling: all samples over tiny domains, all keys or many.

What a key decides about a partition is the order of the items (row, how many equal rows came
before). For a few rows all orders of all items can be listed: an exact average over keys.
"""

from functools import lru_cache
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import multinomial

from replearn.bounds.collisions import point_mass_limits
from replearn.bounds.flips import flip_bound, flip_curve, runs_bound, training_row_bound
from replearn.bounds.laws import arcsine_law, table_law, uniform_law
from replearn.bounds.multiclass import agreement_probability, class_weights, multiclass_flip_bound
from replearn.bounds.selection import selection_flip_bound_sampled
from replearn.execution.fitting import make_blocks
from replearn.paper.coins import coin_flip_bound, decide_coins
from replearn.paper.heavy_hitters import find_heavy_hitters, membership_flip_bound
from replearn.randomness.key import SharedKey
from tests.factories import voting
from tests.populations import FirstRowLearner

LAWS = [uniform_law(2), uniform_law(2, 0.7), arcsine_law(2, 1.0), table_law([0, 0.1, 1])]


def all_samples(n_kinds, n):
    return np.array(list(product(range(n_kinds), repeat=n)))


def chances(samples, masses):
    return np.asarray(masses)[samples].prod(axis=1)


def occurrences(samples):
    earlier = np.tri(samples.shape[1], k=-1, dtype=bool)
    return ((samples[:, :, None] == samples[:, None, :]) & earlier).sum(axis=2)


@lru_cache(maxsize=1)
def blocks_of_four_rows():
    """What the two blocks of each sample of four rows contain, under all keys.

    Returns the distinct patterns, (patterns, samples, blocks, rows), and the share of each.
    """
    ranks = np.array(list(permutations(range(8))), dtype=np.int8)
    samples = all_samples(2, 4)
    order = np.argsort(ranks[:, samples * 4 + occurrences(samples)], axis=2)
    kinds = samples[np.arange(len(samples))[:, None], order]
    codes = np.packbits(kinds.reshape(len(kinds), 64), axis=1).view(np.uint64)[:, 0]
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    return kinds[first].reshape(-1, len(samples), 2, 2), counts / len(ranks)


def flips(table, law, one, two):
    """P(two runs differ), mean over all keys; the samples of the runs have these chances."""
    blocks, shares = blocks_of_four_rows()
    votes = table[blocks[..., 0], blocks[..., 1]].sum(axis=2)
    below = votes[:, :, None] <= np.arange(law.n_blocks)
    first, second = (np.einsum("ksb,s->kb", below, weights) for weights in (one, two))
    return float(shares @ (first * (1 - second) + second * (1 - first)) @ law.steps)


TABLES = [np.array(bits).reshape(2, 2) for bits in product([0, 1], repeat=4)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.name} {law.width}")
def test_all_samples_of_four_rows_under_all_keys(law):
    samples, worst = all_samples(2, 4), 0.0
    for table, mass in product(TABLES, (0.05, 0.3, 0.5, 0.8)):
        weights = chances(samples, [mass, 1 - mass])
        worst = max(worst, flips(table, law, weights, weights))
    assert 0.7 * flip_bound(law) < worst <= flip_bound(law) * (1 + 1e-12)


@pytest.mark.parametrize("law", LAWS[:2], ids=lambda law: f"{law.name} {law.width}")
def test_training_rows_under_all_keys(law):
    samples, worst = all_samples(2, 4), 0.0
    for table, mass in product(TABLES, (0.05, 0.3, 0.5)):
        weights = chances(samples, [mass, 1 - mass])
        trained = np.where(samples[:, 0] == 0, weights / mass, 0.0)  # its first row is the point
        worst = max(worst, flips(table, law, trained, weights))
    assert worst <= training_row_bound(law, repeated=True)
    assert worst > flip_bound(law)  # the term for training rows is needed


def test_library_blocks_are_among_those_enumerated():
    """A key orders the items (row, occurrence) once; every sample is cut in that order."""
    samples, everything = all_samples(2, 4), np.repeat([0, 1], 4)
    for number in range(12):
        key = SharedKey(number)
        (whole,) = make_blocks(key, everything[:, None].astype(float), everything, 1, 8)
        ranks = np.empty(8, dtype=int)
        ranks[whole] = np.arange(8)
        for sample in samples:
            items = sample * 4 + occurrences(sample[None])[0]
            blocks = make_blocks(key, sample[:, None].astype(float), sample, 2, 2)
            assert np.array_equal(np.concatenate(blocks), np.argsort(ranks[items]))


@pytest.mark.parametrize("n_blocks", [1, 2, 5, 8])
def test_closed_sums_are_enumerations(n_blocks):
    votes = all_samples(2, n_blocks)
    counts, law = votes.sum(axis=1), arcsine_law(n_blocks, 0.9)
    heights = law.probabilities[counts]
    for q in (0.1, 0.37, 0.5):
        weights = chances(votes, [1 - q, q])
        two = weights @ np.abs(np.subtract.outer(heights, heights)) @ weights
        assert flip_curve(law, q) == pytest.approx(two, abs=1e-13)
        by_count = np.bincount(counts, weights, minlength=n_blocks + 1)
        three = [
            np.prod(by_count[list(c)]) * np.ptp(law.probabilities[list(c)])
            for c in product(range(n_blocks + 1), repeat=3)
        ]
        assert flip_curve(law, q, runs=3) == pytest.approx(sum(three), abs=1e-13)
        assert sum(three) <= runs_bound(law, 3)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_all_votes_of_several_classes(n_classes):
    n_blocks = 6
    cells = np.array(
        [c for c in product(range(n_blocks + 1), repeat=n_classes) if sum(c) == n_blocks]
    )
    rng, worst = np.random.default_rng(0), 0.0
    for sharpness in (3.2, 5.0):
        weights = class_weights(cells / n_blocks, sharpness)
        differ = 1 - agreement_probability(weights[:, None], weights[None])
        bound = multiclass_flip_bound(n_blocks, n_classes, sharpness)
        for q in [np.full(n_classes, 1 / n_classes), *rng.dirichlet(np.ones(n_classes), 20)]:
            pmf = multinomial.pmf(cells, n_blocks, q)
            exact = pmf @ differ @ pmf
            assert exact <= bound
            worst = max(worst, exact / bound)
    assert worst > 0.5


def test_selection_on_all_samples_of_eight_rows():
    cells = np.array([c for c in product(range(9), repeat=3) if sum(c) == 8])
    wrong = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1]])
    errors = cells @ wrong.T / 8
    for sharpness in (0.3, 1.0, 2.5):
        weights = np.exp(-sharpness * errors)
        differ = 1 - agreement_probability(weights[:, None], weights[None])
        for masses in ([0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [1 / 3] * 3):
            pmf = multinomial.pmf(cells, 8, masses)
            assert pmf @ differ @ pmf <= selection_flip_bound_sampled(sharpness, 3, 8)


def test_coins_on_all_throws():
    throws = all_samples(2, 8)
    result = decide_coins(throws.T, -0.5, 0.5, key="k", names=["one coin"] * len(throws))
    law, u = result.law, result.thresholds
    heights = law.probabilities(throws.sum(axis=1), 8)
    assert np.array_equal(result.decisions == 1, u < heights)
    for q in (0.2, 0.4, 0.5, 0.75):
        weights = chances(throws, [1 - q, q])
        exact = weights @ np.abs(np.subtract.outer(heights, heights)) @ weights
        assert exact <= coin_flip_bound(8, law)


def test_membership_on_all_samples():
    samples = all_samples(2, 8)
    for key in range(3):
        for sample in samples[:: 17 + key]:
            found = find_heavy_hitters(sample.tolist(), 0.5, key=key)
            for kind in (0, 1):
                u = SharedKey(key).child("membership").uniforms([kind])[0]
                count = int((sample == kind).sum())
                inside = u < found.law.probabilities([count], 8)[0]
                assert bool(found.contains([kind])[0]) == inside
    heights = found.law.probabilities((samples == 0).sum(axis=1), 8)
    for mass in (0.02, 0.1, 0.3, 0.6):
        weights = chances(samples, [mass, 1 - mass])
        exact = weights @ np.abs(np.subtract.outer(heights, heights)) @ weights
        assert exact <= membership_flip_bound(8, found.law)


def test_collisions_on_all_samples():
    counts = np.array([c for c in product(range(9), repeat=3) if sum(c) == 8])
    equal = (counts * (counts - 1) // 2).sum(axis=1)
    limits = np.array([point_mass_limits(8, int(pairs), 0.1) for pairs in equal])
    for masses in ([1.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.5, 0.5, 0.0], [0.4, 0.3, 0.3]):
        pmf, truth = multinomial.pmf(counts, 8, masses), float(np.square(masses).sum())
        assert pmf @ (limits[:, 0] > truth + 1e-12) <= 0.1
        assert pmf @ (limits[:, 1] < truth - 1e-12) <= 0.1


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
@pytest.mark.filterwarnings("ignore::replearn.exceptions.ConstantBlocksWarning")
def test_fitted_learners_vote_as_enumerated():
    """All samples of four rows with both labels: votes and answers of the whole learner."""
    asked = {"law": "uniform", "width": 1, "n_partitions": 1}
    points = np.array([[7.0, 7.0], [0.0, 1.0], [2.5, -1.0], [1e9, 0.0], [3.0, 3.0]])
    for number in range(2):
        key = SharedKey(number)
        for labels in product([0, 1], repeat=4):
            y = np.array(labels)
            if y.min() == y.max():
                continue
            X = np.column_stack([y, 1 - y]).astype(float)
            base = {"n_blocks": 2, "shared_key": key, "classes": [0, 1], **asked}
            model = voting(FirstRowLearner(), **base).fit(X, y)
            blocks = make_blocks(key, X, y, 2, 2)
            votes = sum(y[block[0]] for block in blocks)
            u = key.child("vote").uniforms(points)
            assert np.array_equal(model.predict(points), u < uniform_law(2).probabilities[votes])
            assert model.predict(points[3:])[0] == model.predict(points)[3]
