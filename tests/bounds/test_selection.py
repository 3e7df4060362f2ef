"""Choosing among hypotheses: sharpness of tanh, exact agreement, planned samples."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import special, stats

from replearn.bounds.selection import (
    same_candidates_flip_bound,
    selection_agreement,
    selection_error_tail_sampled,
    selection_flip_bound,
    selection_flip_bound_sampled,
    selection_scale,
    smallest_sample_selection,
    stable_scale,
)

ERRORS = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def literal_agreement(t, first, second):
    p, q = np.exp(-t * np.asarray(first)), np.exp(-t * np.asarray(second))
    return sum(1 / np.maximum(p / p[i], q / q[i]).sum() for i in range(len(p)))


@given(ERRORS, st.floats(0, 30), st.randoms(use_true_random=False))
def test_agreement_is_the_literal_sum(errors, t, random):
    other = [min(1.0, max(0.0, e + random.uniform(-0.3, 0.3))) for e in errors]
    expected = literal_agreement(t, errors, other)
    assert selection_agreement(t, errors, other) == pytest.approx(min(expected, 1), rel=1e-9)


def test_agreement_of_two_by_integration():
    """Two candidates: the Gumbels' difference is logistic."""
    t, first, second = 7.0, [0.1, 0.4], [0.35, 0.3]
    chosen_first = [special.expit(t * (b - a)) for a, b in (first, second)]
    expected = 1 - abs(chosen_first[0] - chosen_first[1])
    assert selection_agreement(t, first, second) == pytest.approx(expected, rel=1e-12)


@settings(max_examples=100)
@given(ERRORS, st.floats(0.01, 60), st.randoms(use_true_random=False))
def test_tanh_bounds_the_exact_disagreement(errors, t, random):
    shift = random.uniform(-0.5, 0.5)
    moves = np.array([random.choice([-1, 1, random.uniform(-1, 1)]) * 0.1 for _ in errors])
    other = np.array(errors) + moves + shift
    half_range = (moves.max() - moves.min()) / 2
    exact = 1 - selection_agreement(t, errors, other)
    assert exact <= selection_flip_bound(t, half_range) + 1e-9


@pytest.mark.parametrize("t_deviation", [0.01, 0.2, 1.0, 5.0])
def test_tanh_is_attained(t_deviation):
    deviation = 0.05
    t = t_deviation / deviation
    exact = 1 - selection_agreement(t, [0.3, 0.3 + deviation], [0.3 + deviation, 0.3])
    assert exact == pytest.approx(selection_flip_bound(t, deviation), rel=1e-9)


def test_total_variation_would_give_twice_as_much():
    """The route of the paper's lemma: 1 - exp(-t D), about twice tanh(t D / 2)."""
    assert selection_flip_bound(1.0, 0.01) < 0.51 * -math.expm1(-0.01)


def test_many_candidates_do_not_overflow():
    rng = np.random.default_rng(0)
    errors = rng.random(200_000)
    agreement = selection_agreement(5000.0, errors, errors)
    assert agreement == pytest.approx(1.0, abs=1e-9)
    assert 0 <= selection_agreement(5000.0, errors, errors[::-1]) <= 1


@pytest.mark.parametrize(("n_hypotheses", "m"), [(2, 1), (2, 6), (3, 1), (3, 3)])
def test_sampled_flip_bound_by_enumeration(n_hypotheses, m):
    """All pairs of samples of m rows, every row a pattern of errors, hypotheses independent."""
    patterns = list(itertools.product([0, 1], repeat=n_hypotheses))
    samples = list(itertools.product(range(len(patterns)), repeat=m))
    counts = np.array(patterns)[np.array(samples)].sum(axis=1)
    vectors, place = np.unique(counts, axis=0, return_inverse=True)
    masses = []
    for rate in (0.5, 0.2):
        weight = np.array([math.prod(rate if e else 1 - rate for e in row) for row in patterns])
        masses.append(np.bincount(place.ravel(), weight[np.array(samples)].prod(axis=1)))
    for t in (0.5, 2.0):
        differ = np.zeros((len(vectors), len(vectors)))
        for i, j in itertools.combinations(range(len(vectors)), 2):
            differ[i, j] = 2 * (1 - selection_agreement(t, vectors[i] / m, vectors[j] / m))
        for mass in masses:
            assert mass.sum() == pytest.approx(1.0)
            assert mass @ differ @ mass <= selection_flip_bound_sampled(t, n_hypotheses, m)


def test_one_hypothesis_never_differs():
    assert selection_flip_bound_sampled(100.0, 1, 1) == 0.0
    assert selection_agreement(3.0, [0.2], [0.9]) == 1.0
    assert selection_error_tail_sampled(0.0, 1, 0.1, 1) == 0.0
    m, t = smallest_sample_selection(0.1, 0.1, 0.1, 1)
    assert (m, t) == (1, 0.0)


@given(ERRORS, st.floats(0, 100), st.floats(0.01, 0.5))
def test_error_tail_bounds_the_exponential_mechanism(errors, t, alpha):
    chosen = special.softmax(-t * np.array(errors))
    bad = chosen[np.array(errors) > min(errors) + alpha].sum()
    assert bad <= selection_error_tail_sampled(t, len(errors), alpha, 10**12) + 1e-12


