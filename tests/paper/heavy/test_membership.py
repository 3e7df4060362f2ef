"""Membership of heavy points: the bound against exact sums over all masses."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.paper.heavy_hitters import (
    MembershipLaw,
    mean_walk_bound,
    membership_flip_bound,
    root_difference_bound,
    smallest_sample_membership,
    split_differences,
)


def flips(levels, n, mass):
    """Exact P(differ) for a point of this mass; ``levels`` is M at 0, 1, ..., then 1."""
    below = stats.binom.cdf(np.arange(len(levels) - 1), n, np.atleast_1d(mass)[:, None])
    return (2 * np.diff(levels) * below * (1 - below)).sum(axis=1)


def levels_of(law, n):
    return law.probabilities(np.arange(min(n, int(np.ceil(n * law.high))) + 1), n)


CASES = [
    (n, law)
    for n in (3, 20, 150, 2000, 20_000)
    for law in (
        MembershipLaw.standard(0.02),
        MembershipLaw("sqrt", 0.005, 0.02),
        MembershipLaw.paper(0.01),
    )
]


@pytest.mark.parametrize(("n", "law"), CASES)
def test_bound_is_above_every_mass_and_close_to_the_worst(n, law):
    masses = np.concatenate([np.linspace(0, 3 * law.high, 1500), np.linspace(0, 1, 200)])
    worst = flips(levels_of(law, n), n, masses).max()
    bound = membership_flip_bound(n, law)
    assert worst <= bound
    # Only for points of large mass are coin splits noticeably wider than the true ones.
    assert worst >= (0.97 if n >= 20 else 0.9) * bound


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 60),
    st.sampled_from(["sqrt", "uniform"]),
    st.floats(0.001, 0.9),
    st.floats(1.01, 100),
    st.floats(0, 1),
)
def test_bound_holds_for_small_samples(n, kind, low, ratio, mass):
    law = MembershipLaw(kind, low, min(1.0, low * ratio))
    assert flips(levels_of(law, n), n, mass)[0] <= membership_flip_bound(n, law)


@pytest.mark.parametrize(
    ("law", "constant"),
    [
        (MembershipLaw("uniform", 0.25e-4, 1e-4), 1.505),
        (MembershipLaw("sqrt", 0.25e-4, 1e-4), 1.134),
        (MembershipLaw("sqrt", 1e-4 / 16, 1e-4), 0.770),
    ],
)
def test_constants_for_orientation(law, constant):
    for n in (10**8, 10**10):
        scaled = membership_flip_bound(n, law) * np.sqrt(n * 1e-4)
        assert 0.97 * constant < scaled <= constant * 1.001


def test_formula_and_exact_supremum_meet():
    """At the switch between them (4000 expected counts) they differ by little, safely."""
    law = MembershipLaw.standard(0.01)
    exact, formula = membership_flip_bound(400_000, law), membership_flip_bound(400_001, law)
    assert exact == pytest.approx(formula, rel=0.01)


def test_formula_is_close_to_the_worst_mass_for_a_large_sample():
    law, n = MembershipLaw.standard(0.01), 600_000
    masses = np.linspace(law.low, law.high, 60)
    worst = flips(levels_of(law, n), n, masses).max()
    assert 0.97 * membership_flip_bound(n, law) <= worst <= membership_flip_bound(n, law)


def test_square_root_spends_the_budget_better():
    n = 20_000
    uniform = membership_flip_bound(n, MembershipLaw("uniform", 0.01 / 4, 0.01))
    root = membership_flip_bound(n, MembershipLaw("sqrt", 0.01 / 4, 0.01))
    assert root < 0.85 * uniform


def test_an_atom_in_the_law_breaks_the_bound():
    """Members with fewer than k occurrences must not be thrown out afterwards."""
    n, law, k = 2000, MembershipLaw("sqrt", 0.02 / 16, 0.02), 15
    levels = levels_of(law, n)
    cut = np.where(np.arange(len(levels)) >= k, levels, 0.0)
    masses = np.linspace(0, 0.04, 400)
    assert flips(cut, n, masses).max() > 2 * membership_flip_bound(n, law)


def test_a_fixed_threshold_breaks_the_bound():
    n, law = 2000, MembershipLaw.standard(0.02)
    fixed = (np.arange(41) >= 20).astype(float)
    assert flips(fixed, n, np.array([0.00975]))[0] > 0.45
    assert membership_flip_bound(n, law) < 0.15


@pytest.mark.parametrize(
    ("rho", "law"),
    [
        (0.3, MembershipLaw.standard(0.01)),
        (0.05, MembershipLaw.standard(0.01)),
        (1e-4, MembershipLaw.standard(0.01)),
        (0.2, MembershipLaw.paper(1e-3)),
        (0.01, MembershipLaw.paper(1e-3)),
    ],
)
def test_smallest_sample_passes_and_the_one_before_fails(rho, law):
    n = smallest_sample_membership(rho, law)
    assert membership_flip_bound(n, law) <= rho
    assert n == 1 or membership_flip_bound(n - 1, law) > rho


def test_a_budget_of_one_needs_one_row():
    assert smallest_sample_membership(1.0, MembershipLaw.standard(0.1)) == 1


def test_law_values_are_whole_monotone_and_reach_both_ends():
    law = MembershipLaw.standard(0.03)
    table = law.table(np.arange(200), 1000)
    assert table.dtype == np.int64
    assert np.all(np.diff(table) >= 0)
    assert table[0] == 0
    assert table[1] == 0
    assert table[30] == 2**30
    assert np.all(table[30:] == 2**30)


def test_law_bits_are_fixed():
    """Two labs on two machines must compute the same numbers."""
    law = MembershipLaw.standard(0.01)
    assert law.table([5, 17, 123, 500], 100_000).tolist() == [0, 0, 144_187_146, 654_419_559]


@pytest.mark.parametrize("kind", ["sqrt", "uniform"])
def test_frequency_inverts_the_law(kind):
    law = MembershipLaw(kind, 0.01, 0.05)
    levels = np.linspace(0, 1, 11)
    n = 10**9
    counts = np.rint(law.frequency(levels) * n)
    np.testing.assert_allclose(law.probabilities(counts, n), levels, atol=1e-6)


def test_given_their_sum_counts_split_no_wider_than_a_fair_walk():
    """The lemma behind the bound: hypergeometric splits are closer to even than coin splits."""
    n = 12
    for total in range(1, 2 * n + 1):
        split = np.arange(total + 1)
        hyper = stats.hypergeom.pmf(split, 2 * n, total, n)
        coin = stats.binom.pmf(split, total, 0.5)
        distance = np.abs(2 * split - total)
        for d in range(total + 1):
            assert hyper[distance > d].sum() <= coin[distance > d].sum() + 1e-12


def test_root_differences_and_walks_are_bounded():
    exact = split_differences(np.sqrt(np.arange(4001.0)), 1, 4000)
    bounds = np.array([root_difference_bound(j) for j in range(1, 4001)])
    assert np.all(exact <= bounds)
    assert exact[-1] == pytest.approx(1 / np.sqrt(np.pi), rel=1e-3)
    assert np.all(np.diff(bounds) <= 1e-12)
    for steps in (1, 2, 3, 10, 1001):
        walk = np.abs(2 * np.arange(steps + 1) - steps)
        mean = stats.binom.pmf(np.arange(steps + 1), steps, 0.5) @ walk
        assert mean <= mean_walk_bound(steps) <= 1.15 * mean


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("cube", 0.1, 0.2), ("sqrt", 0.0, 0.2), ("sqrt", 0.2, 0.2), ("uniform", 0.1, 1.1)],
)
def test_bad_laws_are_refused(kind, low, high):
    with pytest.raises(ValueError, match=r"kind|low"):
        MembershipLaw(kind, low, high)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"n=.* must"):
        membership_flip_bound(0, MembershipLaw.standard(0.1))
    with pytest.raises(ValueError, match="rho"):
        smallest_sample_membership(0.0, MembershipLaw.standard(0.1))
    with pytest.raises(ValueError, match="rho"):
        smallest_sample_membership(1e-10, MembershipLaw.standard(0.1))


def test_many_rows_with_few_counts_agree_with_the_poisson_limit():
    """A billion rows and points of 50 expected occurrences: no digits are lost."""
    n, nu = 10**9, 5e-8
    large = membership_flip_bound(n, MembershipLaw.standard(nu))
    small = membership_flip_bound(10**5, MembershipLaw.standard(nu * n / 10**5))
    assert large == pytest.approx(small, rel=2e-3)
