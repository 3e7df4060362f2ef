"""DKW against the exact Kolmogorov distribution, limits against exact coverage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from replearn.bounds import binomial_limits
from replearn.bounds.concentration import bernoulli_divergence, dkw_tail, kl_lower, kl_upper


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
