"""One model per block: own rows only, in keyed order, errors that name the block."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from replearn import compat
from replearn.execution import fitting
from replearn.execution.constant import ConstantVote
from replearn.execution.fitting import fit_blocks
from replearn.randomness.key import SharedKey

KEY = SharedKey("fitting tests")
RNG = np.random.default_rng(5)
X = RNG.normal(size=(120, 3))
Y = (X[:, 0] + RNG.normal(size=120) > 0).astype(int)
BLOCKS = list(RNG.permutation(120).reshape(6, 20))
KEYS = [KEY.child("seed", 0, block) for block in range(6)]


class Recorder(ClassifierMixin, BaseEstimator):
    """Remember what it was given."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.X_, self.y_, self.classes_ = X, y, np.unique(y)
        return self


class TwoPartError(Exception):
    def __init__(self, code, text):
        super().__init__(code, text)


class Failing(Recorder):
    """Fail on blocks whose first value is above a limit."""

    def __init__(self, error=None, limit=0.0, random_state=None):
        self.error, self.limit, self.random_state = error, limit, random_state

    def fit(self, X, y):
        if X[0, 0] > self.limit:
            raise self.error or ValueError("too large")
        return super().fit(X, y)


def test_each_model_sees_its_own_rows_in_order_and_its_own_seed():
    models = fit_blocks(Recorder(), X, Y, BLOCKS, KEYS)
    for model, rows, key in zip(models, BLOCKS, KEYS, strict=True):
        np.testing.assert_array_equal(model.X_, X[rows])
        np.testing.assert_array_equal(model.y_, Y[rows])
        assert model.X_.flags.c_contiguous
        assert model.random_state == key.seed_for("random_state")


def test_template_is_not_fitted():
    template = DecisionTreeClassifier()
    fit_blocks(template, X, Y, BLOCKS, KEYS)
    assert not hasattr(template, "tree_")
    assert template.random_state is None


def test_parameters_that_can_change_are_not_shared():
    weights = {0: 1.0, 1: 2.0}
    models = fit_blocks(LogisticRegression(class_weight=weights), X, Y, BLOCKS, KEYS)
    assert len({id(model.class_weight) for model in models} | {id(weights)}) == 7


def test_a_fitted_template_leaves_nothing_in_the_models():
    template = Recorder().fit(X, Y)
    template.leftover_ = 1.0
    plain = LogisticRegression()
    plain.leftover_ = 1.0
    for estimator in (template, plain):
        models = fit_blocks(estimator, X, Y, BLOCKS, KEYS)
        assert not any(hasattr(model, "leftover_") for model in models)


def test_one_class_in_a_block_becomes_a_constant():
    labels = np.where(np.isin(np.arange(120), BLOCKS[2]), "no", np.where(Y == 1, "yes", "no"))
    models = fit_blocks(LogisticRegression(), X, labels, BLOCKS, KEYS)
    assert [isinstance(model, ConstantVote) for model in models] == [False] * 2 + [True] + [
        False
    ] * 3
    assert models[2].predict(X[:2]).tolist() == ["no", "no"]
    assert models[2].predict_proba(X[:2]).tolist() == [[1.0], [1.0]]
    assert repr(models[2]).startswith("ConstantVote(")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_error_keeps_its_type_and_names_the_block(n_jobs, monkeypatch):
    monkeypatch.setattr(fitting, "_workers_pay", lambda *_: True)
    names = [f"block {block} of partition 3" for block in range(6)]
    limit = max(X[rows[0], 0] for rows in BLOCKS)  # only the block changed below fails
    rows = [*BLOCKS[:4], np.concatenate([[X[:, 0].argmax()], BLOCKS[4]]), BLOCKS[5]]
    failing = Failing(limit=limit)
    with (
        parallel_config("threading"),
        pytest.raises(ValueError, match="Failing failed on block 4 of partition 3: too large"),
    ):
        fit_blocks(failing, X, Y, rows, KEYS, names=names, n_jobs=n_jobs)


