"""Semi-private learning: privacy in exact numbers, and the two reductions."""

import numpy as np
import pytest

from replearn.paper.hypotheses import Conjunctions
from replearn.paper.semi_private import SemiPrivateClassifier
from replearn.paper.semi_replicable import SemiReplicableClassifier
from replearn_lab.distributions import ThresholdsOnAxes
from replearn_lab.private import (
    AxisCuts,
    PrivateFromSemiPrivate,
    PublicCutsLearner,
    ThresholdFromConjunctions,
    with_pool,
)
from tests.factories import limit


class Recorder:
    """A semi-private learner that keeps what it was given, and returns fixed cuts."""

    def __init__(self, *cuts):
        self.cuts, self.given = np.array(cuts, dtype=float), []

    def __call__(self, public, private, rng):
        self.given.append((public, private))
        return AxisCuts(self.cuts)


def column(values, cut):
    values = np.asarray(values, dtype=float)
    return values[:, np.newaxis], (values <= cut).astype(int)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_one_private_row_changes_no_chance_by_more_than_epsilon(epsilon):
    """Frequencies of every output on neighbouring samples; the exact factor is within e^epsilon."""
    learner, draws = PublicCutsLearner(epsilon), 2500
    public = column([2, 5, 8], 5)
    one, two = column([1, 3, 5, 7], 5), column([1, 3, 5, 7], 5)
    two[0][2], two[1][2] = 9.0, 1  # another row, with another label
    counts = []
    for sample, seed in ((one, 0), (two, 1)):
        rng = np.random.default_rng(seed)
        cuts = [learner(public, sample, rng).cuts[0] for _ in range(draws)]
        counts.append(np.array([cuts.count(value) for value in (0.0, 2.0, 5.0, 8.0)]))
    assert counts[0].min() > 0
    for first, second in (counts, counts[::-1]):
        allowed = np.minimum(1.0, np.exp(epsilon) * (second + 5 * np.sqrt(second)) / draws)
        assert (first <= limit(draws, allowed)).all()
    assert counts[0][2] > counts[1][2]  # and the row does matter


def test_accurate_with_enough_public_rows_and_not_with_few():
    rng, errors = np.random.default_rng(0), {}
    for public in (4, 400):
        hard = ThresholdsOnAxes(rng.integers(0, 1001, 4).astype(float), 1000)
        model = PublicCutsLearner(1.0)(hard.draw(rng, public), hard.draw(rng, 8000), rng)
        errors[public] = hard.error(model.cuts)
        X, y = hard.draw(rng, 5000)
        assert np.mean(model.predict(X) != y) == pytest.approx(errors[public], abs=0.03)
    assert errors[400] < 0.03 < errors[4]


def test_the_threshold_hides_on_a_random_axis():
    public, private = column([3, 9], 6), column([1, 2, 7], 6)
    other = (column([50, 60], 55), column([51, 52, 57], 55))
    seen = set()
    for seed in range(20):
        learner = Recorder(6, 6, 6)
        amplified = ThresholdFromConjunctions(learner, 3)
        model = amplified(public, private, lambda rng: other, np.random.default_rng(seed))
        seen.add(model.place)
        (P, p), (X, y) = learner.given[0]
        assert (len(p), len(y)) == amplified.rows_of_learner(2, 3)
        assert ((X > 0).sum(axis=1) == 1).all()
        assert X[X[:, model.place] > 0, model.place].tolist() == [1, 2, 7]
        assert sorted(P[P > 0].tolist()) == [3, 9, 50, 50, 60, 60]
        # labelled by one conjunction: each axis by its own threshold
        cuts = np.full(3, 55.0)
        cuts[model.place] = 6.0
        assert (y == (cuts >= X).all(axis=1)).all()
        assert model.predict([[5.0], [6.0], [7.0]]).tolist() == [1, 1, 0]
    assert seen == {0, 1, 2}


@pytest.mark.parametrize("kind", [SemiReplicableClassifier, SemiPrivateClassifier])
def test_classifiers_with_a_pool_can_be_put_in(kind):
    """Any classifier with fit(X, y, pool) takes the place of the learner."""
    options = {"alpha": 0.4, "classes": [0, 1]}
    if kind is SemiPrivateClassifier:
        pytest.importorskip("opendp")
        options |= {"epsilon": 2.0, "n_keys": 1, "n_parts": 60}
    classifier = kind(Conjunctions(2, ("<=", "<=")), **options)
    amplified = ThresholdFromConjunctions(with_pool(classifier), 2)
    rng = np.random.default_rng(0)

    def rows(cut, rng):
        return tuple(column(rng.integers(1, 101, n), cut) for n in (15, 12_000))

    model = amplified(*rows(40, rng), lambda rng: rows(70, rng), rng)
    grid = np.arange(1.0, 101.0)[:, np.newaxis]
    assert np.mean(model.predict(grid) != (grid[:, 0] <= 40)) < 0.2


def test_public_rows_are_dummies():
    learner = Recorder(6)
    reduced = PrivateFromSemiPrivate(learner, public=3, private=3000)
    assert reduced.rows == 100
    X, y = column(np.arange(1, 101), 50)
    assert reduced((X, y), ([0.0], 1), np.random.default_rng(0)) is not None
    (P, p), (mixed, labels) = learner.given[0]
    assert P.tolist() == [[0.0]] * 3
    assert p.tolist() == [1] * 3
    assert len(labels) == 3000
    used = int((mixed > 0).sum())
    assert 0 < used <= 100
    assert mixed[:used, 0].tolist() == X[:used, 0].tolist()


def test_it_says_when_rows_run_out():
    reduced = PrivateFromSemiPrivate(Recorder(6), public=1, private=10_000)
    few = column([1, 2, 3], 2)
    assert reduced(few, ([0.0], 1), np.random.default_rng(0)) is None


def test_refusals():
    with pytest.raises(ValueError, match="epsilon"):
        PublicCutsLearner(0.0)
    off = np.array([[1.0, 1.0]]), np.array([1])
    with pytest.raises(ValueError, match="on the axes"):
        PublicCutsLearner(1.0)(off, off, np.random.default_rng(0))
