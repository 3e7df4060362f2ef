"""
A gate in front of the model registry (MLflow)
==============================================

This month's model shall only be registered if it changes few predictions of last month's. The flip
rate is a metric of ``mlflow.models.evaluate``, and a threshold decides. (Needs ``pip install
'replicable-learn[mlflow]'``; it is run by the integration tests, not when this page is built.)
"""

# %%
# A store of its own: a folder that goes away.
import os
import tempfile
from pathlib import Path

import mlflow
from mlflow.exceptions import MlflowException
from mlflow.models import MetricThreshold
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import shuffle

from replearn import PointwiseReplicableClassifier
from replearn.integrations.mlflow import KEY_VARIABLE, flip_metric, log_model

folder = tempfile.TemporaryDirectory()
mlflow.set_tracking_uri(f"sqlite:///{folder.name}/runs.db")
mlflow.create_experiment("tumours", artifact_location=str(Path(folder.name) / "artifacts"))
mlflow.set_experiment("tumours")

# %%
# Last month's model is registered as its model file: no pickle, and not the key. Whoever loads it
# has the key in the environment.
table = shuffle(load_breast_cancer(as_frame=True).frame, random_state=0)
X, y = table.drop(columns="target"), table["target"]
key = "tumours-2026"  # a secret from ``replearn key new`` in earnest
base = make_pipeline(StandardScaler(), LogisticRegression())
learner = PointwiseReplicableClassifier(base, n_blocks=8, rho=0.2, max_fits=16, shared_key=key)
with mlflow.start_run():
    log_model(learner.fit(X[:200], y[:200]), registered_model_name="tumours")

os.environ[KEY_VARIABLE] = key
registered = mlflow.pyfunc.load_model("models:/tumours/1")
print(registered.predict(X[400:403]))

# %%
# Two candidates on fresh rows: a replicable model with the same key, and a plain one.
rows = X[400:].assign(label=y[400:])
candidates = {
    "replicable": learner.fit(X[200:400], y[200:400]),
    "plain": make_pipeline(StandardScaler(), LogisticRegression(C=100)).fit(X[200:230], y[200:230]),
}
limit = {"flip_rate": MetricThreshold(threshold=0.05, greater_is_better=False)}
for name, model in candidates.items():
    with mlflow.start_run(run_name=name):
        result = mlflow.models.evaluate(
            data=rows.assign(answer=model.predict(X[400:])),
            targets="label",
            predictions="answer",
            model_type="classifier",
            extra_metrics=[flip_metric(registered, X[400:])],
            evaluator_config={"log_explainer": False},
        )
    try:
        mlflow.validate_evaluation_results(limit, result)
        verdict = "may be registered"
    except MlflowException:
        verdict = "stays outside"
    print(f"{name}: flip rate {result.metrics['flip_rate']:.1%}, {verdict}")

# %%
folder.cleanup()
