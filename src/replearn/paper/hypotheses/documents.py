"""Rules and classes that were written as JSON values."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from replearn.paper.hypotheses.base import HypothesisClass
from replearn.paper.hypotheses.boxes import Boxes, Conjunctions, Intervals
from replearn.paper.hypotheses.finite import FiniteClass
from replearn.paper.hypotheses.hypothesis import hypothesis_from_dict
from replearn.paper.hypotheses.stumps import Stumps, Thresholds

CLASSES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (Boxes, Conjunctions, FiniteClass, Intervals, Stumps, Thresholds)
}


def read_class(content: Mapping[str, Any]) -> HypothesisClass:
    """Build a hypothesis class again from its `to_dict`."""
    values = dict(content)
    name = values.pop("class")
    if name not in CLASSES:
        raise ValueError(f"{name!r} is not a hypothesis class of this library.")
    kind = CLASSES[name]
    if kind is FiniteClass:
        listed = [hypothesis_from_dict(item) for item in values["hypotheses"]]
        return FiniteClass(listed, values["n_features"])
    parameters = inspect.signature(kind).parameters
    params = {item: value for item, value in values.items() if item in parameters}
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in params.items()})


def read_document(kind: str, content: Any) -> Any:
    """Read a rule ("Hypothesis") or a class of them ("HypothesisClass")."""
    return hypothesis_from_dict(content) if kind == "Hypothesis" else read_class(content)
