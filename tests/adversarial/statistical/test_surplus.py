"""Labs with more rows than the plan counts: which rows are left out must not break the promise.

Two labs have different numbers of rows, N1 and N2, and rows that repeat: only there does a keyed
choice of rows tie the two labs together, since equal rows are chosen alike. Pairs of runs are
independent, so flips are binomial, and the promise is refuted when they exceed a limit that chance
exceeds with probability 1e-8.
"""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import clone

from replearn import PointwiseReplicableClassifier
from replearn.bounds.flips import flip_curve, flip_supremum
from replearn.bounds.laws import arcsine_law
from replearn.guarantees.planner import plan
from replearn.learners import selection, training
from replearn.randomness.key import SharedKey
from tests.factories import Choosing, limit
from tests.populations import FirstRowLearner, ParityLearner

T, M = 6, 2
LAW = arcsine_law(T, 0.9999)
PLAN = plan(n=T * M, law=LAW, n_partitions=1, classes=[0, 1])
RHO = flip_supremum(LAW)
GRID = np.linspace(0.01, 0.5, 491)
PEAK = float(GRID[np.argmax(flip_curve(LAW, GRID))])
ODD = (1 - np.sqrt(1 - 2 * PEAK)) / 2  # two rows have an odd sum with the chance of the peak
SIZES = [(T * M + 1, 2 * T * M), (2 * T * M, 5 * T * M), (3 * T * M, 3 * T * M)]
pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings(
        "ignore::replearn.exceptions.ConstantBlocksWarning"
    ),  # blocks of two rows
]


def draw(rng, n, chance, n_values):
    """Rows of few distinct values; each label is 1 with the same chance."""
    return rng.integers(0, n_values, (n, 1)).astype(float), (rng.random(n) < chance).astype(int)


def vote_flips(learner, chance, sizes, n_pairs, n_values=1, seed=0):
    rng, flips = np.random.default_rng(seed), 0
    follower = PointwiseReplicableClassifier(learner, plan=PLAN)
    for pair in range(n_pairs):
        answers = set()
        for n in sizes:
            model = clone(follower).set_params(shared_key=pair)
            answers.add(model.fit(*draw(rng, n, chance, n_values)).predict([[0.0]])[0])
        flips += len(answers) == 2
    return flips


@pytest.mark.statistical
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("n_values", [1, 3])
@pytest.mark.parametrize(
    ("learner", "chance"),
    [(FirstRowLearner(), PEAK), (ParityLearner(), ODD)],
    ids=["row", "parity"],
)
def test_votes_of_labs_with_a_surplus_keep_the_promise(learner, chance, n_values, sizes):
    n_pairs = 400
    flips = vote_flips(learner, chance, sizes, n_pairs, n_values)
    assert 0 < flips <= limit(n_pairs, RHO)


@pytest.mark.statistical
def test_leaving_out_rows_by_value_breaks_the_promise_of_votes(monkeypatch):
    """The lab with four times as many rows has enough ones to keep nothing else."""

    def ones_first(sample, key, made):
        rows = np.argsort(-sample.codes, kind="stable")[: made.n]
        return type(sample)(sample.X[rows], sample.codes[rows], None)

    sizes, n_pairs = (T * M, 4 * T * M), 60
    assert vote_flips(FirstRowLearner(), PEAK, sizes, n_pairs) <= limit(n_pairs, RHO)
    monkeypatch.setattr(training.Sample, "planned", ones_first)
    assert vote_flips(FirstRowLearner(), PEAK, sizes, n_pairs) > limit(n_pairs, RHO)


MODELS = {"no": lambda X: np.zeros(len(X), int), "yes": lambda X: np.ones(len(X), int)}
CHOSEN_BY = 40
CHOICE = plan("selection", n=CHOSEN_BY, n_hypotheses=2, rho=0.2, alpha=0.9, beta=0.9)
CHOICE_RHO = CHOICE.rho


def choice_flips(sizes, n_pairs, seed=0):
    rng, flips = np.random.default_rng(seed), 0
    for pair in range(n_pairs):
        selector = Choosing(MODELS, plan=CHOICE, shared_key=pair)
        # both models are equally good: nothing but chance decides
        chosen = {selector.fit(*draw(rng, n, 0.5, 1)).selected_name_ for n in sizes}
        flips += len(chosen) == 2
    return flips


