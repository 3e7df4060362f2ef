"""Hard distributions: what is drawn is what is stated."""

import numpy as np
import pytest

from replearn.randomness.key import SharedKey
from replearn_lab.distributions import (
    Marginals,
    RandomBias,
    ThresholdsOnAxes,
    realizable_coins,
    shattered,
)
from replearn_lab.learning import OnePointLearner, TableLearner, vote_learner


def means(X, y, d):
    counts = np.bincount(X[:, 0].astype(int), minlength=d)
    return counts / len(y), np.bincount(X[:, 0].astype(int), 2.0 * y - 1.0, d) / counts


@pytest.mark.parametrize(
    "coins", [shattered([0.5, -0.2, 0.0, 1.0]), realizable_coins([1, -1, 1], 0.004)]
)
def test_masses_and_biases(coins):
    n, d = 40_000, len(coins.points)
    X, y = coins.draw(np.random.default_rng(1), n)
    masses, biases = means(X, y, d)
    assert masses == pytest.approx(coins.masses, abs=5 / np.sqrt(n))
    assert biases == pytest.approx(coins.biases, abs=0.06)
    for labels in ((y * 0), (y * 0 + 1)):
        assert coins.error(labels[:d]) == pytest.approx(np.mean(labels != y), abs=0.02)
    best = (coins.biases > 0).astype(int)
    assert coins.excess(best) == pytest.approx(0.0, abs=1e-12)
    flipped = best.copy()
    flipped[1] = 1 - flipped[1]
    assert coins.excess(flipped) == pytest.approx(coins.masses[1] * abs(coins.biases[1]))
    assert coins.distance(best, flipped) == pytest.approx(coins.masses[1])


def test_random_biases_fill_the_gap():
    biases = RandomBias(0.2).draw(np.random.default_rng(0), 2000)
    assert np.histogram(biases, bins=4, range=(-0.2, 0.2))[0].min() > 430


def test_marginals():
    coins = Marginals(np.array([0.5, -0.5, 0.0]))
    draws = coins.draw(np.random.default_rng(0), 20_000)
    assert set(np.unique(draws)) == {-1, 1}
    assert draws.mean(axis=0) == pytest.approx(coins.biases, abs=0.03)
    assert coins.loss([1, -1, 1]) == 0.0
    assert coins.loss([-1, -1, -1]) == pytest.approx(1 / 3)


def test_thresholds_on_axes_are_conjunctions():
    hard = ThresholdsOnAxes(np.array([3.0, 8.0, 0.0]), 10)
    X, y = hard.draw(np.random.default_rng(0), 3000)
    assert ((X > 0).sum(axis=1) == 1).all()
    assert (y == (hard.cuts >= X).all(axis=1)).all()
    other = np.array([5.0, 8.0, 1.0])
    assert np.mean(y != (other >= X).all(axis=1)) == pytest.approx(hard.error(other), abs=0.03)


def test_the_footnote_breaks_averaging_without_heavy_points():
    """Both points can be called -1: an error of 0.95 where the better rule has 1/2."""
    coins, worst = shattered([0.9, 0.9]), 0
    assert coins.error([1, 0]) == pytest.approx(0.5)
    learn = vote_learner(400, 20, base=OnePointLearner)
    for key in range(40):
        X, y = coins.draw(np.random.default_rng(key), 400)
        worst += not learn(X, y, SharedKey(key)).predict(coins.points).any()
    assert 3 <= worst <= 20  # one in four


def test_refusals():
    with pytest.raises(ValueError, match="biases"):
        shattered([1.5])
    with pytest.raises(ValueError, match="alpha"):
        realizable_coins([1, -1], 0.02)


def test_the_table_learner_takes_majorities():
    model = TableLearner().fit(np.array([[0], [0], [2], [2], [2]]), [1, 0, 1, 1, 0])
    assert model.predict(np.array([[0], [1], [2], [9]])).tolist() == [0, 0, 1, 0]
