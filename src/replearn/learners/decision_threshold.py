"""The decision threshold of a classifier of two classes: one notion for the whole library.

A threshold is the probability of ``classes_[1]`` from which on that class is predicted, as in
scikit-learn's ``FixedThresholdClassifier``: a probability that equals it is enough. It is a number,
the costs of the two kinds of errors, or chosen from the training rows: their prevalence, a recall,
a rate of positive predictions. An estimator that trains on blocks chooses it in each block, from
that block's rows alone, so that blocks stay independent (theorem: decision-threshold).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import (
    FixedThresholdClassifier,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from replearn.compat import HasMethods, Interval
from replearn.execution import ConstantVote
from replearn.learners.inputs import (
    FittedState,
    all_or_nothing,
    base_estimator,
    check_features,
    check_labels,
    checked_fit,
    with_base_tags,
)
from replearn.tables import take_rows

Floats = NDArray[np.float64]

N_FOLDS = 5
"""Folds of the training rows from which a recall or a rate is read."""

MIN_THRESHOLD = 1e-3
"""Prevalences below it (or above one minus it) count as this much."""

TARGETS = ("recall", "specificity", "rate")
"""Shares that a threshold may be chosen for, of the rows of the second class, the first, all."""

POS_LABEL_CONSTRAINTS = [Real, str, "boolean", None]
THRESHOLD_CONSTRAINTS = [Interval(Real, 0, 1, closed="neither"), str, tuple, None]


# -- what a threshold may be -----------------------------------------------------------------------
def check_threshold(threshold: Any) -> None:
    """Raise if a value is none of the kinds of thresholds."""
    if isinstance(threshold, tuple) and _are_costs(threshold):
        return
    if isinstance(threshold, str) and (threshold == "prevalence" or _target(threshold)):
        return
    if isinstance(threshold, Real) and 0.0 < float(threshold) < 1.0:
        return
    raise ValueError(
        f"threshold={threshold!r} must be a number in (0, 1), 'prevalence', a target such as "
        "'recall=0.8', 'specificity=0.9' or 'rate=0.3', or the costs of a false positive and of a "
        "false negative, two positive numbers such as (1, 5)."
    )


def parse_threshold(text: str) -> Any:
    """Read a threshold as it is written on the command line; costs as ``1:5``.

    >>> parse_threshold("0.1"), parse_threshold("1:5"), parse_threshold("recall=0.8")
    (0.1, (1.0, 5.0), 'recall=0.8')
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


def _target(text: str) -> tuple[str, float] | None:
    """Return name and value of a target; None if the text is none.

    >>> _target("recall=0.8"), _target("recall"), _target("rate=3")
    (('recall', 0.8), None, None)
    """
    name, _, number = text.partition("=")
    try:
        value = float(number)
    except ValueError:
        return None
    return (name, value) if name in TARGETS and 0.0 < value < 1.0 else None


def threshold_of_label(threshold: Any, pos_label: Any, classes: NDArray[Any]) -> Any:
    """Return a threshold on the probability of a label as one on that of the second class.

    >>> classes = np.array(["bad", "good"])
    >>> threshold_of_label(0.1, "bad", classes), threshold_of_label((1, 9), "bad", classes)
    (0.9, (9, 1))
    >>> threshold_of_label("recall=0.8", "bad", classes), threshold_of_label(0.1, None, classes)
    ('specificity=0.8', 0.1)
    """
    if pos_label is None or pos_label == classes[-1]:
        return threshold
    if pos_label != classes[0]:
        raise ValueError(f"pos_label={pos_label!r} is not one of the labels {classes.tolist()}.")
    if isinstance(threshold, tuple):
        return threshold[::-1]
    if not isinstance(threshold, str):
        return 1.0 - float(threshold)
    parsed = _target(threshold)
    if parsed is None:  # the prevalence of one class is one minus that of the other
        return threshold
    name, value = parsed
    if name == "rate":
        return f"rate={1.0 - value:.12g}"
    return f"{'specificity' if name == 'recall' else 'recall'}={value:.12g}"


def prevalence(codes: NDArray[np.intp]) -> float:
    """Return the share of the second class among the rows.

    >>> prevalence(np.array([0, 0, 0, 1]))
    0.25
    """
    return float(np.clip(np.mean(codes == 1), MIN_THRESHOLD, 1.0 - MIN_THRESHOLD))


