"""Direct and Markov routes: inverse pairs, and exact worst cases."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.bounds.approximate import (
    disagreement_bound,
    disagreement_tail,
    markov_gamma,
    markov_rho,
)
from replearn.bounds.flips import flip_bound
from replearn.bounds.laws import arcsine_law, uniform_law


def exact_tail_one_block_decides(law, q, gamma):
    """P(Z > gamma) when a block predicts all points alike: Z = |G(B1) - G(B2)|."""
    masses = stats.binom.pmf(np.arange(law.n_blocks + 1), law.n_blocks, q)
    distance = np.abs(law.probabilities[:, None] - law.probabilities)
    return float(masses @ (distance > gamma) @ masses)


@pytest.mark.parametrize(
    "law", [uniform_law(4), uniform_law(64), uniform_law(128, 0.5), arcsine_law(64, 0.65)]
)
def test_direct_bound_holds_when_points_share_every_vote(law):
    for q in (0.1, 0.3, 0.5):
        for gamma in np.linspace(0.02, 1.0, 25):
            assert exact_tail_one_block_decides(law, q, gamma) <= disagreement_tail(law, gamma)


def test_the_mean_alone_does_not_bound_the_disagreement():
    """What the paper's proof uses: as if the votes were fixed at their expected disagreement."""
    law = uniform_law(64)
    assert exact_tail_one_block_decides(law, 0.5, flip_bound(law)) > 0.3


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 300),
    st.floats(1e-6, 0.999),
    st.floats(0.0, 0.05),
)
def test_tail_and_bound_are_inverse(n_blocks, rho, max_point_mass):
    law = uniform_law(n_blocks)
    gamma = disagreement_bound(law, rho, max_point_mass=max_point_mass)
    assert disagreement_tail(law, gamma, max_point_mass=max_point_mass) <= rho
    slightly_less = gamma * (1 - 1e-6)
    if rho < 1:
        tail = disagreement_tail(law, slightly_less, max_point_mass=max_point_mass)
        assert tail > rho


def test_formulas_of_the_uniform_law():
    law = uniform_law(500)
    mean = flip_bound(law)
    assert disagreement_tail(law, 0.1) == pytest.approx(math.exp(-500 * (0.1 - mean) ** 2), 1e-5)
    assert disagreement_bound(law, 0.05, max_point_mass=0.01) == pytest.approx(
        mean + math.sqrt(math.log(20) * (1 / 500 + 0.005)), 1e-5
    )


def test_no_promise_below_the_mean():
    law = uniform_law(64)
    assert disagreement_tail(law, flip_bound(law)) == 1.0
    assert disagreement_bound(law, 1.0) == pytest.approx(flip_bound(law), rel=1e-4)


@given(st.floats(1e-12, 1), st.floats(1e-6, 1))
def test_markov_routes_are_inverse(pointwise, rho):
    gamma = markov_gamma(pointwise, rho)
    assert markov_rho(pointwise, gamma) <= rho * (1 + 1e-11)
    assert gamma >= pointwise / rho


def test_markov_is_attained():
    """One atom of mass 1 differs with probability rho: the disagreement is 1 that often."""
    assert markov_rho(0.1, 1.0) == pytest.approx(0.1)


def test_direct_beats_markov_for_small_rho():
    law = uniform_law(2000)
    rho, gamma = 0.01, 0.08
    assert disagreement_tail(law, gamma) < rho < markov_rho(flip_bound(law), gamma)


def test_soft_votes_are_not_better_than_hard_ones():
    law = uniform_law(100, 0.3)
    assert disagreement_tail(law, 0.6, vote="soft") >= disagreement_tail(law, 0.6)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: disagreement_tail(uniform_law(4), 0.0), "gamma"),
        (lambda: disagreement_bound(uniform_law(4), 0.0), "rho"),
        (lambda: disagreement_bound(uniform_law(4), 0.1, max_point_mass=2.0), "max_point_mass"),
        (lambda: markov_gamma(0.1, 0.0), "rho"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()
