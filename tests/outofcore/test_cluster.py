"""A Dask cluster gives the bits of this machine, also when it loses a worker."""

import contextlib
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
from tests.factories import voting

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
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


@contextlib.contextmanager
def cluster(**options):
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"} | options
    patient = {"distributed.comm.timeouts.connect": "120s", "distributed.comm.timeouts.tcp": "120s"}
    with (
        dask.config.set(patient),
        distributed.LocalCluster(**options) as workers,
        distributed.Client(workers) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    """Workers of this process: two of their own would import the library first."""
    with cluster(processes=False) as client:
        yield client


def learner(**params):
    params = {"n_blocks": BLOCKS, "rho": 0.9, "max_fits": BLOCKS, "shared_key": "k"} | params
    return voting(LogisticRegression(), **params)


def small():
    return learner(n_blocks=10, max_fits=10)


def assert_same(one, two, X):
    assert one.certificate_ == two.certificate_
    assert (one.predict_proba(X) == two.predict_proba(X)).all()
    assert (one.predict(X) == two.predict(X)).all()


def kill_when(folder, count, pid):
    """Kill a process when so many models are there; return the thread that waits for it."""

    def wait():
        while len(list(folder.glob("training/*.model"))) < count:
            time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_joblib_on_the_cluster(frame, client):
    X, y = frame.drop("y"), frame["y"].to_numpy()
    with joblib.parallel_config("dask"):
        fitted = learner(n_jobs=2).fit(X, y)
    assert_same(fitted, learner().fit(X, y), X)


def test_files_on_the_cluster(frame, path, client, tmp_path):
    fitted = fit_files(small(), path, "y", folder=tmp_path / "work", client=client)
    assert_same(fitted, small().fit(frame.drop("y"), frame["y"].to_numpy()), frame.drop("y"))


def test_errors_of_workers_are_raised(path, client, tmp_path):
    wrong = PointwiseReplicableClassifier(LogisticRegression(C=-1), n_blocks=10, rho=0.9)
    with pytest.raises(ValueError, match="'C' parameter of LogisticRegression"):
        fit_files(wrong, path, "y", folder=tmp_path / "work", client=client)


def test_a_folder_on_other_storage(frame, path):
    pytest.importorskip("fsspec")
    expected = small().fit(frame.drop("y"), frame["y"].to_numpy())
    fitted = fit_files(small(), path, "y", folder="memory://replearn-test/work")
    assert_same(fitted, expected, frame.drop("y"))
    again = fit_files(small(), path, "y", folder="memory://replearn-test/work")
    assert_same(again, expected, frame.drop("y"))


def test_a_dask_frame(frame, tmp_path):
    dataframe = pytest.importorskip("dask.dataframe")
    rows = dataframe.from_pandas(frame.to_pandas(), npartitions=3)
    fitted = fit_files(small(), rows, "y", folder=tmp_path / "work", container="pandas")
    X = frame.drop("y").to_pandas()
    expected = small().fit(X, frame["y"].to_numpy())
    assert_same(fitted, expected, X)


@pytest.mark.long
def test_a_lost_worker_costs_its_block(frame, path, tmp_path):
    with cluster() as client:
        before = client.run(os.getpid)
        killer = kill_when(tmp_path / "work", 10, next(iter(before.values())))
        fitted = fit_files(learner(), path, "y", folder=tmp_path / "work", client=client)
        killer.join(timeout=10)
        assert not killer.is_alive()
        client.wait_for_workers(2, timeout=30)
        assert set(client.run(os.getpid).values()) != set(before.values())
    assert len(list((tmp_path / "work").glob("training/*.model"))) == BLOCKS
    expected = learner().fit(frame.drop("y"), frame["y"].to_numpy())
    assert_same(fitted, expected, frame.drop("y"))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_a_lost_scheduler_costs_nothing_that_is_done(frame, path, tmp_path):
    engine = pytest.importorskip("benchmarks.dask_engine")  # starts clusters of programs
    port = engine.free_port()
    work, address = tmp_path / "work", f"tcp://127.0.0.1:{port}"
    soon = {"distributed.comm.timeouts.connect": "3s"}
    with dask.config.set(soon), engine.processes(2, port) as scheduler:
        client = distributed.Client(address, timeout=60)
        client.wait_for_workers(2, timeout=60)
        kill_when(work, 10, scheduler.pid)
        with pytest.raises((OSError, distributed.CancelledError, RuntimeError)):
            fit_files(learner(), path, "y", folder=work, client=client)
        with contextlib.suppress(Exception):
            client.close(timeout=2)
    time.sleep(1)
    done = {file: file.stat().st_mtime_ns for file in work.glob("training/*.model")}
    assert 10 <= len(done) < BLOCKS
    with engine.processes(2, port):
        fitted = fit_files(learner(), path, "y", folder=work, client=address)
    assert all(file.stat().st_mtime_ns == when for file, when in done.items())
    expected = learner().fit(frame.drop("y"), frame["y"].to_numpy())
    assert_same(fitted, expected, frame.drop("y"))
