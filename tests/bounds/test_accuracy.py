import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from replearn.bounds.laws import arcsine_law, error_factor, table_law, uniform_law
from tests.factories import law_with_atoms

LAWS = [
    uniform_law(1),
    uniform_law(7, 0.4),
    uniform_law(32),
    arcsine_law(32, 0.847),
    arcsine_law(33, 1.0),
    law_with_atoms(32),
    table_law([0.0, 0.1, 0.5, 1.0]),
]


def chance_of_error(law, wrong, label):
    """Probability over the threshold that the vote is wrong when ``wrong`` estimators are."""
    votes_for_one = np.where(label == 1, law.n_blocks - wrong, wrong)
    height = law.probabilities[votes_for_one]
    return np.where(label == 1, 1.0 - height, height)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_factor_is_attained_by_an_explicit_vote(law):
    ratios = [
        float(chance_of_error(law, np.array([k]), np.array([label]))[0]) / (k / law.n_blocks)
        for k in range(1, law.n_blocks + 1)
        for label in (0, 1)
    ]
    # every point has the same k wrong learners: the vote is C_G times as wrong as they are
    assert max(ratios) <= error_factor(law) <= max(ratios) * (1 + 1e-12)


@given(st.sampled_from(LAWS), st.integers(0, 2**32 - 1))
def test_no_configuration_of_votes_is_worse(law, seed):
    rng = np.random.default_rng(seed)
    wrong = rng.integers(0, law.n_blocks + 1, size=(4, 20))  # four partitions, twenty points
    label = np.broadcast_to(rng.integers(0, 2, size=20), wrong.shape)
    error = chance_of_error(law, wrong, label).mean()
    assert error <= error_factor(law) * (wrong / law.n_blocks).mean() + 1e-12


@given(st.integers(1, 60), st.floats(0.05, 1.0), st.integers(0, 2**32 - 1))
def test_soft_votes_have_the_same_factor(n_blocks, width, seed):
    rng = np.random.default_rng(seed)
    law = arcsine_law(n_blocks, width)
    share = rng.random((50, n_blocks)) ** rng.uniform(0.2, 5)  # scores for class 1, from 0 to 1
    label = rng.integers(0, 2, size=50)
    height = law.at(share.mean(axis=1))
    error = np.where(label == 1, 1.0 - height, height).mean()
    distance = np.abs(label[:, None] - share).mean()
    assert error <= error_factor(law) * distance + 1e-12


@given(st.integers(1, 400), st.floats(0.02, 1.0))
def test_the_uniform_law_costs_two_over_one_plus_width(n_blocks, width):
    factor = error_factor(uniform_law(n_blocks, width))
    assert 1.0 <= factor <= 2.0 / (1.0 + width) + n_blocks * 2.0**-30
    assert n_blocks < 100 or width < 0.1 or factor >= 0.95 * 2.0 / (1.0 + width)


@pytest.mark.parametrize("n_blocks", [1, 2, 32, 128])
def test_width_one_costs_nothing(n_blocks):
    assert error_factor(uniform_law(n_blocks)) == 1.0
    # the mean error over thresholds is the mean error of the learners, exactly
    wrong = np.arange(n_blocks + 1)
    for label in (0, 1):
        errors = chance_of_error(uniform_law(n_blocks), wrong, np.full_like(wrong, label))
        assert np.array_equal(errors, wrong / n_blocks)


@pytest.mark.parametrize(
    ("n_blocks", "width", "factor"), [(32, 0.847, 1.083), (64, 0.651, 1.212), (128, 0.4794, 1.352)]
)
def test_the_arcsine_law_costs_little_at_the_widths_of_a_tenth(n_blocks, width, factor):
    assert factor == pytest.approx(2 / (1 + width), abs=1e-3)
    assert 0.98 * factor <= error_factor(arcsine_law(n_blocks, width)) <= 2 / (1 + width) + 1e-6


def test_beyond_an_angle_of_1_108_the_arcsine_law_costs_more():
    assert error_factor(arcsine_law(4000, math.sin(1.10))) <= 2 / (1 + math.sin(1.10)) + 1e-5
    assert error_factor(arcsine_law(4000, math.sin(1.12))) > 2 / (1 + math.sin(1.12))
    assert error_factor(arcsine_law(4000, 1.0)) > 1.2


def test_only_the_excess_over_bayes_is_multiplied_for_random_votes_and_noisy_labels():
    rng = np.random.default_rng(0)
    law = arcsine_law(20, 0.9)
    one = rng.random(500)  # P(y = 1 | x)
    votes = rng.binomial(20, np.clip(one + rng.normal(0, 0.3, 500), 0, 1))
    bayes = np.minimum(one, 1 - one).mean()
    learners = (votes / 20 * (1 - one) + (1 - votes / 20) * one).mean()
    height = law.probabilities[votes]
    error = (height * (1 - one) + (1 - height) * one).mean()
    assert error <= bayes + error_factor(law) * (learners - bayes)
