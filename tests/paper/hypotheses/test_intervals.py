import itertools

import numpy as np

from replearn.paper.hypotheses import Intervals


def test_growth_function_is_exact():
    for n in range(1, 9):
        pool = np.random.default_rng(n).normal(size=n)
        assert len(Intervals().cover(pool)) == n * (n + 1) // 2 + 1 == Intervals().growth_bound(n)


def test_dichotomies_are_the_contiguous_sets():
    pool = np.array([3.0, 1.0, 1.0, 2.0, 7.5])
    ends = [-np.inf, *np.unique(pool)]
    expected = {tuple((pool > low) & (pool <= high)) for low, high in itertools.product(ends, ends)}
    labels = np.concatenate([block.labels for block in Intervals().dichotomies(pool)])
    assert {tuple(line) for line in labels.tolist()} == expected


def test_erm_against_all_pairs_of_ends():
    rng = np.random.default_rng(5)
    for _ in range(50):
        X = rng.integers(0, 15, size=30).astype(float)
        y = rng.integers(0, 2, size=30)
        weight = rng.random(30)
        ends = np.append(-1.0, np.arange(15))
        low, high = ends[:, None, None], ends[None, :, None]
        inside = (low < X) & (high >= X)
        least = ((inside != y) * weight).sum(axis=2).min() / weight.sum()
        assert np.isclose(Intervals().erm(X, y, weight).error(X, y, weight), least)


def test_ties_prefer_the_late_and_short():
    assert str(Intervals().erm([1, 2, 3, 4], [1, 0, 0, 1])) == "x0 > 3.5"
    assert str(Intervals().erm([1, 2, 3, 4], [0, 1, 0, 1])) == "x0 > 3.5"
    assert str(Intervals().erm([1, 2, 3], [0, 0, 0])) == "never"


def test_many_rows():
    rng = np.random.default_rng(6)
    X = rng.normal(size=200_000)
    y = (np.abs(X) < 1) ^ (rng.random(len(X)) < 0.1)
    ((_, low, high),) = Intervals().erm(X, y).bounds
    assert abs(low + 1) < 0.01
    assert abs(high - 1) < 0.01