@pytest.mark.statistical
@pytest.mark.parametrize("sizes", [(41, 80), (80, 200), (120, 120)])
def test_choices_of_labs_with_a_surplus_keep_the_promise(sizes):
    n_pairs = 2000
    assert 0 < choice_flips(sizes, n_pairs) <= limit(n_pairs, CHOICE_RHO)


@pytest.mark.statistical
def test_leaving_out_rows_by_value_breaks_the_promise_of_choices(monkeypatch):
    sizes, n_pairs = (CHOSEN_BY, 3 * CHOSEN_BY), 200
    assert choice_flips(sizes, n_pairs) <= limit(n_pairs, CHOICE_RHO)
    monkeypatch.setattr(selection, "sample_order", lambda key, X, codes: np.argsort(codes))
    assert choice_flips(sizes, n_pairs) > limit(n_pairs, CHOICE_RHO)


def kept(key, n):
    """Rows 0, 1, ..., n - 1 that a lab with n rows keeps."""
    X = np.arange(float(n))[:, np.newaxis]
    sample = training.Sample(X, np.zeros(n, dtype=np.intp), None)
    return sample.planned(key, plan(n=1000, n_partitions=1).design).X


def test_labs_choose_independently_if_their_numbers_of_rows_differ_and_alike_if_not():
    """What the proof uses; rows that the labs have in common show it."""
    overlap = len(np.intersect1d(kept(SharedKey(0), 3000), kept(SharedKey(0), 3001)))
    assert 250 < overlap < 420  # a third of a third would be 333 of 1000
    shifted = np.arange(1.0, 3001)[:, np.newaxis]
    sample = training.Sample(shifted, np.zeros(3000, dtype=np.intp), None)
    other = sample.planned(SharedKey(0), plan(n=1000, n_partitions=1).design).X
    assert len(np.intersect1d(kept(SharedKey(0), 3000), other)) > 990


def kept_together(n, ones, sizes):
    """Joint law of the ones that two labs keep under one key, given how many ones they have.

    Each keeps the first n of its rows in one random order of all items (value, occurrence). An
    item belongs to both labs or, where one has more rows of that value, to that lab alone.
    """
    unseen = []
    for one, two in (ones, np.subtract(sizes, ones)):
        both = min(one, two)
        unseen += [both, one - both, two - both]
    law = np.zeros((n + 1, n + 1))
    states = {(tuple(map(int, unseen)), (0, 0), (0, 0)): 1.0}
    while states:
        following = {}
        for (left, rows, found), weight in states.items():
            if min(rows) == n:
                law[found] += weight
                continue
            for place in np.flatnonzero(left):
                takes = [rows[lab] < n and place % 3 != 2 - lab for lab in (0, 1)]
                state = (
                    tuple(count - (other == place) for other, count in enumerate(left)),
                    tuple(rows[lab] + takes[lab] for lab in (0, 1)),
                    tuple(found[lab] + (takes[lab] and place < 3) for lab in (0, 1)),
                )
                chance = weight * left[place] / sum(left)
                following[state] = following.get(state, 0.0) + chance
        states = following
    return law


@pytest.mark.parametrize("chance", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("sizes", [(3, 4), (3, 6), (4, 5)])
def test_one_key_for_all_numbers_of_rows_does_no_harm_in_tiny_worlds(sizes, chance):
    """No proof, but a covariance that is never negative, whatever the learner makes of the rows."""
    n = 2
    law = np.zeros((n + 1, n + 1))
    for ones in np.ndindex(sizes[0] + 1, sizes[1] + 1):
        weight = np.prod(binom.pmf(ones, sizes, chance))
        law += weight * kept_together(n, ones, sizes)
    alone = binom.pmf(np.arange(n + 1), n, chance)
    np.testing.assert_allclose([law.sum(axis=0), law.sum(axis=1)], [alone, alone])
    covariance = (law + law.T) / 2 - np.outer(alone, alone)
    assert np.linalg.eigvalsh(covariance).min() > -1e-12
    assert np.trace(covariance) > 0.01  # the labs are tied together: there was something to test
