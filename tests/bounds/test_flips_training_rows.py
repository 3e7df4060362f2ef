import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from replearn.bounds.flips import (
    flip_bound,
    flip_curve,
    flip_supremum,
    runs_bound,
    training_row_bound,
)
from replearn.bounds.laws import arcsine_law, uniform_law
from tests.factories import law_with_atoms


def flips_of_a_memoriser(law, q, vote, trained):
    """Exact flips if the block that has seen the point votes ``vote`` and others with chance q."""
    k = np.arange(law.n_blocks + 1)
    seen = stats.binom.pmf(k - vote, law.n_blocks - 1, q)
    fresh = stats.binom.pmf(k, law.n_blocks, q)
    gaps = np.abs(law.probabilities[:, None] - law.probabilities[None])
    return float(seen @ gaps @ (seen if trained == 2 else fresh))


laws = st.builds(
    lambda build, n_blocks, width: build(n_blocks, width),
    st.sampled_from([uniform_law, arcsine_law]),
    st.integers(1, 40),
    st.floats(0.05, 1.0),
)


@given(laws, st.floats(0.0, 1.0).map(lambda q: round(q, 9)), st.integers(0, 1), st.integers(1, 2))
@settings(max_examples=60)
def test_a_memoriser_stays_within_the_bound(law, q, vote, trained):
    flips = flips_of_a_memoriser(law, q, vote, trained)
    assert flips <= flip_curve(law, [q])[0] + trained * law.largest_step + 1e-12
    assert flips <= training_row_bound(law, trained=trained) + 1e-12


@pytest.mark.parametrize("law", [uniform_law(1), uniform_law(8), arcsine_law(18, 0.99)], ids=str)
def test_the_bound_of_fresh_points_does_not_hold_for_training_rows(law):
    grid = np.linspace(0.0, 1.0, 101)
    worst = max(flips_of_a_memoriser(law, q, vote, 1) for q in grid for vote in (0, 1))
    assert worst > flip_supremum(law)


def test_one_block_attains_the_bound():
    # the block that has seen the point says 1, a fresh block says 0
    assert flips_of_a_memoriser(uniform_law(1), 0.0, 1, 1) == 1.0
    assert training_row_bound(uniform_law(1)) == 1.0


def test_the_parts_of_the_bound():
    law = arcsine_law(64, 0.651)
    step = law.largest_step
    assert training_row_bound(law) == pytest.approx(flip_supremum(law) + step)
    assert training_row_bound(law, trained=0) == pytest.approx(flip_supremum(law))
    assert training_row_bound(law, trained=2) == pytest.approx(flip_supremum(law) + 2 * step)
    assert training_row_bound(law, vote="soft") == pytest.approx(flip_bound(law, "soft") + step)
    assert training_row_bound(law, runs=5) == pytest.approx(runs_bound(law, 5) + step)
    assert training_row_bound(law, repeated=True) == pytest.approx(2 * flip_supremum(law) + step)
    assert training_row_bound(law, repeated=True, trained=0) == training_row_bound(law, trained=0)
    assert training_row_bound(law, repeated=True, runs=9) == 1.0


def test_laws_with_atoms_have_large_steps():
    assert law_with_atoms(64).largest_step > 2 * arcsine_law(64, 0.651).largest_step


def test_wrong_values_are_named():
    with pytest.raises(ValueError, match=r"trained=.* must be"):
        training_row_bound(uniform_law(4), trained=3)
    with pytest.raises(ValueError, match=r"runs=.* must be"):
        training_row_bound(uniform_law(4), runs=1)
