"""Blocks stop voting on a row when the missing votes cannot change its prediction."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import replearn.execution.voting
from replearn import PointwiseReplicableClassifier
from replearn.execution.constant import ConstantVote
from replearn.execution.plugins import plain_loop
from replearn.execution.voting import BlockEnsemble
from replearn.learners.vote import below_law
from tests.factories import voting, whole_models

X, Y = make_classification(1200, 6, flip_y=0.2, random_state=0)
FOREST = RandomForestClassifier(3, max_depth=4)
BOOSTING = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)


class Counted(ClassifierMixin, BaseEstimator):
    """Predicts the sign of the first feature, and counts the rows."""

    n_predicted = 0

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        Counted.n_predicted += len(X)
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.fixture(autouse=True)
def stop_on_few_rows(monkeypatch):
    monkeypatch.setattr(replearn.execution.voting, "MIN_ROWS_TO_STOP", 2)


def all_votes(monkeypatch):
    monkeypatch.setattr(BlockEnsemble, "stops_early", lambda self, X: False)


def fitted(base, **params):
    params = {"n_blocks": 22, "n_partitions": 2, "shared_key": "stop", **params}
    return voting(base, **params).fit(X, Y)


@pytest.mark.parametrize(
    ("base", "params"),
    [
        (DecisionTreeClassifier(max_depth=3), {}),
        (FOREST, {}),
        (BOOSTING, {}),
        (make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3)), {}),
        (DecisionTreeClassifier(max_depth=3), {"n_partitions": 1}),
        (DecisionTreeClassifier(max_depth=3), {"threshold": 0.2}),
        (FOREST, {"n_jobs": 2}),
        (BOOSTING, {"n_jobs": 2, "n_partitions": 3}),
        (make_pipeline(StandardScaler(), FOREST), {"n_partitions": 3}),
        (make_pipeline(SimpleImputer(), BOOSTING), {"n_partitions": 3}),
    ],
)
def test_predictions_are_those_of_all_votes(base, params, monkeypatch):
    model = fitted(base, **params)
    assert model._ensemble.stops_early(X)
    few = model.predict(X)
    with plain_loop():
        assert (model.predict(X) == few).all()
    all_votes(monkeypatch)
    assert (model.predict(X) == few).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_models_of_several_kinds_vote_on_their_own_tables(n_jobs, monkeypatch):
    """One class, a product, trees: what takes no time votes first."""
    monkeypatch.setattr(replearn.execution.voting, "MIN_ROWS_PER_TASK", 100)
    kinds = [ConstantVote(1), LogisticRegression(), DecisionTreeClassifier(max_depth=3), BOOSTING]
    models = [
        kinds[number % 4] if number % 4 == 0 else clone(kinds[number % 4]).fit(X[start:], Y[start:])
        for number, start in enumerate(range(0, 1040, 26))
    ]
    ensemble = BlockEnsemble(models, [0, 1], n_partitions=2)
    assert ensemble.stops_early(X)
    votes = ensemble.vote_counts(X)
    never = ensemble.votes_until_decided(X, lambda votes, rows, left: left > 0, n_jobs=n_jobs)
    assert (never == votes).all()
    first = ensemble.votes_until_decided(X, lambda votes, rows, left: left > 99, n_jobs=n_jobs)
    quick = [model for number, model in enumerate(models) if number % 4 < 2]
    assert (first == BlockEnsemble(quick, [0, 1], n_partitions=2).vote_counts(X)).all()


def test_ids_frames_and_other_promises(monkeypatch):
    ids = [f"customer {number}" for number in range(len(X))]
    table = pd.DataFrame(X).add_prefix("x")
    model = PointwiseReplicableClassifier(FOREST, n_blocks=22, max_fits=44, shared_key="stop")
    model.fit(table, Y)
    whole = whole_models(FOREST, gamma=0.3, rho=0.5, n_blocks=22, n_partitions=2).fit(X, Y)
    few = (model.predict(table, ids=ids), whole.predict(X))
    all_votes(monkeypatch)
    assert (model.predict(table, ids=ids) == few[0]).all()
    assert (whole.predict(X) == few[1]).all()


def test_blocks_stop_where_they_agree():
    model = fitted(Counted())
    Counted.n_predicted = 0
    model.predict(X)
    few = Counted.n_predicted
    Counted.n_predicted = 0
    model.predict_proba(X)
    # Rows on which all agree are decided after 40 to 60 % of the votes, unless their threshold is
    # near 0 or 1.
    assert few < 0.75 * Counted.n_predicted


def test_models_that_vote_in_one_product_do_not_stop():
    assert not fitted(LogisticRegression())._ensemble.stops_early(X)


@pytest.mark.parametrize("n_partitions", [1, 2])
def test_decided_is_what_no_completion_changes(n_partitions):
    """Every way to complete the votes of six blocks, thresholds at and beside every step."""
    model = fitted(
        DecisionTreeClassifier(max_depth=2), n_blocks=6, rho=0.3, n_partitions=n_partitions
    )
    rule = model._vote().rule
    table = rule.law.table
    assert (np.diff(table) >= 0).all()
    sums = {sum(steps) for steps in itertools.combinations_with_replacement(table, n_partitions)}
    edges = np.array(sorted(sums)) / (n_partitions * 2.0**30)
    thresholds = np.unique(np.clip([edges, edges - 2.0**-53, edges + 2.0**-53], 0, 1 - 2.0**-53))
    every = range(4)
    votes = np.array(list(itertools.product(every, repeat=n_partitions)), dtype=np.int32)
    rows = np.repeat(votes, len(thresholds), axis=0)
    noise = np.tile(thresholds, len(votes))

    class OneSegment:
        def votes_until_decided(self, X, is_open, n_jobs):
            return is_open(rows, np.arange(len(rows)), np.full_like(rows, 3))

    is_open = rule.votes_until_decided(OneSegment(), None, noise, None)
    decided = ~is_open.any(axis=1)
    completions = [
        rule.predictions(rows + np.array(more, dtype=np.int32), noise)
        for more in itertools.product(every, repeat=n_partitions)
    ]
    same = (np.array(completions) == completions[0]).all(axis=0)
    assert (decided == same).all()
    assert decided.any()
    assert not decided.all()
    changes = table[rows] < table[rows + 3]
    assert (is_open == (changes & ~decided[:, np.newaxis])).all()
    assert (
        rule.predictions(rows, noise)
        == below_law(noise, table[rows].sum(axis=1, dtype=np.int64), n_partitions)
    ).all()
