"""An interrupted fit loses the block that was being fitted, and nothing else."""

import json
import os

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn.exceptions import ModelFileError
from replearn.execution import fitting
from replearn.learners.search import ReplicableSearchCV
from replearn.persistence.block_folder import resumable
from tests.factories import voting

RNG = np.random.default_rng(3)
X = RNG.normal(5, 2, size=(600, 3))
Y = (X[:, 0] + RNG.normal(size=600) > 5).astype(int)
NEW = RNG.normal(5, 2, size=(100, 3))
N_BLOCKS = 6


class Interrupted(BaseException):
    """What a signal would do."""


def learner(base=None, **params):
    settings = {"n_blocks": N_BLOCKS, "n_partitions": 1, "rho": 0.5} | params
    return voting(base or DecisionTreeClassifier(), **{"shared_key": "k"} | settings)


def files(folder):
    return sorted(path.name for path in blocks(folder))


def blocks(folder):
    return sorted(folder.glob("training-*/*.model"))


@pytest.fixture
def counted(monkeypatch):
    """Count the blocks that are fitted, and stop where a test wants it."""
    calls, whole = [], fitting.fit_one_block

    def fit(estimator, block, *faster):
        if len(calls) == stop.get("after"):
            raise Interrupted
        calls.append(block.name)
        return whole(estimator, block, *faster)

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
    with pytest.raises(Interrupted):
        learner(base).fit(X, Y, context=resumable(tmp_path))
    assert len(files(tmp_path)) == 4
    stop.clear()
    calls.clear()
    again = learner(base).fit(X, Y, context=resumable(tmp_path))
    assert calls == ["block 4 of partition 0", "block 5 of partition 0"]
    assert (again.margin(NEW) == whole.margin(NEW)).all()
    for ours, theirs in zip(again.estimators_, whole.estimators_, strict=True):
        assert (ours.predict_proba(NEW) == theirs.predict_proba(NEW)).all()
    calls.clear()
    learner(base).fit(X, Y, context=resumable(tmp_path))
    assert calls == []


def test_workers_keep_their_blocks_too(tmp_path, monkeypatch):
    monkeypatch.setattr(fitting, "START_SECONDS", 0.0)
    kept = learner(n_jobs=2).fit(X, Y, context=resumable(tmp_path))
    assert len(files(tmp_path)) == N_BLOCKS
    assert (kept.margin(NEW) == learner().fit(X, Y).margin(NEW)).all()


def test_blocks_with_one_class(tmp_path):
    rare = (np.arange(600) < 2).astype(int)
    one = learner().fit(X, rare, context=resumable(tmp_path))
    assert (
        learner().fit(X, rare, context=resumable(tmp_path)).predict(NEW) == one.predict(NEW)
    ).all()


OTHERS = {
    "data": (lambda context: learner().fit(X + 1, Y, context=context), "not the same data, blocks"),
    "labels": (lambda context: learner().fit(X, 1 - Y, context=context), "not the same data"),
    "key": (
        lambda context: learner(shared_key="other").fit(X, Y, context=context),
        "not the same blocks, key",
    ),
    "plan": (
        lambda context: learner(n_blocks=5).fit(X, Y, context=context),
        "not the same blocks, key",
    ),
    "learner": (
        lambda context: learner(GaussianNB()).fit(X, Y, context=context),
        "not the same estimator",
    ),
}


@pytest.mark.parametrize(("fit", "message"), OTHERS.values(), ids=OTHERS)
def test_a_folder_of_another_fit_is_refused(tmp_path, fit, message):
    learner().fit(X, Y, context=resumable(tmp_path))
    before = files(tmp_path)
    with pytest.raises(ValueError, match=f"holds another fit: {message}"):
        fit(resumable(tmp_path))
    assert files(tmp_path) == before


def test_another_version_is_refused(tmp_path):
    learner().fit(X, Y, context=resumable(tmp_path))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "scikit-learn": "0.1"}))
    with pytest.raises(ValueError, match="not the same scikit-learn"):
        learner().fit(X, Y, context=resumable(tmp_path))
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(ValueError, match=r"manifest\.json: not valid JSON"):
        learner().fit(X, Y, context=resumable(tmp_path))