def test_error_without_a_plain_message_gets_a_note():
    failing = Failing(error=TwoPartError(3, "odd"), limit=-np.inf)
    with pytest.raises(TwoPartError) as caught:
        fit_blocks(failing, X, Y, BLOCKS, KEYS)
    assert caught.value.__notes__ == ["Failing failed on block 0"]


def test_interruption_is_not_swallowed():
    failing = Failing(error=KeyboardInterrupt(), limit=-np.inf)
    with pytest.raises(KeyboardInterrupt):
        fit_blocks(failing, X, Y, BLOCKS, KEYS)


def test_invalid_parameters_are_still_refused():
    with pytest.raises(ValueError, match="'C' parameter"):
        fit_blocks(LogisticRegression(C=-1.0), X, Y, BLOCKS, KEYS)


def test_missing_values_are_still_refused_in_every_block():
    holes = X.copy()
    holes[BLOCKS[4][3], 1] = np.nan
    with pytest.raises(ValueError, match=r"failed on block 4: .*NaN"):
        fit_blocks(LogisticRegression(), holes, Y, BLOCKS, KEYS)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="6 blocks, 5 keys"):
        fit_blocks(GaussianNB(), X, Y, BLOCKS, KEYS[:5])


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_models_do_not_depend_on_workers(backend, monkeypatch):
    serial = fit_blocks(LogisticRegression(), X, Y, BLOCKS, KEYS)
    monkeypatch.setattr(fitting, "_workers_pay", lambda *_: True)
    with parallel_config(backend), warnings.catch_warnings():
        warnings.simplefilter("default")
        parallel = fit_blocks(LogisticRegression(), X, Y, BLOCKS, KEYS, n_jobs=2)
    assert len(parallel) == 6
    for one, other in zip(serial, parallel, strict=True):
        np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("running", [True, False])
def test_workers_are_used_only_when_they_pay(running, monkeypatch):
    monkeypatch.setattr(compat, "workers_run", lambda _: running)
    assert fitting._workers_pay([0.01, 0.01], 100, "processes") is running
    assert not fitting._workers_pay([0.001, 0.001], 100, "processes")
    assert not fitting._workers_pay([9.0], 100, "processes")
    assert fitting._workers_pay([9.0, 0.5], 100, "processes")
    assert fitting._batch_size(0.001, 128, 2) == 16
    assert fitting._batch_size(5.0, 128, 2) == 1


def test_running_processes_are_seen(monkeypatch):
    with parallel_config("loky"):
        monkeypatch.setattr(compat.reusable_executor, "_executor", None)
        assert not compat.workers_run("processes")
        monkeypatch.undo()
        Parallel(n_jobs=2)(delayed(abs)(number) for number in range(2))
        assert compat.workers_run("processes")


def test_trees_are_fitted_by_threads_unless_the_user_says_otherwise():
    assert type(DecisionTreeClassifier()) in fitting.THREADED
    assert compat.workers_run("threads")
    with parallel_config("loky", n_jobs=2):
        assert type(compat.get_active_backend(prefer="threads")[0]).__name__ == "LokyBackend"


@pytest.mark.parametrize("backend", [None, "loky"])
def test_trees_do_not_depend_on_workers(backend, monkeypatch):
    tree = DecisionTreeClassifier(max_features=1)
    serial = fit_blocks(tree, X, Y, BLOCKS, KEYS)
    monkeypatch.setattr(fitting, "_workers_pay", lambda *_: True)
    with parallel_config(backend) if backend else nullcontext():
        parallel = fit_blocks(tree, X, Y, BLOCKS, KEYS, n_jobs=2)
    for one, other in zip(serial, parallel, strict=True):
        np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)


def test_threads_need_no_start():
    with parallel_config("threading"):
        assert compat.workers_run("processes")
