"""Bounds on multiplicities of independent draws: exact sums, and draws from many populations."""

import itertools
import math

import numpy as np
import pytest

from replearn.bounds.repeats import least_log_tail, log_divisor_tail, log_repeat_tail

POPULATIONS = [(0.25,) * 4, (0.2,) * 5, (0.4, 0.3, 0.2, 0.1), (0.85, 0.05, 0.05, 0.05), (1.0,)]


def samples(n, masses):
    """Yield the counts of every sample with its probability."""
    for counts in itertools.product(range(n + 1), repeat=len(masses)):
        if sum(counts) == n:
            chance = math.factorial(n)
            for count, mass in zip(counts, masses, strict=True):
                chance *= mass**count / math.factorial(count)
            yield counts, chance


@pytest.mark.parametrize("masses", POPULATIONS)
@pytest.mark.parametrize("n", [6, 8, 10])
def test_no_pattern_is_more_likely_than_its_bound(n, masses):
    patterns = {}
    divided = dict.fromkeys(range(len(masses) + 1), 0.0)
    for counts, chance in samples(n, masses):
        seen = [count for count in counts if count]
        for count in range(2, n + 1):
            numbers = tuple(seen.count(count + step) for step in (-1, 0, 1))
            key = (count, *numbers)
            patterns[key] = patterns.get(key, 0.0) + chance
        if math.gcd(*seen) > 1:
            divided[len(seen)] += chance
    for key, chance in patterns.items():
        assert chance <= math.exp(log_repeat_tail(*key)) * (1 + 1e-12), key
    for n_values, chance in divided.items():
        if n_values:
            assert chance <= math.exp(log_divisor_tail(n, n_values))


def test_the_bound_is_attained_up_to_a_factor_by_equal_masses():
    """Ten points in pairs: the bound is not far from the truth where it matters."""
    n_values, n = 10, 20
    exact = math.factorial(n) / 2**n_values / n_values**n
    assert exact <= math.exp(log_repeat_tail(2, 0, n_values, 0)) < 60 * exact


@pytest.mark.parametrize("seed", range(40))
def test_draws_from_any_population_have_no_small_tail(seed):
    """Forty populations of five shapes each: none of 200 has a tail below 1e-4."""
    rng = np.random.default_rng(seed)
    n_values, n = (int(np.exp(rng.uniform(2, high))) for high in (8, 8.5))
    masses = [
        np.full(n_values, 1 / n_values),
        rng.dirichlet(np.full(n_values, 0.1)),
        rng.dirichlet(np.full(n_values, 5.0)),
        (weights := 1.0 / np.arange(1, n_values + 1)) / weights.sum(),
        np.r_[0.5, np.full(n_values, 0.5 / n_values)],
    ]
    for mass in masses:
        counts = rng.multinomial(n, mass)
        assert least_log_tail(counts[counts > 0])[0] > math.log(1e-4)


@pytest.mark.parametrize("times", [2, 3, 5, 10])
def test_copies_have_a_tiny_one(times):
    log_tail, shown = least_log_tail(np.full(200, times))
    assert log_tail < math.log(1e-30)
    assert shown == times
    rng = np.random.default_rng(0)
    discrete = times * rng.multinomial(5000, rng.dirichlet(np.ones(300)))
    assert least_log_tail(discrete[discrete > 0])[0] < math.log(1e-12)


def test_a_part_of_the_rows_is_enough():
    assert least_log_tail(np.repeat([1, 2], [1500, 500]))[0] < math.log(1e-12)
    assert least_log_tail(np.repeat([1, 2], [1500, 12]))[0] > math.log(1e-4)
    assert least_log_tail([]) == (0.0, 1)
