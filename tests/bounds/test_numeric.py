"""Binomial tails without lost digits."""

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replearn.bounds.numeric import binomial_cdf, binomial_sf


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
