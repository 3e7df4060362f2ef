import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.bounds.flips import flip_bound, flip_curve, flip_supremum, runs_bound
from replearn.bounds.laws import arcsine_law, table_law, uniform_law
from tests.factories import law_with_atoms


@pytest.mark.parametrize("runs", [2, 3, 4])
@pytest.mark.parametrize("law", [uniform_law(3), arcsine_law(3, 0.8), table_law([0, 0.1, 0.3, 1])])
def test_all_combinations_of_votes_of_a_tiny_case(law, runs):
    q = 0.3
    mass = stats.binom.pmf(np.arange(4), 3, q)
    exact = 0.0
    for votes in itertools.product(range(4), repeat=runs):
        heights = law.probabilities[list(votes)]
        # one shared u: the runs are not all equal iff u falls between the extremes
        exact += np.prod(mass[list(votes)]) * (heights.max() - heights.min())
    assert flip_curve(law, [q], runs=runs)[0] == pytest.approx(exact, abs=1e-12)


def test_two_runs_are_flips():
    law = arcsine_law(32, 0.85)
    q = np.linspace(0.0, 1.0, 11)
    assert np.array_equal(flip_curve(law, q, runs=2), flip_curve(law, q))
    assert flip_supremum(law, runs=2) == flip_supremum(law)
    assert runs_bound(law, 2, "soft") == flip_bound(law, "soft")


@given(st.integers(1, 60), st.floats(0.05, 1.0), st.integers(2, 20))
@settings(max_examples=40, deadline=None)
def test_more_runs_differ_more_often_but_not_more_than_in_proportion(n_blocks, width, runs):
    law = arcsine_law(n_blocks, width)
    fewer, more = flip_supremum(law, runs=runs), flip_supremum(law, runs=runs + 1)
    assert fewer <= more * (1 + 2e-6) + 1e-8
    assert more <= (runs + 1) / 2 * flip_supremum(law) * (1 + 2e-6) + 1e-8
    assert flip_curve(law, np.linspace(0, 1, 301), runs=runs).max() <= fewer


def test_twelve_monthly_runs_of_a_pairwise_tenth():
    assert flip_supremum(uniform_law(32), runs=12) == pytest.approx(0.286, abs=1e-3)


@pytest.mark.parametrize(("law", "q"), [(uniform_law(32), 0.5), (arcsine_law(32, 0.847), 0.29)])
def test_simulated_runs_reach_the_bound_and_do_not_pass_it(law, q):
    rng = np.random.default_rng(20260)
    trials, runs = 200_000, 5
    heights = law.probabilities[rng.binomial(32, q, size=(trials, runs))]
    answers = rng.random((trials, 1)) < heights
    different = int(np.sum(answers.any(axis=1) & ~answers.all(axis=1)))
    bound = flip_supremum(law, runs=runs)
    assert stats.binomtest(different, trials, bound, "greater").pvalue > 1e-8
    assert different / trials > 0.97 * bound


@given(
    st.integers(1, 3),
    st.floats(0.1, 1.0),
    st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=2),
    st.floats(0.05, 0.95),
)
@settings(max_examples=30, deadline=None)
def test_soft_votes_of_three_runs_stay_within_their_bound(n_blocks, width, scores, chance):
    law = uniform_law(n_blocks, width)
    mean = np.array(list(itertools.product(scores, repeat=n_blocks))).mean(axis=1)
    mass = np.array(list(itertools.product([1 - chance, chance], repeat=n_blocks))).prod(axis=1)
    height = law.at(np.clip((mean + 1) / 2, 0, 1))
    triples = np.stack(np.meshgrid(height, height, height))
    weight = mass[:, None, None] * mass[None, :, None] * mass[None, None, :]
    exact = float((weight * (triples.max(axis=0) - triples.min(axis=0))).sum())
    assert exact <= runs_bound(law, 3, "soft") + 1e-12


def test_soft_votes_of_many_runs_attain_their_bound_with_coins():
    law = uniform_law(8)
    assert runs_bound(law, 6, "soft") == pytest.approx(flip_supremum(law, runs=6), rel=1e-6)


def test_very_many_blocks():
    law = uniform_law(30_000)
    assert (
        flip_curve(law, [0.5], runs=4)[0]
        <= flip_supremum(law, runs=4)
        <= 2 * flip_supremum(law) * 1.01
    )


def test_wrong_values_are_named():
    with pytest.raises(ValueError, match="runs=1 must be at least 2"):
        flip_supremum(uniform_law(4), runs=1)
    with pytest.raises(TypeError, match="runs must be a whole number"):
        flip_curve(uniform_law(4), [0.5], runs=2.5)
    with pytest.raises(ValueError, match="continuous law"):
        runs_bound(law_with_atoms(18), 3, "soft")
