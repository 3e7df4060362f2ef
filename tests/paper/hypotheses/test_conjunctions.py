import itertools

import numpy as np
import pytest

from replearn.paper.hypotheses import Conjunctions, sauer_bound


def conjunction_sets(pool, directions):
    signed = pool * np.where(np.array(directions) == ">", 1, -1)
    sets = {(False,) * len(pool)}
    for cut in itertools.product(*[np.unique(column) for column in signed.T]):
        sets.add(tuple((signed >= cut).all(axis=1).tolist()))
    return sets


@pytest.mark.parametrize("directions", [(">",), (">", ">"), ("<=", ">"), (">", "<=", "<=")])
def test_dichotomies_and_erm_against_all_cuts(directions):
    rng = np.random.default_rng(23)
    family = Conjunctions(len(directions), directions)
    for _ in range(10):
        X = rng.integers(0, 5, size=(12, len(directions))).astype(float)
        sets = conjunction_sets(X, directions)
        labels = np.concatenate([block.labels for block in family.dichotomies(X)])
        assert {tuple(line) for line in labels.tolist()} == sets
        assert len(labels) == len(sets)
        y, weight = rng.integers(0, 2, size=12), rng.random(12)
        least = min(np.average(np.array(line) != y, weights=weight) for line in sets)
        assert np.isclose(family.erm(X, y, weight).error(X, y, weight), least)


def test_growth_bound_is_attained_by_an_antichain():
    falling = np.column_stack([np.arange(9), -np.arange(9)])
    assert len(Conjunctions(2).cover(falling)) == sauer_bound(9, 2)
    rising = np.column_stack([np.arange(9), np.arange(9)])
    assert len(Conjunctions(2).cover(rising)) == 10


def test_default_directions_are_spelled_out():
    assert Conjunctions(2) == Conjunctions(2, (">", ">")) == Conjunctions(2, [">", ">"])
    assert Conjunctions(2) != Conjunctions(2, (">", "<="))
    assert Conjunctions(3).vc_dimension == 3


@pytest.mark.parametrize("directions", [(">",), (">", "both"), (">", "<=", ">")])
def test_wrong_directions(directions):
    with pytest.raises(ValueError, match="directions is"):
        Conjunctions(2, directions)
