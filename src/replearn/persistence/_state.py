"""A fitted learner as plain state: documents that check themselves, and models for skops."""

from __future__ import annotations

import datetime as dt
import inspect
from dataclasses import fields, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from replearn import learners
from replearn.execution import BlockEnsemble
from replearn.heavy import HeavyPoints
from replearn.learners.usefulness import Usefulness
from replearn.persistence._container import ModelFileError
from replearn.persistence._parts import as_document, check_savable, read_document
from replearn.primitives import Selection
from replearn.randomness import SharedKey, as_points

LEARNERS = {
    name: kind
    for name in learners.__all__
    if isinstance(kind := getattr(learners, name), type) and issubclass(kind, BaseEstimator)
}
"""Learners that have model files. Whoever adds one: what it fits must hold nothing of the key."""

_KEY = "shared_key"
_DERIVED = frozenset({_KEY, "_ensemble", "selected_"})
"""Not written: they are rebuilt from the rest, and the key."""

_HEAVY = "heavy_"
_INDEX_KEY = SharedKey("replearn model file")
_MARK = "__replearn__"
"""Key of the dictionaries that stand for values of this library."""

_RECORDS: dict[Any, Any] = {"Selection": Selection, "Usefulness": Usefulness}
"""Dataclasses that are written field by field."""


def estimator_class(name: str) -> Any:
    """Return a learner of this library by name."""
    if name not in LEARNERS:
        raise ModelFileError(f"{name!r} is no learner of this library that has model files.")
    return LEARNERS[name]


