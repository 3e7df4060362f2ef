"""Ask one model about some rows, and take only answers that can be what was asked for.

A model gets rows of its own: a scaler with ``copy=False`` writes into them, and the next model,
or the caller, would find other rows. An answer of another length, of numbers that are none or of
unknown labels is an error that names the block, never a vote.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.execution.runtime import naming
from replearn.tables import n_rows, own_rows

_ROUNDING = 1e-6
"""So far outside of [0, 1] a probability may lie: sums of float32."""


def ask_labels(model: Any, X: Any, name: str = "a block") -> NDArray[Any]:
    """Return one label per row.

    >>> from replearn.execution import ConstantVote
    >>> ask_labels(ConstantVote(1), np.zeros((2, 1)))
    array([1, 1])
    """
    labels = _ask(model, "predict", X, name)
    if labels.shape == (n_rows(X), 1):  # a column: CatBoost with three classes
        labels = labels[:, 0]
    return _of_shape(labels, (n_rows(X),), model, "predict", name)


def ask_codes(
    model: Any, X: Any, codes: NDArray[np.intp], name: str = "a block"
) -> NDArray[np.intp]:
    """Return one label per row as its place in the list of all classes.

    ``codes`` are the places of ``model.classes_``.
    """
    labels = ask_labels(model, X, name)
    found = np.full(len(labels), -1, dtype=np.intp)
    for label, code in zip(model.classes_, codes, strict=True):
        found[labels == label] = code
    if (found < 0).any():
        raise ValueError(
            f"{type(model).__name__} of {name} answered {labels[found < 0].tolist()[0]!r}, "
            f"which is not one of its classes {model.classes_!r}"
        )
    return found


def ask_probabilities(
    model: Any, X: Any, n_classes: int, name: str = "a block"
) -> NDArray[np.float64]:
    """Return the probability of each of a model's classes, row by row."""
    shares = _ask(model, "predict_proba", X, name)
    shares = _of_shape(shares, (n_rows(X), n_classes), model, "predict_proba", name)
    if not (shares.min() >= -_ROUNDING and shares.max() <= 1 + _ROUNDING):  # NaN fails as well
        wrong = shares[~((shares >= -_ROUNDING) & (shares <= 1 + _ROUNDING))].tolist()[0]
        raise ValueError(
            f"{type(model).__name__} of {name} gives the probability {wrong!r}: predict_proba must "
            "answer numbers in [0, 1]"
        )
    return shares


def ask_numbers(model: Any, X: Any, name: str = "a block") -> NDArray[np.float64]:
    """Return one finite number per row."""
    numbers = np.asarray(ask_labels(model, X, name), dtype=np.float64)
    if not np.isfinite(numbers).all():
        wrong = numbers[~np.isfinite(numbers)].tolist()[0]
        raise ValueError(f"{type(model).__name__} of {name} answered {wrong!r}, which is no number")
    return numbers


def _ask(model: Any, method: str, X: Any, name: str) -> NDArray[Any]:
    with naming(model, name):
        return np.asarray(getattr(model, method)(own_rows(X)))


def _of_shape(
    answers: NDArray[Any], shape: tuple[int, ...], model: Any, method: str, name: str
) -> NDArray[Any]:
    if answers.shape != shape:
        raise ValueError(
            f"{type(model).__name__} of {name} answered an array of shape {answers.shape} to "
            f"{method} with {shape[0]} rows: it must have shape {shape}"
        )
    return answers
