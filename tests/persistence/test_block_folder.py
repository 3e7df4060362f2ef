"""An interrupted fit loses the block that was being fitted, and nothing else."""

import json
import os

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn import NotCertifiedWarning, PointwiseReplicableClassifier
from replearn.execution import fitting
from replearn.learners import ReplicableSearchCV
from replearn.persistence import ModelFileError, resumable

RNG = np.random.default_rng(3)
X = RNG.normal(5, 2, size=(600, 3))
Y = (X[:, 0] + RNG.normal(size=600) > 5).astype(int)
NEW = RNG.normal(5, 2, size=(100, 3))
N_BLOCKS = 6


class Interrupted(BaseException):
    """What a signal would do."""


def learner(base=None, **params):
    settings = {"n_blocks": N_BLOCKS, "n_partitions": 1, "rho": 0.5, "shared_key": "k"} | params
    return PointwiseReplicableClassifier(base or DecisionTreeClassifier(), **settings)


def files(folder):
    return sorted(path.name for path in folder.iterdir() if path.suffix == ".skops")


@pytest.fixture
def counted(monkeypatch):
    """Count the blocks that are fitted, and stop where a test wants it."""
    calls, whole = [], fitting.fit_one_block

    def fit(estimator, block):
        if len(calls) == stop.get("after"):
            raise Interrupted
        calls.append(block.name)
        return whole(estimator, block)

    stop = {}
    monkeypatch.setattr(fitting, "fit_one_block", fit)
    return calls, stop


BASES = {
    "tree": DecisionTreeClassifier(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "bayes": GaussianNB(),
}


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_continues_with_the_same_bits(tmp_path, counted, base):
    whole = learner(base).fit(X, Y)
    calls, stop = counted
    calls.clear()
    stop["after"] = 4
    with pytest.raises(Interrupted), resumable(tmp_path):
        learner(base).fit(X, Y)
    assert len(files(tmp_path)) == 4
    stop.clear()
    calls.clear()
    with resumable(tmp_path):
        again = learner(base).fit(X, Y)
    assert calls == ["block 4 of partition 0", "block 5 of partition 0"]
    assert (again.margin(NEW) == whole.margin(NEW)).all()
    for ours, theirs in zip(again.estimators_, whole.estimators_, strict=True):
        assert (ours.predict_proba(NEW) == theirs.predict_proba(NEW)).all()
    calls.clear()
    with resumable(tmp_path):
        learner(base).fit(X, Y)
    assert calls == []


def test_workers_keep_their_blocks_too(tmp_path, monkeypatch):
    monkeypatch.setattr(fitting, "START_SECONDS", 0.0)
    with resumable(tmp_path):
        kept = learner(n_jobs=2).fit(X, Y)
    assert len(files(tmp_path)) == N_BLOCKS
    assert (kept.margin(NEW) == learner().fit(X, Y).margin(NEW)).all()


def test_blocks_with_one_class(tmp_path):
    rare = (np.arange(600) < 2).astype(int)
    with resumable(tmp_path):
        one = learner().fit(X, rare)
    with resumable(tmp_path):
        assert (learner().fit(X, rare).predict(NEW) == one.predict(NEW)).all()


OTHERS = {
    "data": (lambda: learner().fit(X + 1, Y), "data, blocks differ"),
    "labels": (lambda: learner().fit(X, 1 - Y), "data"),
    "key": (lambda: learner(shared_key="other").fit(X, Y), "blocks, key differ"),
    "plan": (lambda: learner(n_blocks=5).fit(X, Y), "blocks, key differ"),
    "learner": (lambda: learner(GaussianNB()).fit(X, Y), "learner differ"),
}


@pytest.mark.parametrize(("fit", "message"), OTHERS.values(), ids=OTHERS)
def test_a_folder_of_another_fit_is_refused(tmp_path, fit, message):
    with resumable(tmp_path):
        learner().fit(X, Y)
    before = files(tmp_path)
    with pytest.raises(ValueError, match=f"holds another fit: .*{message}"), resumable(tmp_path):
        fit()
    assert files(tmp_path) == before


def test_another_version_is_refused(tmp_path):
    with resumable(tmp_path):
        learner().fit(X, Y)
    manifest = json.loads((tmp_path / "fit.json").read_text())
    (tmp_path / "fit.json").write_text(json.dumps({**manifest, "scikit-learn": "0.1"}))
    with pytest.raises(ValueError, match="scikit-learn differ"), resumable(tmp_path):
        learner().fit(X, Y)
    (tmp_path / "fit.json").write_text("{")
    with pytest.raises(ValueError, match=r"fit\.json: not valid JSON"), resumable(tmp_path):
        learner().fit(X, Y)


@pytest.mark.parametrize("damage", [lambda old: old[:50], lambda old: b"", lambda old: b"x" + old])
def test_damaged_blocks_are_fitted_again(tmp_path, counted, damage):
    with resumable(tmp_path):
        whole = learner().fit(X, Y)
    calls, _ = counted
    calls.clear()
    place = tmp_path / files(tmp_path)[2]
    place.write_bytes(damage(place.read_bytes()))
    (tmp_path / ".block-000003.skops.abc").write_bytes(b"half")
    with resumable(tmp_path):
        again = learner().fit(X, Y)
    assert calls == ["block 2 of partition 0"]
    assert (again.margin(NEW) == whole.margin(NEW)).all()


def test_a_crash_while_writing_leaves_no_half_file(tmp_path, monkeypatch):
    real = os.replace

    def crash(source, target):
        if "block-000002" in str(target):
            raise Interrupted
        real(source, target)

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(Interrupted), resumable(tmp_path):
        learner().fit(X, Y)
    assert files(tmp_path) == ["block-000000.skops", "block-000001.skops"]


def test_learners_that_could_not_be_read_back_are_refused_with_the_first_block(tmp_path, counted):
    base = KNeighborsClassifier(algorithm="kd_tree")
    with pytest.raises(ModelFileError, match=r"not trusted: .*KDTree"), resumable(tmp_path):
        learner(base).fit(X, Y)
    assert len(counted[0]) == 1
    assert files(tmp_path) == []


def test_the_key_is_not_in_the_folder(tmp_path):
    with resumable(tmp_path):
        learner(shared_key="a secret that is long enough to look for").fit(X, Y)
    for path in tmp_path.iterdir():
        assert b"a secret that is" not in path.read_bytes()


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    learner().fit(X, Y)
    assert list(tmp_path.iterdir()) == []


def test_trainings_of_a_search_are_not_kept(tmp_path):
    search = ReplicableSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, train_size=20)
    with resumable(tmp_path), pytest.warns(NotCertifiedWarning):
        search.fit(X, Y)
    assert not list(tmp_path.iterdir())
