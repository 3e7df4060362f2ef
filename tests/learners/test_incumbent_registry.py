"""The registered model is the incumbent: what is logged, and how it comes back."""

import shutil
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from replearn import IncumbentClassifier
from replearn.integrations import mlflow as integration

pytest.importorskip("pandas")  # which MLflow needs

X, Y = make_classification(600, flip_y=0.2, random_state=0)


@pytest.fixture
def registry(monkeypatch, tmp_path):
    """A stand-in for MLflow that keeps what is logged in a folder; tests/integrations has it."""
    logged = {}

    def log_model(*, name, data_path, **options):
        (tmp_path / name).mkdir()
        shutil.copy(data_path, tmp_path / name)
        logged.update(options)
        return name

    fake = SimpleNamespace(
        pyfunc=SimpleNamespace(log_model=log_model),
        artifacts=SimpleNamespace(download_artifacts=lambda artifact_uri: tmp_path / artifact_uri),
        models=SimpleNamespace(infer_signature=lambda rows, predicted: len(predicted)),
    )
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    monkeypatch.delenv(integration.KEY_VARIABLE, raising=False)
    return logged


def test_the_registered_model_is_the_incumbent(registry):
    may = IncumbentClassifier(GaussianNB()).fit(X[:300], Y[:300])
    integration.log_model(may, "credit", input_example=X[:3])
    assert any(text.startswith("scikit-learn==") for text in registry["pip_requirements"])
    again = integration.registered_model("credit")  # no key is needed
    june = IncumbentClassifier(GaussianNB(), again, memory=0.5).fit(X[300:], Y[300:])
    expected = IncumbentClassifier(GaussianNB(), may, memory=0.5).fit(X[300:], Y[300:])
    np.testing.assert_array_equal(june.predict_proba(X), expected.predict_proba(X))
    assert len(june.history_) == 2


def test_what_is_not_a_logged_model_is_named(registry, tmp_path):
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="other is not a model of log_model"):
        integration.registered_model("other")
