"""The search that returns the passing side, and tails without lost digits."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replearn.bounds._checks import check_fraction, check_positive
from replearn.bounds._numeric import binomial_cdf, binomial_sf, smallest_integer


@given(st.integers(1, 10**12), st.integers(1, 100))
def test_search_finds_the_first_passing_number(boundary, start):
    assert smallest_integer(lambda n: n >= boundary, start=start) == max(boundary, start)


def test_search_gives_up_at_the_limit():
    assert smallest_integer(lambda n: n > 1000, limit=1000) is None
    assert smallest_integer(lambda n: n >= 1000, limit=1000) == 1000


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


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, np.inf])
def test_fractions_are_checked(value):
    with pytest.raises(ValueError, match="rho="):
        check_fraction("rho", value)


def test_ends_are_allowed_where_asked_for():
    assert check_fraction("rho", 0.0, zero=True) == 0.0
    assert check_fraction("rho", 1) == 1.0
    for value, options in ((0.0, {}), (1.0, {"one": False})):
        with pytest.raises(ValueError, match="rho="):
            check_fraction("rho", value, **options)
    assert check_positive("t", 0.0, zero=True) == 0.0
    for value in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match="t="):
            check_positive("t", value)
