"""Tails without lost digits; DKW against the exact law; limits against exact coverage."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.bounds.numeric import (
    bernoulli_divergence,
    binomial_cdf,
    binomial_limits,
    binomial_sf,
    dkw_tail,
    kl_lower,
    kl_upper,
    round_up,
)


@pytest.mark.parametrize("m", [1, 5, 40, 1000, 10_000])
@pytest.mark.parametrize("scaled", [0.3, 0.8, 1.2, 2.0, 3.0])
def test_dkw_is_above_the_exact_distribution(m, scaled):
    tau = scaled / np.sqrt(m)
    assert stats.kstwo.sf(tau, m) <= dkw_tail(m, tau)


def test_dkw_is_tight():
    tau = 1.6 / np.sqrt(10_000)
    assert stats.kstwo.sf(tau, 10_000) >= 0.97 * dkw_tail(10_000, tau)


def test_a_better_exponent_would_be_wrong():
    """The constant 2 in the exponent is the best: with 2.05 the inequality fails."""
    m, tau = 10**4, 1.7e-2
    assert stats.kstwo.sf(tau, m) > 2 * np.exp(-2.05 * m * tau**2)


@pytest.mark.parametrize("trials", [1, 2, 7, 32, 200])
@pytest.mark.parametrize("delta", [0.01, 0.2])
def test_binomial_limits_cover(trials, delta):
    counts = np.arange(trials + 1)
    lower, upper = binomial_limits(counts, trials, delta)
    q = np.concatenate([np.linspace(0, 1, 301), lower * (1 - 1e-9), np.minimum(upper + 1e-9, 1)])
    masses = stats.binom.pmf(counts, trials, q[:, None])
    below = (masses * (q[:, None] < lower)).sum(axis=1)
    above = (masses * (q[:, None] > upper)).sum(axis=1)
    assert below.max() <= delta / 2 * (1 + 1e-7)
    assert above.max() <= delta / 2 * (1 + 1e-7)


def test_binomial_limits_are_exact_and_tight():
    lower, upper = binomial_limits(np.arange(33), 32, 0.05)
    reference = [stats.binomtest(k, 32).proportion_ci(0.95, "exact") for k in range(33)]
    np.testing.assert_allclose(lower, [ci.low for ci in reference], atol=1e-9)
    np.testing.assert_allclose(upper, [ci.high for ci in reference], atol=1e-9)
    assert stats.binom.cdf(10, 32, upper[10]) <= 0.025


def test_binomial_limits_for_many_trials():
    lower, upper = binomial_limits(10**8, 10**10, 0.01)
    assert lower < 0.01 < upper
    assert upper - lower == pytest.approx(2 * 2.5758 * np.sqrt(0.01 * 0.99 / 10**10), rel=1e-3)


@pytest.mark.parametrize("trials", [1, 5, 32, 128])
def test_kl_limits_cover_each_side(trials):
    counts = np.arange(trials + 1)
    delta = 0.05
    q = np.linspace(0, 1, 401)[:, None]
    masses = stats.binom.pmf(counts, trials, q)
    assert (masses * (q > kl_upper(counts / trials, trials, delta))).sum(axis=1).max() <= delta
    assert (masses * (q < kl_lower(counts / trials, trials, delta))).sum(axis=1).max() <= delta


MEANS = np.concatenate([[0.0, 1e-9, 1e-4], np.linspace(0.01, 0.99, 41), [1 - 1e-6, 1.0]])[:, None]


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.1, 0.9])
def test_kl_upper_solves_its_equation(delta):
    mean, trials = np.broadcast_arrays(MEANS, np.geomspace(1, 10**6, 31).round())
    limit = kl_upper(mean, trials, delta)
    assert np.all(limit >= mean)
    solved = trials * bernoulli_divergence(mean, limit) >= -np.log(delta) * (1 - 1e-9)
    assert np.all(solved | (limit == 1.0))
    inside = limit - 1e-6
    within = trials * bernoulli_divergence(mean, np.maximum(inside, 0.0)) <= -np.log(delta)
    assert np.all(within | (inside <= mean))


def test_kl_limits_narrow_with_more_trials():
    mean, trials = MEANS[MEANS <= 0.9][:, None], np.arange(1, 1001, 9)
    assert np.all(kl_upper(mean, 2 * trials, 0.1) <= kl_upper(mean, trials, 0.1))
    assert np.all(kl_lower(mean, 2 * trials, 0.1) >= kl_lower(mean, trials, 0.1))


@settings(max_examples=50)
@given(st.integers(0, 50), st.floats(0.001, 0.5))
def test_limits_of_extreme_counts(trials_less_one, delta):
    trials = trials_less_one + 1
    assert binomial_limits(0, trials, delta)[0] == 0.0
    assert binomial_limits(trials, trials, delta)[1] == 1.0
    assert kl_upper(1.0, trials, delta) == 1.0
    assert kl_lower(0.0, trials, delta) == 0.0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: dkw_tail(0, 0.1), "m"),
        (lambda: dkw_tail(10, 0.0), "tau"),
        (lambda: binomial_limits(3, 2, 0.1), "successes"),
        (lambda: binomial_limits(1, 2, 1.0), "delta"),
        (lambda: kl_upper(1.5, 2, 0.1), "mean"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


@given(st.integers(1, 80), st.integers(-2, 82), st.integers(0, 64))
def test_tails_match_fractions(n, k, sixty_fourths):
    q = Fraction(sixty_fourths, 64)
    terms = [comb(n, i) * q**i * (1 - q) ** (n - i) for i in range(n + 1)]
    below = float(sum(terms[: max(k + 1, 0)]))
    above = float(sum(terms[max(k + 1, 0) :]))
    assert binomial_cdf(k, n, float(q)) == pytest.approx(below, rel=1e-11, abs=1e-300)
    assert binomial_sf(k, n, float(q)) == pytest.approx(above, rel=1e-11, abs=1e-300)


def test_counts_between_whole_numbers_are_rounded_down():
    assert binomial_cdf(2.7, 5, 0.5) == pytest.approx(0.5)
    assert binomial_sf(2.7, 5, 0.5) == pytest.approx(0.5)


def test_rare_events_keep_their_digits():
    assert binomial_sf(1, 10, 1e-12) == pytest.approx(45e-24, rel=1e-10)


def test_ten_billion_trials():
    """More than 32 bits: near the Poisson limit."""
    assert binomial_cdf(100, 10**10, 1e-8) == pytest.approx(0.526562, rel=1e-5)
    assert binomial_sf(100, 10**10, 1e-8) == pytest.approx(0.473438, rel=1e-5)


@pytest.mark.parametrize("value", [1e-300, 1e-9, 0.1, 1 / 3, 1.0, 7e5])
def test_rounding_up_is_upwards(value):
    assert round_up(value) > value
    assert round_up(value) < value * (1 + 1e-11)
    assert round_up(0.0) == 0.0
