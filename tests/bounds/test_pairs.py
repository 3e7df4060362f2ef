import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.bounds.laws import arcsine_law, table_law
from replearn.bounds.pairs import (
    HALVED,
    central_binomial,
    gap_coefficients,
    largest_mean,
)

heights = st.lists(st.integers(0, 50), min_size=2, max_size=20).map(lambda h: np.array(h) / 50)


def mean_of_gaps(levels, offset, q):
    """E(|h(B1) - h(B2)| - offset)+ in exact arithmetic."""
    n = len(levels) - 1
    q = Fraction(q)
    mass = [math.comb(n, k) * q**k * (1 - q) ** (n - k) for k in range(n + 1)]
    gaps = [
        mass[i] * mass[j] * max(abs(Fraction(levels[i]) - Fraction(levels[j])) - offset, 0)
        for i in range(n + 1)
        for j in range(n + 1)
    ]
    return sum(gaps)


@given(heights, st.sampled_from([0, Fraction(1, 4)]), st.fractions(0, 1, max_denominator=20))
@settings(max_examples=40, deadline=None)
def test_the_mean_is_that_of_its_coefficients(levels, offset, q):
    coefficients = gap_coefficients(levels, float(offset))
    counts = np.arange(len(coefficients))
    weights = stats.binom.pmf(counts, len(coefficients) - 1, float(q))
    exact = float(mean_of_gaps(levels, offset, q))
    assert weights @ coefficients == pytest.approx(exact, abs=1e-12)


@given(heights, st.floats(0.0, 0.5))
@settings(max_examples=40, deadline=None)
def test_the_bound_is_never_below_a_fine_grid_and_tight(levels, offset):
    coefficients = gap_coefficients(levels, offset)
    degree = len(coefficients) - 1
    q = np.sin(np.linspace(0.0, math.pi / 2, 4001))[:, None] ** 2
    highest = (stats.binom.pmf(np.arange(degree + 1), degree, q) @ coefficients).max()
    assert highest * (1 - 1e-12) <= largest_mean(coefficients) <= highest * (1 + 1e-5) + 2e-9


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40))
@settings(max_examples=40, deadline=None)
def test_halving_bounds_any_polynomial_and_only_tightens(coefficients):
    coefficients = np.array(coefficients)
    degree = len(coefficients) - 1
    q = np.linspace(0.0, 1.0, 2001)[:, None]
    highest = (stats.binom.pmf(np.arange(degree + 1), degree, q) @ coefficients).max()
    bound = largest_mean(coefficients)
    assert highest - 1e-12 <= bound <= min(1.0, coefficients.max() + 1e-9)


def test_halving_matters_for_wide_laws():
    coefficients = gap_coefficients(arcsine_law(400, 0.999).probabilities)
    assert largest_mean(coefficients) < 0.97 * coefficients.max()


def test_beyond_the_limit_the_largest_coefficient_is_the_bound():
    coefficients = np.zeros(2 * HALVED + 3)
    coefficients[7] = 0.25
    assert largest_mean(coefficients) == pytest.approx(0.25, abs=1e-9)


def test_symmetric_heights_are_computed_by_halves():
    symmetric = table_law([0.0, 0.2, 0.5, 0.8, 1.0]).probabilities
    nearly = symmetric.copy()
    nearly[1] += 1e-13  # no longer symmetric: all coefficients are computed
    assert gap_coefficients(symmetric) == pytest.approx(gap_coefficients(nearly), abs=1e-12)


@pytest.mark.parametrize("n_blocks", [*range(1, 60), 499, 500, 501, 502, 700, 1000, 1999])
def test_central_binomial_is_rounded_up_and_tight(n_blocks):
    exact = Fraction(math.comb(2 * n_blocks, n_blocks), 4**n_blocks)
    value = Fraction(central_binomial(n_blocks))
    assert exact <= value <= exact * (1 + Fraction(1, 10**13))


def test_central_binomial_of_ten_million():
    # f(T) < 1 / sqrt(pi (T + 1/4)), and the difference is of relative order 1 / T^2
    assert central_binomial(10**7) == pytest.approx(1 / math.sqrt(math.pi * (10**7 + 0.25)), 1e-12)
