"""A fitted learner as plain state: documents that check themselves, and models for skops."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

import replearn.learners
from replearn.execution import Panel
from replearn.heavy._heavy_stage import HeavyPoints
from replearn.persistence._container import ModelFileError
from replearn.persistence._parts import Codec, as_document
from replearn.randomness import SharedKey, as_points

LEARNERS = {
    kind.__name__: kind
    for kind in (
        replearn.learners.ApproximatelyReplicableClassifier,
        replearn.learners.FiniteRandomnessClassifier,
        replearn.learners.PointwiseReplicableClassifier,
        replearn.learners.RealizableReplicableClassifier,
        replearn.learners.ReplicableSearchCV,
        replearn.learners.ReplicableSelector,
        replearn.learners.ReplicableThresholdClassifier,
        replearn.learners.SemiReplicableClassifier,
    )
}
"""Learners that have model files. Whoever adds one: what it fits must hold nothing of the key."""

_KEY = "shared_key"
_DERIVED = frozenset({_KEY, "_panel", "selected_"})
"""Not written: they are rebuilt from the rest, and the key."""

_HEAVY = "heavy_"
_INDEX_KEY = SharedKey("replearn model file")


def learner_class(name: str) -> Any:
    """Return a learner by name; only those of this library that have model files."""
    if name not in LEARNERS:
        raise ModelFileError(f"{name!r} is no learner of this library that has model files.")
    return LEARNERS[name]


def take_apart(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a learner into documents (JSON) and everything else; the key is in neither."""
    documents, rest = {}, {}
    for name, value in _written(model).items():
        document = as_document(value)
        if document is None:
            rest[name] = value
        else:
            documents[name] = document
    return documents, _plain(rest, type(model).__name__, SharedKey(model.shared_key))


def put_together(learner: str, values: dict[str, Any], key: SharedKey) -> Any:
    """Build the learner again."""
    kind = learner_class(learner)
    model = kind.__new__(kind)
    expected = set(kind._get_param_names())
    # Fitted attributes are new names: one that the class has already would replace a method.
    strange = [name for name in values if name not in expected and hasattr(kind, name)]
    missing = sorted(expected - {_KEY} - set(values))
    if strange or missing:
        raise ModelFileError(f"the file would replace {strange} of {learner}, or lacks {missing}.")
    vars(model).update(_codec(key).read(values))
    model.shared_key = key
    certificate = getattr(model, "certificate_", None)
    if certificate is not None and certificate.key_fingerprint != key.fingerprint:
        raise ModelFileError(f"the certificate of {learner} belongs to another key.")
    if certificate is not None:  # a parameter may be a learner that was not fitted
        _derive(model, key)
    return model


def _written(model: Any) -> dict[str, Any]:
    """Return the attributes that a file needs."""
    values = {name: value for name, value in vars(model).items() if name not in _DERIVED}
    heavy = values.get(_HEAVY)
    if isinstance(heavy, HeavyPoints):
        values[_HEAVY] = _heavy_state(heavy, model.plan_.decimals)
    if isinstance(model, replearn.learners.ReplicableSelector) and "selection_" in values:
        values["candidates"] = dict(model.candidates)
        # The chosen model is one of the candidates; it is not written twice.
        values["selection_"] = replace(values["selection_"], candidate=None)
    return values


def _plain(values: dict[str, Any], owner: str, key: SharedKey) -> dict[str, Any]:
    codec = _codec(key)
    return {name: codec.write(value, f"{owner}.{name}") for name, value in values.items()}


def _codec(key: SharedKey) -> Codec:
    """Write and read learners inside a learner; they must have its key."""

    def write(model: Any, name: str) -> dict[str, Any]:
        if SharedKey(model.shared_key).fingerprint != key.fingerprint:
            raise ModelFileError(
                f"{name} is a {type(model).__name__} with a key of its own; a file has one key. "
                "Use the same shared_key for both, or save it by itself."
            )
        kind = type(model).__name__
        return {"name": kind, "state": _plain(_written(model), f"{name}: {kind}", key)}

    def read(item: dict[str, Any]) -> Any:
        return put_together(item["name"], item["state"], key)

    return Codec(write, read, tuple(LEARNERS.values()))


def _derive(model: Any, key: SharedKey) -> None:
    """Rebuild what follows from the state."""
    if isinstance(model, replearn.learners.PointwiseReplicableClassifier):
        made = model.plan_
        _check_count(model.estimators_, made.n_blocks, made.n_partitions)
        labels = np.arange(max(2, len(model.classes_)))
        model._panel = Panel(model.estimators_, labels, made.n_partitions)
        state, stage = getattr(model, _HEAVY, None), made.design.heavy
        if (state is None) != (stage is None):
            raise ModelFileError("the plan and the file do not agree on a heavy stage.")
        if state is not None:
            model.heavy_ = HeavyPoints.from_state(
                {**state, "values": _heavy_values(state)}, stage, model.classes_, key, made.decimals
            )
    elif isinstance(model, replearn.learners.FiniteRandomnessClassifier):
        _check_count(model.estimators_, dict(model.certificate_.inputs)["n_blocks"], 1)
        model._panel = Panel(model.estimators_, np.arange(2))
    elif isinstance(model, replearn.learners.ReplicableSelector):
        model.selected_ = model.candidates[model.selected_name_]
        model.selection_ = replace(model.selection_, candidate=model.selected_)


def _check_count(estimators: list[Any], n_blocks: int, n_partitions: int) -> None:
    if len(estimators) != n_blocks * n_partitions:
        raise ModelFileError(
            f"the plan has {n_blocks} blocks in {n_partitions} partitions, but the file has "
            f"{len(estimators)} models."
        )


def _heavy_state(heavy: HeavyPoints, decimals: int | None) -> dict[str, Any]:
    """Write heavy points as plain values, and make sure that they are the same points."""
    state = heavy.to_state()
    if isinstance(state["values"], list):
        state["values"] = [
            [_plain_cell(cell) for cell in row] if isinstance(row, list) else row
            for row in state["values"]
        ]
    elif sparse.issparse(state["values"]):
        state["values"] = _sparse_state(state["values"])
    points = as_points(_heavy_values(state), decimals=decimals)
    if not np.array_equal(_INDEX_KEY.hashes(points), _INDEX_KEY.hashes(heavy._known.points)):
        raise ModelFileError("heavy_ holds points with cells that a model file cannot represent.")
    return state


def _sparse_state(rows: Any) -> dict[str, Any]:
    """Write sparse rows as arrays: skops trusts no sparse matrix."""
    rows = sparse.csr_array(rows)
    parts = {name: getattr(rows, name) for name in ("data", "indices", "indptr")}
    return {**parts, "shape": tuple(int(size) for size in rows.shape)}


def _heavy_values(state: dict[str, Any]) -> Any:
    values = state["values"]
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
