"""The exact bound for whole sets, against exact sums over masses."""

import numpy as np
import pytest
from scipy.stats import binom

from replearn.paper.heavy_hitters import (
    SetLaw,
    false_members_below,
    find_heavy_hitters,
    found_from,
    set_flip_bound,
    smallest_sample_set,
)
from replearn.randomness.key import SharedKey
from tests.factories import limit


def exact_flip(n, law, mass):
    counts = np.arange(n + 1)
    chance, level = binom.pmf(counts, n, mass), law.exact_values(counts / n)
    return float(chance @ np.abs(level[:, None] - level[None, :]) @ chance)


@pytest.mark.parametrize("ends", [(0.05, 0.2), (0.02, 0.08), (0.1, 0.15)])
def test_no_way_to_spread_the_mass_beats_the_bound(ends):
    law, n = SetLaw("power", *ends), 900
    ratios = [exact_flip(n, law, mass) / mass for mass in np.linspace(ends[0] / 4, 2 * ends[1], 60)]
    bound = 3 * np.sqrt((1 + 1 / (n * ends[0])) / (np.pi * n)) / (ends[1] ** 1.5 - ends[0] ** 1.5)
    assert set_flip_bound(n, law) == pytest.approx(min(1, bound), rel=1e-3)
    assert 0.75 * bound <= max(ratios) <= bound


def test_bound_is_close_where_counts_are_large():
    law, n = SetLaw.standard(0.2), 4000
    ratios = [exact_flip(n, law, mass) / mass for mass in (0.15, 0.2, 0.3)]
    bound = set_flip_bound(n, law)
    assert all(0.8 * bound <= ratio <= bound for ratio in ratios)


def test_planned_rows_pass_and_one_fewer_fails():
    law = SetLaw.standard(0.1)
    n = smallest_sample_set(0.1, law)
    assert set_flip_bound(n, law) <= 0.1 < set_flip_bound(n - 1, law)


def test_least_count_follows_the_levels():
    law, n = SetLaw.standard(0.1), 777
    values = law.exact_values(np.arange(n + 1) / n)
    for u in np.random.default_rng(0).random(200):
        least = law.least_count(float(u), n)
        assert u < values[least]
        assert not u < values[least - 1]


def test_masses_found_and_not_found_are_on_the_safe_side():
    from replearn.paper.heavy_hitters import some_false_member_bound, some_missed_point_bound

    for law in (SetLaw.standard(0.1),):
        mass = found_from(3000, law, 0.05)
        assert some_missed_point_bound(3000, law, mass) <= 0.05
        below = false_members_below(3000, law, 0.05)
        assert 0 < below < law.low
        assert some_false_member_bound(3000, law, below) <= 0.05
    assert false_members_below(3, law, 1e-6) == 0.0


@pytest.mark.parametrize("masses", [[0.0999] * 10, [0.06, 0.08, 0.1, 0.13, 0.17, 0.2]])
def test_whole_sets_agree(masses):
    nu, n, n_pairs = 0.1, 12_000, 50
    law = SetLaw.standard(nu)
    bound = set_flip_bound(n, law)
    rng, different = np.random.default_rng(0), 0
    for pair in range(n_pairs):
        sets = []
        for _ in range(2):
            counts = rng.multinomial(n, [*masses, max(0.0, 1 - sum(masses))])
            X = np.repeat(np.arange(len(counts)), counts)[:, np.newaxis]
            found = find_heavy_hitters(X, nu, key=SharedKey(pair), notion="replicable")
            sets.append({float(v[0]) for v in found.values})
        different += sets[0] != sets[1]
    assert different <= limit(n_pairs, bound)


def test_bad_laws_are_named():
    with pytest.raises(ValueError, match="kind"):
        SetLaw("sqrt", 0.1, 0.2)
    with pytest.raises(ValueError, match="low"):
        SetLaw("power", 0.3, 0.2)
