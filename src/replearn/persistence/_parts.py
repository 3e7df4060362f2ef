"""Parts of an estimator: documents that are JSON, and foreign objects that skops writes.

Documents (plans, certificates, laws, rules) check themselves when they are read. Foreign objects
must hold no key, nothing of this library and no function without a name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from replearn import registry
from replearn.bounds.laws import ThresholdLaw
from replearn.exceptions import ModelFileError
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.plan import Plan
from replearn.learners.inputs import FittedState
from replearn.randomness.key import SharedKey
from replearn.records.json import canonical_json, pretty_json, read_object
from replearn.registry import DOCUMENTS

OWN_TYPES = (
    "replearn.execution.constant.ConstantVote",
    "replearn.tables.encoder.TableEncoder",
)
"""Parts of this library that may be inside a base estimator."""


def _plain(value: Any) -> dict[str, Any]:
    return read_object(value.to_json(), type(value).__name__)


def _read_certificate(content: Any) -> Certificate:
    return Certificate.from_json(pretty_json(content))  # keeps the order of the items


_DOCUMENTS: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "Plan": (Plan, _plain, lambda content: Plan.from_json(canonical_json(content))),
    "Certificate": (Certificate, _plain, _read_certificate),
    "ThresholdLaw": (ThresholdLaw, ThresholdLaw.to_dict, ThresholdLaw.from_dict),
    "dtype": (np.dtype, lambda dtype: dtype.str, np.dtype),
}
"""Values that are written as JSON: their type, how they are written, how they are read."""


def as_document(value: Any) -> dict[str, Any] | None:
    """Write a value as a document; None if it is none."""
    own_kind = getattr(type(value), "document_kind", None)
    if own_kind in DOCUMENTS:
        return {"kind": own_kind, "content": value.to_dict()}
    for name, (kind, write, _) in _DOCUMENTS.items():
        if isinstance(value, kind):
            return {"kind": name, "content": write(value)}
    return None


def read_document(item: Mapping[str, Any]) -> Any:
    """Read a document; plans and certificates compute their numbers again."""
    kind = item["kind"]
    if kind in DOCUMENTS:
        return registry.read_document(kind, item["content"])
    if kind not in _DOCUMENTS:
        raise ModelFileError(f"unknown document {kind!r}.")
    _, _, read = _DOCUMENTS[kind]
    return read(item["content"])


def check_savable(value: Any, name: str) -> None:
    """Raise if an estimator could not be written to a model file.

    Parameters
    ----------
    value : object
        An estimator, or a container of them.
    name : str
        How messages call it.

    Raises
    ------
    ModelFileError
        If it contains a shared key, a part of this library that only its estimators may hold, or a
        function that another process could not import.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn.persistence._parts import check_savable
    >>> check_savable(DecisionTreeClassifier(), "estimator")
    """
    for part in _everything(value, set()):
        if isinstance(part, SharedKey):
            raise ModelFileError(
                f"{name} contains a shared key; a model file must not give it away."
            )
        kind = type_name(part)
        of_library = kind.startswith("replearn.") or isinstance(part, FittedState)
        if of_library and kind not in OWN_TYPES:
            raise ModelFileError(
                f"{name} contains a {kind}, which cannot be written to a model file."
            )
        if "<" in getattr(part, "__qualname__", ""):
            raise ModelFileError(
                f"{name} contains the function {part.__qualname__}, which no other process could "
                "find; define it by name in a module."
            )


def type_name(value: Any) -> str:
    """Return the full name of a value's type."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _everything(value: Any, seen: set[int]) -> Iterable[Any]:
    if id(value) in seen:
        return
    seen.add(id(value))
    yield value
    for child in children(value):
        yield from _everything(child, seen)


def children(value: Any) -> Iterable[Any]:
    """Return what an object holds: items of containers, attributes of others."""
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, list | tuple | set):
        return value
    if isinstance(value, np.ndarray):
        return value.ravel().tolist() if value.dtype == object else ()
    return () if isinstance(value, type) else getattr(value, "__dict__", {}).values()
