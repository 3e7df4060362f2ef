"""The replicable search: GridSearchCV's face, keyed choice."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from replearn import PointwiseReplicableClassifier
from replearn.learners.search import ReplicableSearchCV


class OneFeature(ClassifierMixin, BaseEstimator):
    """Prediction by one binary feature; nothing is learned."""

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.feature].astype(int)


def _near_ties(n, seed, n_features=8, error=0.3):
    """Features that are all right with the same probability."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return (y[:, None] ^ (rng.random((n, n_features)) < error)).astype(float), y


@parametrize_with_checks([ReplicableSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def test_the_face_of_grid_search():
    X, y = _near_ties(600, 0)
    grid = {"max_depth": [1, 3], "min_samples_leaf": [1, 20]}
    ours = ReplicableSearchCV(DecisionTreeClassifier(), grid, shared_key=1).fit(X, y)
    theirs = GridSearchCV(DecisionTreeClassifier(), grid).fit(X, y)
    assert set(theirs.cv_results_) == set(ours.cv_results_)
    assert ours.best_params_ == ours.cv_results_["params"][ours.best_index_]
    assert ours.best_score_ == ours.cv_results_["mean_test_score"][ours.best_index_]
    assert ours.n_splits_ == 5
    np.testing.assert_array_equal(ours.predict(X), ours.best_estimator_.predict(X))
    assert ours.predict_proba(X).shape == (600, 2)
    assert ours.score(X, y) == ours.best_estimator_.score(X, y)
    assert ours.best_estimator_.get_params()["max_depth"] == ours.best_params_["max_depth"]


def test_neither_rows_nor_grid_have_an_order():
    X, y = _near_ties(900, 0)
    order = np.random.default_rng(1).permutation(900)
    found = set()
    for rows, depths in ((slice(None), [1, 2, 3]), (order, [3, 1, 2])):
        search = ReplicableSearchCV(DecisionTreeClassifier(), {"max_depth": depths}, alpha=0.24)
        search.fit(X[rows], y[rows])
        found.add((search.best_params_["max_depth"], search.best_score_))
    assert len(found) == 1


@pytest.mark.statistical
def test_fresh_samples_agree_where_grid_search_does_not():
    grid = {"feature": list(range(8))}
    ours = theirs = 0
    for pair in range(12):
        samples = [_near_ties(3000, (7, pair, run)) for run in range(2)]
        options = {"alpha": 0.2, "cv": 2, "refit": False, "shared_key": pair}
        model = ReplicableSearchCV(OneFeature(), grid, **options)
        mine = {model.fit(*sample).best_params_["feature"] for sample in samples}
        plain = GridSearchCV(OneFeature(), grid, cv=2, refit=False)
        its = {plain.fit(*sample).best_params_["feature"] for sample in samples}
        ours, theirs = ours + (len(mine) == 1), theirs + (len(its) == 1)
    assert ours >= 8
    assert theirs <= 5


def test_a_clearly_better_configuration_wins():
    rng = np.random.default_rng(0)
    X, y = _near_ties(4000, 0)
    X[:, 3] = y ^ (rng.random(4000) < 0.05)
    for key in range(5):
        search = ReplicableSearchCV(OneFeature(), {"feature": list(range(8))}, shared_key=key)
        assert search.fit(X, y).best_params_ == {"feature": 3}


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
def test_refit_with_another_learner_or_not_at_all():
    X, y = _near_ties(1500, 0)
    X += 0.1 * np.random.default_rng(0).standard_normal(X.shape)
    replicable = PointwiseReplicableClassifier(DecisionTreeClassifier(), n_blocks=5, max_fits=5)
    search = ReplicableSearchCV(DecisionTreeClassifier(), {"max_depth": [1, 2]}, refit=replicable)
    search.fit(X, y)
    assert isinstance(search.best_estimator_, PointwiseReplicableClassifier)
    assert search.best_estimator_.estimator.max_depth == search.best_params_["max_depth"]
    bare = clone(search).set_params(refit=False).fit(X, y)
    assert bare.best_params_ == search.best_params_
    assert not hasattr(bare, "predict")
    assert not hasattr(bare, "best_estimator_")


def test_pipelines_frames_and_lists_of_grids():
    X, y = _near_ties(400, 0)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(8)])
    grid = [
        {"logisticregression__C": [0.1, 1.0]},
        {"logisticregression__tol": [1e-4], "logisticregression__C": [10.0]},
    ]
    search = ReplicableSearchCV(make_pipeline(StandardScaler(), LogisticRegression()), grid)
    search.fit(frame, np.where(y, "yes", "no"))
    assert len(search.cv_results_["params"]) == 3
    assert set(search.predict(frame)) <= {"yes", "no"}
    assert list(search.feature_names_in_) == list(frame.columns)


def test_errors():
    X, y = _near_ties(30, 0)
    with pytest.raises(ValueError, match="'cv' parameter"):
        ReplicableSearchCV(OneFeature(), {"feature": [0]}, cv=1).fit(X, y)
    with pytest.raises(ValueError, match="at least 40 rows"):
        ReplicableSearchCV(OneFeature(), {"feature": [0]}, cv=40).fit(X, y)
    with pytest.raises(ValueError, match="Parameter grid"):
        ReplicableSearchCV(OneFeature(), {"feature": []}).fit(X, y)


def test_weights_travel_with_their_rows():
    X, y = _near_ties(400, 0)
    weights = np.where(X[:, 0] == 1, 1.0, 0.0)  # only rows of one kind count
    tree = DecisionTreeClassifier(max_depth=1)
    search = ReplicableSearchCV(tree, {"max_depth": [1]}, cv=2)
    search.fit(X, y, sample_weight=weights)
    assert search.best_estimator_.tree_.weighted_n_node_samples[0] == weights.sum()
    expected = clone(tree).fit(X, y, sample_weight=weights).predict(X)
    np.testing.assert_array_equal(search.predict(X), expected)


# -- other scores ----------------------------------------------------------------------------------


def test_other_scores_choose_by_themselves():
    """The rare class is worth finding: accuracy prefers never to predict it, recall always."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(1500, 2))
    y = (X[:, 0] + rng.normal(size=1500) > 2.2).astype(int)
    grid = {"class_weight": [None, {0: 1, 1: 200}]}
    common = {"alpha": 0.05, "shared_key": "k"}
    by_accuracy = ReplicableSearchCV(LogisticRegression(), grid, **common).fit(X, y)
    by_recall = ReplicableSearchCV(LogisticRegression(), grid, scoring="recall", **common)
    by_recall.fit(X, y)
    assert by_accuracy.best_params_ != by_recall.best_params_
    assert by_recall.score(X, y) > 0.9
    assert by_accuracy.score(X, y) == np.mean(by_accuracy.predict(X) == y)


@pytest.mark.parametrize("folds", [{"cv": 1}, {"cv": (5, 2)}])
def test_folds_that_are_none(folds):
    X, y = _near_ties(40, 0)
    with pytest.raises(ValueError, match=f"'{next(iter(folds))}' parameter"):
        ReplicableSearchCV(OneFeature(), {"feature": [0]}, **folds).fit(X, y)


def test_groups_are_refused_and_none_is_what_grid_search_takes():
    X, y = _near_ties(200, 0)
    search = ReplicableSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, shared_key=1)
    with pytest.raises(TypeError, match=r"groups are not supported\. Folds are cut by key"):
        search.fit(X, y, groups=np.arange(200))
    assert search.fit(X, y, groups=None).best_params_
