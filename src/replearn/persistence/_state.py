"""A fitted estimator as plain state: documents that check themselves, and models."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from replearn import registry
from replearn.exceptions import ModelFileError
from replearn.learners.chain import Step
from replearn.learners.inputs import FittedState
from replearn.learners.row_sketch import RowSketch
from replearn.learners.usefulness import Usefulness
from replearn.persistence._parts import as_document, check_savable, read_document
from replearn.primitives.selection import Selection
from replearn.randomness.key import SharedKey, key_or_default
from replearn.registry import ESTIMATORS

_KEY = "shared_key"
_QUIET = {"n_jobs": None, "verbose": False}
_MARK = "__replearn__"
"""Key of the dictionaries that stand for values of this library."""

_RECORDS: dict[Any, Any] = {
    kind.__name__: kind for kind in (RowSketch, Selection, Step, Usefulness)
}
"""Dataclasses that are written field by field."""


def estimator_class(name: str) -> Any:
    """Return the class of an estimator of this library."""
    if name not in ESTIMATORS:
        raise ModelFileError(f"{name!r} is not an estimator of this library.")
    return registry.estimator_class(name)


def take_apart(model: Any, without: Sequence[str] = ()) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split an estimator into documents (JSON) and everything else; the key is in neither."""
    written = {name: value for name, value in _written(model).items() if name not in without}
    documents = {name: as_document(value) for name, value in written.items()}
    rest = {name: written[name] for name, document in documents.items() if document is None}
    state = _encode_all(
        rest, type(model).__name__, key_or_default(getattr(model, "shared_key", None))
    )
    return {name: item for name, item in documents.items() if item is not None}, state


def put_together(name: str, values: dict[str, Any], key: SharedKey) -> Any:
    """Build the estimator again."""
    kind = estimator_class(name)
    model = kind.__new__(kind)
    expected = set(inspect.signature(kind).parameters)
    # Fitted attributes are new names: one that the class has already would replace a method.
    strange = [item for item in values if item not in expected and hasattr(kind, item)]
    missing = sorted(expected - {_KEY} - set(values))
    if strange or missing:
        raise ModelFileError(f"the file would replace {strange} of {name}, or lacks {missing}.")
    vars(model).update(_decode(values, key))
    if _KEY in expected:
        model.shared_key = key
    # As for all that is nested (`reset_jobs`): a file starts no processes.
    vars(model).update({name: _QUIET[name] for name in _QUIET if name in expected})
    try:
        model._restore(key)
    except ValueError as error:
        raise ModelFileError(str(error)) from error
    return model


def _written(model: FittedState) -> dict[str, Any]:
    """Return the attributes that a file needs."""
    try:
        return model._file_state()
    except ValueError as error:
        raise ModelFileError(f"cannot save this {type(model).__name__}: {error}") from error


def _encode_all(values: dict[str, Any], owner: str, key: SharedKey) -> dict[str, Any]:
    return {name: _encode(value, f"{owner}.{name}", key) for name, value in values.items()}


def _encode(value: Any, name: str, key: SharedKey) -> Any:
    """Return a value as plain containers, arrays and models; raise where that is not possible."""
    document = as_document(value)
    if document is not None:
        return {_MARK: "document", **document}
    if isinstance(value, FittedState):
        return {_MARK: "learner", **_encode_estimator(value, name, key)}
    record = type(value).__name__
    if type(value) is _RECORDS.get(record):
        content = {field.name: getattr(value, field.name) for field in fields(value)}
        return {_MARK: record, "fields": _encode(content, name, key)}
    if type(value) is np.ma.MaskedArray:  # a column of parameters of a search
        return {_MARK: "masked", "data": np.ma.getdata(value), "mask": np.ma.getmaskarray(value)}
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
    if kind not in ESTIMATORS or type(model) is not estimator_class(kind):
        raise ModelFileError(f"{name} is a {kind}, which is not an estimator of this library.")
    own = getattr(model, _KEY, key)  # estimators without a key go with any
    if key_or_default(own).fingerprint != key.fingerprint:
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
    if kind == "masked":
        return np.ma.MaskedArray(value["data"], value["mask"])
    if kind == "learner":
        return put_together(value["name"], value["state"], key)
    if kind in _RECORDS:
        return _RECORDS[kind](**_decode(value["fields"], key))
    raise ModelFileError(f"unknown part {kind!r}.")
