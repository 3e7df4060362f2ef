"""Blocks that are fitted again: estimators that depend on something besides parameters and rows."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, scale

from replearn import PointwiseReplicableClassifier
from replearn.binding import estimator as binding_estimator
from replearn.binding.digests import bind
from replearn.binding.estimator import SWITCH, blocks_to_check, files_read, may_have_state
from replearn.execution.fitting import fit_one_block
from replearn.randomness import SharedKey
from tests.factories import Holder, Unreadable, voting


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
@pytest.mark.filterwarnings("ignore::replearn.ConstantBlocksWarning")
def test_a_block_that_comes_out_differently_is_a_failed_condition(base):
    certificate = fitted(base).certificate_
    assert not certificate.certified
    assert "when it is fitted again" in certificate.reason
    assert certificate.failed_conditions[0].startswith("block ")
    certificate.check()


@pytest.mark.filterwarnings("ignore::replearn.ConstantBlocksWarning")
def test_a_counter_in_the_class_is_a_failed_condition():
    seen = [fitted(Counting(), shared_key=key).certificate_ for key in range(4)]
    assert not all(certificate.certified for certificate in seen)


def test_the_second_fit_can_be_switched_off(monkeypatch):
    monkeypatch.setenv(SWITCH, "off")
    assert fitted(Drawing()).certificate_.certified


# -- a fresh process -------------------------------------------------------------------------------
MODULE = """
import os
import numpy as np
from sklearn.naive_bayes import GaussianNB

__version__ = "1.0"
SALT = SALT_OF_THIS_PROCESS


class Salted(GaussianNB):
    def predict(self, X):
        return self.classes_[(np.abs(X[:, 0]) * 1e3 * SALT % 1 > 0.5).astype(int)]
"""


@pytest.fixture
def salted(tmp_path, monkeypatch, request):
    """A package with a version whose predictions depend on what every process sets anew."""
    name = f"salted_{request.node.name.split('[')[-1].strip(']')}"
    (tmp_path / f"{name}.py").write_text(MODULE.replace("SALT_OF_THIS_PROCESS", request.param))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv(SWITCH, "")
    yield __import__(name).Salted()
    del sys.modules[name]


@pytest.mark.parametrize("salted", ["os.getpid()"], ids=["pid"], indirect=True)
def test_what_a_process_sets_anew_is_a_failed_condition(salted, monkeypatch):
    certificate = fitted(salted).certificate_
    assert not certificate.certified
    assert certificate.reason.startswith("block ")
    assert "on the same rows in a fresh process" in certificate.reason
    monkeypatch.setenv(SWITCH, "here")
    assert fitted(salted).certificate_.certified


@pytest.mark.parametrize("salted", ["3.14"], ids=["constant"], indirect=True)
def test_a_learner_without_state_is_sent_once(salted, monkeypatch):
    sent = []

    def here(base, block, probes):
        sent.append(binding_estimator.predictions_of(fit_one_block(base, block), probes))
        return sent[-1]

    monkeypatch.setattr(binding_estimator, "predictions_elsewhere", here)
    assert fitted(salted).certificate_.certified
    assert fitted(salted).certificate_.certified
    assert len(sent) == 1
    assert "predict" in sent[0]


def test_what_cannot_be_sent_is_not_known(monkeypatch):
    monkeypatch.setenv(SWITCH, "")

    assert fitted(Holder(Unreadable())).certificate_.certified


def test_learners_of_scikit_learn_stay_in_this_process():
    plain = make_pipeline(StandardScaler(), LogisticRegression())
    assert not may_have_state(bind(plain))
    assert may_have_state(bind(make_pipeline(FunctionTransformer(lambda X: X), plain)))
    assert may_have_state(bind(Counting()))


def test_blocks_fitted_again_are_few(monkeypatch):
    monkeypatch.setenv(SWITCH, "")
    key = SharedKey("k")
    plain, own = bind(GaussianNB()), bind(Counting())
    assert len(blocks_to_check(key, 700, plain)) == 1  # nothing in it can remember anything
    assert [len(blocks_to_check(key, n, own)) for n in (40, 60, 700)] == [1, 2, 3]
    monkeypatch.setenv(SWITCH, "off")
    assert blocks_to_check(key, 700, own) == []


class Keyed(GaussianNB):
    """Holds a key, as a replicable estimator inside another one does."""

    def __init__(self, key=None):
        super().__init__()
        self.key = key


def test_a_key_inside_the_learner_is_not_said_to_be_pickled(monkeypatch, recwarn):
    monkeypatch.setenv(SWITCH, "here")  # another process would get it
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


class Reading(GaussianNB):
    """Reads a table of its own when it is fitted."""

    def __init__(self, path=""):
        super().__init__()
        self.path = path

    def fit(self, X, y):
        shift = float(Path(self.path).read_text())
        return super().fit(X + shift, y)


def test_files_that_are_read_leave_it_unknown(tmp_path):
    (tmp_path / "lookup.txt").write_text("0.5")
    one, two = (fitted(Reading(str(tmp_path / "lookup.txt"))).certificate_ for _ in range(2))
    assert one.certified
    assert one.comparable(two).comparable == "unknown"
    assert "the file 'lookup.txt', which the base estimator reads" in str(one.comparable(two))


def test_only_data_that_are_read_are_listed(tmp_path):
    (tmp_path / "a.csv").write_text("1")
    with files_read() as outer, files_read() as files:
        (tmp_path / "b.csv").write_text("2")
        (tmp_path / "a.csv").read_text()
        Path(np.__file__).read_text()
    (tmp_path / "b.csv").read_text()
    assert files == outer == [str(tmp_path / "a.csv")]


class Hashing(ClassifierMixin, BaseEstimator):
    """Depends on the order of texts in a set, which every process draws anew."""

    def fit(self, X, y):
        self.classes_, self.sign_ = np.unique(y), 1 if hash("a") % 2 else -1
        return self

    def predict(self, X):
        return self.classes_[(self.sign_ * X[:, 0] > 0).astype(int)]


def test_hashes_of_texts_are_other_ones_in_the_fresh_process(monkeypatch):
    """One of two seeds has another sign of the hash, whatever this process has."""
    block = binding_estimator.Block(np.ones((4, 1)), np.array([0, 1, 0, 1]), {}, "block 0")
    seeds = []
    for seed in ("0", "1"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        monkeypatch.setattr(
            binding_estimator.subprocess,
            "run",
            lambda *_, env, **__: seeds.append(env["PYTHONHASHSEED"]),
        )
        binding_estimator.predictions_elsewhere(Hashing(), block, np.ones((4, 1)))
    assert seeds == ["1", "2"]
