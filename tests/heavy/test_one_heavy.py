import itertools

import numpy as np
import pytest

from replearn.bounds.heavy_sets import (
    _relative_change,
    one_heavy_flip_bound,
    one_heavy_least_mass,
    one_heavy_power,
    smallest_sample_one,
)
from replearn.heavy import find_one_heavy_hitter
from replearn.primitives import agreement_of_draws
from replearn.randomness import SharedKey
from tests.factories import limit


def crowd(nu, mass):
    """One point of mass nu beside as many of another mass as fit."""
    others = int((1 - nu) / mass)
    return np.array([nu, *[mass] * others, max(0.0, 1 - nu - others * mass)])


@pytest.mark.parametrize("mass", [0.2, 0.19, 0.1, 0.05, 0.01])
def test_exact_disagreement_stays_below_the_bound(mass):
    """Given two samples the disagreement is exact; its mean is compared with the bound."""
    nu, n = 0.2, 3000
    kappa = one_heavy_power(nu)
    rng, masses = np.random.default_rng(0), crowd(nu, mass)
    flips = []
    for _ in range(60):
        draws = []
        for _ in range(2):
            counts = rng.multinomial(n, masses)
            here = np.flatnonzero(counts)
            draws.append((here, kappa * np.log(counts[here])))
        flips.append(1 - agreement_of_draws(*draws))
    mean, error = np.mean(flips), np.std(flips) / np.sqrt(len(flips))
    assert mean - 6 * error <= one_heavy_flip_bound(n, nu, kappa)


def test_two_runs_name_the_same_point():
    nu, n, n_pairs = 0.2, 4000, 60
    rng, masses, different = np.random.default_rng(1), crowd(0.2, 0.12), 0
    for pair in range(n_pairs):
        named = [
            find_one_heavy_hitter(
                np.repeat(np.arange(len(masses)), rng.multinomial(n, masses)).tolist(),
                nu,
                key=SharedKey(pair),
            ).value
            for _ in range(2)
        ]
        different += named[0] != named[1]
    bound = one_heavy_flip_bound(n, nu, one_heavy_power(nu))
    assert different <= limit(n_pairs, bound)


def test_named_points_are_heavy():
    nu, n, beta = 0.2, 4000, 0.1
    kappa = one_heavy_power(nu)
    least = one_heavy_least_mass(n, nu, kappa, beta)
    assert 0.005 < least < nu
    rng, masses, light, n_runs = np.random.default_rng(2), crowd(nu, 0.9 * least), 0, 100
    for run in range(n_runs):
        sample = np.repeat(np.arange(len(masses)), rng.multinomial(n, masses)).tolist()
        light += find_one_heavy_hitter(sample, nu, key=SharedKey(run)).value != [0]
    assert light <= limit(n_runs, beta)


def test_relative_change_falls_and_matches_simulation():
    rng = np.random.default_rng(0)
    values = [_relative_change(j, 3.0) for j in (1, 2, 5, 50, 500, 2000, 2001, 10**5)]
    assert values[0] == pytest.approx(8.0)
    assert all(a >= b for a, b in itertools.pairwise(values[:6]))
    d = np.abs(2 * rng.binomial(50, 0.5, 200_000) / 50 - 1)
    assert np.mean((1 + d) ** 3 - (1 - d) ** 3) == pytest.approx(values[3], rel=0.02)
    assert _relative_change(2000, 3.0) <= values[6] <= 1.1 * _relative_change(2000, 3.0)


def test_about_one_over_nu_rows():
    n = [smallest_sample_one(0.1, nu) for nu in (0.1, 0.01)]
    assert one_heavy_flip_bound(n[0], 0.1, one_heavy_power(0.1)) <= 0.1
    assert n[1] < 30 * n[0]


def test_certificate_and_bad_parameters():
    found = find_one_heavy_hitter([1] * 500, 0.5, key=SharedKey(0), rho=0.01)
    assert not found.certificate.certified
    found.certificate.check()
    with pytest.raises(ValueError, match="kappa"):
        one_heavy_flip_bound(100, 0.5, 1.5)
    assert one_heavy_flip_bound(1, 0.1, 3.0) == 1.0
    assert one_heavy_least_mass(2, 0.1, 3.0, 0.01) == 0.0


def test_rounded_points_are_named_whatever_the_order_of_the_rows():
    # Which row stands for a rounded point depends on the file; what is drawn must not.
    rng = np.random.default_rng(3)
    x = np.repeat([1.0, 2.0, 3.0], [500, 480, 490]) + rng.uniform(-0.004, 0.004, 1470)
    found = set()
    for trial in range(12):
        named = {
            round(float(find_one_heavy_hitter(
                x[rng.permutation(len(x))], 0.3, key=SharedKey(trial), decimals=2
            ).value[0]), 2)
            for _ in range(4)
        }  # fmt: skip
        assert len(named) == 1
        found |= named
    assert len(found) > 1