@pytest.mark.parametrize("damage", [lambda old: old[:50], lambda old: b"", lambda old: b"x" + old])
def test_damaged_blocks_are_fitted_again(tmp_path, counted, damage):
    whole = learner().fit(X, Y, context=resumable(tmp_path))
    calls, _ = counted
    calls.clear()
    place = blocks(tmp_path)[2]
    place.write_bytes(damage(place.read_bytes()))
    (place.parent / ".block-000003.skops.abc").write_bytes(b"half")
    again = learner().fit(X, Y, context=resumable(tmp_path))
    assert calls == ["block 2 of partition 0"]
    assert (again.margin(NEW) == whole.margin(NEW)).all()


def test_a_crash_while_writing_leaves_no_half_file(tmp_path, monkeypatch):
    real = os.replace

    def crash(source, target):
        if "block-000002" in str(target):
            raise Interrupted
        real(source, target)

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(Interrupted):
        learner().fit(X, Y, context=resumable(tmp_path))
    assert files(tmp_path) == ["block-000000.model", "block-000001.model"]


def test_learners_that_could_not_be_read_back_are_refused_with_the_first_block(tmp_path, counted):
    base = KNeighborsClassifier(algorithm="kd_tree")
    with pytest.raises(ModelFileError, match=r"trusted by name.*KDTree"):
        learner(base).fit(X, Y, context=resumable(tmp_path))
    assert len(counted[0]) == 1
    assert files(tmp_path) == []


def test_the_key_is_not_in_the_folder(tmp_path):
    learner(shared_key="a secret that is long enough to look for").fit(
        X, Y, context=resumable(tmp_path)
    )
    for path in [*tmp_path.glob("*.json"), *tmp_path.glob("*/*.json"), *blocks(tmp_path)]:
        assert b"a secret that is" not in path.read_bytes()


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    learner().fit(X, Y)
    assert list(tmp_path.iterdir()) == []


def search(depths=(1, 3)):
    return ReplicableSearchCV(learner(), {"estimator__max_depth": list(depths)}, cv=2)


def score_of_depth(fitted):
    return {
        params["estimator__max_depth"]: score
        for params, score in zip(
            fitted.cv_results_["params"], fitted.cv_results_["mean_test_score"], strict=True
        )
    }


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
@pytest.mark.parametrize("after", [0, 3, 6, 17, 27])
def test_a_search_over_block_learners_continues(tmp_path, counted, after):
    whole = search().fit(X, Y)
    calls, stop = counted
    total = len(calls)
    assert total == (2 * 2 + 1) * N_BLOCKS  # two configurations, two folds, and the best on all
    calls.clear()
    stop["after"] = after
    with pytest.raises(Interrupted):
        search().fit(X, Y, context=resumable(tmp_path))
    assert len(files(tmp_path)) == after
    stop.clear()
    calls.clear()
    again = search().fit(X, Y, context=resumable(tmp_path))
    assert len(calls) == total - after
    assert again.best_params_ == whole.best_params_
    assert (again.cv_results_["mean_test_score"] == whole.cv_results_["mean_test_score"]).all()
    assert (again.best_estimator_.margin(NEW) == whole.best_estimator_.margin(NEW)).all()


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
def test_trainings_are_found_by_what_they_train_on_not_by_their_turn(tmp_path, counted):
    there = search((1, 3)).fit(X, Y, context=resumable(tmp_path))
    calls, _ = counted
    calls.clear()
    back = search((3, 1)).fit(X, Y, context=resumable(tmp_path))
    assert calls == []
    assert score_of_depth(back) == score_of_depth(there)
    search((3, 2, 1)).fit(X, Y, context=resumable(tmp_path))
    assert len(calls) == 2 * N_BLOCKS  # depth 2 is new; the chosen one was trained before


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
def test_the_folder_of_another_search_is_refused(tmp_path):
    search().fit(X, Y, context=resumable(tmp_path))
    before = files(tmp_path)
    for other, data in ((search((2, 4)), (X, Y)), (search(), (X + 1, Y))):
        with pytest.raises(ValueError, match="holds another fit: not the same"):
            other.fit(*data, context=resumable(tmp_path))
    assert files(tmp_path) == before


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
def test_scikit_learns_search_continues_too(tmp_path, counted):
    grid = GridSearchCV(learner(n_partitions=1), {"threshold": [0.3, 0.5]}, cv=2)
    kept = grid.fit(X, Y, context=resumable(tmp_path)).cv_results_["mean_test_score"]
    # the threshold is no matter of the blocks: its second value trains nothing
    assert len(counted[0]) == (2 + 1) * N_BLOCKS
    assert (kept == grid.fit(X, Y).cv_results_["mean_test_score"]).all()
