"""Rounded means: the bound is attained by coins, holds for others, and not for the median."""

import numpy as np
import pytest
from scipy.stats import binom

from replearn.bounds.regression import (
    cell_escape,
    mean_rounding_flips,
    rounding_flip_bound,
    smallest_blocks_rounding,
)

RUNS = 40_000


def _differ(one, two, resolution, offsets):
    return np.floor(one / resolution - offsets) != np.floor(two / resolution - offsets)


@pytest.mark.parametrize(("n_blocks", "resolution"), [(9, 1.0), (64, 0.5), (64, 0.1)])
def test_coins_at_the_ends_of_the_range_attain_the_bound(n_blocks, resolution):
    rng = np.random.default_rng(0)
    one, two = rng.binomial(n_blocks, 0.5, (2, RUNS)) / n_blocks
    flips = _differ(one, two, resolution, rng.random(RUNS)).sum()
    bound = rounding_flip_bound(n_blocks, 1.0, resolution)
    assert flips <= binom.isf(1e-8, RUNS, bound)
    # E min(1, |difference| / h) is E |difference| / h unless the grid is fine
    if resolution >= 0.5:
        assert flips >= binom.ppf(1e-8, RUNS, 0.98 * bound)


@pytest.mark.parametrize("shape", ["chances that differ", "uniform", "rare"])
def test_other_predictions_flip_less(shape):
    rng, n_blocks, resolution = np.random.default_rng(1), 25, 0.4
    draws = {
        "chances that differ": lambda: rng.random((8000, 25)) < np.linspace(0, 1, 25),
        "uniform": lambda: rng.random((8000, 25)),
        "rare": lambda: rng.random((8000, 25)) < 0.05,
    }
    one, two = (draws[shape]().mean(axis=1) for _ in range(2))
    flips = _differ(one, two, resolution, rng.random(8000)).sum()
    assert flips <= binom.isf(1e-8, 8000, rounding_flip_bound(n_blocks, 1.0, resolution))


def test_the_median_does_not_keep_the_bound():
    rng, n_blocks, resolution = np.random.default_rng(2), 401, 0.5
    one, two = np.median(rng.integers(0, 2, (2, 2000, n_blocks)), axis=2)
    flips = _differ(one, two, resolution, rng.random(2000)).sum()
    assert flips > 5 * 2000 * rounding_flip_bound(n_blocks, 1.0, resolution)


def test_blocks_pass_and_one_fewer_fails():
    blocks = smallest_blocks_rounding(0.1, 30.0, 6.0)
    assert rounding_flip_bound(blocks, 30.0, 6.0) <= 0.1
    assert rounding_flip_bound(blocks - 1, 30.0, 6.0) > 0.1
    with pytest.raises(ValueError, match="resolution=1e-09 is too fine"):
        smallest_blocks_rounding(0.1, 1.0, 1e-9)


def test_estimates_against_normal_predictions():
    rng, n_blocks, resolution, points = np.random.default_rng(3), 40, 0.5, 20_000
    blocks = rng.normal(size=(2, points, n_blocks))
    means, variances = blocks.mean(axis=2), blocks.var(axis=2, ddof=1)
    offsets = rng.random(points)
    flips = _differ(means[0], means[1], resolution, offsets)
    estimate = mean_rounding_flips(variances[0], n_blocks, resolution).mean()
    assert 0.75 * estimate < flips.mean() < estimate
    low = (np.floor(means[0] / resolution - offsets) + offsets) * resolution
    own = cell_escape(means[0], variances[0], n_blocks, (low, low + resolution))
    assert own.mean() == pytest.approx(flips.mean(), rel=0.1)
    likely = own > 0.3
    assert flips[likely].mean() == pytest.approx(own[likely].mean(), rel=0.15)


def test_uniform_means_attain_the_mean_difference():
    # M uniform on [0, 1]: E|M - M'| = 1/3, and its variance is 1/12 = v / T
    n_blocks = 7
    flips = mean_rounding_flips([n_blocks / 12.0], n_blocks, 2.0)
    assert flips[0] == pytest.approx(1.0 / 3.0 / 2.0, rel=1e-12)
