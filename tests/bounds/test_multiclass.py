import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.bounds.laws import uniform_law
from replearn.bounds.multiclass import (
    agreement_probability,
    class_error_factor,
    class_weights,
    least_sharpness,
    mean_range,
    multiclass_flip_bound,
    smallest_blocks_multiclass,
)
from replearn.bounds.pairs import central_binomial

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


shares = st.integers(2, 6).flatmap(
    lambda k: st.tuples(
        *[st.lists(st.floats(0.0, 1.0), min_size=k, max_size=k).filter(lambda w: sum(w) > 0.01)] * 2
    )
)


def votes_of(n_blocks, n_classes):
    """Return every vector of votes, one row each."""
    bars = itertools.combinations(range(n_blocks + n_classes - 1), n_classes - 1)
    edges = [(-1, *cut, n_blocks + n_classes - 1) for cut in bars]
    return np.diff(np.array(edges), axis=1) - 1


def vote_pairs(n_blocks, chances):
    """Return every vector of votes and its multinomial mass."""
    counts = votes_of(n_blocks, len(chances))
    return counts, stats.multinomial.pmf(counts, n_blocks, chances)


def flips_of(counts, mass, n_blocks, sharpness):
    chances = class_weights(counts / n_blocks, sharpness)
    return 1.0 - float(mass @ agreement_probability(chances[:, None], chances[None]) @ mass)


@settings(max_examples=80)
@given(shares, st.floats(0.5, 60.0))
def test_two_runs_differ_by_at_most_a_quarter_of_the_sharpness_times_the_range(pair, sharpness):
    p, q = (np.array(one) / sum(one) for one in pair)
    agree = agreement_probability(class_weights(p, sharpness), class_weights(q, sharpness))
    assert 1.0 - agree <= sharpness / 4.0 * np.ptp(p - q) + 1e-12


@settings(max_examples=80)
@given(shares, st.floats(-0.05, 0.05), st.floats(2.0, 30.0))
def test_the_pointwise_bound_holds_for_small_moves_near_ties(pair, move, sharpness):
    p = np.full(len(pair[0]), 1.0 / len(pair[0])) * 0.7 + 0.3 * np.array(pair[0]) / sum(pair[0])
    q = p.copy()
    q[0], q[1] = q[0] + move, q[1] - move
    agree = agreement_probability(class_weights(p, sharpness), class_weights(q, sharpness))
    assert 1.0 - agree <= sharpness / 4.0 * np.ptp(p - q) + 1e-12


def test_the_pointwise_bound_is_attained_by_two_classes_and_nearly_by_three():
    one, other = class_weights([[0.5, 0.5], [0.55, 0.45]], 5.0)
    assert 1.0 - agreement_probability(one, other) == pytest.approx(5.0 / 4.0 * 0.1)
    one, other = class_weights([[0.5, 0.25, 0.25], [0.501, 0.2495, 0.2495]], 5.0)
    assert 1.0 - agreement_probability(one, other) > 0.99 * 5.0 / 4.0 * 0.0015


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_weights_are_chances_that_prefer_the_most_voted_class(n_classes):
    rng = np.random.default_rng(n_classes)
    given_ = rng.dirichlet(np.full(n_classes, 0.6), 500)
    found = class_weights(given_, 5.0)
    softmax = np.exp(5.0 * given_) / np.exp(5.0 * given_).sum(axis=1, keepdims=True)
    every, top = np.arange(500), given_.argmax(axis=1)
    assert np.allclose(found.sum(axis=1), 1.0)
    assert (found >= 0.0).all()
    assert (found[every, top] >= softmax[every, top] - 1e-12).all()
    assert (np.argsort(found, axis=1)[:, -1] == top).all()
    order = rng.permutation(n_classes)
    assert np.allclose(class_weights(given_[:, order], 5.0), found[:, order])


def test_two_classes_are_the_uniform_threshold():
    law, sharpness = uniform_law(60, width=0.4), 2.0 / 0.4
    share = np.arange(61) / 60
    found = class_weights(np.column_stack([1 - share, share]), sharpness)[:, 1]
    assert np.allclose(found, law.probabilities, atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 10, 100])
def test_unanimous_votes_are_never_overruled_from_the_least_sharpness_on(n_classes):
    unanimous = np.eye(n_classes)[1]
    assert class_weights(unanimous, least_sharpness(n_classes) + 1e-9)[1] == 1.0
    assert class_weights(unanimous, least_sharpness(n_classes) - 1e-3)[1] < 1.0


