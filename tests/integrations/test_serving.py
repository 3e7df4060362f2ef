"""A logged model behind ``mlflow models serve``, in an environment that has only what it names."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from replearn import PointwiseReplicableClassifier, SharedKey

mlflow = pytest.importorskip("mlflow")
pytestmark = [
    pytest.mark.long,  # two minutes: a fresh environment is installed
    pytest.mark.filterwarnings("default"),  # those of mlflow's own dependencies
]

from replearn.integrations.mlflow import KEY_VARIABLE, log_model  # noqa: E402

ROOT = Path(__file__).parents[2]
KEY = SharedKey.generate()
PATIENCE = 120
"""Seconds after which a server that does not respond counts as failed."""


def run(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    """A model with a signature, the folder where MLflow keeps it, and rows with predictions."""
    pd = pytest.importorskip("pandas")
    folder = tmp_path_factory.mktemp("served")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    mlflow.create_experiment("serving", artifact_location=str(folder / "artifacts"))
    mlflow.set_experiment("serving")
    X, y = make_classification(1500, 4, random_state=0)
    rows = pd.DataFrame(X, columns=list("abcd"))
    model = PointwiseReplicableClassifier(LogisticRegression(), n_blocks=18, shared_key=KEY)
    model.fit(rows[:1200], y[:1200])
    with mlflow.start_run():
        info = log_model(model, input_example=rows[:3])
    local = mlflow.artifacts.download_artifacts(info.model_uri, dst_path=str(folder / "model"))
    return Path(local), rows[1200:], model


@pytest.fixture(scope="module")
def environment(logged, tmp_path_factory):
    """A fresh environment: a wheel of this project, and what the logged model requires."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder / "dist", ROOT)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    pip = (python, "-m", "pip", "install", "--quiet", "--no-compile")
    requirements = logged[0] / "requirements.txt"
    run(*pip, "--find-links", folder / "dist", "--requirement", requirements)
    return folder / "venv" / "bin"


@pytest.fixture(scope="module")
def server(logged, environment, tmp_path_factory):
    """The address of a server that has the key in its environment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    command = [environment / "mlflow", "models", "serve", "--env-manager", "local"]
    command += ["--model-uri", logged[0], "--host", "127.0.0.1", "--port", port]
    paths = f"{environment}{os.pathsep}{os.environ['PATH']}"  # mlflow starts uvicorn by its name
    surroundings = {**os.environ, "PATH": paths, KEY_VARIABLE: KEY.export()}
    folder = tmp_path_factory.mktemp("work")
    log = folder / "log.txt"
    with log.open("w") as stream:
        process = subprocess.Popen(
            [*map(str, command)],
            stdout=stream,
            stderr=stream,
            env=surroundings,
            cwd=folder,
            start_new_session=True,
        )
    try:
        _wait_for(address, process, log)
        yield address
    finally:
        os.killpg(process.pid, 15)
        process.wait(timeout=PATIENCE)


def _wait_for(address, process, log):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/ping", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise AssertionError(f"the server does not respond: {log.read_text()[-3000:]}")


def post(address, content):
    request = urllib.request.Request(
        f"{address}/invocations",
        json.dumps(content).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as response:
        return json.loads(response.read())["predictions"]


def test_the_server_predicts_as_the_model_did(logged, server):
    _, rows, model = logged
    served = post(server, {"dataframe_split": rows.to_dict(orient="split", index=False)})
    assert [row["prediction"] for row in served] == model.predict(rows).tolist()
    found = [row["flip_probability"] for row in served]
    np.testing.assert_allclose(found, model.flip_probability(rows), atol=1e-9)


def test_the_signature_refuses_other_columns(logged, server):
    rows = logged[1][:1].rename(columns={"a": "income"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(server, {"dataframe_split": rows.to_dict(orient="split", index=False)})
    with refused.value as response:
        assert response.code == 400
        assert "Model is missing inputs ['a']" in response.read().decode()
