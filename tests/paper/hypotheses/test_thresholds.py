import numpy as np
import pytest

from replearn.paper.hypotheses import Stumps, Thresholds


@pytest.mark.parametrize(
    ("direction", "vc_dimension", "count"),
    [(">", 1, lambda n: n + 1), ("<=", 1, lambda n: n + 1), ("both", 2, lambda n: 2 * n)],
)
def test_growth_function_is_exact(direction, vc_dimension, count):
    family = Thresholds(direction)
    assert family.vc_dimension == vc_dimension
    for n in range(1, 9):
        pool = np.random.default_rng(n).normal(size=n)
        assert len(family.cover(pool)) == count(n) == family.growth_bound(n)


def test_dichotomies_against_all_cuts():
    pool = np.array([3.0, 1.0, 1.0, 2.0, 7.5])
    cuts = [-np.inf, *pool, np.inf]
    expected = {tuple(pool > cut) for cut in cuts} | {tuple(pool <= cut) for cut in cuts}
    (block,) = Thresholds().dichotomies(pool)
    assert {tuple(line) for line in block.labels.tolist()} == expected


def test_ties_prefer_constants_then_upward_then_low_cuts():
    assert str(Thresholds().erm([1, 2], [0, 0])) == "never"
    assert str(Thresholds().erm([1, 2], [1, 1])) == "always"
    assert str(Thresholds().erm([1, 1], [0, 1])) == "never"
    assert str(Thresholds().erm([1, 2, 3], [0, 1, 0])) == "never"
    assert str(Thresholds().erm([1, 2, 3, 4], [0, 1, 0, 1])) == "x0 > 1.5"
    assert str(Thresholds("<=").erm([1, 2, 3, 4], [0, 0, 1, 1])) == "never"


def test_cuts_read_well():
    family = Thresholds(">")
    ages = np.array([23, 31, 41, 42, 57])
    assert family.erm(ages, ages > 41).rule(["age"]) == "age > 41.5"
    incomes = np.array([20183.37, 39941.02, 58230.99])
    assert family.erm(incomes, incomes > 50_000).rule(["income"]) == "income > 49000"


def test_weight_zero_is_absence():
    X, y = [1, 2, 3, 4], [0, 1, 1, 1]
    assert str(Thresholds().erm(X, y)) == "x0 > 1.5"
    assert str(Thresholds().erm(X, y, [1, 0, 1, 1])) == "x0 > 2"


def test_large_pools_stay_in_blocks():
    pool = np.random.default_rng(3).normal(size=4000)
    sizes = [block.labels.size for block in Thresholds().dichotomies(pool, max_cells=10**6)]
    assert sum(sizes) == 8000 * 4000
    assert max(sizes) <= 10**6


def test_a_line_of_stumps_is_thresholds():
    pool = np.random.default_rng(4).integers(0, 5, size=9)
    assert list(Thresholds().cover(pool).rules) == list(Stumps(1).cover(pool).rules)


def test_unknown_direction():
    with pytest.raises(ValueError, match="direction is '<'"):
        Thresholds("<")
