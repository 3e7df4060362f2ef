import numpy as np
import pytest

from replearn.bounds import (
    ThresholdLaw,
    arcsine_law,
    flip_curve,
    flip_supremum,
    optimal_law,
    smallest_width,
)
from replearn.bounds.optimal import tightest_law


def mean_distance(law):
    """Mean distance of the threshold from an even vote, on the scale p."""
    middle = (2.0 * np.arange(law.n_blocks) + 1.0) / law.n_blocks - 1.0
    return float(law.steps @ np.abs(middle))


@pytest.mark.parametrize(
    ("n_blocks", "rho"), [(1, 0.5), (2, 0.4), (16, 0.1), (33, 0.1), (64, 0.05), (200, 0.1)]
)
def test_an_optimal_law_is_certified_within_its_budget_and_uses_it(n_blocks, rho):
    law = optimal_law(n_blocks, rho)
    assert law.is_symmetric
    assert flip_supremum(law) <= rho
    assert n_blocks <= 2 or flip_supremum(law) >= 0.98 * rho


@pytest.mark.parametrize("n_blocks", [32, 64, 128])
def test_it_is_one_or_two_per_cent_nearer_to_a_majority_than_the_arcsine_law(n_blocks):
    arcsine = arcsine_law(n_blocks, smallest_width(0.1, n_blocks))
    ratio = mean_distance(optimal_law(n_blocks, 0.1)) / mean_distance(arcsine)
    assert 0.97 < ratio < 0.99


@pytest.mark.parametrize("n_blocks", [2, 5, 16, 31])
def test_no_other_law_has_a_smaller_worst_case(n_blocks):
    # weak duality: for weights over q, every law flips on average at least as much as the step
    # with the smallest mean; the tightest law's own peaks carry such weights approximately
    best = flip_supremum(tightest_law(n_blocks))
    rng = np.random.default_rng(7)
    for _ in range(200):
        steps = rng.dirichlet(np.full(n_blocks, rng.uniform(0.2, 5.0)))
        steps = (steps + steps[::-1]) / 2
        values = np.clip(np.concatenate([[0.0], np.cumsum(steps)]), 0.0, 1.0)
        values[-1] = 1.0
        other = ThresholdLaw("table", n_blocks, None, np.rint(values * 2**30).astype(np.int64))
        assert flip_curve(other, np.linspace(0.0, 1.0, 401)).max() >= best * (1 - 1e-4)


def test_it_has_atoms_and_large_steps():
    law = optimal_law(128, 0.1)
    assert np.count_nonzero(law.steps) < 30
    assert law.largest_step > 3 * arcsine_law(128, 0.4794).largest_step


def test_too_small_budgets_and_too_many_blocks_are_refused():
    with pytest.raises(ValueError, match="smallest rho"):
        optimal_law(15, 0.1)
    for build in (tightest_law, lambda n_blocks: optimal_law(n_blocks, 0.1)):
        with pytest.raises(ValueError, match="at most 2000 blocks"):
            build(2001)
