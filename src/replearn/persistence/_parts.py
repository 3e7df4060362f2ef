"""Values of this library as plain ones, and back: what skops writes must need no trust.

Documents (plans, certificates, laws, rules) are JSON and check themselves when they are read.
Learners inside learners, heavy points and choices become marked dictionaries.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

import replearn.hypotheses
from replearn.bounds import ThresholdLaw
from replearn.guarantees import Certificate, Plan
from replearn.guarantees._primitive_certificate import PrimitiveCertificate
from replearn.hypotheses import FiniteClass, Hypothesis, HypothesisClass, hypothesis_from_dict
from replearn.persistence._container import ModelFileError
from replearn.primitives import Selection
from replearn.randomness import SharedKey
from replearn.records.json import canonical_json, pretty_json, read_object

OWN_TYPES = (
    "replearn.execution.constant.ConstantVote",
    "replearn.tables.encoder.TableEncoder",
)
"""Parts of this library that may stand inside a base learner."""

MARK = "__replearn__"
SELECTION = "Selection"


class Document(NamedTuple):
    """How one type travels as JSON."""

    kind: type
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _plain(value: Any) -> dict[str, Any]:
    return read_object(value.to_json(), type(value).__name__)


def _reader(kind: Any) -> Callable[[Any], Any]:
    def read(content: Any) -> Any:
        certificate = kind.from_json(pretty_json(content))  # keeps the order of the items
        certificate.check()
        return certificate

    return read


def read_class(content: Mapping[str, Any]) -> HypothesisClass:
    """Build a hypothesis class again from its `to_dict`.

    Examples
    --------
    >>> from replearn.hypotheses import Stumps
    >>> read_class(Stumps(3).to_dict()) == Stumps(3)
    True
    """
    values = dict(content)
    name = values.pop("class")
    kind = getattr(replearn.hypotheses, name) if name in replearn.hypotheses.__all__ else None
    if not isinstance(kind, type) or not issubclass(kind, HypothesisClass):
        raise ModelFileError(f"{name!r} is no hypothesis class of this library.")
    if kind is FiniteClass:
        listed = [hypothesis_from_dict(item) for item in values["hypotheses"]]
        return FiniteClass(listed, values["n_features"])
    parameters = inspect.signature(kind).parameters
    return kind(**{item: _hashable(values[item]) for item in values if item in parameters})


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


DOCUMENTS = {
    "Plan": Document(Plan, _plain, lambda content: Plan.from_json(canonical_json(content))),
    "Certificate": Document(Certificate, _plain, _reader(Certificate)),
    "PrimitiveCertificate": Document(PrimitiveCertificate, _plain, _reader(PrimitiveCertificate)),
    "ThresholdLaw": Document(ThresholdLaw, ThresholdLaw.to_dict, ThresholdLaw.from_dict),
    "Hypothesis": Document(Hypothesis, lambda rule: rule.to_dict(), hypothesis_from_dict),
    "HypothesisClass": Document(HypothesisClass, lambda family: family.to_dict(), read_class),
    "dtype": Document(np.dtype, lambda dtype: dtype.str, np.dtype),
}


def as_document(value: Any) -> dict[str, Any] | None:
    """Write a value as a document; None if it is none."""
    for kind, document in DOCUMENTS.items():
        if isinstance(value, document.kind):
            return {"kind": kind, "content": document.write(value)}
    return None


def read_document(item: Mapping[str, Any]) -> Any:
    """Read a document; plans and certificates compute their numbers again."""
    kind = item["kind"]
    if kind not in DOCUMENTS:
        raise ModelFileError(f"unknown document {kind!r}.")
    return DOCUMENTS[kind].read(item["content"])


class Codec:
    """Turn values into plain ones, and back.

    Parameters
    ----------
    write_learner : callable
        Takes a learner of this library and its name in messages, returns plain values.
    read_learner : callable
        The way back.
    learners : type or tuple of type
        What counts as a learner.
    """

    def __init__(self, write_learner: Any, read_learner: Any, learners: Any) -> None:
        self._write_learner, self._read_learner = write_learner, read_learner
        self._learners = learners

    def write(self, value: Any, name: str) -> Any:
        """Return a value as skops may write it; raise where that is not possible."""
        document = as_document(value)
        if document is not None:
            return {MARK: "document", **document}
        if isinstance(value, self._learners):
            return {MARK: "learner", **self._write_learner(value, name)}
        if isinstance(value, Selection):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return {MARK: SELECTION, "fields": self.write(fields, name)}
        if isinstance(value, dict):
            if MARK in value:
                raise ModelFileError(f"{name} is a dictionary with the key {MARK!r}.")
            return {key: self.write(item, f"{name}[{key!r}]") for key, item in value.items()}
        if type(value) in (list, tuple):
            return type(value)(self.write(item, f"{name}[{i}]") for i, item in enumerate(value))
        check_foreign(value, name)
        return value

    def read(self, value: Any) -> Any:
        """Return what was written."""
        if isinstance(value, dict):
            kind = value.get(MARK)
            if kind is None:
                return {key: self.read(item) for key, item in value.items()}
            if kind == "document":
                return read_document(value)
            if kind == "learner":
                return self._read_learner(value)
            if kind == SELECTION:
                return Selection(**self.read(value["fields"]))
            raise ModelFileError(f"unknown part {kind!r}.")
        if type(value) in (list, tuple):
            return type(value)(self.read(item) for item in value)
        return value


def check_foreign(value: Any, name: str) -> None:
    """Refuse keys, parts of this library and nameless functions inside foreign objects.

    Examples
    --------
    >>> from replearn.randomness import SharedKey
    >>> check_foreign([SharedKey(0)], "estimator")
    Traceback (most recent call last):
    replearn.persistence._container.ModelFileError: estimator contains a shared key; ...
    """
    for found in _everything(value, set()):
        if isinstance(found, SharedKey):
            raise ModelFileError(
                f"{name} contains a shared key; a model file must not give it away."
            )
        kind = f"{type(found).__module__}.{type(found).__qualname__}"
        if kind.startswith("replearn.") and kind not in OWN_TYPES:
            raise ModelFileError(f"{name} contains a {kind}, which has no place in a model file.")
        if "<" in getattr(found, "__qualname__", ""):
            raise ModelFileError(
                f"{name} contains the function {found.__qualname__}, which no other process could "
                "find; define it by name in a module."
            )


def _everything(value: Any, seen: set[int]) -> Iterable[Any]:
    if id(value) in seen:
        return
    seen.add(id(value))
    yield value
    for child in children(value):
        yield from _everything(child, seen)


def children(value: Any) -> Iterable[Any]:
    """Return what an object holds: items of containers, attributes of others.

    Examples
    --------
    >>> list(children({"a": 1})), list(children(np.zeros(2)))
    ([1], [])
    """
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list | tuple | set):
        return value
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype == object else ()
    return () if isinstance(value, type) else getattr(value, "__dict__", {}).values()
