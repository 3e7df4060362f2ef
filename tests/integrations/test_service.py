"""The service example as a real process: predictions, health, version, and a new model file."""

import hashlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from replearn import PointwiseReplicableClassifier, SharedKey, save

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

EXAMPLE = Path(__file__).parents[2] / "examples" / "service"
KEY = SharedKey.generate()
PATIENCE = 120
"""Seconds after which something that does not happen counts as failed."""

X, Y = make_classification(2600, 4, random_state=0)
ROWS = pd.DataFrame(X, columns=list("abcd"))


def fitted(start, stop, labels):
    model = PointwiseReplicableClassifier(LogisticRegression(), n_blocks=18, shared_key=KEY)
    return model.fit(ROWS[start:stop], labels[start:stop])


@pytest.fixture(scope="module")
def models():
    """Two models; with the same labels they might predict the same for every row."""
    return fitted(0, 1200, Y), fitted(1200, 2400, 1 - Y)


class Service:
    """A running service, its model file and its log."""

    def __init__(self, folder, surroundings):
        self.path = folder / "credit.replearn"
        self.log = folder / "log.txt"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "uvicorn", "app:app", "--app-dir", str(EXAMPLE)]
        with self.log.open("w") as stream:
            self.process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--port", str(port)],
                stdout=stream,
                stderr=stream,
                cwd=folder,
                env={**os.environ, "REPLEARN_MODEL": str(self.path), **surroundings},
            )

    def call(self, name, content=None):
        body = None if content is None else json.dumps(content).encode()
        request = urllib.request.Request(
            f"{self.address}/{name}", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return json.loads(response.read())

    def predict(self, rows):
        return self.call("predict", {"rows": rows.to_dict(orient="records")})

    def wait_until(self, happened):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if happened():
                    return
            except (urllib.error.URLError, OSError):
                pass
            time.sleep(0.1)
        raise AssertionError(self.log.read_text()[-3000:])

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)


@pytest.fixture(scope="module")
def running(models, tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    save(models[0], folder / "credit.replearn")
    service = Service(folder, {"REPLEARN_KEY": KEY.export()})
    try:
        service.wait_until(lambda: service.call("health"))
        yield service
    finally:
        service.stop()


@pytest.fixture
def service(models, running):
    """The service with the first model, whatever a test before has done."""
    save(models[0], running.path)
    digest = hashlib.sha256(running.path.read_bytes()).hexdigest()[:16]
    running.wait_until(lambda: running.call("version")["model"] == digest)
    running.wait_until(lambda: running.call("health")["status"] == "ok")
    return running


def test_it_predicts_as_the_model_does_and_says_what_it_is(models, service):
    model = models[0]
    served = service.predict(ROWS[2400:])
    assert served["predictions"] == model.predict(ROWS[2400:]).tolist()
    assert served["flip_probabilities"] == model.flip_probability(ROWS[2400:]).tolist()
    alone = service.predict(ROWS[2400:2401])
    assert alone["predictions"] == served["predictions"][:1]
    assert alone["milliseconds"] > 0
    assert service.call("health")["one_row_milliseconds"] > 0
    version = service.call("version")
    assert version["model"] == served["model"]
    assert version["verdict"] == "certified"
    assert version["key_fingerprint"] == KEY.fingerprint
    assert service.call("health")["status"] == "ok"
    assert "one row: " in service.log.read_text()
    assert KEY.export() not in service.log.read_text() + json.dumps(version)


@pytest.mark.parametrize(
    "rows",
    [[], [{"a": 1.0, "b": 2.0, "c": 3.0}], [{"a": "x", "b": 2.0, "c": 3.0, "d": 4.0}]],
    ids=["none", "a column is missing", "text"],
)
def test_rows_that_cannot_be_predicted_are_the_callers_error(service, rows):
    with pytest.raises(urllib.error.HTTPError) as refused:
        service.call("predict", {"rows": rows})
    with refused.value as response:
        assert response.code == 422
    assert service.call("health")["status"] == "ok"


def test_a_new_model_file_is_served_and_no_request_is_dropped(models, service):
    expected = [model.predict(ROWS[2400:]).tolist() for model in models]
    assert expected[0] != expected[1]
    first = service.call("version")["model"]
    seen, failed, done = [], [], threading.Event()

    def requests():
        while not done.is_set():
            try:
                seen.append(service.predict(ROWS[2400:]))
            except Exception as error:
                failed.append(error)

    threads = [threading.Thread(target=requests) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        save(models[1], service.path)
        service.wait_until(lambda: service.call("version")["model"] != first)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert failed == []
    second = service.call("version")["model"]
    for response in seen:  # each of one model alone
        assert response["predictions"] == expected[[first, second].index(response["model"])]
    assert service.predict(ROWS[2400:])["predictions"] == expected[1]


def test_a_broken_file_changes_nothing_and_is_reported(models, service):
    expected = models[0].predict(ROWS[2400:]).tolist()
    service.path.write_bytes(b"not a model")
    service.wait_until(lambda: service.call("health")["last_error"])
    assert "ModelFileError" in service.call("health")["last_error"]
    assert service.predict(ROWS[2400:])["predictions"] == expected
    save(models[0], service.path)
    service.wait_until(lambda: service.call("health")["status"] == "ok")


def test_without_the_key_it_does_not_start(models, tmp_path, monkeypatch):
    save(models[0], tmp_path / "credit.replearn")
    monkeypatch.delenv("REPLEARN_KEY", raising=False)
    running = Service(tmp_path, {})
    assert running.process.wait(timeout=PATIENCE) != 0
    assert "requires its shared key" in running.log.read_text()
