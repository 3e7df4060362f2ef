"""Boosting by leaf sets: the scores of the model itself, whatever the size of a batch."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from replearn.fastpaths.bit_trees import BitTrees, is_expected, join_tables, node_tables


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
    assert not is_expected(np.zeros(1, dtype=[("something", float)]))


def test_tables_are_joined_node_by_node():
    tables = [np.array([(1, 2.0)], dtype="i8,f8"), np.array([(3, 4.0)], dtype="i8,f8")]
    assert join_tables(tables).tolist() == [(1, 2.0), (3, 4.0)]
