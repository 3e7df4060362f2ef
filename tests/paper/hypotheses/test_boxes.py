import itertools

import numpy as np
import pytest

from replearn.paper.hypotheses import Boxes, Conjunctions, _best_box
from replearn.paper.hypotheses._best_box import best_box


def box_sets(pool):
    """All sets that are cut out by their own bounding box."""
    sets = {(False,) * len(pool)}
    for chosen in itertools.product([False, True], repeat=len(pool)):
        if any(chosen):
            inside = pool[list(chosen)]
            hull = (pool >= inside.min(axis=0)) & (pool <= inside.max(axis=0))
            sets.add(tuple(hull.all(axis=1).tolist()))
    return sets


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_dichotomies_are_the_closed_sets(n_features):
    rng = np.random.default_rng(12)
    for _ in range(10):
        pool = rng.integers(0, 4, size=(7, n_features)).astype(float)
        labels = np.concatenate([b.labels for b in Boxes(n_features).dichotomies(pool)])
        assert {tuple(line) for line in labels.tolist()} == box_sets(pool)
        assert len(labels) == len(box_sets(pool))


def test_counts_of_the_extreme_pools():
    diagonal = np.column_stack([np.arange(8), np.arange(8)])
    assert len(Boxes(2).cover(diagonal)) == 8 * 9 // 2 + 1  # a chain: as on the line
    diamond = Boxes(2).shattered_set()
    assert len(Boxes(2).cover(diamond)) == 16


@pytest.mark.parametrize(("n_features", "n_rows"), [(2, 12), (3, 9)])
def test_erm_against_all_closed_sets(n_features, n_rows):
    rng = np.random.default_rng(13)
    for _ in range(4):
        X = rng.integers(0, 6, size=(n_rows, n_features)).astype(float)
        y, weight = rng.integers(0, 2, size=n_rows), rng.random(n_rows)
        sets = np.array(sorted(box_sets(X)))
        least = ((sets != y) * weight).sum(axis=1).min() / weight.sum()
        found = Boxes(n_features).erm(X, y, weight)
        assert np.isclose(found.error(X, y, weight), least)


@pytest.mark.parametrize("sides", list(itertools.product([">", "<=", "both"], repeat=2)))
def test_erm_in_the_plane_against_the_cover(sides, monkeypatch):
    rng = np.random.default_rng(14)
    ranks = rng.integers(0, 9, size=(30, 2))
    gains = rng.integers(-3, 4, size=30)
    whole = best_box(ranks, gains, sides)
    best = max(
        gains[((ranks >= low) & (ranks <= high)).all(axis=1)].sum()
        for low in itertools.product(*[[0] if s == "<=" else range(9) for s in sides])
        for high in itertools.product(*[[8] if s == ">" else range(9) for s in sides])
    )
    assert whole.gain == best
    monkeypatch.setattr(_best_box, "_GRID_CELLS", 0)
    assert best_box(ranks, gains, sides) == whole
    monkeypatch.setattr(_best_box, "_TREE_CELLS", 64)
    assert best_box(ranks, gains, sides) == whole


def test_ties_across_groups_of_lower_sides(monkeypatch):
    ranks = np.column_stack([np.arange(12), np.zeros(12, dtype=int)])
    gains = np.tile([1, -1], 6)  # every single positive point is a best box
    assert best_box(ranks, gains, ("both", "both")).corner == ((10, 10), (0, 0))
    monkeypatch.setattr(_best_box, "_TREE_CELLS", 4)
    assert best_box(ranks, gains, ("both", "both")).corner == ((10, 10), (0, 0))


def test_erm_is_the_first_of_the_cover_on_a_larger_pool():
    rng = np.random.default_rng(15)
    X = rng.normal(size=(40, 2)).round(1)
    y = (np.abs(X) < 0.8).all(axis=1) ^ (rng.random(40) < 0.2)
    cover = Boxes(2).cover(X)
    assert Boxes(2).erm(X, y) == cover[int(cover.errors(X, y).argmin())]


def test_erm_on_several_hundred_rows():
    rng = np.random.default_rng(16)
    X = rng.uniform(-2, 2, size=(400, 2))
    truth = (np.abs(X) < 1).all(axis=1)
    found = Boxes(2).erm(X, truth ^ (rng.random(400) < 0.05))
    assert np.mean(found.predict(X) != truth) < 0.04


def test_consistent_in_many_dimensions():
    rng = np.random.default_rng(17)
    X = rng.uniform(-1, 1, size=(5000, 12))
    y = (X > -0.9).all(axis=1) & (X < 0.8).all(axis=1)
    box = Boxes(12).consistent(X, y)
    np.testing.assert_array_equal(box.predict(X), y)
    assert Conjunctions(12).consistent(X, y) is None


def test_errors_of_a_cover_match_predictions():
    rng = np.random.default_rng(18)
    for n_features in (1, 2, 3):
        cover = Boxes(n_features).cover(rng.normal(size=(8, n_features)))
        X, y = rng.normal(size=(500, n_features)), rng.integers(0, 2, size=500)
        weight = rng.random(500)
        expected = [np.average(rule.predict(X) != y, weights=weight) for rule in cover.rules]
        np.testing.assert_allclose(cover.errors(X, y, weight), expected, atol=1e-12)
