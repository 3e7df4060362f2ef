"""Missed and mistaken members against exact binomial sums."""

import numpy as np
import pytest
from scipy import stats

from replearn.paper.heavy_hitters import (
    MembershipLaw,
    false_member_bound,
    missed_point_bound,
    some_false_member_bound,
    some_missed_point_bound,
)

LAWS = [MembershipLaw.standard(0.02), MembershipLaw.paper(0.01)]


def exact_membership(n, law, mass):
    counts = np.arange(n + 1)
    return stats.binom.pmf(counts, n, mass) @ law.probabilities(counts, n)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n", [1, 50, 3000])
@pytest.mark.parametrize("mass", [0.001, 0.01, 0.02, 0.05, 0.5, 1.0])
def test_tails_are_above_and_close(n, law, mass):
    member = exact_membership(n, law, mass)
    missed = missed_point_bound(n, law, mass)
    assert 1 - member <= missed + 1e-12
    assert missed <= (1 - member) * (1 + 1e-8) + 1e-12
    false = false_member_bound(n, law, mass)
    assert member <= false + 1e-12
    assert false <= member * 1.05 + 2e-3


def test_exact_and_averaged_tails_meet():
    law = MembershipLaw.standard(0.02)
    exact = missed_point_bound(1_000_000, law, 0.015)
    averaged = missed_point_bound(1_000_001, law, 0.015)
    assert exact <= averaged <= 1.02 * exact


def test_huge_samples():
    law = MembershipLaw.standard(1e-6)
    n = 10**10
    assert missed_point_bound(n, law, 1.1e-6) < 1e-6
    assert false_member_bound(n, law, 5e-8) < 1e-6
    assert some_missed_point_bound(n, law, 1.1e-6) < 1e-3


@pytest.mark.parametrize("law", LAWS)
def test_tails_are_monotone_in_mass(law):
    masses = np.linspace(0.001, 0.2, 60)
    missed = [missed_point_bound(2000, law, m) for m in masses]
    false = [false_member_bound(2000, law, m) for m in masses]
    assert np.all(np.diff(missed) <= 1e-12)
    assert np.all(np.diff(false) >= -1e-12)


def test_union_over_heavy_points():
    """Ten points of mass 1/10: the expected number of missed ones is below the bound."""
    law, n = MembershipLaw("sqrt", 0.02, 0.09), 300
    expected = 10 * (1 - exact_membership(n, law, 0.1))
    assert expected <= some_missed_point_bound(n, law, 0.1) + 1e-9
    assert some_missed_point_bound(n, law, 0.1) < 0.5


@pytest.mark.parametrize("mass", [0.0005, 0.001, 0.002])
def test_union_over_light_points_of_any_mass(mass):
    law, n = MembershipLaw.standard(0.1), 4000
    for smaller in (mass, mass / 2, mass / 10):
        expected = exact_membership(n, law, smaller) / smaller
        assert expected <= some_false_member_bound(n, law, mass)


def test_edges():
    law = MembershipLaw.standard(0.02)
    assert false_member_bound(10, law, 0.0) == 0.0
    assert missed_point_bound(10, law, 1.0) == 0.0
    assert some_false_member_bound(1, law, 0.5) == 1.0
    with pytest.raises(ValueError, match="mass"):
        missed_point_bound(10, law, 0.0)
