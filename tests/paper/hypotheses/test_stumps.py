from math import comb

import numpy as np
import pytest

from replearn.paper.hypotheses import Stumps


def all_stump_labels(pool):
    lines = set()
    for column in pool.T:
        for cut in [-np.inf, *column]:
            lines |= {tuple((column > cut).tolist()), tuple((column <= cut).tolist())}
    return lines


@pytest.mark.parametrize("n_features", [1, 2, 4])
def test_dichotomies_against_all_cuts(n_features):
    rng = np.random.default_rng(7)
    for _ in range(20):
        pool = rng.integers(0, 4, size=(6, n_features)).astype(float)
        (block,) = Stumps(n_features).dichotomies(pool)
        assert {tuple(line) for line in block.labels.tolist()} == all_stump_labels(pool)


@pytest.mark.parametrize("n_features", [1, 2, 3, 5, 10, 18, 30, 63])
@pytest.mark.parametrize("direction", [">", "<=", "both"])
def test_vc_dimension_is_attained(n_features, direction):
    family = Stumps(n_features, direction)
    n, chains = family.vc_dimension, n_features * (2 if direction == "both" else 1)
    assert comb(n, n // 2) <= chains < comb(n + 1, (n + 1) // 2)
    points = family.shattered_set()
    assert points.shape == (n, n_features)
    assert len(family.cover(points)) == 2**n


def test_growth_bound_is_attained_by_independent_features():
    pool = np.random.default_rng(8).normal(size=(50, 3))
    assert len(Stumps(3).cover(pool)) == 2 + 2 * 3 * 49 == Stumps(3).growth_bound(50)


def test_repeated_features_add_nothing():
    column = np.random.default_rng(9).normal(size=(20, 1))
    cover = Stumps(3).cover(np.column_stack([column, -column, np.exp(column)]))
    assert list(cover.rules) == list(Stumps(3).cover(column * [1, 0, 0]).rules)


def test_erm_against_all_cuts():
    rng = np.random.default_rng(10)
    for _ in range(30):
        X = rng.integers(0, 6, size=(25, 4)).astype(float)
        y, weight = rng.integers(0, 2, size=25), rng.random(25)
        least = min(np.average(np.array(line) != y, weights=weight) for line in all_stump_labels(X))
        assert np.isclose(Stumps(4).erm(X, y, weight).error(X, y, weight), least)


def test_errors_of_a_cover_take_no_matrix_of_predictions():
    rng = np.random.default_rng(11)
    cover = Stumps(30).cover(rng.normal(size=(300, 30)))
    X = rng.normal(size=(20_000, 30))
    y = (X[:, 7] > 0.3) ^ (rng.random(len(X)) < 0.1)
    errors = cover.errors(X, y)
    assert 17_000 < len(cover) <= Stumps(30).growth_bound(300)
    chosen = rng.integers(0, len(cover), size=50)
    expected = [np.mean(cover[place].predict(X) != y) for place in chosen]
    np.testing.assert_allclose(errors[chosen], expected, atol=1e-12)
    ((feature, cut, _),) = cover[int(errors.argmin())].bounds
    assert feature == 7
    assert abs(cut - 0.3) < 0.05


@pytest.mark.parametrize("n_features", [0, -1, 2.0, "3"])
def test_number_of_features_is_a_positive_integer(n_features):
    with pytest.raises(ValueError, match="n_features is"):
        Stumps(n_features)
