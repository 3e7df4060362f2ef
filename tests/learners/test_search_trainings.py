"""The search by many small trainings: certified whatever the estimator does."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from replearn import NotCertifiedWarning, PointwiseReplicableClassifier
from replearn.bounds.selection import smallest_sample_search
from replearn.guarantees.search import trainings_error, trainings_flip
from replearn.learners import ReplicableSearchCV
from replearn.learners.configurations import GROUP, cut_trainings, training_errors
from replearn.primitives import sample_key
from replearn.randomness import SharedKey

quiet = pytest.mark.filterwarnings("ignore::replearn.NotCertifiedWarning")


class Witness(ClassifierMixin, BaseEstimator):
    """Predictions 1 on the rows it was trained on, 0 elsewhere; is right on a share of the rest."""

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        self.rows_ = {row.tobytes() for row in np.asarray(X)}
        return self

    def predict(self, X):
        return np.array([int(row.tobytes() in self.rows_) for row in np.asarray(X)])


def _sample(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, (X[:, 0] + 0.3 * rng.standard_normal(n) > 0.5).astype(np.intp)


def test_no_test_row_trains_anything():
    X, y = _sample(6000)
    cut = cut_trainings(SharedKey(0), X, y, 20)
    rows, tests = cut
    assert rows.shape == (285, 20)
    assert len(np.unique(np.r_[rows.ravel(), tests])) == 285 * 21
    # a model that knows its own rows never meets one: it answers 0, wrong where y is 1
    errors = training_errors([Witness()], X, y, cut, SharedKey(0))
    assert errors[0] == y[tests].mean()


def test_errors_are_those_of_the_models_one_by_one():
    X, y = _sample(1300)
    y = y + (X[:, 1] > 0.8)  # three classes
    rows, tests = cut = cut_trainings(SharedKey(0), X, y, 9)
    assert len(tests) > 2 * GROUP
    models = [GaussianNB(), GaussianNB(priors=None, var_smoothing=1.0)]
    found = training_errors(models, X, y, cut, SharedKey(0))
    for model, error in zip(models, found, strict=True):
        answers = [
            clone(model).fit(X[r], y[r]).predict(X[[t]])[0] if len(set(y[r])) > 1 else y[r[0]]
            for r, t in zip(rows, tests, strict=True)
        ]
        assert error == np.mean(answers != y[tests])


def test_the_cut_belongs_to_the_sample_and_not_to_its_order():
    X, y = _sample(60)
    order = np.random.default_rng(1).permutation(60)
    key = SharedKey("k")
    one, two = cut_trainings(key, X, y, 4), cut_trainings(key, X[order], y[order], 4)
    np.testing.assert_array_equal(X[one[0]], X[order][two[0]])
    # one row more, and all is cut anew: a row that both samples have says nothing
    assert (
        sample_key(key, X, y).fingerprint
        != sample_key(key, np.r_[X, X[:1]], np.r_[y, y[:1]]).fingerprint
    )
    assert sample_key(key, X, 1 - y).fingerprint != sample_key(key, X, y).fingerprint


def test_certified_from_the_planned_number_of_rows_on():
    n, _ = smallest_sample_search(0.5, 0.5, 0.2, 2, 8)
    model = ReplicableSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, rho=0.5, alpha=0.5, beta=0.2, train_size=8
    )
    X, y = _sample(n)
    search = clone(model).fit(X, y)
    search.certificate_.check()
    assert search.certificate_.certified
    assert search.certificate_.theorems == ("search-trainings",)
    assert "whatever the estimator does" in str(search.certificate_)
    assert search.n_splits_ == n // 9
    with pytest.warns(NotCertifiedWarning, match="requested rho"):
        fewer = clone(model).fit(X[:-1], y[:-1])
    assert not fewer.certificate_.certified


@quiet
def test_the_face_of_a_search():
    X, y = _sample(1200)
    labels = np.where(y, "yes", "no")
    grid = [{"max_depth": [1, 2]}, {"min_samples_leaf": [3]}]
    replicable = PointwiseReplicableClassifier(DecisionTreeClassifier(), n_blocks=5, max_fits=5)
    search = ReplicableSearchCV(
        DecisionTreeClassifier(), grid, train_size=20, refit=replicable, shared_key="k"
    ).fit(X, labels)
    results = search.cv_results_
    assert results["param_max_depth"].mask.tolist() == [False, False, True]
    assert search.best_params_ == results["params"][search.best_index_]
    assert search.best_score_ == results["mean_test_score"][search.best_index_] > 0.6
    assert set(search.predict(X)) <= {"yes", "no"}
    order = np.random.default_rng(0).permutation(1200)
    again = clone(search).fit(X[order], labels[order])
    np.testing.assert_array_equal(results["mean_test_score"], again.cv_results_["mean_test_score"])


def test_what_does_not_go_together():
    X, y = _sample(60)
    model = ReplicableSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1.0]}, train_size=5)
    with pytest.raises(ValueError, match="drift is for folds"):
        clone(model).set_params(cv=5, drift=0.1).fit(X, y)
    with pytest.raises(ValueError, match="sample_weight is for folds"):
        model.fit(X, y, sample_weight=np.ones(60))
    with pytest.raises(ValueError, match="Invalid parameter 'depth' for estimator GaussianNB"):
        clone(model).set_params(param_grid={"depth": [1]}).fit(X, y)
    with pytest.raises(ValueError, match="train_size=60 needs at least 61 rows"):
        clone(model).set_params(train_size=60).fit(X, y)


def test_the_numbers_of_the_certificate():
    flip = trainings_flip(sharpness=10.0, n_hypotheses=5, n_trainings=10**6)
    assert flip == pytest.approx(10 / np.sqrt(2e6 * np.pi), rel=0.01)
    tail = trainings_error(sharpness=30.0, n_hypotheses=5, n_trainings=1000, alpha=0.2)
    assert tail == pytest.approx(4 * np.exp(-6 + 900 / 2000))
