"""Votes: the same as the models' own, mapped to all classes, whatever a block has seen."""

import pickle
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from replearn.execution import voting
from replearn.execution.constant import ConstantVote
from replearn.execution.voting import BlockEnsemble, one_thread

N_TRAIN, N_TEST = 90, 1500


@pytest.fixture(autouse=True)
def _one_thread():
    """Keep boosting from waiting for threads on a busy machine."""
    with one_thread():
        yield


def draw(n, n_classes, seed=0):
    rng = np.random.default_rng([n, n_classes, seed])
    X = rng.normal(size=(n, 4)) * [1.0, 2.0, 0.2, 1.0] + [0.0, 4.0, 0.0, -3.0]
    X[:, 3] = np.round(X[:, 3])
    score = X[:, 0] + (X[:, 1] - 4) / 2 + rng.normal(size=n)
    return X, np.clip(np.floor(score + n_classes / 2), 0, n_classes - 1).astype(int)


def fitted(make, n_classes, n_models=4):
    models = []
    for seed in range(n_models):
        X, y = draw(N_TRAIN, n_classes, seed)
        models.append(make().fit(X, y))
    return models


def vote_counts(models, X, classes, n_partitions=1):
    return BlockEnsemble(models, classes, n_partitions).vote_counts(X)


def soft_scores(models, X, classes):
    return BlockEnsemble(models, classes).soft_scores(X)


def own_counts(models, X, n_classes):
    counts = np.zeros((len(X), n_classes), dtype=int)
    for model in models:
        np.add.at(counts, (np.arange(len(X)), model.predict(X)), 1)
    return counts


FAST = {
    "logistic": lambda: LogisticRegression(C=0.1),
    "ridge": RidgeClassifier,
    "ridge without intercept": lambda: RidgeClassifier(fit_intercept=False),
    "sgd": lambda: SGDClassifier(random_state=0),
    "perceptron": lambda: Perceptron(random_state=0),
    "linear svc": lambda: make_pipeline(StandardScaler(), LinearSVC()),
    "lda": LinearDiscriminantAnalysis,
    "tree": lambda: DecisionTreeClassifier(max_depth=5),
    "extra tree": ExtraTreeClassifier,
    "forest": lambda: RandomForestClassifier(n_estimators=7),
    "extra trees": lambda: ExtraTreesClassifier(n_estimators=7),
    "bayes": GaussianNB,
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=7, min_samples_leaf=5),
    "boosting, many leaves": lambda: HistGradientBoostingClassifier(
        max_iter=4, min_samples_leaf=1, max_leaf_nodes=60
    ),
    "boosting, too many leaves": lambda: HistGradientBoostingClassifier(
        max_iter=2, min_samples_leaf=1, max_leaf_nodes=None
    ),
}
SLOW = {
    "knn": KNeighborsClassifier,
    "svc": SVC,
    "bernoulli": BernoulliNB,
    "scaled knn": lambda: make_pipeline(StandardScaler(), KNeighborsClassifier()),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", [*FAST, *SLOW])
def test_votes_are_those_of_predict(name, n_classes):
    models = fitted({**FAST, **SLOW}[name], n_classes)
    X, _ = draw(N_TEST, n_classes)
    counts = vote_counts(models, X, range(n_classes))
    expected = own_counts(models, X, n_classes)
    if n_classes == 2:
        assert counts.shape == (N_TEST, 1)
        np.testing.assert_array_equal(counts[:, 0], expected[:, 1])
    else:
        np.testing.assert_array_equal(counts[:, 0], expected)
    assert counts.dtype == np.int32


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["logistic", "tree", "forest", "bayes", "boosting", "knn", "lda"])
def test_soft_scores_are_mean_probabilities(name, n_classes):
    models = fitted({**FAST, **SLOW}[name], n_classes)
    X, _ = draw(N_TEST, n_classes)
    expected = np.mean([model.predict_proba(X) for model in models], axis=0)
    scores = soft_scores(models, X, range(n_classes))
    np.testing.assert_allclose(
        scores[:, 0], expected[:, 1] if n_classes == 2 else expected, rtol=1e-12, atol=1e-15
    )


def test_partitions_are_counted_apart():
    models = fitted(FAST["logistic"], 2, n_models=6)
    X, _ = draw(50, 2)
    counts = vote_counts(models, X, [0, 1], n_partitions=3)
    for partition in range(3):
        part = models[2 * partition : 2 * partition + 2]
        np.testing.assert_array_equal(counts[:, partition], own_counts(part, X, 2)[:, 1])


@pytest.mark.parametrize("name", ["logistic", "tree", "bayes", "knn"])
def test_models_that_miss_classes_vote_for_what_they_know(name):
    X, y = draw(300, 3)
    labels = np.array(["high", "low", "middle"])[y]
    make = {**FAST, **SLOW}[name]
    without = [make().fit(X[y != code], labels[y != code]) for code in range(3)]
    models = [*without, make().fit(X, labels), ConstantVote("low")]
    classes = ["absent", "high", "low", "middle"]
    counts = vote_counts(models, X, classes)[:, 0]
    answers = np.array([model.predict(X) for model in models])
    np.testing.assert_array_equal(counts, (answers[:, :, None] == classes).sum(axis=0))
    soft = soft_scores(models, X, classes)[:, 0]
    np.testing.assert_allclose(soft.sum(axis=1), 1.0)
    assert (soft[:, 0] == 0).all()


