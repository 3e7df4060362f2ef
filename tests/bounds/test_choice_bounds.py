"""Covers, thresholds, realizable, finite randomness: against exact small worlds."""

from itertools import combinations
from math import comb, log

import numpy as np
import pytest
from scipy.stats import binom

from replearn.bounds.vc import realizable_tail
from replearn.paper.finite_randomness import finite_randomness_flip_bound
from replearn.paper.realizable import (
    best_ceiling,
    ceiling_flip_bound,
    cover_distance,
    realizable_flip_bound,
    smallest_sample_realizable,
    underrated_tail,
)
from replearn.paper.thresholds import (
    _weight_spread,
    mean_level_distance,
    smallest_sample_threshold,
    threshold_error_tail,
    threshold_flip_bound,
    threshold_scale,
)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_mean_distance_of_a_level_against_all_arrangements(n):
    for below in range(1, 2 * n):
        total = sum(
            abs(2 * sum(place < below for place in mine) - below) / n
            for mine in combinations(range(2 * n), n)
        )
        assert total / comb(2 * n, n) <= mean_level_distance(n) * (1 + 1e-9)


def test_mean_distance_of_a_level_is_nearly_attained_by_the_median():
    rng = np.random.default_rng(0)
    n = 4000
    found = np.abs(2 * rng.hypergeometric(n, n, n, 20_000) - n).mean() / n
    assert found <= mean_level_distance(n) <= 1.05 * found


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_spread_of_the_weights_holds_on_noise(directions, share):
    rng = np.random.default_rng(1)
    n, t, values = 300, 3.0, []
    for _ in range(300):
        curves = []
        for _ in range(2):
            x, y = rng.random(n), rng.random(n) < share
            cuts = np.linspace(0, 1, 200)
            below = x[None] <= cuts[:, None]
            curves.append(((below & y) | (~below & ~y)).mean(axis=1))
        moved = (curves[0] - curves[1]) / 2
        values.append(np.ptp(moved) if directions == 1 else 2 * np.abs(moved).max())
    found = np.sqrt(np.mean(np.expm1(t * np.array(values)) ** 2))
    assert found <= _weight_spread(t, n, directions) <= 4 * max(found, 0.1)


def test_thresholds_at_the_sizes_that_people_have():
    assert smallest_sample_threshold(0.1, 0.1, 0.1, 0.05, 2)[0] < 1_000_000
    assert smallest_sample_threshold(0.2, 0.2, 0.2, 0.05, 2)[0] < 65_000


def test_thresholds_pass_at_n_and_fail_below():
    n, t = smallest_sample_threshold(0.3, 0.3, 0.3, 0.2)
    assert threshold_flip_bound(t, n, 0.3) <= 0.3
    assert threshold_error_tail(t, n, 0.3) <= 0.2
    before = threshold_scale(n - 1, 0.3, 0.2)
    assert threshold_flip_bound(before, n - 1, 0.3) > 0.3


def test_thresholds_get_better_with_more_rows_and_worse_with_more_wishes():
    flips = [threshold_flip_bound(30.0, n, 0.2) for n in (10**4, 10**5, 10**6)]
    assert flips == sorted(flips, reverse=True)
    assert threshold_flip_bound(30.0, 10**6, 0.05) > threshold_flip_bound(30.0, 10**6, 0.2)
    assert threshold_flip_bound(30.0, 10**6, 0.2, 2) > threshold_flip_bound(30.0, 10**6, 0.2, 1)
    assert threshold_scale(100, 0.05, 0.05) is None
    assert threshold_scale(10**6, 0.1, 0.05) > threshold_scale(10**6, 0.2, 0.05)


def test_cover_distance_is_the_turning_point_of_the_tail():
    for u, d, beta in ((100, 1, 0.05), (1000, 7, 0.025), (20, 3, 0.1)):
        distance = cover_distance(u, d, beta)
        if distance < 1:
            assert realizable_tail(u, d, distance) <= beta
            assert realizable_tail(u, d, distance * 0.98) > beta
    assert cover_distance(5, 3, 0.01) == 1.0
    assert cover_distance(4000, 3, 0.05) < cover_distance(1000, 3, 0.05)


def test_realizable_numbers():
    n, ceiling = smallest_sample_realizable(0.1, 0.2, 0.1, 0.05, 3)
    assert realizable_flip_bound(n, 3, 0.2, ceiling) <= 0.1
    assert realizable_flip_bound(n - 1, 3, 0.2, best_ceiling(n - 1, 3, 0.2)) > 0.1
    assert realizable_flip_bound(100, 3, 0.2, 0.1) == 1.0
    # where accuracy and not agreement decides
    n, _ = smallest_sample_realizable(1.0, 1.0, 0.01, 0.05, 3)
    assert realizable_tail(n, 3, 0.01) <= 0.05 < realizable_tail(n - 1, 3, 0.01)
    n, ceiling = smallest_sample_realizable(0.1, 0.2, 0.1, 0.05, 3)
    assert ceiling_flip_bound(300, 0.5) == pytest.approx(1 / (0.5 * 30))
    grid = [realizable_flip_bound(n, 3, 0.2, c) for c in np.linspace(0.001, 0.099, 300)]
    assert realizable_flip_bound(n, 3, 0.2, ceiling) <= min(grid) * 1.01


