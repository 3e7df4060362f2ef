"""A Dask cluster gives the bits of this machine, also when it loses a worker."""

import os
import signal
import threading
import time

import joblib
import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from replearn import PointwiseReplicableClassifier
from replearn.outofcore import fit_files

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.NotCertifiedWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:distributed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
N, BLOCKS = 6000, 60


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3)).round(2)
    return pl.DataFrame({"b": X[:, 0], "a": X[:, 1], "c": X[:, 2], "y": X[:, 0] > X[:, 1]})


@pytest.fixture(scope="module")
def path(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    frame.write_parquet(path, row_group_size=2000)
    return path


@pytest.fixture(scope="module")
def cluster():
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def learner(**params):
    params = {"n_blocks": BLOCKS, "rho": 0.9, "max_fits": BLOCKS, "shared_key": "k"} | params
    return PointwiseReplicableClassifier(LogisticRegression(), **params)


def assert_same(one, two, X):
    assert one.certificate_ == two.certificate_
    assert (one.predict_proba(X) == two.predict_proba(X)).all()
    assert (one.predict(X) == two.predict(X)).all()


def kill_when(folder, count, pid):
    """Kill a process when so many models are there; return the thread that waits for it."""

    def wait():
        while len(list(folder.glob("models/0000/*"))) < count:
            time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_a_lost_worker_costs_its_block(frame, path, client, tmp_path):
    before = client.run(os.getpid)
    killer = kill_when(tmp_path / "work", 10, next(iter(before.values())))
    fitted = fit_files(learner(), path, "y", folder=tmp_path / "work", client=client)
    killer.join(timeout=10)
    assert not killer.is_alive()
    assert len(list((tmp_path / "work").glob("models/0000/*"))) == BLOCKS
    expected = learner().fit(frame.drop("y"), frame["y"].to_numpy())
    assert_same(fitted, expected, frame.drop("y"))
    client.wait_for_workers(2, timeout=30)
    assert set(client.run(os.getpid).values()) != set(before.values())


def test_joblib_on_the_cluster(frame, client):
    X, y = frame.drop("y"), frame["y"].to_numpy()
    with joblib.parallel_config("dask"):
        fitted = learner(n_jobs=2).fit(X, y)
    assert_same(fitted, learner().fit(X, y), X)


def test_errors_of_workers_are_raised(path, client, tmp_path):
    wrong = PointwiseReplicableClassifier(LogisticRegression(C=-1), n_blocks=10, rho=0.9)
    with pytest.raises(ValueError, match="'C' parameter of LogisticRegression"):
        fit_files(wrong, path, "y", folder=tmp_path / "work", client=client)
