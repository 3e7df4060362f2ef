"""Reductions: what the learner sees, what it costs, and when it gives up."""

import numpy as np
import pytest

from replearn.randomness.key import SharedKey
from replearn_lab.coin_runs import paired_predictions
from replearn_lab.distributions import Marginals, PlantedCoins, RandomBias
from replearn_lab.experiment import Bench
from replearn_lab.learning import TableLearner, keyed, vote_learner
from replearn_lab.marginals import SignsFromSemiReplicable
from replearn_lab.reductions import (
    Coin,
    CoinTesterFromApproximate,
    CoinTesterFromPointwise,
    CoinTesterFromRealizable,
)

KINDS = {
    CoinTesterFromPointwise: {"d": 5, "alpha": 0.3, "rows": 2560, "rho": 0.1},
    CoinTesterFromRealizable: {"d": 5, "alpha": 0.005, "rows": 2560, "rho": 0.1},
    CoinTesterFromApproximate: {"d": 11, "alpha": 0.3, "rows": 2560, "rho": 0.1},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


class Recorder:
    """A learner that keeps what it was given, and labels points by majority."""

    def __init__(self):
        self.samples = []

    def __call__(self, X, y, key):
        self.samples.append((X, y))
        return TableLearner().fit(X, y)


def run(tester, bias, key, seed):
    rng = np.random.default_rng(seed)
    return tester(Coin(bias, rng), SharedKey(key), rng)


@every_kind
def test_throws_are_counted_and_as_many_as_expected(kind):
    tester = kind(keyed(TableLearner()), **KINDS[kind])
    answers = [run(tester, 0.0, key, key) for key in range(60)]
    spread = np.sqrt(tester.expected_throws / 60)
    assert np.mean([a.throws for a in answers]) == pytest.approx(
        tester.expected_throws, abs=5 * spread
    )
    assert tester.limit_chance < 1e-12
    assert not any(a.gave_up for a in answers)


@every_kind
def test_the_learner_sees_the_stated_distribution(kind):
    learner = Recorder()
    tester = kind(learner, **{**KINDS[kind], "rows": 40_000})
    answer = run(tester, 0.8, "k", 1)
    (X, y), coins = learner.samples[0], answer.coins
    assert isinstance(coins, PlantedCoins)
    biases = coins.biases.copy()
    assert biases[answer.planted] == 0.0
    biases[answer.planted] = 0.8
    places = X[:, 0].astype(int)
    counts = np.bincount(places)
    assert counts / len(y) == pytest.approx(coins.masses, abs=0.02)
    assert np.bincount(places, 2.0 * y - 1.0) / counts == pytest.approx(biases, abs=0.1)
    assert answer.throws == counts[answer.planted]
    assert answer.answer == 1


@every_kind
def test_runs_share_the_place_and_nothing_else(kind):
    tester = kind(Recorder(), **KINDS[kind])
    one, two = run(tester, 0.0, "k", 1), run(tester, 0.0, "k", 2)
    assert one.planted == two.planted
    assert (one.coins.biases == two.coins.biases).all()
    assert (tester.learner.samples[0][0] != tester.learner.samples[1][0]).any()
    others = {run(tester, 0.0, key, 1).planted for key in range(12)}
    assert len(others) > 1


@every_kind
def test_the_limit_of_throws(kind):
    """A small constant makes the tester give up: answer 1, one throw beyond the limit."""
    learner = Recorder()
    tester = kind(learner, **{**KINDS[kind], "rows": 400}, limit_factor=0.01)
    answer = run(tester, -1.0, "k", 0)
    assert answer.gave_up
    assert answer.answer == 1
    assert answer.throws == tester.most_throws + 1
    assert learner.samples == []
    assert tester.limit_chance > 0.999


def test_the_approximate_reduction_gives_up_where_the_limit_is_reached():
    class Pointwise(CoinTesterFromPointwise):
        limit = 40.0

    class Approximate(CoinTesterFromApproximate):
        limit = 40.0

    made = [kind(Recorder(), 5, 0.3, 400, 0.1) for kind in (Pointwise, Approximate)]
    assert [tester.most_throws for tester in made] == [40, 39]


def test_constants_of_the_paper():
    learner = Recorder()
    pointwise = CoinTesterFromPointwise(learner, 5, 0.3, 1100, 0.1)
    assert pointwise.expected_throws == 100
    assert pointwise.limit == pytest.approx(200 * 220 * np.log(10))
    realizable = CoinTesterFromRealizable(learner, 5, 0.005, 1000, 0.1)
    assert realizable.limit == pytest.approx(200 * 1.0 * np.log(10))
    approximate = CoinTesterFromApproximate(learner, 10, 0.3, 1000, 0.1)
    assert approximate.limit == pytest.approx(10 * 100 * np.log(10))


def test_refusals():
    with pytest.raises(ValueError, match="d=4 must be odd"):
        CoinTesterFromRealizable(Recorder(), 4, 0.005, 100, 0.1)
    with pytest.raises(ValueError, match="rho"):
        CoinTesterFromPointwise(Recorder(), 4, 0.005, 100, 1.0)


def test_signs_from_a_semi_replicable_learner():
    seen = []

    def learner(X, y, pool, key):
        seen.append((X, y, pool, key))
        return TableLearner().fit(X, y)

    points = np.arange(4.0)[:, np.newaxis]
    reduction = SignsFromSemiReplicable(learner, points, rows=4000, pool=25)
    coins = Marginals(np.array([0.5, -0.5, 0.9, -0.9]))
    answers = [reduction(coins, SharedKey("k"), np.random.default_rng(run)) for run in (0, 1)]
    (X, y, pool, key), other = seen
    assert (pool == other[2]).all()  # shared, as the key is
    assert key == other[3]
    assert (other[0] != X).any()
    assert answers[0].signs.tolist() == [1, -1, 1, -1]
    counts = np.bincount(X[:, 0].astype(int))
    assert answers[0].vectors == counts.max()
    assert np.bincount(X[:, 0].astype(int), 2.0 * y - 1.0) / counts == pytest.approx(
        coins.biases, abs=0.15
    )


def test_signs_are_given_up_when_vectors_run_out():
    reduction = SignsFromSemiReplicable(None, np.zeros((4, 1)), rows=400, pool=5, factor=0.5)
    answer = reduction(Marginals(np.zeros(4)), SharedKey("k"), np.random.default_rng(0))
    assert answer.gave_up
    assert answer.signs.tolist() == [1, 1, 1, 1]
    assert answer.vectors == reduction.vectors == 50


@pytest.mark.statistical
def test_the_planted_point_flips_like_any_other():
    """The learner cannot tell the unknown coin from the others: 6 standard errors at most."""
    tester = CoinTesterFromApproximate(vote_learner(288, 8), 9, 0.3, 288, 0.1)
    bench = Bench(SharedKey("planted"))
    pairs = paired_predictions(bench, tester, RandomBias(0.3).draw, 500, "pairs")
    differ = np.array([one.labels != two.labels for one, two in pairs])
    own = differ[np.arange(len(pairs)), [one.planted for one, _ in pairs]]
    spread = np.sqrt(own.mean() * (1 - own.mean()) / len(pairs))
    assert own.mean() == pytest.approx(differ.mean(), abs=6 * spread)
    assert 0.05 < own.mean() < 0.3
