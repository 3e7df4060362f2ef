"""Exponents and sizes."""

import numpy as np
import pytest

from replearn_lab.experiments.scaling import covered
from replearn_lab.measuring import exponent, share, smallest_size


def test_exponents_hold_the_truth():
    """95 % limits of a noisy power law hold its exponent about so often."""
    rng, x, held = np.random.default_rng(0), np.geomspace(1, 100, 8), 0
    for _ in range(300):
        slope, low, high = exponent(x, x**-2.0 * np.exp(rng.normal(0, 0.2, 8)))
        held += low <= -2.0 <= high
        assert low <= slope <= high
    assert 265 <= held <= 299


@pytest.mark.parametrize("start", [1, 100, 10**6])
def test_sizes_are_found_from_either_side(start):
    assert smallest_size(lambda n: 40.0 / n, 0.05, start) == pytest.approx(800, rel=0.02)


def test_shares_have_exact_limits():
    assert share(0, 10)[2] == pytest.approx(0.3085, abs=1e-4)


def test_length_of_a_union_of_intervals():
    one, two = np.array([0.1, 0.2, 0.9]), np.array([0.3, 0.25, 0.8])
    assert covered(one, two) == pytest.approx(0.3)
