"""Single hypotheses: frozen values that predict, compare, travel as JSON and read as a rule."""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from replearn.paper.hypotheses._inputs import Floats, Labels, as_sample


class Predictor(Protocol):
    """Anything with a `predict` that predicts 0 or 1 for each row."""

    def predict(self, X: Any) -> Any:
        """Return one label for each row of X."""
        ...


class Hypothesis(ABC):
    """A function from rows to {0, 1} that is a value: equal, hashable, printable, JSON-able."""

    document_kind: ClassVar[str] = "Hypothesis"

    @abstractmethod
    def predict(self, X: ArrayLike) -> Labels:
        """Return for each row whether it is labelled 1."""

    @abstractmethod
    def rule(self, feature_names: Sequence[str] | None = None) -> str:
        """Return the condition under which a row is labelled 1, as text."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data, which `hypothesis_from_dict` reads."""

    def __str__(self) -> str:
        return self.rule()

    def error(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the weighted share of rows on which the prediction is wrong (0 without rows).

        Examples
        --------
        >>> make_box([(0, 1.5, inf)]).error([1, 2, 3, 4], [0, 1, 1, 0])
        0.25
        """
        matrix = _columns(X)
        sample = as_sample(matrix, y, sample_weight, matrix.shape[1])
        gain = sample.gains[self.predict(sample.rows)].sum()
        return float(sample.errors(gain))


@dataclass(frozen=True)
class Constant(Hypothesis):
    """The same label for every row.

    Examples
    --------
    >>> print(Constant(True), "/", Constant(False))
    always / never
    """

    value: bool

    def predict(self, X: ArrayLike) -> Labels:
        """Return the constant for each row."""
        return np.full(len(_columns(X)), self.value)

    def rule(self, feature_names: Sequence[str] | None = None) -> str:
        """Return "always" or "never"."""
        return "always" if self.value else "never"

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"kind": "constant", "value": self.value}


@dataclass(frozen=True)
class Box(Hypothesis):
    """The rule that is 1 inside an axis-parallel box: lower < x <= upper for each listed feature.

    Thresholds, stumps, intervals and conjunctions are boxes, too. Use `make_box`, which returns a
    `Constant` if the conditions exclude everything or nothing, so that equal functions are equal
    values.

    Parameters
    ----------
    bounds : tuple of (feature, lower, upper)
        Sorted by feature, each feature at most once, -inf < lower or upper < inf.

    Examples
    --------
    >>> box = make_box([(1, 12.5, 30.1), (0, 41.5, inf)])
    >>> print(box.rule(["age", "dose"]))
    age > 41.5 and 12.5 < dose <= 30.1
    >>> box.predict([[42, 20], [42, 31]])
    array([ True, False])
    """

    bounds: tuple[tuple[int, float, float], ...]

    def predict(self, X: ArrayLike) -> Labels:
        """Return for each row whether it lies in the box."""
        rows = _columns(X)
        inside = np.ones(len(rows), dtype=bool)
        for feature, lower, upper in self.bounds:
            inside &= (rows[:, feature] > lower) & (rows[:, feature] <= upper)
        return inside

    def rule(self, feature_names: Sequence[str] | None = None) -> str:
        """Return the conditions, joined by "and"."""
        return " and ".join(
            _condition(_name(feature, feature_names), lower, upper)
            for feature, lower, upper in self.bounds
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data; an absent bound is null."""
        bounds = [
            [feature, *(bound if isfinite(bound) else None for bound in (lower, upper))]
            for feature, lower, upper in self.bounds
        ]
        return {"kind": "box", "bounds": bounds}


def make_box(bounds: Iterable[tuple[int, float, float]]) -> Hypothesis:
    """Return the hypothesis "lower < x[feature] <= upper for all bounds" in canonical form.

    Examples
    --------
    >>> make_box([(0, -inf, inf)])
    Constant(value=True)
    >>> make_box([(0, 2.0, 2.0)])
    Constant(value=False)
    >>> make_box([(3, 0.0, inf)]) == make_box([(3, -0.0, inf), (1, -inf, inf)])
    True
    """
    kept = []
    for feature, lower, upper in sorted(bounds):
        if isnan(lower) or isnan(upper):
            raise ValueError(f"the bounds ({lower}, {upper}) of feature {feature} are not numbers")
        if lower >= upper:
            return Constant(False)
        if lower > -inf or upper < inf:
            kept.append((int(feature), float(lower) + 0.0, float(upper) + 0.0))
    features = [bound[0] for bound in kept]
    if len(set(features)) < len(features) or any(feature < 0 for feature in features):
        raise ValueError(f"bounds name the features {features}: each at most once, from 0 on")
    return Box(tuple(kept)) if kept else Constant(True)


def hypothesis_from_dict(data: dict[str, Any]) -> Hypothesis:
    """Return the hypothesis that `to_dict` wrote.

    Examples
    --------
    >>> box = make_box([(0, 1.5, inf)])
    >>> hypothesis_from_dict(box.to_dict()) == box
    True
    """
    kind = data.get("kind")
    if kind == "constant":
        return Constant(bool(data["value"]))
    if kind == "box":
        return make_box(
            (feature, -inf if lower is None else lower, inf if upper is None else upper)
            for feature, lower, upper in data["bounds"]
        )
    raise ValueError(f"kind={kind!r} must be 'constant' or 'box'")


def canonical_text(predictor: Predictor) -> str:
    """Return a text that orders hypotheses by what they are; empty for foreign predictors.

    >>> canonical_text(Constant(True))
    '{"kind": "constant", "value": true}'
    """
    if isinstance(predictor, Hypothesis):
        return json.dumps(predictor.to_dict(), sort_keys=True)
    return ""


def _columns(X: ArrayLike) -> Floats:
    rows = np.asarray(X, dtype=np.float64)
    return rows[:, np.newaxis] if rows.ndim == 1 else rows


def _name(feature: int, feature_names: Sequence[str] | None) -> str:
    return f"x{feature}" if feature_names is None else str(feature_names[feature])


def _number(value: float) -> str:
    return repr(value).removesuffix(".0")


def _condition(name: str, lower: float, upper: float) -> str:
    if upper == inf:
        return f"{name} > {_number(lower)}"
    if lower == -inf:
        return f"{name} <= {_number(upper)}"
    return f"{_number(lower)} < {name} <= {_number(upper)}"
