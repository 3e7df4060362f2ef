"""A few rows walk all trees at once: the same votes as one tree after the other."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import replearn.fastpaths  # noqa: F401  (registers the plug-ins)
from replearn.execution import BlockEnsemble, plain_loop
from replearn.fastpaths import boosting, packed_trees, pipelines, trees
from replearn.fastpaths.packed_trees import FEW_ROWS
from replearn.tables.encoder import TableEncoder

N_MODELS, N_ROWS = 12, 900


def table(n_classes):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N_ROWS, 6)).round(1)  # many values stand exactly at a border
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.digitize(np.nan_to_num(X[:, 0]) + rng.normal(size=N_ROWS), np.linspace(-1, 1, n_classes))
    return X, np.minimum(y, n_classes - 1)


def frame(n_classes):
    X, y = table(n_classes)
    columns = pd.DataFrame(X, columns=list("abcdef"))
    towns = np.array(["Ulm", "Bern", None], dtype=object)
    return columns.assign(town=towns[np.arange(N_ROWS) % 3]), y


LEARNERS = {
    "trees": DecisionTreeClassifier(max_depth=9, random_state=0),
    "random trees": ExtraTreeClassifier(random_state=0),
    "stumps": DecisionTreeClassifier(max_depth=1, random_state=0),
    "constants": DecisionTreeClassifier(max_depth=1, min_samples_leaf=60, random_state=0),
    "boosting": HistGradientBoostingClassifier(
        max_iter=7, min_samples_leaf=3, early_stopping=True, random_state=0
    ),
}


def panel(learner, X, y, n_classes):
    models = []
    for part in np.array_split(np.random.default_rng(1).permutation(N_ROWS), N_MODELS):
        rows = X.iloc[part].reset_index(drop=True) if hasattr(X, "iloc") else X[part]
        models.append(make_one(learner, X).fit(rows, y[part]))
    return BlockEnsemble(models, np.arange(n_classes), n_partitions=3)


def make_one(learner, X):
    encoder = TableEncoder(for_trees=True)
    return make_pipeline(encoder, clone(learner)) if hasattr(X, "iloc") else clone(learner)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("make", [table, frame], ids=["array", "frame"])
@pytest.mark.parametrize("name", LEARNERS)
def test_votes_are_those_of_the_plain_loop(name, make, n_classes):
    X, y = make(n_classes)
    models = panel(LEARNERS[name], X, y, n_classes)
    rows = X.iloc if hasattr(X, "iloc") else X
    with plain_loop():
        expected = models.vote_counts(rows[:64])
    for size in (1, 7, FEW_ROWS, FEW_ROWS + 1):
        for start in range(0, 64 - size, 16):
            few = models.vote_counts(rows[start : start + size])
            np.testing.assert_array_equal(few, expected[start : start + size])


def test_few_rows_take_the_packed_way_and_many_do_not(monkeypatch):
    calls = []
    leaves = packed_trees.PackedTrees.leaves

    def counted(self, features):
        calls.append(features.shape)
        return leaves(self, features)

    monkeypatch.setattr(packed_trees.PackedTrees, "leaves", counted)
    for make in (table, frame):
        for name in ("trees", "boosting"):
            X, y = make(2)
            models = panel(LEARNERS[name], X, y, 2)
            X = X.dropna() if hasattr(X, "dropna") else X[~np.isnan(X).any(axis=1)]
            calls.clear()
            models.vote_counts(X[:1])
            assert len(calls) == 1, (make, name)
            models.vote_counts(X[: FEW_ROWS + 1])
            assert len(calls) == 1, (make, name)


@pytest.mark.parametrize("module", [trees, boosting])
def test_too_many_nodes_are_not_packed(monkeypatch, module):
    X, y = frame(2)
    name = "trees" if module is trees else "boosting"
    models = panel(LEARNERS[name], X, y, 2)
    expected = models.vote_counts(X[:3])
    monkeypatch.setattr(module, "MAX_NODES", 10)
    models = panel(LEARNERS[name], X, y, 2)
    np.testing.assert_array_equal(models.vote_counts(X[:3]), expected)
    [predictor] = models._grouped(False)
    assert isinstance(predictor, pipelines.EncodedPredictor)
    assert predictor._packed is None


@pytest.mark.parametrize("make", [table, frame], ids=["array", "frame"])
def test_a_tree_refuses_in_its_own_words(make):
    X, y = make(2)
    models = panel(LEARNERS["trees"], X, y, 2)
    models.vote_counts(X[:1])
    if hasattr(X, "iloc"):  # the encoder brings what is too large into range
        X.loc[0, "b"] = 1e300
        with plain_loop():
            expected = models.vote_counts(X[:1])
        np.testing.assert_array_equal(models.vote_counts(X[:1]), expected)
        return
    X[0, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        models.vote_counts(X[:1])
