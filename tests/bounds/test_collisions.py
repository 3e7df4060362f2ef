"""Limits of the sum of squared masses from equal rows: coverage by exact sums."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from replearn.bounds.collisions import point_mass_limits
from replearn.bounds.numeric import binomial_limits


def limits_of_counts(counts, delta):
    n = int(sum(counts))
    return point_mass_limits(n, sum(int(c) * (int(c) - 1) // 2 for c in counts), delta)


def test_norm_of_counts_is_self_bounding():
    for counts in itertools.product(range(5), repeat=3):
        norm = math.sqrt(sum(c * c for c in counts))
        if not norm:
            continue
        drops = [norm - math.sqrt(norm**2 - 2 * c + 1) for c in counts for _ in range(c)]
        assert all(0 <= drop <= 1 + 1e-12 for drop in drops)
        assert sum(drops) <= norm + 1e-12


@pytest.mark.parametrize("n", [20, 300, 1000])
@pytest.mark.parametrize("delta", [0.2, 1e-2, 1e-6])
def test_coverage_with_one_atom(n, delta):
    """One atom of mass p in a continuous population: the count of its rows is binomial."""
    counts = np.arange(n + 1)
    every = np.array([point_mass_limits(n, int(c) * (int(c) - 1) // 2, delta) for c in counts])
    for p in (1e-3, 0.01, 0.05, 0.2, 0.5, 0.9, 1.0):
        masses = stats.binom.pmf(counts, n, p)
        assert masses[every[:, 0] > p * p].sum() <= delta
        assert masses[every[:, 1] < p * p].sum() <= delta


@pytest.mark.parametrize(
    "masses", [[0.5, 0.5], [1 / 3] * 3, [0.8, 0.1, 0.1], [0.25] * 4, [0.6, 0.2, 0.1, 0.1]]
)
def test_coverage_with_few_points(masses):
    n, q = (24 if len(masses) < 4 else 14), float(np.dot(masses, masses))
    for delta in (0.3, 0.02):
        missed = np.zeros(2)
        for counts in itertools.product(range(n + 1), repeat=len(masses) - 1):
            if sum(counts) <= n:
                whole = (*counts, n - sum(counts))
                chance = stats.multinomial.pmf(whole, n, masses)
                lower, upper = limits_of_counts(whole, delta)
                missed += chance * np.array([lower > q, upper < q])
        assert (missed <= delta).all()


def test_never_narrower_than_the_exact_limits_of_one_atom_and_not_much_wider():
    n, delta = 10_000, 1e-6
    for count in (500, 2000, 6000):
        exact = binomial_limits(count, n, 2 * delta)
        found = np.sqrt(point_mass_limits(n, count * (count - 1) // 2, delta))
        assert found[0] <= exact[0]
        assert found[1] >= exact[1]
        widths = (found[1] - found[0]) / (exact[1] - exact[0])
        assert widths < 2.0  # a Poisson count is wider than a binomial one, and Chernoff than exact


def test_few_equal_rows_refute_nothing_and_all_rows_in_pairs_do():
    for n in (1000, 20_000, 10**6):
        assert point_mass_limits(n, n // 10, 1e-6)[0] == 0.0
        assert point_mass_limits(n, 2 * n, 1e-6)[0] > 0.0
        assert point_mass_limits(n, 0, 1e-6)[1] < 5 / n
    assert point_mass_limits(50, 50 * 49 // 2, 1e-6)[1] == 1.0


def test_more_equal_rows_more_mass():
    every = np.array([point_mass_limits(400, pairs, 1e-3) for pairs in range(0, 79_800, 400)])
    assert (np.diff(every, axis=0) >= 0).all()


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((1, 0, 0.1), "n="), ((10, 46, 0.1), "equal_pairs"), ((10, -1, 0.1), "equal_pairs")],
)
def test_wrong_numbers_are_named(arguments, name):
    with pytest.raises(ValueError, match=name):
        point_mass_limits(*arguments)
    with pytest.raises(ValueError, match="delta"):
        point_mass_limits(10, 0, 1.0)
