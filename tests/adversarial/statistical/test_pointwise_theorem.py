"""The promise of PointwiseReplicableClassifier against populations made to break it.

Each population is attacked at one point by pairs of runs on fresh samples, each pair with a fresh
key. Pairs are independent, so the number of flips is binomial, and the promise is refuted when it
exceeds a limit that chance exceeds with probability 1e-8.
"""

import numpy as np
import pytest
from scipy.stats import binom

from replearn.bounds.flips import flip_curve, flip_supremum
from replearn.bounds.laws import arcsine_law, error_factor
from tests.factories import FALSE_ALARM, limit, voting
from tests.populations import (
    CoinLearner,
    FirstRowLearner,
    adversarial_populations,
    biased_labels,
)

T = 18
WIDTH = 0.9999


def _peak(law):
    grid = np.linspace(0.01, 0.5, 491)
    return float(grid[np.argmax(flip_curve(law, grid))])


LAW = arcsine_law(T, WIDTH)
RHO = flip_supremum(LAW)
POPULATIONS = adversarial_populations(_peak(LAW))


def count_flips(population, n_pairs, *, n=T * 4, keys=None, seed=0, **params):
    """Number of pairs of runs that answer the population's point differently."""
    rng = np.random.default_rng(seed)
    point = np.array([population.point])
    flips = 0
    for pair in range(n_pairs):
        answers = []
        for run in range(2):
            X, y = population.draw(rng, n)
            key = pair if keys is None else keys(pair, run)
            model = voting(
                population.learner,
                **({"law": LAW, "n_partitions": 1, "classes": [0, 1], "shared_key": key} | params),
            )
            answers.append(model.fit(X, y).predict(point)[0])
        flips += answers[0] != answers[1]
    return flips


pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings(
        "ignore::replearn.exceptions.ConstantBlocksWarning"
    ),  # blocks of a few rows
]


@pytest.mark.statistical
@pytest.mark.parametrize("population", POPULATIONS, ids=lambda p: p.name)
def test_flips_stay_below_rho_on_every_population(population):
    n_pairs = 600
    assert count_flips(population, n_pairs) <= limit(n_pairs, RHO)


@pytest.mark.parametrize("population", POPULATIONS[2:3], ids=lambda p: p.name)
def test_flips_stay_below_rho_where_it_is_tight(population):
    n_pairs = 70
    flips = count_flips(population, n_pairs)
    assert flips <= limit(n_pairs, RHO)
    assert flips > 0


@pytest.mark.statistical
def test_the_bound_is_attained_at_the_peak():
    """Not a bound with slack: the worst population comes close to it."""
    n_pairs = 1500
    flips = count_flips(POPULATIONS[2], n_pairs, seed=1)
    assert binom.cdf(flips, n_pairs, RHO) > FALSE_ALARM
    assert flips > 0.75 * RHO * n_pairs


@pytest.mark.statistical
@pytest.mark.parametrize("population", [POPULATIONS[2], POPULATIONS[8]], ids=lambda p: p.name)
def test_several_partitions_keep_the_promise(population):
    n_pairs = 300
    assert count_flips(population, n_pairs, n_partitions=3) <= limit(n_pairs, RHO)


@pytest.mark.statistical
def test_soft_votes_keep_their_own_promise():
    class Shy(FirstRowLearner):
        def predict_proba(self, X):
            share = 0.35 + 0.3 * self.label_
            return np.column_stack([np.full(len(X), 1 - share), np.full(len(X), share)])

    from dataclasses import replace

    shy = replace(POPULATIONS[1], learner=Shy())
    n_pairs = 300
    flips = count_flips(shy, n_pairs, vote="soft", law="uniform", width=0.5, n_blocks=T)
    from replearn.bounds.flips import flip_bound
    from replearn.bounds.laws import uniform_law

    assert flips <= limit(n_pairs, flip_bound(uniform_law(T, 0.5), "soft"))


# -- what the promise rests on: break it, and it breaks ----------------------------------------


@pytest.mark.statistical
def test_a_key_of_its_own_for_each_run_breaks_the_promise():
    n_pairs = 70
    flips = count_flips(POPULATIONS[1], n_pairs, keys=lambda pair, run: 2 * pair + run)
    assert flips > limit(n_pairs, RHO)


@pytest.mark.statistical
def test_a_fixed_threshold_breaks_the_promise():
    """Plain majority voting: at q = 1/2 two runs are two coins."""
    step = np.r_[np.zeros(T // 2), 0.5, np.ones(T // 2)]
    from replearn.bounds.laws import table_law

    n_pairs = 70
    flips = count_flips(POPULATIONS[1], n_pairs, law=table_law(step))
    assert flips > limit(n_pairs, RHO)


def test_blocks_of_unequal_size_break_the_promise(monkeypatch):
    """Spread the surplus over the blocks instead of dropping it, and n = 100 meets n = 150.

    With parity-free learners the size of a block can decide its vote: here a learner that answers
    1 iff its block has more than 5 rows.
    """

    class Size(FirstRowLearner):
        def _rule(self, X, y):
            return int(len(y) > 5)

    from replearn.learners import training

    def spread(key, points, y, n_blocks, block_size, **kwargs):
        return np.array_split(np.arange(len(y)), n_blocks)

    monkeypatch.setattr(training, "make_blocks", spread)
    rng = np.random.default_rng(0)
    flips = 0
    for pair in range(30):
        answers = []
        for n in (5 * T, 6 * T):
            X, y = biased_labels(0.5)(rng, n)
            model = voting(Size(), law=LAW, n_partitions=1, shared_key=pair)
            answers.append(model.fit(X, y).predict(np.zeros((1, 2)))[0])
        flips += answers[0] != answers[1]
    assert flips > limit(30, RHO)


def test_shared_seeds_make_a_learner_that_ignores_the_data_agree():
    """Blocks are large enough that none has one class only, where the label itself would vote."""
    coin = next(p for p in POPULATIONS if isinstance(p.learner, CoinLearner))
    assert count_flips(coin, 20, n=T * 60) == 0


# -- accuracy ----------------------------------------------------------------------------------


@pytest.mark.parametrize("q", [0.1, 0.3, 0.5])
def test_error_is_at_most_the_factor_times_the_mean_error_of_the_blocks(q):
    """Averaged over thresholds and given the votes, so without chance: an exact statement."""
    rng = np.random.default_rng(0)
    X, y = biased_labels(q)(rng, 40 * T)
    model = voting(FirstRowLearner(), law=LAW, n_partitions=2).fit(X, y)
    share = model.predict_proba(X[:1])[:, 1][0]
    answers_one = model.explain(X[:1]).response[0]
    for label, wrong, mean_error in ((0, answers_one, share), (1, 1 - answers_one, 1 - share)):
        assert wrong <= error_factor(LAW) * mean_error + 1e-9, label