def threshold_for_target(target: str, scores: Floats, codes: NDArray[np.intp]) -> float:
    """Return the threshold with which scores reach a recall, a specificity or a rate.

    The largest one for a recall, the smallest one for a specificity.

    >>> scores = np.array([0.1, 0.2, 0.3, 0.4, 0.9])
    >>> threshold_for_target("recall=0.5", scores, np.array([0, 1, 0, 1, 0]))
    0.4
    >>> threshold_for_target("rate=0.4", scores, np.array([0, 1, 0, 1, 0]))
    0.4
    """
    parsed = _target(target)
    assert parsed is not None, target
    name, value = parsed
    if name == "specificity":
        below = np.sort(scores[codes == 0])
        n_below = int(np.ceil(value * len(below) - 1e-9))
        return float(np.nextafter(below[min(max(n_below, 1), len(below)) - 1], 2.0))
    ranked = np.sort(scores[codes == 1] if name == "recall" else scores)[::-1]
    if name == "recall":
        wanted = int(np.ceil(value * len(ranked) - 1e-9))
    else:
        wanted = int(np.rint(value * len(ranked)))
    chosen = float(ranked[min(max(wanted, 1), len(ranked)) - 1])
    return float(np.clip(chosen, np.finfo(float).tiny, 1.0))


