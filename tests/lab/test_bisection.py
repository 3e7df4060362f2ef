"""Bisection on a measured frequency finds the size, with an error that is about right."""

import numpy as np
import pytest

from replearn_lab.bisection import find_crossing
from replearn_lab.measuring import weighted_exponent


def coins(rng, pairs, scale):
    return lambda n: rng.random(pairs) < min(1.0, scale * n**-0.5)


def test_found_sizes_scatter_as_their_errors_say():
    rng = np.random.default_rng(0)
    found = [find_crossing(coins(rng, 200, 1.0), 0.1, 8) for _ in range(60)]
    away = np.array([np.log(one.size / 100.0) / one.error for one in found])
    assert abs(away.mean()) < 0.8
    assert 0.5 < away.std() < 2.0


def test_an_exponent_comes_back_with_its_limits():
    rng = np.random.default_rng(1)
    scales = [0.5, 1.0, 2.0, 4.0]
    inside = 0
    for _ in range(20):
        found = [find_crossing(coins(rng, 200, scale), 0.1, 8) for scale in scales]
        sizes, errors = [one.size for one in found], [one.error for one in found]
        _, low, high = weighted_exponent(scales, sizes, errors)
        inside += low <= 2.0 <= high
    assert inside >= 14  # 95 % limits: below 14 of 20 has a chance of 1e-4


def test_a_target_out_of_reach_is_refused():
    with pytest.raises(ValueError, match="was not reached"):
        find_crossing(lambda n: [0.5] * 4, 0.1, 2)
