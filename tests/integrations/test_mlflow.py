"""MLflow: model files instead of pickles, a gate on flips, no autologging inside the blocks."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

import replearn
from replearn import IncumbentClassifier, PointwiseReplicableClassifier, SharedKey
from replearn.exceptions import ModelFileError

mlflow = pytest.importorskip("mlflow")
pytestmark = pytest.mark.filterwarnings("default")  # those of mlflow's own dependencies

from replearn.integrations.mlflow import (  # noqa: E402
    KEY_VARIABLE,
    TRUSTED_TYPES_VARIABLE,
    flip_metric,
    log_model,
    registered_model,
)

X, Y = make_classification(3000, n_informative=4, flip_y=0.1, random_state=0)
KEY = SharedKey.generate()


@pytest.fixture(scope="module", autouse=True)
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    mlflow.create_experiment("gate", artifact_location=str(folder / "artifacts"))
    mlflow.set_experiment("gate")
    return folder


def fitted(rows):
    learner = PointwiseReplicableClassifier(LogisticRegression(), n_blocks=18, shared_key=KEY)
    return learner.fit(X[rows], Y[rows])


def frame(rows):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(X[rows], columns=[f"x{i}" for i in range(X.shape[1])])


@pytest.fixture(scope="module")
def logged(store):
    model = fitted(slice(0, 1200))
    with mlflow.start_run() as run:
        info = log_model(model, input_example=X[:3], registered_model_name="credit")
    return model, info, run.info.run_id


def test_the_logged_model_predicts_with_flip_probabilities(logged, monkeypatch):
    model, info, _ = logged
    monkeypatch.setenv(KEY_VARIABLE, KEY.export())
    answers = mlflow.pyfunc.load_model(info.model_uri).predict(X[2400:])
    assert list(answers.columns) == ["prediction", "flip_probability"]
    np.testing.assert_array_equal(answers["prediction"], model.predict(X[2400:]))
    np.testing.assert_array_equal(answers["flip_probability"], model.flip_probability(X[2400:]))


def test_a_fresh_environment_is_told_what_to_install_and_to_send(logged):
    _, info, _ = logged
    path = mlflow.pyfunc.get_model_dependencies(info.model_uri)
    lines = Path(path).read_text().splitlines()
    assert f"replicable-learn[mlflow]=={replearn.__version__}" in lines
    assert f"scikit-learn=={sklearn.__version__}" in lines
    assert info.signature.inputs.is_tensor_spec()
    assert info.signature.outputs.input_names() == ["prediction", "flip_probability"]


def test_a_model_without_signature_is_warned_about():
    with mlflow.start_run(), pytest.warns(UserWarning, match="pass input_example"):
        info = log_model(fitted(slice(0, 1200)))
    assert info.signature is None


def test_no_file_of_the_logged_model_contains_the_key(logged, store):
    text = KEY.export().encode()
    files = [path for path in store.rglob("*") if path.is_file()]
    assert any(path.name == "model.replearn" for path in files)
    assert [path for path in files if text in path.read_bytes()] == []


def test_without_key_the_variable_is_named(logged, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with pytest.raises(Exception, match=KEY_VARIABLE):
        mlflow.pyfunc.load_model(logged[1].model_uri)


def test_the_process_that_loads_names_the_types_it_trusts_not_the_artifact(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY.export())
    base = KNeighborsClassifier(algorithm="kd_tree")
    model = PointwiseReplicableClassifier(base, n_blocks=18, shared_key=KEY)
    types = [
        "sklearn.metrics._dist_metrics.EuclideanDistance64",
        "sklearn.neighbors._classification.KNeighborsClassifier",
        "sklearn.neighbors._kd_tree.KDTree",
    ]
    with mlflow.start_run():
        info = log_model(
            model.fit(X[:1200], Y[:1200]),
            input_example=X[:3],
            model_config={"trusted": types, "trusted_types": types},  # as a forger might
        )
    monkeypatch.delenv(TRUSTED_TYPES_VARIABLE, raising=False)
    with pytest.raises(ModelFileError, match=rf"KDTree.*{TRUSTED_TYPES_VARIABLE}"):
        mlflow.pyfunc.load_model(info.model_uri)
    monkeypatch.setenv(TRUSTED_TYPES_VARIABLE, ", ".join(types))
    answers = mlflow.pyfunc.load_model(info.model_uri).predict(X[2400:])
    np.testing.assert_array_equal(answers["prediction"], model.predict(X[2400:]))


def test_the_certificate_is_an_artifact(logged):
    model, _, run = logged
    text = mlflow.artifacts.load_text(f"runs:/{run}/certificate.json")
    assert json.loads(text) == json.loads(model.certificate_.to_json())


@pytest.mark.parametrize(("limit", "passes"), [(0.5, True), (0.0001, False)])
def test_a_gate_on_flips(logged, monkeypatch, limit, passes):
    from mlflow.models import MetricThreshold
    from mlflow.models.evaluation.validation import ModelValidationFailedException

    monkeypatch.setenv(KEY_VARIABLE, KEY.export())
    registered = mlflow.pyfunc.load_model("models:/credit/1")
    candidate = LogisticRegression().fit(X[1200:2400], Y[1200:2400])
    rows = frame(slice(2400, 3000))
    rows["label"] = Y[2400:]
    rows["answer"] = candidate.predict(X[2400:])
    with mlflow.start_run():
        result = mlflow.models.evaluate(
            data=rows,
            targets="label",
            predictions="answer",
            model_type="classifier",
            extra_metrics=[flip_metric(registered, X[2400:])],
            evaluator_config={"log_explainer": False},
        )
    thresholds = {"flip_rate": MetricThreshold(threshold=limit, greater_is_better=False)}
    expected = np.mean(candidate.predict(X[2400:]) != logged[0].predict(X[2400:]))
    assert result.metrics["flip_rate"] == pytest.approx(expected)
    if passes:
        mlflow.validate_evaluation_results(thresholds, result)
    else:
        with pytest.raises(ModelValidationFailedException):
            mlflow.validate_evaluation_results(thresholds, result)


def test_the_champion_of_the_registry_is_the_incumbent(store):
    """Three months in a real registry: each model is trained with the registered one."""
    months = [slice(0, 800), slice(800, 1600), slice(1600, 2400)]
    alone = None
    client = mlflow.MlflowClient()
    for month, rows in enumerate(months):
        registered = registered_model("models:/monthly@champion") if month else None
        model = IncumbentClassifier(LogisticRegression(), registered).fit(X[rows], Y[rows])
        alone = IncumbentClassifier(LogisticRegression(), alone).fit(X[rows], Y[rows])
        with mlflow.start_run():
            log_model(model, input_example=X[:3], registered_model_name="monthly")
        newest = max(int(v.version) for v in client.search_model_versions("name='monthly'"))
        client.set_registered_model_alias("monthly", "champion", str(newest))
    champion = registered_model("models:/monthly@champion")
    assert len(champion.history_) == 3
    np.testing.assert_array_equal(champion.predict(X), alone.predict(X))
    np.testing.assert_array_equal(champion.predict_proba(X), alone.predict_proba(X))


def test_blocks_are_not_autologged(store):
    def logged_by(fit):
        with mlflow.start_run() as run:
            fit()
        return mlflow.get_run(run.info.run_id).data

    mlflow.sklearn.autolog(log_models=False)
    try:
        alone = logged_by(lambda: LogisticRegression().fit(X[:1200], Y[:1200]))
        blocks = logged_by(lambda: fitted(slice(0, 1200)))
    finally:
        mlflow.sklearn.autolog(disable=True)
    assert "C" in alone.params  # autologging was on
    assert (blocks.params, blocks.metrics) == ({}, {})


def test_models_are_compared_by_their_uris(logged, monkeypatch):
    from replearn.auditing.comparison import compare

    monkeypatch.setenv(KEY_VARIABLE, KEY.export())
    plain = LogisticRegression().fit(frame(slice(1200, 2400)), Y[1200:2400])
    with mlflow.start_run():
        info = mlflow.sklearn.log_model(plain, name="plain")
    rows = frame(slice(2400, 3000))
    found = compare("models:/credit/1", info.model_uri, rows, Y[2400:])
    by_hand = np.mean(logged[0].predict(X[2400:]) != plain.predict(rows))
    assert found.flips.value == pytest.approx(by_hand)
    same = compare(info.model_uri, info.model_uri, rows)
    assert same.table.get("change of the probability").value == 0


def test_the_example_of_the_gallery_runs(monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    # In a process of its own: it chooses another store, for this whole process.
    example = Path(__file__).parents[2] / "examples" / "mlflow_gate.py"
    run = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    assert re.search(r"replicable: flip rate \d\.\d%, may be registered", run.stdout)
    assert re.search(r"plain: flip rate \d+\.\d%, stays outside", run.stdout)