def test_missing_values_and_infinities_in_boosting():
    X, y = draw(2000, 2)
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    models = [
        HistGradientBoostingClassifier(max_iter=9).fit(X[rows], y[rows])
        for rows in np.arange(2000).reshape(5, 400)
    ]
    X[:40, 0], X[40:80, 1] = np.inf, -np.inf
    np.testing.assert_array_equal(
        vote_counts(models, X, [0, 1])[:, 0], own_counts(models, X, 2)[:, 1]
    )


def test_boosting_with_categories_takes_the_slow_road():
    X, y = draw(1200, 2)
    X[:, 3] = np.clip(X[:, 3] + 6, 0, 6)
    models = [HistGradientBoostingClassifier(categorical_features=[3], max_iter=9).fit(X, y)]
    np.testing.assert_array_equal(vote_counts(models, X, [0, 1])[:, 0], models[0].predict(X))


def test_trees_refuse_or_take_missing_values_as_alone():
    X, y = draw(300, 2)
    plain = DecisionTreeClassifier(max_depth=4).fit(X, y)
    random_splits = ExtraTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    holes = X.copy()
    holes[7, 2] = np.nan
    np.testing.assert_array_equal(vote_counts([plain], holes, [0, 1])[:, 0], plain.predict(holes))
    np.testing.assert_array_equal(
        vote_counts([random_splits], holes, [0, 1])[:, 0], random_splits.predict(holes)
    )
    with pytest.raises(ValueError, match="infinity"):
        vote_counts([plain], np.full((2, 4), np.inf), [0, 1])


@pytest.mark.parametrize("name", ["logistic", "bayes", "knn"])
def test_missing_values_are_refused_wherever_they_stand(name):
    models = fitted({**FAST, **SLOW}[name], 2, n_models=2)
    X, _ = draw(N_TEST, 2)
    X[-1, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        vote_counts(models, X, [0, 1])


@pytest.mark.parametrize("name", ["logistic", "tree", "forest", "scaled"])
def test_sparse_tables(name):
    make = {
        **FAST,
        "scaled": lambda: make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
    }[name]
    X = np.random.default_rng(2).poisson(0.5, size=(400, 6)).astype(float)
    y = (X[:, 0] > X[:, 1]).astype(int)
    models = [
        make().fit(sparse.csr_matrix(X[rows]), y[rows]) for rows in np.split(np.arange(400), 4)
    ]
    for table in (sparse.csr_matrix(X), sparse.csc_array(X), X):
        np.testing.assert_array_equal(
            vote_counts(models, table, [0, 1])[:, 0], own_counts(models, X, 2)[:, 1]
        )


@pytest.mark.parametrize("name", ["logistic", "tree", "bayes", "boosting", "scaled knn"])
def test_frames_keep_their_names(name):
    X, y = draw(1200, 2)
    frame = pd.DataFrame(X, columns=list("abcd"))
    models = [{**FAST, **SLOW}[name]().fit(frame[:300], y[:300])]
    np.testing.assert_array_equal(
        vote_counts(models, frame, [0, 1])[:, 0], models[0].predict(frame)
    )
    with pytest.raises(ValueError, match="feature names"):
        vote_counts(models, frame[list("dcba")], [0, 1])


def test_no_rows_no_votes():
    models = fitted(FAST["logistic"], 2)
    assert vote_counts(models, np.empty((0, 4)), [0, 1]).shape == (0, 1)
    assert soft_scores(models, np.empty((0, 4)), range(3)).shape == (0, 1, 3)


def test_panel_can_be_pickled():
    models = fitted(FAST["tree"], 2)
    X, _ = draw(20, 2)
    panel = BlockEnsemble(models, [0, 1])
    expected = panel.vote_counts(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(panel)).vote_counts(X), expected)


class Liar(ClassifierMixin, BaseEstimator):
    """Prediction with a class it never saw."""

    classes_ = np.array([0, 1])

    def predict(self, X):
        return np.full(len(X), 2)


@pytest.mark.parametrize(
    ("estimators", "options", "message"),
    [
        ([ConstantVote(0)] * 3, {"n_partitions": 2}, "3 estimators cannot be 2 equal partitions"),
        ([], {}, "0 estimators"),
        ([ConstantVote(7)], {}, "knows the class 7"),
        ([Liar()], {}, "not one of its classes"),
    ],
)
def test_refusals(estimators, options, message):
    with pytest.raises(ValueError, match=message):
        vote_counts(estimators, np.zeros((3, 2)), [0, 1], **options)


@pytest.mark.parametrize("backend", [None, "threading", "loky"])
def test_workers_see_the_settings_of_the_caller(backend):
    tasks = [(number,) for number in range(4)]
    with (
        config_context(assume_finite=True),
        parallel_config(backend) if backend else nullcontext(),
    ):
        seen = voting._in_parallel(_assume_finite, tasks, 2)
    assert seen == [(number, True) for number in range(4)]


def _assume_finite(number):
    return number, get_config()["assume_finite"]
