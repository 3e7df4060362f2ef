"""Blocks that are fitted again: estimators that depend on something besides parameters and rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, scale

from replearn import PointwiseReplicableClassifier
from replearn.randomness.key import SharedKey
from tests.factories import voting


def fitted(base, **settings):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 3)), rng.integers(0, 2, 2000)
    settings = {"rho": 0.4, "max_fits": 40, "shared_key": "k", **settings}
    return voting(base, **settings).fit(X, y)


class Counting(ClassifierMixin, BaseEstimator):
    """Predictions by how often anybody was fitted before."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.classes_, self.turn_ = np.unique(y), type(self).fits % 2
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[self.turn_])


EVERYBODYS = np.random.default_rng(0)


class Drawing(Counting):
    """Predictions by a generator that is everybody's."""

    def fit(self, X, y):
        self.classes_, self.turn_ = np.unique(y), 0
        self.noise_ = EVERYBODYS.random(5)
        return self

    def predict(self, X):
        return self.classes_[(np.arange(len(X)) * self.noise_[0] % 1 > 0.5).astype(int)]


@pytest.mark.parametrize("base", [Drawing()], ids=["generator"])
@pytest.mark.filterwarnings("ignore::replearn.exceptions.ConstantBlocksWarning")
def test_a_block_that_comes_out_differently_is_a_failed_condition(base):
    certificate = fitted(base).certificate_
    assert not certificate.certified
    assert "when it is fitted again" in certificate.reason
    assert certificate.failed_conditions[0].startswith("block ")
    certificate.check()


@pytest.mark.filterwarnings("ignore::replearn.exceptions.ConstantBlocksWarning")
def test_a_counter_in_the_class_is_a_failed_condition():
    seen = [fitted(Counting(), shared_key=key).certificate_ for key in range(4)]
    assert not all(certificate.certified for certificate in seen)


class Keyed(GaussianNB):
    """Holds a key, as a replicable estimator inside another one does."""

    def __init__(self, key=None):
        super().__init__()
        self.key = key


def test_a_key_inside_the_learner_is_not_said_to_be_pickled(recwarn):
    assert fitted(Keyed(SharedKey.generate())).certificate_.certified
    assert not [str(w.message) for w in recwarn if "pickled" in str(w.message)]


def codes_of_batch(X):
    """What pd.Categorical(...).codes does inside a pipeline."""
    return np.unique(np.round(X, 1), return_inverse=True)[1].reshape(np.shape(X))


@pytest.mark.parametrize(
    "function", [scale, codes_of_batch], ids=["scikit-learn's", "one of its own"]
)
def test_predictions_that_depend_on_the_batch_are_a_failed_condition(function):
    steps = [("kept", StandardScaler()), ("mine", FunctionTransformer(function))]
    model = fitted(Pipeline([*steps, ("bayes", GaussianNB())]))
    certificate = model.certificate_
    assert certificate.verdict == "not certified"
    assert "step 'mine' (FunctionTransformer) of the base estimator" in certificate.reason
    assert "depend on the other rows of the batch" in certificate.reason


class Ranking(GaussianNB):
    """Predicts by the rank of a score among the rows of the batch."""

    def predict_proba(self, X):
        ranks = super().predict_proba(X)[:, 1].argsort().argsort() / len(X)
        return np.column_stack([1 - ranks, ranks])


def test_an_estimator_that_ranks_a_batch_is_named():
    certificate = fitted(Ranking()).certificate_
    assert "the base estimator (Ranking) depend on the other rows" in certificate.reason


@pytest.mark.parametrize(
    "base",
    [
        make_pipeline(FunctionTransformer(np.log1p), FunctionTransformer(np.tanh), GaussianNB()),
        make_pipeline(StandardScaler(), LogisticRegression()),
        RandomForestClassifier(n_estimators=3),
    ],
)
def test_predictions_that_do_not_depend_on_it_are_certified(base):
    X = np.random.default_rng(0).random((2000, 3))
    y = np.random.default_rng(1).integers(0, 2, 2000)
    model = PointwiseReplicableClassifier(base, rho=0.4, max_fits=40, shared_key="k").fit(X, y)
    assert model.certificate_.certified
