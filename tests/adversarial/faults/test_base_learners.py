"""A base estimator that misbehaves: an error that names the block, never a silently wrong model."""

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC

from replearn import PointwiseReplicableRegressor, SharedKey
from replearn.auditing.audits import audit
from replearn.auditing.comparison import compare
from replearn.execution.fitting import fit_blocks
from tests.adversarial.faults import bad_learners as bad
from tests.factories import voting

RNG = np.random.default_rng(5)
X = RNG.normal(5, 2, size=(300, 3))
Y = (X[:, 0] + RNG.normal(size=300) > 5).astype(int)
NEW = RNG.normal(5, 2, size=(900, 3))
BLOCK = r"block \d+ of partition \d+"


def learner(base, **params):
    settings = {"n_blocks": 6, "n_partitions": 1, "rho": 0.5, "shared_key": "k"}
    return voting(base, **settings | params)


@pytest.fixture
def workers_at_once(monkeypatch):
    """Leave this process after two blocks, however fast they are."""
    monkeypatch.setattr(
        "replearn.execution.fitting._workers_pay", lambda seconds, *_: len(seconds) > 1
    )


def test_one_that_raises():
    with pytest.raises(ArithmeticError, match=f"Raises failed on {BLOCK}: no convergence"):
        learner(bad.Raises()).fit(X, Y)


def test_one_that_leaves_by_sys_exit_does_not_end_the_program():
    with pytest.raises(
        RuntimeError, match=rf"CallsExit failed on {BLOCK}: it called sys.exit\(0\)"
    ):
        learner(bad.CallsExit()).fit(X, Y)


def test_one_whose_fit_returns_nothing():
    same = learner(bad.ReturnsNothing()).fit(X, Y).predict(NEW)
    assert (same == learner(bad.Stump()).fit(X, Y).predict(NEW)).all()


def test_a_model_without_classes_and_one_with_others():
    with pytest.raises(AttributeError, match=f"KnowsNoClasses failed on {BLOCK}: .*classes_"):
        learner(bad.KnowsNoClasses()).fit(X, Y)
    with pytest.raises(ValueError, match=f"KnowsOtherClasses of {BLOCK} knows the class 5"):
        learner(bad.KnowsOtherClasses()).fit(X, Y)


@pytest.mark.parametrize("name", bad.ASKED)
def test_answers_that_are_none(name):
    with pytest.raises(ValueError, match=f"{name} of {BLOCK} .*{bad.ASKED[name]}"):
        learner(getattr(bad, name)()).fit(X, Y).predict(NEW)


@pytest.mark.parametrize("name", bad.SHARED)
def test_probabilities_that_are_none(name):
    with pytest.raises(ValueError, match=f"{name} of {BLOCK} .*{bad.SHARED[name]}"):
        learner(getattr(bad, name)(), vote="soft").fit(X, Y).predict(NEW)


class AnswersInfinity(LinearRegression):
    def predict(self, X):
        return super().predict(X) * np.inf


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
def test_numbers_that_are_none():
    model = PointwiseReplicableRegressor(AnswersInfinity(), y_range=(0, 10), n_blocks=6, rho=0.5)
    with pytest.raises(ValueError, match=r"AnswersInfinity of block \d+ predicted"):
        model.fit(X, X[:, 1].clip(0, 10)).predict(NEW)


# -- rows and parameters belong to one model -------------------------------------------------------
@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_one_that_writes_into_its_rows_hurts_nobody(n_jobs, workers_at_once):
    table, labels, asked = X.copy(), Y.copy(), NEW.copy()
    model = learner(bad.WritesIntoItsRows(), n_jobs=n_jobs).fit(table, labels)
    plain = learner(bad.Stump()).fit(X, Y)
    assert (model.predict(asked) == plain.predict(NEW)).all()
    for changed, before in ((table, X), (labels, Y), (asked, NEW)):
        assert (changed == before).all()