def test_error_tail_is_attained():
    errors = np.array([0.1, *[0.3 + 1e-9] * 9])
    bad = special.softmax(-20 * errors)[1:].sum()
    tail = selection_error_tail_sampled(20, 10, 0.2, 10**12)
    assert bad == pytest.approx(tail / (1 + tail), rel=1e-6)


@pytest.mark.parametrize("m", [10, 100])
@pytest.mark.parametrize("t", [2.0, 10.0])
def test_sampled_error_tail_by_exact_sum(m, t):
    """Two hypotheses that never err together: the difference of errors is a known walk."""
    alpha, base = 0.2, 0.1
    k, j = np.meshgrid(np.arange(m + 1), np.arange(m + 1))
    rates = (base, base + alpha, 1 - 2 * base - alpha)
    counts = np.stack([k, j, m - k - j], axis=-1)
    valid = counts[..., 2] >= 0
    masses = stats.multinomial.pmf(counts[valid], m, rates)
    chooses_worse = special.expit(-t * (j[valid] - k[valid]) / m)
    assert masses @ chooses_worse <= selection_error_tail_sampled(t, 2, alpha, m)


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.01, 1.0),
    st.floats(0.02, 0.9),
    st.floats(1e-4, 1.0),
    st.integers(1, 10**6),
)
def test_planned_sample_passes_and_the_one_before_fails(rho, alpha, beta, n_hypotheses):
    m, t = smallest_sample_selection(rho, alpha, beta, n_hypotheses)
    assert selection_error_tail_sampled(t, n_hypotheses, alpha, m) <= beta
    assert selection_flip_bound_sampled(t, n_hypotheses, m) <= rho
    if m > 1:
        before = selection_scale(n_hypotheses, alpha, beta, m - 1)
        assert before is None or (selection_flip_bound_sampled(before, n_hypotheses, m - 1) > rho)


def test_drift_is_paid_for():
    m, _ = smallest_sample_selection(0.1, 0.1, 0.05, 20)
    with_drift, t = smallest_sample_selection(0.1, 0.1, 0.05, 20, drift=0.001)
    assert with_drift > m
    assert selection_flip_bound_sampled(t, 20, with_drift, drift=0.001) <= 0.1
    with pytest.raises(ValueError, match="drift"):
        smallest_sample_selection(0.1, 0.1, 0.05, 20, drift=0.01)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: selection_flip_bound(-1.0, 0.1), "sharpness="),
        (lambda: selection_flip_bound(1.0, -0.1), "deviation"),
        (lambda: selection_error_tail_sampled(1.0, 0, 0.1, 5), "n_hypotheses"),
        (lambda: selection_agreement(1.0, [0.1], [0.1, 0.2]), "errors"),
        (lambda: smallest_sample_selection(0.0, 0.1, 0.1, 5), "rho"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


def _two_differ(a, b):
    """P(two runs differ) for two hypotheses with log weight ratios a and b."""
    high, low = np.maximum(a, b), np.minimum(a, b)
    return 1 - special.expit(-high) - special.expit(low)


@pytest.mark.parametrize("kind", ["independent", "opposite", "never together"])
@pytest.mark.parametrize("m", [5, 40, 300])
@pytest.mark.parametrize("t", [0.5, 2.0, 6.0])
def test_the_bound_without_ln_n_by_exact_sums(kind, m, t):
    """Two hypotheses: everything depends on the difference of their numbers of errors."""
    step = {
        "independent": [0.25, 0.5, 0.25],
        "opposite": [0.5, 0.0, 0.5],
        "never together": [0.1, 0.7, 0.2],
    }[kind]
    law = np.array([1.0])
    for _ in range(m):
        law = np.convolve(law, step)
    ratio = t * np.arange(-m, m + 1) / m
    exact = law @ _two_differ(ratio[:, None], ratio[None, :]) @ law
    bound = same_candidates_flip_bound(t, m)
    assert exact <= bound
    if kind == "opposite" and m == 300:
        assert exact > 0.6 * bound  # half of all pairs (i, j) are i = j: at most 1/sqrt(2)


def test_many_independent_hypotheses_come_close_to_the_bound():
    rng, t, m, pairs = np.random.default_rng(0), 10.0, 20_000, 40
    differ = [
        1 - selection_agreement(t, *(rng.binomial(m, 0.5, (2, 2000)) / m)) for _ in range(pairs)
    ]
    bound = selection_flip_bound_sampled(t, 2000, m)
    error = np.std(differ) / np.sqrt(pairs)
    assert 0.9 * bound < np.mean(differ) - 6 * error
    assert np.mean(differ) + 6 * error < bound


def test_candidates_that_differ_between_runs_pay_for_their_number():
    same = selection_flip_bound_sampled(10.0, 10**6, 20_000)
    assert selection_flip_bound_sampled(10.0, 10**6, 20_000, drift=0.0) > 4 * same


@given(st.floats(0.01, 1.0), st.integers(2, 10**6), st.integers(1, 10**7))
def test_the_stable_scale_keeps_rho_and_nothing_larger_does(rho, n_hypotheses, m):
    t = stable_scale(rho, n_hypotheses, m)
    assert selection_flip_bound_sampled(t, n_hypotheses, m) <= rho
    if rho < 0.99:
        assert selection_flip_bound_sampled(t * (1 + 1e-6), n_hypotheses, m) > rho
