"""Sample sizes of the base estimator: growth, exact failure probabilities, inverse pairs."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.bounds import vc
from replearn.bounds.vc import (
    agnostic_sample_size,
    agnostic_tail,
    log_growth,
    realizable_sample_size,
    realizable_tail,
)


@given(st.integers(0, 30), st.integers(0, 60))
def test_growth_is_the_sum_of_binomials(d, m):
    exact = sum(math.comb(m, i) for i in range(d + 1))
    assert log_growth(d, m) == pytest.approx(math.log(exact), rel=1e-11, abs=1e-11)


def test_growth_for_huge_samples():
    assert log_growth(3, 10**12) == pytest.approx(math.log(math.comb(10**12, 3)), rel=1e-9)


@pytest.mark.parametrize("m", [3001, 6000, 10**5, 10**9])
def test_terms_that_are_left_out_of_the_growth_are_zero(m):
    d = 3000
    logs = np.cumsum([0.0, *(math.log((m - i + 1) / i) for i in range(1, d + 1))])
    total = logs.max() + math.log(np.exp(logs - logs.max()).sum())
    assert log_growth(d, m) == pytest.approx(total * (1 + 1e-12), rel=1e-14)
    assert np.exp(vc._LOG_OF_ZERO) == 0 < np.exp(vc._LOG_OF_ZERO + 1)


@given(st.integers(0, 9), st.integers(1, 3000), st.floats(0.01, 1), st.floats(1e-9, 1))
def test_the_quick_question_about_a_tail_has_the_answer_of_the_tail(d, m, alpha, beta):
    tail = realizable_tail(m, d, alpha)
    assert vc.realizable_tail_within(m, d, alpha, beta) == (tail <= beta)
    assert vc.realizable_tail_within(m, d, alpha, tail)


def test_growth_beyond_a_million_terms_is_bounded_not_added_up(monkeypatch):
    """A plan for a huge dimension must not fill the memory; the bound is on the safe side."""
    assert log_growth(10**9, 10**12) == pytest.approx(10**9 * (1 + math.log(1000)), rel=1e-9)
    assert log_growth(10**9, 10**9 + 1) <= (10**9 + 1) * math.log(2) * (1 + 1e-11)
    pairs = [(d, m) for d in (1, 2, 5, 40) for m in (d + 1, 2 * d + 1, 10 * d, 1000 * d)]
    exact = [log_growth(d, m) for d, m in pairs]
    monkeypatch.setattr(vc, "_MAX_TERMS", 0)
    vc._log_growth.cache_clear()
    bounded = [log_growth(d, m) for d, m in pairs]
    vc._log_growth.cache_clear()
    assert all(more >= less for more, less in zip(bounded, exact, strict=True))
    assert any(more > less for more, less in zip(bounded, exact, strict=True))


@pytest.mark.parametrize("m", [5, 30, 100, 500])
@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.3])
def test_realizable_tail_of_thresholds(m, alpha):
    """Worst consistent threshold around 1/2: wrong by alpha iff one side's gap is empty."""
    exact = 2 * (1 - alpha) ** m - (1 - 2 * alpha) ** m
    assert exact <= realizable_tail(m, 1, alpha)


@pytest.mark.parametrize("m", [10, 60, 200])
def test_realizable_tail_of_intervals(m):
    """Labels all 0, any interval between neighbours is consistent: the largest spacing."""
    alpha = 0.1
    spacings = np.arange(m + 2)
    signs = np.where(spacings % 2, -1.0, 1.0)
    terms = [
        s * math.comb(m + 1, k) * max(0.0, 1 - k * alpha) ** m
        for k, s in zip(spacings, signs, strict=True)
    ]
    exact = 1 - math.fsum(terms)
    assert exact <= realizable_tail(m, 2, alpha) + 1e-9


@pytest.mark.parametrize("m", [10, 100, 1000])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_agnostic_tail_of_two_hypotheses(m, alpha):
    """Two hypotheses that differ everywhere: the worse one wins if it errs less often."""
    exact = stats.binom.cdf(m / 2, m, (1 + alpha) / 2)
    assert exact <= math.exp(-m * alpha**2 / 2) <= agnostic_tail(m, 1, alpha)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 200), st.floats(0.01, 1.0), st.floats(1e-9, 1.0))
def test_sizes_pass_and_the_one_before_fails(d, alpha, beta):
    for size, tail in (
        (agnostic_sample_size, agnostic_tail),
        (realizable_sample_size, realizable_tail),
    ):
        m = size(d, alpha, beta)
        assert alpha >= 1 or tail(m, d, alpha) <= beta
        assert m == 1 or tail(m - 1, d, alpha) > beta


@settings(max_examples=40)
@given(st.integers(0, 50), st.floats(0.02, 0.9), st.floats(1e-6, 0.5))
def test_sizes_are_monotone(d, alpha, beta):
    base = agnostic_sample_size(d, alpha, beta)
    assert agnostic_sample_size(d + 1, alpha, beta) >= base
    assert agnostic_sample_size(d, alpha / 2, beta) >= base
    assert agnostic_sample_size(d, alpha, beta / 2) >= base


def test_cheaper_than_the_textbook_inequality():
    """4 growth(2m) exp(-m (alpha/2)^2 / 8) <= beta and 2 growth(2m) 2^(-m alpha/2) <= beta."""
    d, alpha, beta = 10, 0.1, 0.05
    agnostic = agnostic_sample_size(d, alpha, beta)
    textbook = math.log(4) + log_growth(d, 2 * agnostic) - agnostic * alpha**2 / 32
    assert textbook > math.log(beta)
    realizable = realizable_sample_size(d, alpha, beta)
    textbook = math.log(2) + log_growth(d, 2 * realizable) - realizable * alpha / 2 * math.log(2)
    assert textbook > math.log(beta)


def test_large_and_small():
    assert agnostic_sample_size(10, 1.0, 0.01) == 1
    assert realizable_sample_size(10, 1.0, 0.01) == 1
    assert 10**8 < agnostic_sample_size(10, 1e-3, 0.05) < 10**9
    assert 10**8 < realizable_sample_size(10, 1e-6, 0.05) < 10**9


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: log_growth(-1, 5), "d=.* must"),
        (lambda: agnostic_tail(0, 1, 0.1), "m=.* must"),
        (lambda: agnostic_sample_size(1, 0.0, 0.1), "alpha"),
        (lambda: realizable_sample_size(1, 0.1, 0.0), "beta"),
        (lambda: agnostic_sample_size(1, 1e-9, 0.1), "alpha"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()