def workers():
    """Ask long enough that each of two processes predictions."""
    tasks = (delayed(bad.pid_after_a_moment)() for _ in range(8))
    return set(Parallel(batch_size=1, pre_dispatch="all")(tasks))


@pytest.mark.long
def test_large_blocks_may_be_written_into_by_processes_that_others_use_as_well(workers_at_once):
    """joblib maps arrays above a megabyte, for reading only, unless it starts other processes."""
    table = np.random.default_rng(0).normal(size=(120_000, 10))
    labels, before = (table[:, 0] > 0).astype(int), table.copy()
    blocks = list(np.arange(len(table)).reshape(8, -1))
    keys = [SharedKey(0).child(block) for block in range(len(blocks))]
    with parallel_config("loky", n_jobs=2):
        pids = workers()
        models = fit_blocks(bad.WritesIntoItsRows(), table, labels, blocks, keys, n_jobs=2)
        assert workers() == pids
    assert len(models) == len(blocks)
    assert (table == before).all()


SCALED = {
    "neighbours": lambda copy: make_pipeline(StandardScaler(copy=copy), KNeighborsClassifier(3)),
    "kernel": lambda copy: make_pipeline(MaxAbsScaler(copy=copy), SVC()),
    "bayes": lambda copy: make_pipeline(StandardScaler(copy=copy), GaussianNB()),
}


@pytest.mark.parametrize("container", ["array", "pandas", "sparse"])
@pytest.mark.parametrize("base", SCALED.values(), ids=SCALED)
def test_scalers_without_a_copy_answer_as_those_with_one(base, container):
    if container == "sparse" and base is not SCALED["kernel"]:
        pytest.skip("centres, or wants arrays")
    given, asked = (_as(container, table) for table in (X, NEW))
    copied, written = (learner(base(copy)).fit(given, Y) for copy in (True, False))
    assert (written.margin(asked) == copied.margin(asked)).all()
    after = asked.toarray() if container == "sparse" else np.asarray(asked)
    assert (after == NEW).all()


def _as(container, table):
    if container == "array":
        return table.copy()
    if container == "sparse":
        return pytest.importorskip("scipy.sparse").csr_array(table)
    names = [f"x{column}" for column in range(table.shape[1])]
    return pytest.importorskip("pandas").DataFrame(table.copy(), columns=names)


def test_measurements_do_not_change_rows_either():
    base, asked = SCALED["neighbours"](False), NEW.copy()
    one, two = (
        base.__sklearn_clone__().fit(X[half].copy(), Y[half])
        for half in (slice(150), slice(150, 300))
    )
    found = compare(one, two, asked)
    assert (asked == NEW).all()
    assert (found.new == two.predict(NEW.copy())).all()


def test_one_that_changes_its_parameters_begins_anew_with_each_block():
    base = bad.ChangesItsParameters(steps=[])
    learner(base).fit(X, Y)
    assert (base.bad_mean, base.steps) == (5.0, [])


# -- audits ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["AnswersOtherLabels", "AnswersNaN", "AnswersOneRow", "Raises"])
def test_an_audit_names_the_pair(name):
    with pytest.raises((ValueError, ArithmeticError)) as caught:
        audit(getattr(bad, name)(), X, Y, n_pairs=2)
    assert any("contender 'baseline', pair 0" in note for note in caught.value.__notes__)


# -- processes that hang or end --------------------------------------------------------------------
@pytest.mark.long
def test_workers_that_end_are_explained(workers_at_once):
    blocks = learner(bad.Stump()).fit(X, Y).estimators_
    late = bad.EndsItsProcess(bad_mean=max(block.mean_ for block in blocks[:2]))
    assert any(block.mean_ > late.bad_mean for block in blocks[2:])
    with pytest.raises(RuntimeError, match=r"worker process ended while EndsItsProcess .*n_jobs=1"):
        learner(late, n_jobs=2).fit(X, Y)
