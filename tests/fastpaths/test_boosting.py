"""Boosting by leaf sets: the scores of the model itself, whatever the size of a batch."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from replearn.fastpaths import bit_trees
from replearn.fastpaths.bit_trees import BitTrees, are_expected, join_tables, node_tables


def sample(seed, n=400, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[rng.random(size=X.shape) < 0.1] = np.nan
    X[:, 3] = rng.integers(0, 3, n)
    noisy = np.nan_to_num(X[:, 0]) + rng.normal(size=n)
    return X, np.searchsorted(np.arange(1, n_classes) - n_classes / 2, noisy)


def test_boosting_adds_a_last_single_row_like_all_others():
    X, y = sample(5)
    model = HistGradientBoostingClassifier(max_iter=30, min_samples_leaf=5).fit(X, y)
    trees = BitTrees([model])
    alone = [next(trees.raw_scores(trees.ranks(X[[row]])))[0, 0] for row in range(100)]
    assert np.array_equal(alone, model.decision_function(X[:100]))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"max_leaf_nodes": 32, "min_samples_leaf": 1},
        {"max_leaf_nodes": 33, "min_samples_leaf": 1},
        {"max_leaf_nodes": 64, "min_samples_leaf": 1},
        {"max_depth": 1},
        {"min_samples_leaf": 300},
    ],
    ids=str,
)
def test_the_scores_are_those_of_the_models(params, n_classes):
    models = [
        HistGradientBoostingClassifier(max_iter=12, **params).fit(*sample(seed, 900, n_classes))
        for seed in range(3)
    ]
    assert all(are_expected(node_tables(model)) for model in models)
    X, _ = sample(9, 3000)
    X[0] = [np.inf, -np.inf, np.nan, 0.0]
    X[1:500] = sample(0, 900, n_classes)[0][1:500]  # values at split points' sides
    trees = BitTrees(models)
    ranks = trees.ranks(X)
    for model, scores in zip(models, trees.raw_scores(ranks), strict=True):
        expected = model.decision_function(X).reshape(len(X), -1)
        assert np.array_equal(scores, expected)
    last = next(trees.part(2, 3).raw_scores(ranks[:50]))
    assert np.array_equal(last, scores[:50])


@pytest.mark.parametrize("max_sets", [1, 7 * 12 * 3, 2**20])
def test_the_scores_do_not_depend_on_how_many_features_are_gathered(monkeypatch, max_sets):
    monkeypatch.setattr(bit_trees, "ROWS_PER_CHUNK", 7)
    monkeypatch.setattr(bit_trees, "MAX_SETS", max_sets)
    model = HistGradientBoostingClassifier(max_iter=12).fit(*sample(1))
    X, _ = sample(2, 100)
    trees = BitTrees([model])
    for n_rows in (1, 7, 8, 100):
        scores = next(trees.raw_scores(trees.ranks(X[:n_rows])))
        assert np.array_equal(scores[:, 0], model.decision_function(X[:n_rows]))


def test_node_tables_of_another_make_are_not_read():
    assert not are_expected([np.zeros(1, dtype=[("something", float)])])


def expected_tables():
    X = np.random.default_rng(6).normal(size=(300, 3))
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5).fit(X, X[:, 0] > 0)
    return [table.copy() for table in node_tables(model)]


def test_node_tables_that_cannot_be_leaf_sets_are_not_read():
    assert are_expected(expected_tables())
    for field, value in (
        ("is_categorical", 1),
        ("left", 0),
        ("left", 2),
        ("right", 1),
        ("right", 10_000),
        ("is_leaf", 1),
    ):
        tables = expected_tables()
        tables[1][field][0] = value
        assert not are_expected(tables), field


def test_trees_in_another_order_are_not_read():
    """Level by level, the leaves on one side of a node are no interval."""
    tables = expected_tables()
    tree = np.zeros(7, dtype=tables[0].dtype)
    tree["is_leaf"] = [0, 0, 0, 1, 1, 1, 1]
    tree["left"] = [1, 3, 5, 0, 0, 0, 0]
    tree["right"] = [2, 4, 6, 0, 0, 0, 0]
    assert not are_expected([*tables, tree])
    tree["is_leaf"] = [0, 0, 1, 1, 0, 1, 1]
    tree["left"] = [1, 2, 0, 0, 5, 0, 0]
    tree["right"] = [4, 3, 0, 0, 6, 0, 0]
    assert are_expected([*tables, tree])
    tree["right"] = [3, 4, 0, 0, 6, 0, 0]
    assert not are_expected([*tables, tree])


@pytest.mark.parametrize(("n_leaves", "is_read"), [(64, True), (65, False)])
def test_trees_of_more_leaves_than_bits_are_not_read(n_leaves, is_read):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(2000, 2))
    model = HistGradientBoostingClassifier(
        max_iter=2, max_leaf_nodes=n_leaves, min_samples_leaf=1
    ).fit(X, rng.integers(0, 2, 2000))
    assert are_expected(node_tables(model)) == is_read


def test_tables_are_joined_node_by_node():
    tables = [np.array([(1, 2.0)], dtype="i8,f8"), np.array([(3, 4.0)], dtype="i8,f8")]
    assert join_tables(tables).tolist() == [(1, 2.0), (3, 4.0)]
