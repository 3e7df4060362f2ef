"""XGBoost, LightGBM and CatBoost models in their own formats, inside of packed models.

Each is written as its parameters and the bytes of its package's own format: UBJSON, text, cbm.
Compiled code of the package reads them, so that a file is loaded only if it names the type: none
of the three checks a foreign file as this library does.
"""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

State = dict[str, Any]
Bytes = NDArray[np.uint8]

NATIVE_TYPES = (
    "catboost.core.CatBoostClassifier",
    "lightgbm.sklearn.LGBMClassifier",
    "xgboost.sklearn.XGBClassifier",
)
"""Types that are written in the format of their package, and loaded if they are trusted by name."""

_FILE = "model.cbm"


def native_name(kind: type) -> str | None:
    """Return the full name of a type that has a format of its own, or None."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    return name if name in NATIVE_TYPES and _class_named(name) is kind else None


def take_native(model: Any) -> State:
    """Return parameters of a model and, if it is fitted, the bytes of its own format."""
    package = type(model).__module__.partition(".")[0]
    is_fitted = model.is_fitted() if package == "catboost" else model.__sklearn_is_fitted__()
    if not is_fitted:
        return {"params": model.get_params()}
    take = {"xgboost": _take_xgboost, "lightgbm": _take_lightgbm, "catboost": _take_catboost}
    return take[package](model)


def build_native(name: str, state: State) -> Any:
    """Build a model again; its package reads the bytes."""
    kind = _class_named(name)
    if "model" not in state:
        return kind(**state["params"])
    content = bytes(np.asarray(state["model"], dtype=np.uint8))
    if name.startswith("lightgbm."):
        return _build_lightgbm(kind, state["attributes"], content)
    model = kind(**state["params"])
    if name.startswith("xgboost."):
        model.load_model(bytearray(content))
        return model
    model.load_model(blob=content, format="cbm")
    model._n_features_in = state["n_features"]  # the format does not say it
    return model


def _class_named(name: str) -> Any:
    module, _, kind = name.rpartition(".")
    return getattr(importlib.import_module(module), kind)


def _as_array(content: Any) -> Bytes:
    return np.frombuffer(bytes(content), dtype=np.uint8)


def _take_xgboost(model: Any) -> State:
    content = model.get_booster().save_raw("ubj")
    return {"params": model.get_params(), "model": _as_array(content)}


def _take_catboost(model: Any) -> State:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / _FILE
        model.save_model(str(path), format="cbm")
        content = path.read_bytes()
    n_features = int(model._n_features_in)
    return {"params": model.get_params(), "model": _as_array(content), "n_features": n_features}


def _take_lightgbm(model: Any) -> State:
    """Return the attributes of the estimator beside its booster, which alone has a format."""
    attributes = {name: value for name, value in vars(model).items() if name != "_Booster"}
    plain = {k: dict(v) if isinstance(v, dict) else v for k, v in attributes.items()}
    return {"attributes": plain, "model": _as_array(model.booster_.model_to_string().encode())}


def _build_lightgbm(kind: Any, attributes: State, content: bytes) -> Any:
    model = kind.__new__(kind)
    vars(model).update(attributes)
    booster = importlib.import_module("lightgbm").Booster
    model._Booster = booster(model_str=content.decode())
    return model
