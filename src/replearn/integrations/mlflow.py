"""MLflow: log a replicable model as its model file, and gate a registration by its flips.

MLflow's scikit-learn flavour pickles the whole estimator, key included. Here the model is a
`.replearn` file without pickle and without key. The process that loads it has the key in the
environment variable ``REPLEARN_KEY``, and names types outside of scikit-learn that it trusts in
``REPLEARN_TRUSTED_TYPES``: nothing of the artifact decides what may be built.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from replearn._version import __version__
from replearn.auditing.outputs import labels_of
from replearn.checks.incumbent import bind_fitted
from replearn.exceptions import CertificateError
from replearn.persistence.model_file import describe, load, save
from replearn.randomness.key import SharedKey

KEY_VARIABLE = "REPLEARN_KEY"
TRUSTED_TYPES_VARIABLE = "REPLEARN_TRUSTED_TYPES"
_FILE = "model.replearn"


def log_model(
    model: Any,
    name: str = "model",
    *,
    input_example: Any = None,
    audit: Any = None,
    **options: Any,
) -> Any:
    """Log a fitted estimator to the active MLflow run, as a pyfunc model around its model file.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library.
    name : str, default="model"
        Name of the logged model.
    input_example : frame or array, default=None
        A few rows as they will be served. They are logged with the model (so give rows that may be
        shown), and the signature is inferred from them and their predictions.
    audit : AuditResult, default=None
        Its report is logged as ``audit.html`` and ``audit.json``.
    **options
        Passed to ``mlflow.pyfunc.log_model``, for example ``registered_model_name``. By default
        ``pip_requirements`` are this library and the packages on the certificate, in the versions
        that the model was fitted with.

    Returns
    -------
    ModelInfo
        What MLflow returns. The certificate is logged as ``certificate.json``, if there is one.

    Notes
    -----
    The loaded model predicts a frame with the columns ``prediction`` and, where the estimator
    has it, ``flip_probability``. Loading requires the key in the environment variable
    ``REPLEARN_KEY``. If the base estimator has types outside of scikit-learn, their full names,
    separated by commas, must be in ``REPLEARN_TRUSTED_TYPES``.

    Examples
    --------
    >>> log_model(clf, input_example=X[:5], registered_model_name="credit")  # doctest: +SKIP
    """
    import mlflow

    certificate = getattr(model, "certificate_", None)
    if certificate is None and not hasattr(model, "chain_"):
        raise CertificateError(f"{type(model).__name__} has no certificate_: fit it first.")
    versions = bind_fitted(model).versions if certificate is None else certificate.identity.versions
    options.setdefault("pip_requirements", requirements(versions))
    if input_example is None:
        warnings.warn(
            "the model is logged without a signature: pass input_example, a few rows as they will "
            "be served.",
            stacklevel=2,
        )
    else:
        predicted = KeyedModel(model).predict(input_example)
        options.setdefault("signature", mlflow.models.infer_signature(input_example, predicted))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _FILE
        save(model, path)
        info = mlflow.pyfunc.log_model(
            name=name,
            loader_module=__name__,
            data_path=str(path),
            input_example=input_example,
            **options,
        )
        if certificate is not None:
            mlflow.log_text(certificate.to_json(), "certificate.json")
        for suffix in ("html", "json") if audit is not None else ():
            audit.save(Path(folder) / f"audit.{suffix}")
            mlflow.log_artifact(str(Path(folder) / f"audit.{suffix}"))
    return info


def requirements(versions: Mapping[str, str]) -> list[str]:
    """Return what an environment must install to load the model and predict the same."""
    packages = [f"{name}=={versions[name]}" for name in sorted(versions) if name != "python"]
    return [f"replicable-learn[mlflow]=={__version__}", *packages]


class KeyedModel:
    """What a loaded pyfunc model calls: predictions with their flip probabilities."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Return a frame of predictions; rows keep their index."""
        import pandas as pd

        columns = {"prediction": self.model.predict(model_input)}
        if hasattr(self.model, "flip_probability"):
            columns["flip_probability"] = self.model.flip_probability(model_input)
        return pd.DataFrame(columns, index=getattr(model_input, "index", None))


def _load_pyfunc(data_path: str, model_config: dict[str, Any] | None = None) -> KeyedModel:
    """Load the model; ``model_config`` comes with the artifact and is not read."""
    return KeyedModel(_load_file(data_path))


def _load_file(path: str | os.PathLike[str]) -> Any:
    """Load a model file with key and trusted types of the environment."""
    key = os.environ.get(KEY_VARIABLE)
    if key is None and not describe(path).includes_key:
        raise ValueError(
            f"the environment variable {KEY_VARIABLE} is not set: it must hold the shared key that "
            "the model was fitted with (its text, or what SharedKey.export has written)."
        )
    listed = os.environ.get(TRUSTED_TYPES_VARIABLE, "").split(",")
    trusted_types = [name.strip() for name in listed if name.strip()]
    shared_key = None if key is None else SharedKey(key)
    return load(path, shared_key=shared_key, trusted_types=trusted_types)


def registered_model(model_uri: str) -> Any:
    """Load the estimator of a model that `log_model` has logged, to be the next one's incumbent.

    Parameters
    ----------
    model_uri : str
        Where MLflow has it, as ``models:/credit@champion``.

    Returns
    -------
    estimator
        The estimator itself, not the pyfunc model around it. Key and trusted types are those of
        the environment, as for predictions.

    Examples
    --------
    >>> old = registered_model("models:/credit@champion")  # doctest: +SKIP
    >>> IncumbentClassifier(estimator, incumbent=old).fit(X, y)  # doctest: +SKIP
    """
    import mlflow

    folder = Path(mlflow.artifacts.download_artifacts(artifact_uri=model_uri))
    found = sorted(folder.rglob(_FILE))
    if len(found) != 1:
        raise ValueError(f"{model_uri} is not a model of log_model: it has {len(found)} {_FILE}.")
    return _load_file(found[0])


def flip_metric(registered: Any, X: Any, *, name: str = "flip_rate") -> Any:
    """Return a metric for ``mlflow.models.evaluate``: share of rows that change their prediction.

    Parameters
    ----------
    registered : model
        The model in use: a pyfunc model of `log_model`, or anything with ``predict``.
    X : frame or array
        The rows that will be evaluated, in the same order.
    name : str, default="flip_rate"
        Name of the metric, for ``validate_evaluation_results``.
    """
    from mlflow.models import make_metric

    before = labels_of(registered.predict(X))

    def flip_rate(predictions: Any, targets: Any = None, metrics: Any = None) -> float:
        after = labels_of(predictions)
        if len(after) not in (1, len(before)):  # MLflow tries a metric on the first row alone
            raise ValueError(f"X has {len(before)} rows, but {len(after)} were evaluated.")
        return float(np.mean(after != before[: len(after)]))

    return make_metric(eval_fn=flip_rate, greater_is_better=False, name=name)
