"""A fitted learner as plain state: documents that check themselves, and models for skops."""

from __future__ import annotations

from typing import Any

import numpy as np

import replearn.learners
from replearn.bounds import ThresholdLaw
from replearn.certificates import Certificate
from replearn.certificates._json import canonical_json, read_object
from replearn.execution import Panel
from replearn.learners._block_voting import BlockVotingClassifier
from replearn.persistence._container import ModelFileError
from replearn.persistence._trust import OWN_TYPES
from replearn.planning import Plan
from replearn.randomness import SharedKey

_KEY = "shared_key"
_PANEL = "_panel"
"""Rebuilt from the models: it holds nothing of its own."""


def take_apart(model: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a learner into documents (JSON) and everything else; the key is in neither."""
    documents, rest = {}, {}
    for name, value in vars(model).items():
        if isinstance(value, SharedKey) and name != _KEY:
            raise TypeError(f"{name} is a key of its own; a model file must not give it away.")
        if isinstance(value, Plan | Certificate):
            kind = type(value).__name__
            documents[name] = {"kind": kind, "content": read_object(value.to_json(), kind)}
        elif isinstance(value, ThresholdLaw):
            documents[name] = {"kind": "ThresholdLaw", "content": value.to_dict()}
        elif isinstance(value, np.dtype):
            documents[name] = {"kind": "dtype", "content": value.str}
        elif name not in (_KEY, _PANEL):
            _refuse_own(name, value)
            rest[name] = value
    return documents, rest


def _refuse_own(name: str, value: Any) -> None:
    """Refuse parts of this library that a file could not bring back."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if kind.startswith("replearn.") and kind not in OWN_TYPES:
        raise TypeError(
            f"{name} is a {kind}, which has no place in a model file (a heavy stage, for example: "
            "fit without alpha)."
        )


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
    vars(model).update(values)
    model.shared_key = key
    made, estimators = model.plan_, model.estimators_
    if len(estimators) != made.n_blocks * made.n_partitions:
        raise ModelFileError(
            f"the plan has {made.n_blocks} blocks in {made.n_partitions} partitions, but the file "
            f"has {len(estimators)} models."
        )
    vars(model)[_PANEL] = Panel(
        estimators, np.arange(max(2, len(model.classes_))), made.n_partitions
    )
    return model


def read_document(item: dict[str, Any]) -> Any:
    """Read a plan, a certificate, a law or a type; the first two compute their numbers again."""
    kind, content = item["kind"], item["content"]
    if kind == "ThresholdLaw":
        return ThresholdLaw.from_dict(content)
    if kind == "dtype":
        return np.dtype(content)
    if kind == "Plan":
        return Plan.from_json(canonical_json(content))
    if kind == "Certificate":
        certificate = Certificate.from_json(canonical_json(content))
        certificate.check()
        return certificate
    raise ModelFileError(f"unknown document {kind!r}.")


def learner_class(name: str) -> Any:
    """Return a learner by name; only those of this library whose blocks vote."""
    kind = getattr(replearn.learners, name) if name in replearn.learners.__all__ else None
    if not isinstance(kind, type) or not issubclass(kind, BlockVotingClassifier):
        raise ModelFileError(f"{name!r} is no learner of this library that has model files.")
    return kind
