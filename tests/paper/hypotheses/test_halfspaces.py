import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from replearn.paper.hypotheses import Halfspaces
from replearn.paper.hypotheses._plane import Plane


def separable(pool, labels):
    """Decide by linear programming whether a line with margin separates the labels."""
    sign = np.where(labels, 1.0, -1.0)[:, None]
    inequalities = -sign * np.column_stack([pool, np.ones(len(pool))])
    result = linprog(
        np.zeros(3), A_ub=inequalities, b_ub=-np.ones(len(pool)), bounds=[(None, None)] * 3
    )
    return result.status == 0


@pytest.mark.parametrize("seed", range(6))
def test_dichotomies_are_the_linearly_separable_labellings(seed):
    rng = np.random.default_rng(seed)
    pool = np.unique(rng.integers(0, 4, size=(6, 2)), axis=0).astype(float)
    expected = {
        labels
        for labels in itertools.product([False, True], repeat=len(pool))
        if separable(pool, np.array(labels))
    }
    labels = np.concatenate([block.labels for block in Halfspaces().dichotomies(pool)])
    assert {tuple(line) for line in labels.tolist()} == expected
    assert len(labels) == len(expected)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 10, 25])
def test_growth_function_is_exact_in_general_position(n):
    pool = np.random.default_rng(n).normal(size=(n, 2))
    assert len(Halfspaces().cover(pool)) == n * n - n + 2 == Halfspaces().growth_bound(n)


@pytest.mark.parametrize("step", [(1.0, 0.0), (0.0, 1.0), (0.1, 0.3), (-0.7, 0.2)])
def test_points_on_one_line_behave_as_thresholds(step):
    pool = (np.arange(7)[:, None] * np.array(step)).round(1)
    labels = np.concatenate([block.labels for block in Halfspaces().dichotomies(pool)])
    expected = {
        tuple(line.tolist())
        for cut in range(8)
        for line in (np.arange(7) >= cut, np.arange(7) < cut)
    }
    assert {tuple(line) for line in labels.tolist()} == expected
    assert len(labels) == 14


def test_decimal_grids_are_grids():
    grid = np.array(list(itertools.product(range(5), repeat=2)), dtype=float)
    cover, scaled = Halfspaces().cover(grid), Halfspaces().cover(grid / 10)
    np.testing.assert_array_equal(cover.identity, scaled.identity)
    assert len(cover) < Halfspaces().growth_bound(25)


def test_erm_is_the_first_of_the_cover():
    rng = np.random.default_rng(24)
    for trial in range(8):
        X = rng.normal(size=(25, 2)) if trial % 2 else rng.integers(0, 6, size=(25, 2)) / 10
        y = (X.sum(axis=1) > X.sum(axis=1).mean()) ^ (rng.random(25) < 0.25)
        weight = rng.random(25)
        cover = Halfspaces().cover(X)
        assert Halfspaces().erm(X, y, weight) == cover[int(cover.errors(X, y, weight).argmin())]


def test_consistent_on_many_points():
    rng = np.random.default_rng(25)
    X = rng.normal(size=(20_000, 2))
    y = X @ [1.0, 0.37] > 0.2
    line = Halfspaces().consistent(X, y)
    np.testing.assert_array_equal(line.predict(X), y)
    assert Halfspaces().consistent(X, (X**2).sum(axis=1) > 1) is None
    assert Halfspaces().consistent([[1, 1], [1, 1]], [0, 1]) is None


def test_orientation_is_exact_where_doubles_fail():
    # Three points within rounding of a line, at the resolution of doubles.
    tiny = 2.0**-53
    points = np.array([[0.5, 0.5], [0.5 + tiny, 0.5], [12.0, 12.0], [24.0, 24.0]])
    plane = Plane(points)
    assert plane._whole is None
    assert plane.orientation(0, 2, np.array([3, 1, 0, 2])).tolist() == [0, -1, 0, 0]
    assert plane.orientation(1, 2, np.array([0, 3])).tolist() == [1, -1]


def test_nearly_collinear_doubles_are_refused():
    along = np.array([0.637, 0.27, 0.041, 0.0165])
    pool = np.column_stack([along, along * np.pi])
    with pytest.raises(ValueError, match="round the points"):
        Halfspaces().cover(pool)
    assert len(Halfspaces().cover(pool.round(6))) == 14


def test_steep_lines_and_large_coordinates():
    pool = np.array([[0.0, 0.0], [1e-12, 1e12], [1.0, -1e12], [-1e-12, 1e-12]])
    labels = np.concatenate([block.labels for block in Halfspaces().dichotomies(pool)])
    assert len(labels) == 14
