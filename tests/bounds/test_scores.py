"""Thresholds in standard errors: closed forms, and the distributions that attain them."""

import math

import numpy as np
import pytest
from scipy.special import ndtri

from replearn.bounds.scores import (
    any_score_flip_bound,
    mismatch_flip_bound,
    normal_flip_bound,
    score_half_width,
    worst_score_flip_bound,
)


def flips(z, half_width):
    """Flip probability of all pairs of standardised scores, the threshold integrated out."""
    chance = np.sort(np.clip((1.0 + z / half_width) / 2.0, 0.0, 1.0))
    n = len(chance)
    weights = 2.0 * np.arange(1, n + 1) - n - 1
    return 2.0 * float((weights * chance).sum()) / n**2


@pytest.mark.parametrize("rho", [0.01, 0.1, 0.2, 0.5])
def test_normal_scores_attain_the_nominal_probability(rho):
    width = score_half_width(rho)
    assert normal_flip_bound(width) == pytest.approx(rho, rel=1e-9)
    assert normal_flip_bound(width) <= rho * (1 + 1e-11)
    z = ndtri((np.arange(200_000) + 0.5) / 200_000)
    measured = flips(z, width)
    assert measured <= normal_flip_bound(width)
    if rho <= 0.2:  # hardly anything is cut off
        assert measured == pytest.approx(rho, rel=5e-3)


def test_uniform_scores_attain_the_bound_for_any_distribution():
    width = score_half_width(0.1)
    z = np.sqrt(3.0) * (2.0 * (np.arange(100_000) + 0.5) / 100_000 - 1.0)
    assert flips(z, width) == pytest.approx(any_score_flip_bound(width), rel=1e-4)
    assert flips(z, width) <= any_score_flip_bound(width)
    assert any_score_flip_bound(width) == pytest.approx(0.1 * math.sqrt(math.pi / 3.0))


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01, 0.001])
def test_two_points_stay_below(share):
    z = np.array([-math.sqrt(share / (1 - share)), math.sqrt((1 - share) / share)])
    for width in (0.5, 1.0, score_half_width(0.1)):
        first, second = np.clip((1.0 + z / width) / 2.0, 0.0, 1.0)
        assert 2 * share * (1 - share) * (second - first) <= any_score_flip_bound(width)


def test_a_standard_error_twice_as_large_flips_twice_as_often():
    width = score_half_width(0.1)
    assert normal_flip_bound(width, excess=2.0) == pytest.approx(0.2)
    assert any_score_flip_bound(width, 3.0) == pytest.approx(3 * any_score_flip_bound(width))
    assert normal_flip_bound(width, excess=100.0) == 1.0


@pytest.mark.parametrize("ratio", [1.0, 1.05, 1.5, 0.8])
def test_no_score_loses_more_to_different_scales(ratio):
    z = np.linspace(-20, 20, 4001)
    here = np.clip((1 + z / 5.6) / 2, 0, 1)
    there = np.clip((1 + z / (5.6 * ratio)) / 2, 0, 1)
    assert np.abs(here - there).max() <= mismatch_flip_bound(ratio)
    assert np.abs(here - there).max() == pytest.approx(mismatch_flip_bound(ratio), abs=2e-3)


def test_worst_case_of_two_and_more_classes():
    width = score_half_width(0.1)
    two = worst_score_flip_bound(8, width, 0.05)
    # Bernoulli scores at 1/2: E|s - s'| = f(8) in one standard error of the threshold's scale.
    counts = np.array([math.comb(8, k) for k in range(9)]) / 2.0**8
    shares = np.arange(9) / 8
    mean = (counts[:, None] * counts * np.abs(shares[:, None] - shares)).sum()
    assert mean / (2 * width * 0.05) <= two == pytest.approx(mean / (2 * width * 0.05))
    assert worst_score_flip_bound(8, width, 0.05, n_classes=3) == pytest.approx(min(1, 3 * two))
    assert worst_score_flip_bound(4, width, 1e-6) == 1.0


@pytest.mark.parametrize(
    ("bound", "arguments"),
    [
        (score_half_width, (0.0,)),
        (normal_flip_bound, (-1.0,)),
        (any_score_flip_bound, (5.0, 0.0)),
        (mismatch_flip_bound, (0.0,)),
        (worst_score_flip_bound, (8, 5.0, 0.0)),
        (worst_score_flip_bound, (8, 5.0, 0.1, 1)),
    ],
)
def test_what_makes_no_sense_is_refused(bound, arguments):
    with pytest.raises(ValueError, match=r"must"):
        bound(*arguments)
