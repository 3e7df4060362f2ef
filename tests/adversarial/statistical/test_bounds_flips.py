"""Whole pipelines in miniature: samples, keyed partitions, votes, one shared threshold."""

import numpy as np
import pytest
from scipy import stats

from replearn.bounds.flips import flip_curve, flip_supremum, halves_supremum, training_row_bound
from replearn.bounds.laws import arcsine_law, uniform_law
from tests.factories import law_with_atoms

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-9


def content_order(rows, hashes):
    """Order of the rows by the hash of (value, how many equal rows came before)."""
    counts, keys = {}, []
    for value in rows:
        place = counts.get(value, 0)
        counts[value] = place + 1
        keys.append(hashes[value, place])
    return np.argsort(keys)


def votes(rows, hashes, n_blocks):
    """Votes of blocks cut by content; a block votes 1 if its rows sum to an odd number."""
    blocks = rows[content_order(rows, hashes)].reshape(n_blocks, -1)
    return int((blocks.sum(axis=1) % 2).sum())


@pytest.mark.parametrize(
    "law", [uniform_law(8), arcsine_law(8, 0.95), law_with_atoms(8)], ids=lambda law: law.name
)
def test_content_keyed_blocks_of_rows_with_many_duplicates(law):
    rng, trials, n = np.random.default_rng(31), 20_000, 24
    flips = 0
    for _ in range(trials):
        hashes = rng.random((3, n))
        first, second = rng.integers(0, 3, size=(2, n))
        heights = [law.probabilities[votes(rows, hashes, 8)] for rows in (first, second)]
        u = rng.random()
        flips += (u < heights[0]) != (u < heights[1])
    q = 13 / 27  # the sum of three draws from {0, 1, 2} is odd
    assert stats.binomtest(flips, trials, flip_curve(law, [q])[0], "greater").pvalue > FALSE_ALARM
    assert flips / trials <= flip_supremum(law)


@pytest.mark.parametrize(
    ("law", "q"),
    [(uniform_law(32), 0.5), (arcsine_law(32, 0.847), 0.287), (arcsine_law(128, 0.4794), 0.424)],
)
def test_votes_at_the_worst_chance_reach_the_bound(law, q):
    rng, trials = np.random.default_rng(17), 2_000_000
    heights = law.probabilities[rng.binomial(law.n_blocks, q, size=(2, trials))]
    u = rng.random(trials)
    flips = int(np.sum((u < heights[0]) != (u < heights[1])))
    bound = flip_supremum(law)
    assert stats.binomtest(flips, trials, bound, "greater").pvalue > FALSE_ALARM
    assert flips / trials > 0.97 * bound


def test_halves_of_one_file_stay_within_their_own_bound():
    rng, law, trials = np.random.default_rng(8), uniform_law(10), 50_000
    file = rng.normal(size=60)
    level = np.median(np.median(rng.choice(file, (2000, 3)), axis=1))
    shuffled = rng.permuted(np.tile(file, (trials, 1)), axis=1).reshape(trials, 2, 10, 3)
    heights = law.probabilities[(np.median(shuffled, axis=3) > level).sum(axis=2)]
    u = rng.random(trials)
    flips = int(np.sum((u < heights[:, 0]) != (u < heights[:, 1])))
    assert stats.binomtest(flips, trials, halves_supremum(law), "greater").pvalue > FALSE_ALARM


@pytest.mark.parametrize("values", [3, 10**9])
def test_training_rows_stay_within_their_bound(values):
    # the learner remembers its rows: it says 1 for a point it has seen, and a coin otherwise
    law, rng, trials, n = uniform_law(8), np.random.default_rng(99), 10_000, 16
    flips = 0
    for _ in range(trials):
        first, second = rng.integers(0, values, size=(2, n))
        hashes = {}
        point, heights = first[0], []
        for rows in (first, second):
            for value in np.unique(rows):
                for place in range(n):
                    hashes.setdefault((value, place), rng.random())
            blocks = rows[content_order(rows, hashes)].reshape(8, 2)
            ballots = (blocks == point).any(axis=1) | (blocks.sum(axis=1) % 4 < 2)
            heights.append(law.probabilities[int(ballots.sum())])
        u = rng.random()
        flips += (u < heights[0]) != (u < heights[1])
    bound = training_row_bound(law, repeated=values < 100)
    assert stats.binomtest(flips, trials, bound, "greater").pvalue > FALSE_ALARM
