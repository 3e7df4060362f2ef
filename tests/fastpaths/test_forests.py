"""Forests stop when a row is decided, rows are ordered: the votes are those of all trees."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import replearn.fastpaths  # noqa: F401  (registers the plug-ins)
from replearn.execution.plugins import plain_loop
from replearn.execution.voting import BlockEnsemble
from replearn.fastpaths import trees
from replearn.fastpaths.trees import Turns, forest_predictions, frequent_turns

N_ROWS = 3000


def table(n_classes, missing=False):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(N_ROWS, 6)).round(1)
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=N_ROWS)
    y = np.minimum(np.digitize(score, np.linspace(-1, 1, n_classes)), n_classes - 1)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


FORESTS = {
    "pure leaves": RandomForestClassifier(20, random_state=0),
    "shares in leaves": RandomForestClassifier(20, min_samples_leaf=15, random_state=0),
    "even number of stumps": ExtraTreesClassifier(10, max_depth=1, random_state=0),
    "weighted": RandomForestClassifier(9, class_weight="balanced", max_depth=3, random_state=0),
    "one tree": RandomForestClassifier(1, random_state=0),
    "two trees": RandomForestClassifier(2, random_state=0),
}


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", FORESTS)
def test_a_forest_that_stops_predicts_what_it_predicts(name, n_classes):
    X, y = table(n_classes)
    forest = FORESTS[name].fit(X[:400], y[:400])
    rows = X.astype(np.float32)
    np.testing.assert_array_equal(
        forest.classes_[forest_predictions(forest, rows)], forest.predict(X)
    )


def test_most_rows_are_decided_before_the_last_tree(monkeypatch):
    X, y = table(2)
    forest = RandomForestClassifier(50, max_depth=4, random_state=0).fit(X[:400], y[:400])
    n_rows = []
    decide = trees._lead

    def counted(shares):
        n_rows.append(len(shares))
        return decide(shares)

    monkeypatch.setattr(trees, "_lead", counted)
    forest_predictions(forest, X.astype(np.float32))
    assert n_rows[0] == N_ROWS
    assert n_rows[-1] < N_ROWS / 2


def stump(labels):
    """Return a tree that predicts the first label for 0 and the second for 1."""
    return DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0]], labels)


def test_a_lead_that_missing_trees_can_make_up_is_not_decided():
    rows = np.array([[0.0], [1.0]], dtype=np.float32)
    forest = RandomForestClassifier(10, random_state=0).fit(rows, [0, 1])
    forest.estimators_ = [stump([1, 0])] * 5 + [stump([0, 1])] * 5
    assert forest_predictions(forest, rows).tolist() == [0, 0]  # ties: the first class
    forest.estimators_ = [stump([1, 0])] * 6 + [stump([0, 1])] * 4
    assert forest_predictions(forest, rows).tolist() == [1, 0]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("base", [RandomForestClassifier(7), DecisionTreeClassifier()], ids=str)
def test_votes_on_ordered_rows_are_those_of_the_plain_loop(base, missing, monkeypatch):
    monkeypatch.setattr(trees, "MIN_TREES_TO_ORDER", 4)
    X, y = table(3, missing)
    models = [
        type(base)(**{**base.get_params(), "random_state": number}).fit(X[rows], y[rows])
        for number, rows in enumerate(np.arange(1000).reshape(4, 250))
    ]
    ensemble = BlockEnsemble(models, [0, 1, 2], n_partitions=2)
    assert len(X) >= trees.MIN_ROWS_TO_ORDER
    with plain_loop():
        expected = ensemble.vote_counts(X)
    np.testing.assert_array_equal(ensemble.vote_counts(X), expected)


def test_turns_are_those_of_most_rows():
    X, y = table(2)
    y = (X[:, 3] > 0.25).astype(int)
    models = [DecisionTreeClassifier(max_depth=1).fit(X[:500], y[:500])]
    turns = frequent_turns(models)
    assert turns.features.tolist() == [3]
    np.testing.assert_allclose(turns.thresholds, 0.25, atol=0.06)
    order = turns.order(X.astype(np.float32))
    assert sorted(order) == list(range(N_ROWS))
    assert (np.diff((X[order, 3] > 0.25).astype(int)) != 0).sum() == 1


def test_trees_without_a_split_give_some_order():
    constant = DecisionTreeClassifier(min_samples_leaf=400).fit(*(part[:500] for part in table(2)))
    turns = frequent_turns([constant])
    assert sorted(turns.order(np.zeros((3, 6), dtype=np.float32))) == [0, 1, 2]


def test_more_turns_than_bits_of_a_byte_are_not_taken():
    assert trees.TURNS_TO_ORDER <= 8
    wide = Turns(np.arange(8), np.zeros(8))
    assert len(wide.order(np.ones((5, 8), dtype=np.float32))) == 5