# -- the estimator ---------------------------------------------------------------------------------
class DecisionThresholdClassifier(FittedState, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Predict the second class from a decision threshold on its probability.

    Like scikit-learn's ``FixedThresholdClassifier``, with thresholds that follow from costs, from
    the prevalence, or from a recall or a rate that the predictions should have.

    Parameters
    ----------
    estimator : classifier, default=None
        The base estimator, with ``predict_proba`` and without a threshold of its own;
        ``LogisticRegression(max_iter=1000)`` if None.
    threshold : float, str or pair of float, default=0.5
        The probability of ``classes_[1]`` from which on it is predicted (see Notes):

        - a number in (0, 1);
        - the costs of a false positive and of a false negative, ``(1, 5)``: the threshold that
          minimises the expected cost if probabilities are calibrated;
        - ``"prevalence"``: the share of ``classes_[1]`` in the training rows;
        - ``"recall=0.8"``: the largest threshold that finds at least this share of the rows of
          ``classes_[1]``; ``"specificity=0.9"``: the smallest that leaves out at least this share
          of the others; ``"rate=0.3"``: the one that predicts ``classes_[1]`` for this share of
          all rows. These are read from cross-fitted probabilities of the training rows (5 folds).
    pos_label : label, default=None
        The label to whose probability, recall and rate ``threshold`` refers. If None,
        ``classes_[1]``, the last of the sorted labels.

    Attributes
    ----------
    estimator_ : classifier
        The fitted base estimator.
    threshold_ : float
        The threshold in force: the probability of ``classes_[1]`` from which it is predicted.
    classes_ : ndarray
        The two labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` had names.

    Notes
    -----
    A probability that equals the threshold predicts ``classes_[1]``, as in
    ``FixedThresholdClassifier``; here also if ``pos_label`` is ``classes_[0]``. In this
    ``threshold=0.5`` differs from a classifier without a threshold, which predicts ``classes_[0]``
    if both probabilities are equal. Trees have such probabilities.

    See Also
    --------
    PointwiseReplicableClassifier : Takes the same ``threshold``, or this estimator.
    sklearn.model_selection.TunedThresholdClassifierCV : Chooses a threshold by a metric.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from replearn.learners import DecisionThresholdClassifier
    >>> X, y = make_classification(2000, weights=[0.9], flip_y=0.1, random_state=0)
    >>> usual = DecisionThresholdClassifier().fit(X[:1000], y[:1000])
    >>> model = DecisionThresholdClassifier(threshold="recall=0.9").fit(X[:1000], y[:1000])
    >>> positives = X[1000:][y[1000:] == 1]
    >>> float(usual.predict(positives).mean()) < 0.8 < float(model.predict(positives).mean())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict_proba"]), None],
        "threshold": THRESHOLD_CONSTRAINTS[:-1],
        "pos_label": POS_LABEL_CONSTRAINTS,
    }

    def __init__(self, estimator=None, *, threshold=0.5, pos_label=None):
        self.estimator = estimator
        self.threshold = threshold
        self.pos_label = pos_label

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, **fit_params: Any):
        """Fit the base estimator, and choose the threshold.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The sample.
        y : array-like of shape (n,)
            Labels of two classes.
        **fit_params
            Arguments of the base estimator's ``fit`` with one value per row, such as
            ``sample_weight``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            check_threshold(self.threshold)
            codes, classes = check_labels(X, y, None)
            if len(classes) != 2:
                raise ValueError(
                    f"Only binary classification is supported: y has {len(classes)} "
                    f"{'class' if len(classes) == 1 else 'classes'}, and a decision threshold "
                    "needs two."
                )
            X = check_features(self, X, reset=True)
            base = base_estimator(self.estimator)
            _refuse_inner_threshold(base, self.threshold)
            self.estimator_ = clone(base).fit(X, y, **fit_params)
            self.classes_ = self.estimator_.classes_
            self.threshold_ = self._choose(X, np.asarray(y), codes, fit_params)
        return self

    def _choose(self, X: Any, y: Any, codes: NDArray[np.intp], params: dict[str, Any]) -> float:
        threshold = threshold_of_label(self.threshold, self.pos_label, self.classes_)
        known = known_threshold(threshold)
        if known is not None:
            return known
        if threshold == "prevalence":
            return prevalence(codes)
        n_folds = min(N_FOLDS, int(np.bincount(codes).min()))
        if n_folds < 2:  # one row of a class cannot be left out
            scores = self.estimator_.predict_proba(X)[:, 1]
            return threshold_for_target(threshold, scores, codes)
        scores = np.empty(len(codes))
        folds = StratifiedKFold(n_folds).split(codes, codes)
        for training, left_out in folds:
            own = {name: np.asarray(values)[training] for name, values in params.items()}
            model = clone(self.estimator_).fit(take_rows(X, training), y[training], **own)
            scores[left_out] = model.predict_proba(take_rows(X, left_out))[:, 1]
        return threshold_for_target(threshold, scores, codes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels: ``classes_[1]`` if its probability reaches the threshold.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        is_positive = self.predict_proba(X)[:, 1] >= self.threshold_
        return self.classes_[is_positive.astype(np.intp)]

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities with the base estimator.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n, 2)
            Probabilities of the classes.
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)

    def _decision_threshold(self) -> float:
        return float(self.threshold_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "threshold_")

    def __sklearn_tags__(self) -> Any:
        tags = with_base_tags(super().__sklearn_tags__(), base_estimator(self.estimator))
        tags.classifier_tags.multi_class = False
        return tags


# -- thresholds of estimators that are wrapped by others -------------------------------------------
def split_threshold(
    estimator: Any, threshold: Any, classes: NDArray[Any], pos_label: Any = None
) -> tuple[Any, Any]:
    """Return the base estimator without its decision threshold, and the threshold in force.

    The threshold is that of the parameter, or of a `DecisionThresholdClassifier` or
    ``FixedThresholdClassifier`` around the base estimator; None if there is none of them. What
    is around the base estimator and is not taken over stays there.
    """
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
    _refuse_inner_threshold(base, threshold)
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


def _refuse_inner_threshold(base: Any, threshold: Any) -> None:
    """Refuse an estimator whose own threshold would be ignored: only its probabilities count."""
    inner = base
    while isinstance(inner, Pipeline):
        inner = inner.steps[-1][1]
    kinds = (DecisionThresholdClassifier, FixedThresholdClassifier, TunedThresholdClassifierCV)
    if isinstance(inner, kinds):
        raise ValueError(
            f"threshold={threshold!r} and estimator={type(inner).__name__}(...), which has a "
            "threshold of its own that would be ignored: remove one of them."
        )


def _outer_threshold(estimator: Any, classes: NDArray[Any]) -> tuple[Any, Any]:
    if type(estimator) is DecisionThresholdClassifier:
        own = threshold_of_label(estimator.threshold, estimator.pos_label, classes)
        return base_estimator(estimator.estimator), own
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


def with_threshold(base: Any, threshold: Any, pos_label: Any = None) -> Any:
    """Return the base estimator with its decision threshold, as certificates name it."""
    if threshold is None:
        return base
    return DecisionThresholdClassifier(base, threshold=threshold, pos_label=pos_label)


def block_estimator(base: Any, threshold: Any) -> Any:
    """Return the estimator that is trained on blocks: targets are reached inside each block."""
    is_target = isinstance(threshold, str) and threshold != "prevalence"
    return with_threshold(base, threshold) if is_target else base


def block_thresholds(
    models: Sequence[Any], threshold: Any, shares: Sequence[float]
) -> tuple[list[Any], Floats | None]:
    """Return the block estimators without their thresholds, and one threshold for each.

    ``shares`` are the shares of the second class in the rows of the blocks.
    """
    if threshold is None:
        return list(models), None
    known = known_threshold(threshold)
    if known is not None:
        return list(models), np.full(len(models), known)
    if threshold == "prevalence":
        return list(models), np.clip(shares, MIN_THRESHOLD, 1.0 - MIN_THRESHOLD)
    inner = []
    chosen = []
    for model in models:
        is_alone = isinstance(model, ConstantVote)  # one class: predicted from any threshold
        inner.append(model if is_alone else model.estimator_)
        chosen.append(0.5 if is_alone else model.threshold_)
    return inner, np.array(chosen, dtype=np.float64)


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
    if not isinstance(model, FixedThresholdClassifier | TunedThresholdClassifierCV):
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