def test_rows_of_the_realizable_learner_grow_like_one_over_gamma():
    rows = [smallest_sample_realizable(0.1, g, g, 0.05, 1)[0] for g in (0.1, 0.05, 0.025)]
    exponents = np.diff(np.log(rows)) / log(2)
    assert rows[0] < 8_100
    assert ((exponents > 0.95) & (exponents < 1.05)).all()


@pytest.mark.parametrize(
    ("n", "limit", "error"), [(40, 0.1, 0.4), (60, 0.0, 0.15), (200, 0.2, 0.4)]
)
def test_underrated_hypotheses_against_exact_probabilities(n, limit, error):
    # One hypothesis (d = 0): the exact probability is binomial. Cuts on a line: many at once.
    tail = underrated_tail(n, 0, limit, error)
    assert binom.cdf(int(n * limit + 1e-9), n, error) <= tail < 1
    rng = np.random.default_rng(0)
    x, noise = np.sort(rng.random((4000, n)), axis=1), limit / 2
    wrong = rng.random((4000, n)) < noise
    # Labels: x > 0 but for noise. The cut c is wrong below c, except for noise, and on noise above.
    below = np.cumsum(~wrong, axis=1) + (
        wrong.sum(axis=1, keepdims=True) - np.cumsum(wrong, axis=1)
    )
    errors = noise + x * (1 - 2 * noise)
    seen = ((below <= limit * n) & (errors >= error)).any(axis=1).sum()
    assert seen <= binom.isf(1e-8, 4000, float(underrated_tail(n, 1, limit, error)))


@pytest.mark.parametrize("share", [0.7, 1.0, 1.3])
def test_the_decision_near_the_ceiling_is_nearly_as_unstable_as_the_bound_says(share):
    # One hypothesis of error close to the ceiling, cut there: the spread is that of a small count.
    rng = np.random.default_rng(0)
    n, gamma = 20_000, 0.1
    ceiling = best_ceiling(n, 1, gamma)
    one, two = np.minimum(rng.binomial(n, share * ceiling, (2, 100_000)) / n, ceiling)
    bound = realizable_flip_bound(n, 1, gamma, ceiling)
    assert np.abs(one - two).mean() / ceiling <= bound
    if share == 0.7:
        assert np.abs(one - two).mean() / ceiling >= bound / 2


def test_the_decision_bound_holds_for_the_least_stable_best_error():
    # One hypothesis: the best error is a binomial mean, as variable as Efron and Stein allow.
    rng = np.random.default_rng(0)
    n, ceiling = 50, 1.0
    one, two = rng.binomial(n, 0.5, (2, 200_000)) / n
    assert 0.75 < np.abs(one - two).mean() / ceiling_flip_bound(n, ceiling) < 1


def test_shared_order_against_exact_integration():
    # Given two vectors of errors: average over the margin of 1 - |both| / |either|.
    rng = np.random.default_rng(0)
    width = 0.2
    margins = (np.arange(2000) + 0.5) / 2000 * width
    for _ in range(30):
        count = int(rng.integers(2, 200))
        first = rng.random(count) * 0.3
        second = first + rng.uniform(-0.01, 0.01, count)
        spread = np.ptp(first - second)
        good = [e[:, None] <= e.min() + margins for e in (first, second)]
        differ = 1 - (good[0] & good[1]).sum(axis=0) / (good[0] | good[1]).sum(axis=0)
        assert differ.mean() <= spread * (1 + log(count)) / width


def test_finite_randomness_needs_the_square_of_everything():
    few = finite_randomness_flip_bound(10_000, 4, 10.0, 10**6, 0.2)
    many = finite_randomness_flip_bound(1_000_000, 4, 10.0, 10**6, 0.2)
    assert many < few <= 1
    assert finite_randomness_flip_bound(1_000_000, 8, 10.0, 10**6, 0.2) > many
    assert finite_randomness_flip_bound(32, 8, 30.0, 10**4, 0.1) == 1.0


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: cover_distance(0, 1, 0.1), "n_shared"),
        (lambda: threshold_flip_bound(1.0, 10, 0.0), "gamma"),
        (lambda: threshold_flip_bound(1.0, 10, 0.1, 3), "n_directions"),
        (lambda: ceiling_flip_bound(10, 0.0), "max_error_limit"),
        (lambda: finite_randomness_flip_bound(3, 0, 1.0, 5, 0.1), "n_candidates"),
    ],
)
def test_errors_name_the_parameter(call, name):
    with pytest.raises(ValueError, match=name):
        call()
