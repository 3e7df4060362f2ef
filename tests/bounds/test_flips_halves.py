import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.bounds.flips import flip_supremum, halves_supremum
from replearn.bounds.laws import arcsine_law, table_law, uniform_law
from replearn.bounds.pairs import gap_coefficients
from tests.factories import law_with_atoms


def over_all_splits(law, ones):
    """E|G(votes of one half) - G(votes of the other)| over all splits of 2 T blocks, exactly."""
    n_blocks = law.n_blocks
    votes = [1] * ones + [0] * (2 * n_blocks - ones)
    gaps = []
    for half in itertools.combinations(range(2 * n_blocks), n_blocks):
        first = sum(votes[i] for i in half)
        gaps.append(abs(int(law.table[first]) - int(law.table[ones - first])))
    return Fraction(sum(gaps), len(gaps) * 2**30)


@pytest.mark.parametrize(
    "law",
    [uniform_law(1), uniform_law(4), arcsine_law(5, 0.7), table_law([0, 0.1, 0.2, 0.7, 1])],
    ids=str,
)
def test_all_splits_of_a_tiny_file(law):
    exact = [float(over_all_splits(law, ones)) for ones in range(2 * law.n_blocks + 1)]
    assert gap_coefficients(law.probabilities) == pytest.approx(exact, abs=1e-12)
    assert max(exact) <= halves_supremum(law) <= max(exact) + 1e-9


@given(st.integers(1, 80), st.floats(0.05, 1.0))
@settings(max_examples=30, deadline=None)
def test_the_curve_is_hypergeometric(n_blocks, width):
    law = arcsine_law(n_blocks, width)
    ones = np.arange(2 * n_blocks + 1)[:, None]
    first = np.arange(n_blocks + 1)[None]
    mass = stats.hypergeom.pmf(first, 2 * n_blocks, ones, n_blocks)
    second = np.clip(ones - first, 0, n_blocks)
    gaps = np.abs(law.probabilities[first] - law.probabilities[second])
    assert gap_coefficients(law.probabilities) == pytest.approx(
        (mass * gaps).sum(axis=1), abs=1e-10
    )


def test_halves_differ_a_little_more_than_fresh_samples():
    law = uniform_law(32)
    assert halves_supremum(law) / flip_supremum(law) == pytest.approx(1.023, abs=1e-3)
    for n_blocks in (2, 10, 300):
        law = uniform_law(n_blocks)
        assert flip_supremum(law) < halves_supremum(law) < (1 + 2 / n_blocks) * flip_supremum(law)


def test_simulated_halves_of_one_file_break_the_bound_of_fresh_samples():
    law, rng, trials = uniform_law(4), np.random.default_rng(5), 100_000
    ones = int(gap_coefficients(law.probabilities).argmax())
    blocks = rng.permuted(np.tile([1] * ones + [0] * (8 - ones), (trials, 1)), axis=1)
    first = blocks[:, :4].sum(axis=1)
    u = rng.random(trials)
    flips = int(np.sum((u < law.probabilities[first]) != (u < law.probabilities[ones - first])))
    bound = halves_supremum(law)
    assert stats.binomtest(flips, trials, bound, "greater").pvalue > 1e-8
    assert flips / trials > 0.97 * bound
    assert stats.binomtest(flips, trials, flip_supremum(law), "greater").pvalue < 1e-8


def test_soft_votes():
    law = uniform_law(16)
    assert halves_supremum(law, "soft") == pytest.approx(halves_supremum(law), rel=1e-6)
    assert halves_supremum(arcsine_law(16, 0.8), "soft") > halves_supremum(arcsine_law(16, 0.8))
    with pytest.raises(ValueError, match="continuous law"):
        halves_supremum(law_with_atoms(18), "soft")


def test_many_blocks():
    assert halves_supremum(uniform_law(5000)) == pytest.approx(
        flip_supremum(uniform_law(5000)) * (1 + 0.75 / 5000), rel=1e-5
    )
    with pytest.raises(ValueError, match="up to 20000 blocks"):
        halves_supremum(uniform_law(20_001))
