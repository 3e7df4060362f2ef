"""Deviation on light points against exact binomial tails."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from replearn.bounds.accuracy import light_point_slack


def tail(excess, mass):
    """The bound on the error of light points; `light_point_slack` inverts it."""
    return np.exp(-2.0 * excess**2 / mass)


@pytest.mark.parametrize("n_points", [1, 3, 20, 400])
def test_equal_points_with_fair_thresholds(n_points):
    """Every point right or wrong with probability 1/2: the error is a binomial share."""
    for t in np.linspace(0.01, 0.5, 30):
        exact = stats.binom.sf(np.floor(n_points * (0.5 + t) + 1e-9), n_points, 0.5)
        assert exact <= tail(t, 1 / n_points)


def test_the_exponent_is_the_right_one():
    """Within 3 % in the exponent: the Gaussian tail of many points."""
    n_points, t = 10**6, 0.0101
    exact = stats.binom.logsf(int(n_points * (0.5 + t)), n_points, 0.5)
    assert np.log(tail(t, 1e-6)) == pytest.approx(exact, rel=0.03)


def test_unequal_points_by_enumeration():
    masses = np.array([0.4, 0.3, 0.1, 0.1, 0.05, 0.05])
    wrong = (np.arange(64)[:, None] >> np.arange(6)) & 1
    for chance in (0.1, 0.5, 0.8):
        weight = (chance**wrong * (1 - chance) ** (1 - wrong)).prod(axis=1)
        excess = wrong @ masses - chance
        for t in (0.05, 0.2, 0.4):
            assert weight[excess > t].sum() <= tail(t, float((masses**2).sum()))


@given(st.floats(1e-9, 1), st.floats(0, 1))
def test_tail_and_slack_are_inverse(beta, max_point_mass):
    slack = light_point_slack(beta, max_point_mass)
    if 1e-150 < slack <= 1:
        assert tail(slack, max_point_mass) <= beta
        if beta < 0.99 and slack > 1e-100:
            assert tail(slack * (1 - 1e-6), max_point_mass) > beta * (1 - 1e-12)


def test_continuous_data_do_not_deviate():
    assert light_point_slack(0.01, 0.0) == 0.0


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="max_point_mass"):
        light_point_slack(0.1, 1.5)
    with pytest.raises(ValueError, match="beta"):
        light_point_slack(0.0, 0.1)
