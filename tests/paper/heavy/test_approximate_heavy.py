"""Heavy sets and several classes: exact tails, inverse pairs, simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.bounds.approximate import disagreement_tail, vote_mean_and_spread
from replearn.bounds.laws import uniform_law
from replearn.bounds.multiclass import (
    agreement_probability,
    class_disagreement_bound,
    class_disagreement_tail,
    class_mean_and_spread,
    class_weights,
    multiclass_flip_bound,
)
from replearn.paper.heavy_hitters import (
    MembershipLaw,
    SetLaw,
    crowd_bound,
    crowd_tail,
    membership_disagreement_tail,
    membership_flip_bound,
    membership_spread,
)
from replearn.paper.heavy_labels import label_disagreement_tail


# -- independent points ----------------------------------------------------------------------------
@pytest.mark.parametrize("n_points", [1, 10, 300])
@pytest.mark.parametrize("chance", [0.003, 0.05, 0.5])
def test_crowds_of_equal_points_have_no_heavier_tail(n_points, chance):
    """Mass 1 spread evenly: a binomial tail, exactly."""
    for gamma in np.linspace(0.01, 0.99, 25):
        exact = stats.binom.sf(math.floor(gamma * n_points + 1e-9), n_points, chance)
        assert exact <= crowd_tail(chance, 0.0, 1.0 / n_points, gamma) * (1 + 1e-9)


def test_crowds_are_far_below_markov_and_never_above():
    assert crowd_tail(0.01, 0.0, 0.001, 0.05) < 1e-6 < 0.2 == pytest.approx(0.01 / 0.05)
    for mass in (0.0, 1e-4, 0.1, 1.0):
        assert crowd_tail(0.01, 0.0, mass, 0.05) <= 0.2 * (1 + 1e-9)
    # without atoms it is the bound of bounded differences
    law = uniform_law(400)
    mean, spread = vote_mean_and_spread(law)
    assert crowd_tail(mean, spread, 0.0, 0.1) == pytest.approx(
        disagreement_tail(law, 0.1), rel=0.02
    )


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-5, 0.3), st.floats(0.0, 0.01), st.floats(0.0, 1.0), st.floats(1e-6, 0.999))
def test_crowd_bound_and_tail_are_inverse(mean, spread, mass, rho):
    gamma = crowd_bound(mean, spread, mass, rho)
    assert crowd_tail(mean, spread, mass, gamma) <= rho * (1 + 1e-9)


# -- membership ------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["sqrt", "uniform"])
def test_one_row_moves_the_expected_difference_by_at_most_the_spread_says(kind):
    n, law, mass = 2000, MembershipLaw(kind, 0.01, 0.04), 0.05
    counts = np.arange(n + 1)
    step = np.abs(np.diff(law.probabilities(counts, n))).max()
    assert n * (2 * mass * step) ** 2 <= membership_spread(n, law, mass)


@pytest.mark.parametrize("mass", [0.012, 0.02, 0.035])
def test_sets_of_equal_points_differ_on_no_more_mass(mass):
    """As many points of one doubtful mass as there is room for; 400 simulated pairs."""
    n, law, n_pairs, gamma = 3000, MembershipLaw("sqrt", 0.01, 0.04), 400, 0.25
    rng, size = np.random.default_rng(0), int(1 / mass)
    masses = np.full(size, mass)
    levels = law.probabilities(rng.multinomial(n, masses, (n_pairs, 2))[..., :], n)
    u = rng.random((n_pairs, size))
    differs = (u < levels[:, 0]) != (u < levels[:, 1])
    tail = membership_disagreement_tail(n, law, membership_flip_bound(n, law), gamma)
    assert tail < 0.5
    bad = int(((differs @ masses) > gamma).sum())
    assert bad <= stats.binom.isf(1e-8, n_pairs, tail)


def test_direct_beats_markov_for_sets_and_labels_when_rho_is_small():
    n, law = 100_000, MembershipLaw.standard(0.01)
    flip = membership_flip_bound(n, law)
    assert membership_disagreement_tail(n, law, flip, 0.1) < 0.2 * flip / 0.1
    assert label_disagreement_tail(n, SetLaw.standard(0.01), 0.02, 0.1) < 0.2 * 0.02 / 0.1
    # one atom of mass 1 in doubt: nothing beats Markov
    wide = MembershipLaw("sqrt", 0.5, 1.0)
    assert membership_disagreement_tail(1000, wide, 0.02, 0.1) >= 0.19


# -- the whole -------------------------------------------------------------------------------------


# -- several classes -------------------------------------------------------------------------------
@pytest.mark.parametrize("n_classes", [3, 5])
def test_class_votes_that_are_the_same_everywhere(n_classes):
    """All points share every vote: Z = 1 - agreement of two multinomial votes."""
    n_blocks, n_pairs, sharpness = 60, 4000, 4.0
    rng = np.random.default_rng(1)
    even = np.full(n_classes, 1 / n_classes)
    p, q = class_weights(rng.multinomial(n_blocks, even, (2, n_pairs)) / n_blocks, sharpness)
    z = 1.0 - agreement_probability(p, q)
    for gamma in (0.2, 0.3, 0.4, 0.5):
        tail = class_disagreement_tail(n_blocks, n_classes, sharpness, gamma)
        assert (z > gamma).sum() <= stats.binom.isf(1e-8, n_pairs, tail)
    # the mean alone does not bound it
    assert (z > z.mean()).mean() > 0.3
    mean, _ = class_mean_and_spread(n_blocks, n_classes, sharpness)
    assert mean == pytest.approx(multiclass_flip_bound(n_blocks, n_classes, sharpness), rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 500), st.integers(3, 8), st.floats(1e-6, 0.999))
def test_class_tail_and_bound_are_inverse(n_blocks, n_classes, rho):
    gamma = class_disagreement_bound(n_blocks, n_classes, 4.0, rho)
    tail = class_disagreement_tail(n_blocks, n_classes, 4.0, gamma)
    assert tail <= rho * (1 + 1e-9)


def test_the_spread_is_that_of_bounded_differences():
    """One vote moves the range of the differences by 2/T; there are 2T blocks."""
    _, spread = class_mean_and_spread(50, 3, 4.0)
    step = 4.0 / 4.0 * 2.0 / 50
    assert spread == pytest.approx(2 * 50 * step**2 / 2, rel=1e-9)
