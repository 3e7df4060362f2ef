"""The supremum against grids and closed forms, exact distributions, and numbers of blocks."""

import numpy as np
import pytest
from scipy.stats import binom

from replearn.bounds.approximate import disagreement_tail
from replearn.bounds.laws import arcsine_law, table_law, uniform_law
from replearn.bounds.whole_models import (
    MAX_BLOCKS,
    excess_supremum,
    jensen_bound,
    jensen_tail,
)

SKEW = table_law([0.0, 0.1, 0.15, 0.6, 0.9, 1.0])
LAWS = [
    uniform_law(1),
    uniform_law(7),
    uniform_law(40, width=0.6),
    arcsine_law(25, 0.8),
    arcsine_law(12, 0.5),
    SKEW,
]


def brute_force(law, offset, chances, *, soft=False):
    counts = np.arange(law.n_blocks + 1)
    heights = law.largest_step * counts if soft else law.probabilities
    excess = np.maximum(np.abs(np.subtract.outer(heights, heights)) - offset, 0.0)
    masses = binom.pmf(counts, law.n_blocks, chances[:, np.newaxis])
    return np.einsum("pi,ij,pj->p", masses, excess, masses)


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("offset", [0.0, 0.03, 0.2, 0.6])
@pytest.mark.parametrize("vote", ["hard", "soft"])
def test_the_supremum_is_above_a_fine_grid_and_near_it(law, offset, vote):
    grid = brute_force(law, offset, np.linspace(0.0, 1.0, 4001), soft=vote == "soft").max()
    found = excess_supremum(law, offset, vote)
    # of suprema below 5e-4 the gap is a thousandth of 5e-4
    assert grid <= found <= grid + 2e-3 * max(grid, 5e-4) + 1e-8


def test_one_block_by_hand():
    # two coins of chance 1/2 differ with probability 1/2
    assert excess_supremum(uniform_law(1), 0.0) == pytest.approx(0.5, rel=2e-3)
    assert excess_supremum(uniform_law(1), 0.8) == pytest.approx(0.1, rel=2e-3)


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("gamma", [0.1, 0.25, 0.4, 0.7])
def test_models_in_which_one_count_decides_all_points(law, gamma):
    # every block votes alike everywhere: the mass that differs is |G(B1) - G(B2)| itself
    counts = np.arange(law.n_blocks + 1)
    gaps = np.abs(np.subtract.outer(law.probabilities, law.probabilities))
    tail = jensen_tail(law, gamma)
    for chance in np.linspace(0.02, 0.98, 49):
        masses = binom.pmf(counts, law.n_blocks, chance)
        assert masses @ (gaps > gamma) @ masses <= tail


@pytest.mark.parametrize("mass", [0.0, 1e-4])
@pytest.mark.parametrize("rho", [0.01, 0.1, 0.5])
def test_bound_and_tail_belong_together(rho, mass):
    law = uniform_law(90)
    gamma = jensen_bound(law, rho, max_point_mass=mass)
    assert jensen_tail(law, gamma * 1.02, max_point_mass=mass) <= rho * (1.05 if mass == 0 else 2)
    if mass == 0:
        assert jensen_tail(law, gamma * 0.97) > rho


def test_blocks_that_bounded_differences_would_need():
    for rho, gamma, blocks in ((0.05, 0.2, 69), (0.01, 0.2, 105), (0.1, 0.15, 95)):
        assert jensen_tail(uniform_law(blocks), gamma) <= rho
        assert jensen_tail(uniform_law(blocks - 1), gamma) > rho
        assert disagreement_tail(uniform_law(int(1.7 * blocks)), gamma) > rho


def test_points_that_carry_mass_cost_something():
    law = uniform_law(70)
    tails = [jensen_tail(law, 0.2, max_point_mass=mass) for mass in (0.0, 1e-5, 1e-3, 0.3)]
    assert tails == sorted(tails)
    assert tails[0] < tails[1]
    assert tails[-1] == 1.0


def test_nothing_is_said_beyond_the_largest_number_of_blocks():
    assert jensen_tail(uniform_law(MAX_BLOCKS + 1), 0.2) == 1.0
    assert jensen_bound(uniform_law(MAX_BLOCKS + 1), 0.2) == 1.0
