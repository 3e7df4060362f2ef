"""The level of the test of votes with seeded base estimators, and what it finds."""

import numpy as np
import pytest
from scipy.stats import binom

from replearn.bounds import sign_test

N_ROWS = 64
N_BLOCKS = 88
DELTA = 0.01


def alarms(n_pairs, chances, others, seed=0):
    """Count pairs of runs in which some row of 64 is said to differ."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(n_pairs):
        # seeds of blocks change the chance of each block, in the same way in both runs
        moved = 0.3 * (rng.random(N_BLOCKS) - 0.5)
        one = rng.random((N_ROWS, N_BLOCKS)) < np.clip(chances[:, None] + moved, 0, 1)
        two = rng.random((N_ROWS, N_BLOCKS)) < np.clip(others[:, None] + moved, 0, 1)
        values = sign_test((one & ~two).sum(axis=1), (two & ~one).sum(axis=1))
        found += bool((values * N_ROWS <= DELTA).any())
    return found


@pytest.mark.statistical
def test_false_alarms_stay_below_delta():
    chances = np.linspace(0.02, 0.98, N_ROWS)
    n_pairs = 4000
    assert alarms(n_pairs, chances, chances) <= binom.isf(1e-8, n_pairs, DELTA)


def test_false_alarms_are_rare():
    chances = np.linspace(0.02, 0.98, N_ROWS)
    assert alarms(200, chances, chances) <= binom.isf(1e-8, 200, DELTA)


def test_differences_of_a_third_on_one_row_are_found():
    chances = np.full(N_ROWS, 0.5)
    others = np.where(np.arange(N_ROWS) == 0, 0.84, 0.5)
    assert alarms(100, chances, others) > 50
