"""Boosting by leaf sets: the scores of the model itself, whatever the size of a batch."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from replearn.fastpaths.bit_trees import BitTrees, are_expected, join_tables, node_tables


def test_boosting_adds_a_last_single_row_like_all_others():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 4))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    model = HistGradientBoostingClassifier(max_iter=30, min_samples_leaf=5).fit(X, y)
    nodes = join_tables(node_tables(model))
    inner = nodes[nodes["is_leaf"] == 0]
    points = [np.unique(inner["num_threshold"][inner["feature_idx"] == f]) for f in range(4)]
    ranks = np.stack([points[f].searchsorted(X[:, f]) for f in range(4)])
    trees = BitTrees(model, points)
    alone = [trees.raw_scores(ranks[:, [row]])[0, 0] for row in range(100)]
    assert np.array_equal(alone, model.decision_function(X[:100]))


def test_node_tables_of_another_make_are_not_read():
    assert not are_expected([np.zeros(1, dtype=[("something", float)])])


def expected_tables():
    X = np.random.default_rng(6).normal(size=(300, 3))
    model = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5).fit(X, X[:, 0] > 0)
    return [table.copy() for table in node_tables(model)]


def test_node_tables_that_cannot_be_leaf_sets_are_not_read():
    assert are_expected(expected_tables())
    for field, value in (("is_categorical", 1), ("left", 0), ("right", 10_000)):
        tables = expected_tables()
        tables[1][field][0] = value
        assert not are_expected(tables), field


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