@pytest.mark.parametrize(("n_blocks", "n_classes"), [(1, 3), (4, 3), (12, 3), (4, 5), (6, 4)])
def test_the_mean_range_is_bounded_for_all_chances(n_blocks, n_classes):
    rng = np.random.default_rng(5)
    several = [np.full(n_classes, 1 / n_classes), *rng.dirichlet(np.full(n_classes, 0.7), 12)]
    for chances in several:
        counts, mass = vote_pairs(n_blocks, chances)
        ranges = np.ptp(counts[:, None] - counts[None], axis=2) / n_blocks
        assert mass @ ranges @ mass <= mean_range(n_blocks, n_classes)


def test_the_mean_range_is_nearly_attained_by_two_and_three_equal_classes():
    assert mean_range(64, 2) == pytest.approx(2 * central_binomial(64), rel=0.005)
    counts, mass = vote_pairs(24, [1 / 3] * 3)
    ranges = np.ptp(counts[:, None] - counts[None], axis=2) / 24
    assert mass @ ranges @ mass > 0.98 * mean_range(24, 3)
    assert mean_range(10**7, 50) <= 2.0 / np.sqrt(10**7) * (1 + 1e-9)


@pytest.mark.parametrize("n_blocks", [1, 2, 5, 14])
@pytest.mark.parametrize(
    "chances", [(1 / 3, 1 / 3, 1 / 3), (0.5, 0.3, 0.2), (0.8, 0.2, 0.0), (0.4, 0.4, 0.1, 0.1)]
)
def test_all_votes_of_a_small_case(n_blocks, chances):
    counts, mass = vote_pairs(n_blocks, chances)
    for sharpness in (least_sharpness(len(chances)), 4.0, 9.0):
        bound = multiclass_flip_bound(n_blocks, len(chances), sharpness)
        assert flips_of(counts, mass, n_blocks, sharpness) <= bound


def test_the_bound_is_not_far_from_what_equal_classes_do():
    counts, mass = vote_pairs(40, [1 / 3] * 3)
    assert flips_of(counts, mass, 40, 3.0) > 0.8 * multiclass_flip_bound(40, 3, 3.0)


def test_sharper_rules_flip_more_and_answer_the_most_voted_class_more_often():
    bounds = [multiclass_flip_bound(200, 3, sharpness) for sharpness in (3.0, 4.0, 5.0)]
    answers = [class_weights([0.5, 0.3, 0.2], sharpness)[0] for sharpness in (3.0, 4.0, 5.0)]
    assert bounds == sorted(bounds)
    assert answers == sorted(answers)
    assert 0.5 < answers[1] < 0.7


@pytest.mark.parametrize("n_classes", [2, 3, 4, 6])
def test_the_error_is_at_most_the_factor_times_that_of_the_votes(n_classes):
    n_blocks = {2: 60, 3: 40, 4: 20, 6: 8}[n_classes]
    given_ = votes_of(n_blocks, n_classes) / n_blocks
    for sharpness in (least_sharpness(n_classes), 5.0, 40.0):
        wrong = 1.0 - class_weights(given_, sharpness)
        factor = class_error_factor(n_classes, sharpness)
        assert (wrong <= factor * (1.0 - given_) + 1e-12).all()
    assert class_error_factor(10_000, least_sharpness(10_000)) > 2.0


@pytest.mark.parametrize("rho", [1.0, 0.5, 0.1, 0.03])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_the_smallest_number_of_blocks_passes_and_one_fewer_fails(rho, n_classes):
    n_blocks, least = smallest_blocks_multiclass(rho, n_classes), least_sharpness(n_classes)
    assert multiclass_flip_bound(n_blocks, n_classes, least) <= rho
    assert n_blocks == 1 or multiclass_flip_bound(n_blocks - 1, n_classes, least) > rho


@given(st.integers(1, 500), st.integers(2, 30))
@settings(deadline=None)
def test_more_blocks_flip_less_and_more_classes_more(n_blocks, n_classes):
    here = multiclass_flip_bound(n_blocks, n_classes, 4.0)
    assert multiclass_flip_bound(n_blocks + 1, n_classes, 4.0) <= here * (1 + 1e-8)
    assert multiclass_flip_bound(n_blocks, n_classes + 1, 4.0) >= here * (1 - 1e-8)
    assert here <= 1.0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: multiclass_flip_bound(4, 1, 3.0),
        lambda: multiclass_flip_bound(0, 3, 3.0),
        lambda: multiclass_flip_bound(4, 3, 0.0),
        lambda: smallest_blocks_multiclass(0.0, 3),
        lambda: agreement_probability([0.0, 0.0], [1.0, 0.0]),
        lambda: agreement_probability([0.5, 0.5], [-1.0, 2.0]),
    ],
)
def test_wrong_values_are_named(wrong):
    with pytest.raises(ValueError, match="must"):
        wrong()
