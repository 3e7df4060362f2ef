"""The decision threshold of a classifier of two classes: one notion for the whole library.

A threshold is the probability of ``classes_[1]`` from which on that class is predicted, as in
scikit-learn's ``FixedThresholdClassifier``: a probability that equals it is enough. It is a number,
the costs of the two kinds of errors, or the prevalence of the class. An estimator that trains on
blocks takes the prevalence of each block's rows, so that blocks stay independent (theorem:
decision-threshold). Thresholds for a recall or a rate are those of a
``TunedThresholdClassifierCV`` inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline

from replearn.compat import Interval

Floats = NDArray[np.float64]

PREVALENCE = "prevalence"
MIN_THRESHOLD = 1e-3
"""Prevalences below it (or above one minus it) count as this much."""

POS_LABEL_CONSTRAINTS = [Real, str, "boolean", None]
THRESHOLD_CONSTRAINTS = [Interval(Real, 0, 1, closed="neither"), str, tuple, None]
WITH_THRESHOLD = (FixedThresholdClassifier, TunedThresholdClassifierCV)
"""Estimators with a threshold of their own."""


# -- what a threshold may be -----------------------------------------------------------------------
def check_threshold(threshold: Any) -> None:
    """Raise if a value is none of the kinds of thresholds."""
    if isinstance(threshold, tuple) and _are_costs(threshold):
        return
    if isinstance(threshold, str) and threshold == PREVALENCE:
        return
    if isinstance(threshold, Real) and 0.0 < float(threshold) < 1.0:
        return
    raise ValueError(
        f"threshold={threshold!r} must be a number in (0, 1), 'prevalence', or the costs of a "
        "false positive and of a false negative, two positive numbers such as (1, 5). For a recall "
        "or a rate use TunedThresholdClassifierCV as estimator."
    )


def parse_threshold(text: str) -> Any:
    """Read a threshold as it is written on the command line; costs as ``1:5``.

    >>> parse_threshold("0.1"), parse_threshold("1:5"), parse_threshold("prevalence")
    (0.1, (1.0, 5.0), 'prevalence')
    """
    threshold: Any = text
    with suppress(ValueError):  # words are checked below
        threshold = tuple(map(float, text.split(":"))) if ":" in text else float(text)
    check_threshold(threshold)
    return threshold


def known_threshold(threshold: Any) -> float | None:
    """Return the threshold if it does not depend on the data.

    >>> known_threshold(0.1), known_threshold((1, 4)), known_threshold("prevalence")
    (0.1, 0.2, None)
    """
    if isinstance(threshold, tuple):
        return float(threshold[0]) / float(threshold[0] + threshold[1])
    return None if isinstance(threshold, str) else float(threshold)


def _are_costs(costs: tuple[Any, ...]) -> bool:
    numbers = [float(cost) for cost in costs if isinstance(cost, Real)]
    return len(costs) == len(numbers) == 2 and 0.0 < min(numbers) <= max(numbers) < np.inf


def check_pos_label(threshold: Any, pos_label: Any, classes: NDArray[Any]) -> None:
    """Require ``pos_label`` for a threshold where the labels do not say which one is positive.

    The labels 0 and 1 and booleans do. "prevalence" decides the same for both labels.
    """
    is_known = classes.dtype.kind == "b" or classes.tolist() == [0, 1] or len(classes) != 2
    if threshold is None or pos_label is not None or threshold == "prevalence" or is_known:
        return
    first, last = classes.tolist()
    raise ValueError(
        f"threshold={threshold!r} requires pos_label, the label that it is about: the labels are "
        f"{first!r} and {last!r}. pos_label={first!r} predicts {first!r} where its probability "
        f"reaches the threshold, pos_label={last!r} predicts {last!r} where that of {last!r} does."
    )


def threshold_of_label(threshold: Any, pos_label: Any, classes: NDArray[Any]) -> Any:
    """Return a threshold on the probability of a label as one on that of the second class.

    The prevalence of one class is one minus that of the other.

    >>> classes = np.array(["bad", "good"])
    >>> threshold_of_label(0.1, "bad", classes), threshold_of_label((1, 9), "bad", classes)
    (0.9, (9, 1))
    """
    if pos_label is None or pos_label == classes[-1]:
        return threshold
    if pos_label != classes[0]:
        raise ValueError(f"pos_label={pos_label!r} is not one of the labels {classes.tolist()}.")
    if isinstance(threshold, tuple):
        return threshold[::-1]
    return threshold if threshold == PREVALENCE else 1.0 - float(threshold)


def prevalence(codes: NDArray[np.intp]) -> float:
    """Return the share of the second class among the rows.

    >>> prevalence(np.array([0, 0, 0, 1]))
    0.25
    """
    return float(np.clip(np.mean(codes == 1), MIN_THRESHOLD, 1.0 - MIN_THRESHOLD))


def threshold_on_last_label(
    threshold: Any, pos_label: Any, classes: NDArray[Any], codes: NDArray[np.intp]
) -> float:
    """Return a decision threshold as a probability of the last label.

    >>> classes, codes = np.array(["bad", "good"]), np.array([0, 1, 1, 1])
    >>> threshold_on_last_label(0.1, "bad", classes, codes)
    0.9
    >>> threshold_on_last_label((1, 4), "good", classes, codes)
    0.2
    >>> threshold_on_last_label("prevalence", None, classes, codes)
    0.75
    """
    check_pos_label(threshold, pos_label, classes)
    check_threshold(threshold)
    known = known_threshold(threshold_of_label(threshold, pos_label, classes))
    return prevalence(codes) if known is None else known


# -- thresholds of estimators that are wrapped by others -------------------------------------------
def split_threshold(
    estimator: Any, threshold: Any, classes: NDArray[Any], pos_label: Any = None
) -> tuple[Any, Any]:
    """Return the base estimator without its decision threshold, and the threshold in force.

    The threshold is that of the parameter, or of a ``FixedThresholdClassifier`` around the base
    estimator; None if there is none of them. What is around the base estimator and is not taken
    over stays there.
    """
    check_pos_label(threshold, pos_label, classes)
    base, own = _outer_threshold(estimator, classes)
    if threshold is None and pos_label is not None:
        raise ValueError(f"pos_label={pos_label!r} requires threshold, which is about that label.")
    if threshold is None:
        threshold = own
    elif own is not None:
        raise ValueError(
            f"threshold={threshold!r} and estimator={type(estimator).__name__}(threshold={own!r}) "
            "are two decision thresholds: remove one of them."
        )
    if threshold is None:
        return base, None
    check_threshold(threshold)
    refuse_inner_threshold(base, threshold)
    if len(classes) > 2:
        raise ValueError(
            f"threshold={threshold!r} requires two classes, but there are {len(classes)}: remove "
            "it, and use class_weight in the base estimator."
        )
    if hasattr(base, "predict") and not hasattr(base, "predict_proba"):
        raise ValueError(
            f"threshold={threshold!r} requires predict_proba, which {base!r} does not have: wrap "
            "it in CalibratedClassifierCV."
        )
    if pos_label is not None:
        threshold = threshold_of_label(threshold, pos_label, classes)
    return base, threshold


def refuse_inner_threshold(base: Any, threshold: Any) -> None:
    """Refuse an estimator whose own threshold would be ignored: only its probabilities count."""
    inner = base
    while isinstance(inner, Pipeline):
        inner = inner.steps[-1][1]
    if isinstance(inner, WITH_THRESHOLD):
        raise ValueError(
            f"threshold={threshold!r} and estimator={type(inner).__name__}(...), which has a "
            "threshold of its own that would be ignored: remove one of them."
        )


def _outer_threshold(estimator: Any, classes: NDArray[Any]) -> tuple[Any, Any]:
    if type(estimator) is not FixedThresholdClassifier or estimator.threshold == "auto":
        return estimator, None
    has_proba = hasattr(estimator.estimator, "predict_proba")
    if estimator.response_method == "decision_function" or not has_proba:
        return estimator, None  # a threshold on another scale: it predicts by itself
    threshold = float(estimator.threshold)
    if not 0.0 < threshold < 1.0 or len(classes) > 2:
        return estimator, None
    if estimator.pos_label is not None and estimator.pos_label == classes[0]:
        threshold = 1.0 - threshold
    return estimator.estimator, threshold


def block_thresholds(n_models: int, threshold: Any, shares: Sequence[float]) -> Floats | None:
    """Return one threshold for each block estimator; None if they vote by what they predict.

    ``shares`` are the shares of the second class in the rows of the blocks.
    """
    if threshold is None:
        return None
    known = known_threshold(threshold)
    if known is not None:
        return np.full(n_models, known)
    return np.clip(shares, MIN_THRESHOLD, 1.0 - MIN_THRESHOLD)


def check_block_thresholds(thresholds: Any, n_models: int) -> Floats | None:
    """Check the thresholds of a model file: one probability for each model, or None."""
    if thresholds is None:
        return None
    values = np.asarray(thresholds, dtype=np.float64)
    if values.shape != (n_models,) or not ((values > 0.0) & (values <= 1.0)).all():
        raise ValueError(
            f"the file must have one decision threshold in (0, 1] for each of {n_models} models."
        )
    return values


def fitted_threshold(model: Any) -> float | None:
    """Return the decision threshold in force of a fitted classifier, as a probability.

    That of ``FixedThresholdClassifier``, ``TunedThresholdClassifierCV`` and of estimators of this
    library, for ``classes_[1]``; None for others, and where the threshold is on another scale than
    a probability.
    """
    if hasattr(model, "_decision_threshold"):
        threshold: float | None = model._decision_threshold()
        return threshold
    if not isinstance(model, WITH_THRESHOLD):
        return None
    if model.response_method == "decision_function" or not hasattr(model, "predict_proba"):
        return None
    if isinstance(model, TunedThresholdClassifierCV):
        threshold = float(model.best_threshold_)
        positive = model._curve_scorer._get_pos_label()  # as its own predict looks it up
    else:
        threshold = 0.5 if model.threshold == "auto" else float(model.threshold)
        positive = model.pos_label
    is_first = positive is not None and positive == model.classes_[0]
    return 1.0 - threshold if is_first else threshold
