import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from replearn.bounds import multiclass_flip_bound
from replearn.bounds.flips import central_binomial
from replearn.bounds.multiclass import (
    agreement_probability,
    mean_difference,
    smallest_blocks_multiclass,
)

weights = st.integers(2, 6).flatmap(
    lambda k: st.tuples(*[st.lists(st.integers(0, 20), min_size=k, max_size=k).filter(any)] * 2)
)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ([0.5, 0.3, 0.2], [0.3, 0.3, 0.4]),
        ([5, 0, 5, 1], [1, 3, 5, 0]),  # not normalised, labels without votes
        ([0.9, 0.1], [0.6, 0.4]),
    ],
)
def test_gumbels_agree_as_often_as_the_formula_says(p, q):
    rng, trials = np.random.default_rng(11), 200_000
    gumbels = rng.gumbel(size=(trials, len(p)))
    with np.errstate(divide="ignore"):
        same = int(np.sum((np.log(p) + gumbels).argmax(1) == (np.log(q) + gumbels).argmax(1)))
    exact = float(agreement_probability(p, q))
    assert stats.binomtest(same, trials, exact).pvalue > 1e-8
    assert abs(same / trials - exact) < 0.01


@settings(max_examples=60)
@given(weights, st.floats(0.1, 10.0))
def test_agreement_is_at_least_what_the_total_variation_gives(pair, scale):
    p, q = np.array(pair[0], float), np.array(pair[1], float)
    distance = 0.5 * np.abs(p / p.sum() - q / q.sum()).sum()
    agreement = agreement_probability(p, q)
    assert agreement >= (1 - distance) / (1 + distance) - 1e-12
    assert agreement <= 1 - distance + 1e-12  # no coupling can do better
    assert agreement_probability(scale * p, q) == pytest.approx(float(agreement), abs=1e-12)
    assert agreement_probability(p, p) == pytest.approx(1.0)


def test_agreement_of_many_points_at_once():
    p = np.array([[1, 2, 3], [0, 1, 0]])
    q = np.array([[3, 2, 1], [1, 0, 0]])
    both = agreement_probability(p, q)
    assert both.shape == (2,)
    assert both[0] == agreement_probability(p[0], q[0])
    assert both[1] == 0.0


@given(st.integers(1, 300), st.floats(0.0, 1.0).map(lambda q: round(q, 9)))
@settings(deadline=None)
def test_the_mean_difference_is_rounded_up(n_blocks, q):
    k = np.arange(n_blocks)
    level = stats.binom.cdf(k, n_blocks, q) * stats.binom.sf(k, n_blocks, q)
    exact = 2.0 * level.sum() / n_blocks
    assert exact * (1 - 1e-12) <= mean_difference(n_blocks, q) <= exact * (1 + 1e-8) + 1e-11


@given(st.integers(1, 200))
@settings(max_examples=30)
def test_the_mean_difference_is_concave_in_q_and_largest_at_one_half(n_blocks):
    values = np.array([mean_difference(n_blocks, q) for q in np.linspace(0.0, 1.0, 41)])
    assert np.all(np.diff(values, 2) <= 1e-9)
    assert values.argmax() == 20
    assert values[20] == pytest.approx(central_binomial(n_blocks), rel=1e-8)


def test_large_numbers_of_blocks_join_smoothly():
    assert mean_difference(20_001, 0.3) == pytest.approx(mean_difference(20_000, 0.3), rel=1e-4)
    assert mean_difference(10**7, 0.5) == pytest.approx(central_binomial(10**7), rel=1e-6)


@pytest.mark.parametrize("n_blocks", [1, 2, 3])
@pytest.mark.parametrize("chances", [(1 / 3, 1 / 3, 1 / 3), (0.5, 0.3, 0.2), (0.8, 0.2, 0.0)])
def test_all_votes_of_a_tiny_case(n_blocks, chances):
    counts, mass = [], []
    for votes in itertools.product(range(3), repeat=n_blocks):
        counts.append(np.bincount(votes, minlength=3))
        mass.append(np.prod([chances[v] for v in votes]))
    counts, mass = np.array(counts), np.array(mass)
    agree = agreement_probability(counts[:, None], counts[None])
    flips = 1.0 - float(mass @ agree @ mass)
    assert flips <= multiclass_flip_bound(n_blocks, 3)


def test_simulated_flips_stay_within_the_bound():
    rng, trials, n_blocks = np.random.default_rng(3), 50_000, 100
    for chances in ([1 / 3] * 3, [0.5, 0.5, 0.0], [0.6, 0.3, 0.1]):
        votes = rng.multinomial(n_blocks, chances, size=(2, trials))
        expected = 1.0 - agreement_probability(votes[0], votes[1]).mean()
        assert expected + 8 / np.sqrt(trials) * 0.1 <= multiclass_flip_bound(n_blocks, 3)
    uniform = 1.0 - agreement_probability(*rng.multinomial(100, [1 / 3] * 3, (2, trials))).mean()
    assert uniform > 0.6 * multiclass_flip_bound(n_blocks, 3)


def test_a_threshold_is_twice_as_good_for_two_classes():
    assert multiclass_flip_bound(400, 2) == pytest.approx(2 * central_binomial(400), rel=0.03)


@pytest.mark.parametrize("rho", [1.0, 0.5, 0.1, 0.03])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_the_smallest_number_of_blocks_passes_and_one_fewer_fails(rho, n_classes):
    n_blocks = smallest_blocks_multiclass(rho, n_classes)
    assert multiclass_flip_bound(n_blocks, n_classes) <= rho
    assert n_blocks == 1 or multiclass_flip_bound(n_blocks - 1, n_classes) > rho


@given(st.integers(1, 500), st.integers(2, 30))
@settings(deadline=None)
def test_more_blocks_flip_less_and_more_classes_more(n_blocks, n_classes):
    here = multiclass_flip_bound(n_blocks, n_classes)
    assert multiclass_flip_bound(n_blocks + 1, n_classes) <= here * (1 + 1e-8)
    assert multiclass_flip_bound(n_blocks, n_classes + 1) >= here * (1 - 1e-8)
    assert here <= 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: multiclass_flip_bound(4, 1),
        lambda: multiclass_flip_bound(0, 3),
        lambda: smallest_blocks_multiclass(0.0, 3),
        lambda: agreement_probability([0.0, 0.0], [1.0, 0.0]),
        lambda: agreement_probability([0.5, 0.5], [-1.0, 2.0]),
        lambda: mean_difference(4, 1.5),
    ],
)
def test_wrong_values_are_named(wrong):
    with pytest.raises(ValueError, match="must"):
        wrong()