def take_apart(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a learner into documents (JSON) and everything else; the key is in neither."""
    written = _written(model)
    documents = {name: as_document(value) for name, value in written.items()}
    rest = {name: written[name] for name, document in documents.items() if document is None}
    state = _encode_all(rest, type(model).__name__, SharedKey(model.shared_key))
    return {name: item for name, item in documents.items() if item is not None}, state


def put_together(estimator: str, values: dict[str, Any], key: SharedKey) -> Any:
    """Build the learner again."""
    kind = estimator_class(estimator)
    model = kind.__new__(kind)
    expected = set(inspect.signature(kind).parameters)
    # Fitted attributes are new names: one that the class has already would replace a method.
    strange = [name for name in values if name not in expected and hasattr(kind, name)]
    missing = sorted(expected - {_KEY} - set(values))
    if strange or missing:
        raise ModelFileError(
            f"the file would replace {strange} of {estimator}, or lacks {missing}."
        )
    vars(model).update(_decode(values, key))
    model.shared_key = key
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:  # a parameter may be a learner that was not fitted
        if certificate.key_fingerprint != key.fingerprint:
            raise ModelFileError(f"the certificate of {estimator} belongs to another key.")
        _derive(model, key)
    return model


def _written(model: Any) -> dict[str, Any]:
    """Return the attributes that a file needs."""
    values = {name: value for name, value in vars(model).items() if name not in _DERIVED}
    heavy = values.get(_HEAVY)
    if isinstance(heavy, HeavyPoints):
        values[_HEAVY] = _heavy_state(heavy, model.plan_.decimals)
    if isinstance(model, learners.ReplicableSelector) and "selection_" in values:
        values["candidates"] = dict(model.candidates)
        # The chosen model is one of the candidates; it is not written twice.
        values["selection_"] = replace(values["selection_"], candidate=None)
    return values


def _encode_all(values: dict[str, Any], owner: str, key: SharedKey) -> dict[str, Any]:
    return {name: _encode(value, f"{owner}.{name}", key) for name, value in values.items()}


def _encode(value: Any, name: str, key: SharedKey) -> Any:
    """Return a value as skops may write it; raise where that is not possible."""
    document = as_document(value)
    if document is not None:
        return {_MARK: "document", **document}
    if isinstance(value, tuple(LEARNERS.values())):
        return {_MARK: "learner", **_encode_estimator(value, name, key)}
    record = type(value).__name__
    if type(value) is _RECORDS.get(record):
        content = {field.name: getattr(value, field.name) for field in fields(value)}
        return {_MARK: record, "fields": _encode(content, name, key)}
    if isinstance(value, dict):
        if _MARK in value:
            raise ModelFileError(f"{name} is a dictionary with the key {_MARK!r}.")
        return {item: _encode(value[item], f"{name}[{item!r}]", key) for item in value}
    if type(value) in (list, tuple):
        return type(value)(_encode(item, f"{name}[{i}]", key) for i, item in enumerate(value))
    check_savable(value, name)
    return value


def _encode_estimator(model: Any, name: str, key: SharedKey) -> dict[str, Any]:
    kind = type(model).__name__
    if SharedKey(model.shared_key).fingerprint != key.fingerprint:
        raise ModelFileError(
            f"{name} is a {kind} with a key of its own; a file has one key. "
            "Use the same shared_key for both, or save it by itself."
        )
    return {"name": kind, "state": _encode_all(_written(model), f"{name}: {kind}", key)}


def _decode(value: Any, key: SharedKey) -> Any:
    """Return what was encoded."""
    if type(value) in (list, tuple):
        return type(value)(_decode(item, key) for item in value)
    if not isinstance(value, dict):
        return value
    kind = value.get(_MARK)
    if kind is None:
        return {item: _decode(value[item], key) for item in value}
    if kind == "document":
        return read_document(value)
    if kind == "learner":
        return put_together(value["name"], value["state"], key)
    if kind in _RECORDS:
        return _RECORDS[kind](**_decode(value["fields"], key))
    raise ModelFileError(f"unknown part {kind!r}.")


def _derive(model: Any, key: SharedKey) -> None:
    """Rebuild what follows from the state."""
    if isinstance(model, learners.PointwiseReplicableClassifier):
        _derive_votes(model, key)
    elif isinstance(model, learners.ScoreReplicableClassifier):
        design = model.certificate_.inputs
        _check_count(model.estimators_, design["n_blocks"], design["n_partitions"])
        labels = np.arange(design["n_classes"])
        model._ensemble = BlockEnsemble(model.estimators_, labels, len(model.estimators_))
    elif isinstance(model, learners.FiniteRandomnessClassifier):
        _check_count(model.estimators_, dict(model.certificate_.inputs)["n_blocks"], 1)
        model._ensemble = BlockEnsemble(model.estimators_, np.arange(2))
    elif isinstance(model, learners.PointwiseReplicableRegressor):
        _check_count(model.estimators_, model.certificate_.inputs["n_blocks"], 1)
    elif isinstance(model, learners.ReplicableSelector):
        model.selected_ = model.candidates[model.selected_name_]
        model.selection_ = replace(model.selection_, candidate=model.selected_)


def _derive_votes(model: Any, key: SharedKey) -> None:
    plan = model.plan_
    _check_count(model.estimators_, plan.n_blocks, plan.n_partitions)
    labels = np.arange(max(2, len(model.classes_)))
    model._ensemble = BlockEnsemble(model.estimators_, labels, plan.n_partitions)
    state, stage = getattr(model, _HEAVY, None), plan.design.heavy
    if (state is None) != (stage is None):
        raise ModelFileError("the plan and the file do not agree on a heavy stage.")
    if state is not None:
        content = {**state, "values": _heavy_values(state["values"])}
        model.heavy_ = HeavyPoints.from_state(content, stage, model.classes_, key, plan.decimals)


def _check_count(estimators: list[Any], n_blocks: int, n_partitions: int) -> None:
    if len(estimators) != n_blocks * n_partitions:
        raise ModelFileError(
            f"the plan has {n_blocks} blocks in {n_partitions} partitions, but the file has "
            f"{len(estimators)} models."
        )


def _heavy_state(heavy: HeavyPoints, decimals: int | None) -> dict[str, Any]:
    """Write heavy points as plain values, and make sure that they are the same points."""
    state = heavy.to_state()
    values = state["values"]
    if sparse.issparse(values):  # as arrays: skops trusts no sparse matrix
        rows = sparse.csr_array(state["values"])
        values = {name: getattr(rows, name) for name in ("data", "indices", "indptr")}
        values["shape"] = tuple(map(int, rows.shape))
    elif isinstance(values, list):
        values = [
            [_plain_cell(cell) for cell in row] if isinstance(row, list) else row for row in values
        ]
    points = as_points(_heavy_values(values), decimals=decimals)
    if not np.array_equal(_INDEX_KEY.hashes(points), _INDEX_KEY.hashes(heavy.remembered)):
        raise ModelFileError("heavy_ holds points with cells that a model file cannot represent.")
    return {**state, "values": values}


def _heavy_values(values: Any) -> Any:
    if not isinstance(values, dict):
        return values
    parts = (values["data"], values["indices"], values["indptr"])
    rows = sparse.csr_array(parts, shape=values["shape"])
    rows.check_format(full_check=True)  # an index that leads outside would read foreign memory
    return rows


def _plain_cell(cell: Any) -> Any:
    """Write times as numpy's, and every missing value as None: skops knows no other."""
    if isinstance(cell, dt.datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(dt.UTC).replace(tzinfo=None)
    if type(cell).__name__ in ("NaTType", "NAType"):
        return None
    if hasattr(cell, "to_datetime64"):
        return cell.to_datetime64()
    return np.datetime64(cell) if isinstance(cell, dt.date) else cell
