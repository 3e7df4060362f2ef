"""Keep the predictions of the model that is in use, unless the new evidence is clear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from replearn.binding.incumbent import bind_fitted
from replearn.compat import HasMethods, Interval, StrOptions
from replearn.execution import RunContext, fit_in_context
from replearn.guarantees import Certificate
from replearn.learners.fitted_state import FittedState
from replearn.learners.inputs import (
    all_or_nothing,
    base_estimator,
    check_features,
    check_labels,
    checked_fit,
    with_base_tags,
)
from replearn.learners.results import InWords
from replearn.tables import copy_rows, n_rows, take_rows

Floats = NDArray[np.float64]

N_LABEL_ROWS = 256
"""Training rows that show which labels an incumbent without ``classes_`` predicts."""


@dataclass(frozen=True, eq=False)
class KeptExplanation(InWords):
    """One row per point: the incumbent's prediction, the new evidence, and whether it was clear.

    ``margin`` is the evidence for the prediction of the new estimator alone, beyond the decision
    threshold; the incumbent's prediction stays where that is another one and at most ``band``.
    """

    prediction: NDArray[Any]
    incumbent_prediction: NDArray[Any]
    new_prediction: NDArray[Any]
    margin: Floats
    band: Floats

    def sentences(self) -> Iterator[str]:
        """Explain each point in one sentence."""
        for row in range(len(self)):
            old = self.incumbent_prediction[row]
            new = self.new_prediction[row]
            evidence = f"margin {self.margin[row]:.3f}, band {self.band[row]:g}"
            if old == new:
                yield f"Prediction {new!s}: the model in use and the new one agree ({evidence})."
            elif self.prediction[row] == old:
                yield (
                    f"Prediction {old!s}, as before: the new model leans to {new!s}, but not "
                    f"clearly enough to change the prediction ({evidence})."
                )
            else:
                yield (
                    f"Prediction {new!s} instead of {old!s}: the new evidence is clear "
                    f"({evidence})."
                )


def _fitted_has(method: str) -> Any:
    def check(self: Any) -> bool:
        return hasattr(getattr(self, "estimator_", base_estimator(self.estimator)), method)

    return check


class IncumbentClassifier(FittedState, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Retrain, and keep the predictions of the model in use unless the new score is clear.

    The old prediction stays where the new score is within ``band`` of the decision threshold, and
    wherever both models agree. Chains are allowed: next month this model is the incumbent.

    Parameters
    ----------
    estimator : classifier, default=None
        The estimator that is trained anew; ``LogisticRegression(max_iter=1000)`` if None.
    incumbent : fitted classifier, default=None
        The model in use. It is kept as it is, also by ``clone``. None for the first fit.
    band : float, default=0.1
        How far the score must be beyond the decision threshold to change a prediction: in
        probability, or in units of ``margin`` where the estimator has one, as
        `PointwiseReplicableClassifier` does. More than two classes: the new probability of another
        class must exceed that of the old prediction by twice as much.
    threshold : float, default=0.5
        Probability of ``classes_[1]`` from which it is predicted, for two classes and an estimator
        without ``margin``.
    unit : {"score", "standard error"}, default="score"
        What ``band`` counts; standard errors of the point's score need an estimator that estimates
        them, `ScoreReplicableClassifier` with two classes.

    Attributes
    ----------
    estimator_ : classifier
        The estimator, trained on the new sample.
    certificate_ : Certificate
        That of the estimator, where it has one, for runs that share key, incumbent and band: their
        fingerprint and values are on it, and `Certificate.comparable` compares them. What it says
        about two runs holds with an incumbent, too, for votes; for an estimate, as long as standard
        errors vary little across the band (see the theory page incumbent-band). What it says about
        accuracy is about the estimator alone.
    n_retrainings_ : int
        How many incumbents this model stands on.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when ``X`` had them.

    See Also
    --------
    PointwiseReplicableClassifier : Two labs without a common model.

    Notes
    -----
    A prediction near the threshold may stay although it is wrong, for as long as the evidence is
    not clear: see ``benchmarks/incumbent.py`` for how long. Every incumbent of a chain predicts
    when this one does.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from replearn import IncumbentClassifier
    >>> X, y = make_classification(3000, flip_y=0.3, random_state=0)
    >>> may = IncumbentClassifier().fit(X[:1000], y[:1000])
    >>> june = IncumbentClassifier(incumbent=may, band=0.1).fit(X[1000:2000], y[1000:2000])
    >>> changed = (june.predict(X[2000:]) != may.predict(X[2000:])).mean()
    >>> alone = (june.estimator_.predict(X[2000:]) != may.predict(X[2000:])).mean()
    >>> bool(changed < alone / 2)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), None],
        "incumbent": [HasMethods(["predict"]), None],
        "band": [Interval(Real, 0, None, closed="left")],
        "threshold": [Interval(Real, 0, 1, closed="neither")],
        "unit": [StrOptions({"score", "standard error"})],
    }

    def __init__(self, estimator=None, incumbent=None, *, band=0.1, threshold=0.5, unit="score"):
        self.estimator = estimator
        self.incumbent = incumbent
        self.band = band
        self.threshold = threshold
        self.unit = unit

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, *, context: RunContext | None = None, **fit_params: Any):
        """Train the estimator on a new sample; the incumbent is not trained.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The new sample.
        y : array-like of shape (n,)
            Labels of any kind.
        context : RunContext, default=None
            How to run, for estimators whose ``fit`` takes it: a store of finished blocks, a time
            limit. It does not change the result.
        **fit_params
            Arguments of the estimator's ``fit``: ``groups``, ``sample_weight``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            _, known = check_labels(X, y, None)
            X = check_features(self, X, reset=True)
            base = base_estimator(self.estimator)
            if hasattr(base, "margin") and len(known) > 2:
                raise ValueError(
                    f"y has {len(known)} classes: with {type(base).__name__} an incumbent is kept "
                    "for two classes only; give another estimator."
                )
            if self.unit == "standard error" and not hasattr(base, "standard_error"):
                raise ValueError(
                    f'unit="standard error" needs a ScoreReplicableClassifier, but estimator is '
                    f'{type(base).__name__}: use that, or unit="score".'
                )
            self._check_incumbent(X, known)
            self.estimator_ = fit_in_context(clone(base), X, y, context, **fit_params)
            self.classes_ = self.estimator_.classes_
            self.n_retrainings_ = 0
            if self.incumbent is not None:
                self.n_retrainings_ = 1 + getattr(self.incumbent, "n_retrainings_", 0)
            if hasattr(self.estimator_, "certificate_"):
                self.certificate_ = self._certify(self.estimator_.certificate_)
        return self

    def _certify(self, certificate: Certificate) -> Certificate:
        """Issue the estimator's certificate again, for a run that keeps this incumbent."""
        if self.incumbent is None:
            return certificate
        bound = bind_fitted(self.incumbent)
        kept = {
            "fingerprint": bound.digest,
            "band": float(self.band),
            "unit": self.unit,
            "threshold": None if hasattr(self.estimator_, "margin") else float(self.threshold),
        }
        run = certificate.identity
        unbound = (*run.unbound, *(f"incumbent: {text}" for text in bound.unbound))
        # theorem: incumbent-band (section 3: the bound on two runs stands)
        run = replace(run, incumbent=kept, unbound=unbound)
        return Certificate.issue(certificate.task, certificate.inputs, run)

    def _check_incumbent(self, X: Any, classes: NDArray[Any]) -> None:
        if self.incumbent is None:
            return
        if hasattr(self.incumbent, "__sklearn_tags__"):  # others only need to predict
            check_is_fitted(self.incumbent)
        known = getattr(self.incumbent, "n_features_in_", self.n_features_in_)
        if known != self.n_features_in_:
            raise ValueError(
                f"incumbent was trained on {known} features, X has {self.n_features_in_}: give "
                "both the same columns."
            )
        labels = getattr(self.incumbent, "classes_", None)
        if labels is None:
            labels = self.incumbent.predict(take_rows(X, np.arange(min(n_rows(X), N_LABEL_ROWS))))
        labels = np.unique(np.asarray(labels))
        if not set(labels.tolist()) & set(classes.tolist()):
            raise ValueError(
                f"incumbent predicts the labels {labels.tolist()[:5]}, but y has "
                f"{classes.tolist()[:5]}: none of its predictions could be kept. Use one coding of "
                "the labels in both."
            )

    def predict(self, X: Any, *, ids: Any = None) -> NDArray[Any]:
        """Predict class labels: the incumbent's, unless the new evidence is clear.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.
        ids : array-like of shape (n,), default=None
            Ids, for estimators of this library that key their thresholds by them; the incumbent
            is asked with the same ids.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        return self.explain(X, ids=ids).prediction

    def explain(self, X: Any, *, ids: Any = None) -> KeptExplanation:
        """Say which predictions were kept, and how clear the new evidence is.

        Parameters
        ----------
        X, ids
            As in ``predict``.

        Returns
        -------
        KeptExplanation
            Prints as sentences; ``frame()`` gives a table.
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        evidence = self._evidence(copy_rows(X), ids)  # the incumbent is asked about the same
        every = np.arange(len(evidence))
        new = evidence.argmax(axis=1)
        if self.incumbent is None:
            old = self.classes_[new]
            kept = new
            against = new
        else:
            old = np.asarray(_ask(self.incumbent, X, ids))
            known = np.isin(old, self.classes_)
            index = np.searchsorted(self.classes_, np.where(known, old, self.classes_[0]))
            # theorem: incumbent-band (a label that the new model does not know is not kept)
            clear = evidence[every, new] - evidence[every, index] > 2.0 * self.band
            kept = np.where(known & ~clear, index, new)
            against = index
        rival = np.where(against == new, evidence.shape[1] - 1 - new, against)
        if evidence.shape[1] > 2:
            rival = np.where(against == new, np.argsort(evidence, axis=1)[:, -2], against)
        return KeptExplanation(
            prediction=self.classes_[kept],
            incumbent_prediction=old,
            new_prediction=self.classes_[new],
            margin=(evidence[every, new] - evidence[every, rival]) / 2.0,
            band=np.full(len(every), float(self.band)),
        )

    @available_if(_fitted_has("predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities with the new estimator, whatever the incumbent says.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Not the rule that `predict` follows.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(check_features(self, X, reset=False)))

    def _evidence(self, X: Any, ids: Any) -> Floats:
        """One column per class; half the difference of two columns is the margin between them."""
        model = self.estimator_
        if len(self.classes_) == 1:
            return np.zeros((len(model.predict(X)), 1))
        if self.unit == "standard error":
            told = model.explain(X, ids=ids)
            margin = told.margin / np.maximum(told.standard_error, 1e-300)
        elif hasattr(model, "margin"):
            margin = model.margin(X, ids=ids)
        elif hasattr(model, "predict_proba"):
            chances = np.asarray(model.predict_proba(X), dtype=np.float64)
            if chances.shape[1] > 2:
                return chances
            margin = chances[:, 1] - self.threshold
        else:
            scores = np.asarray(model.decision_function(X), dtype=np.float64)
            if scores.ndim > 1:
                return scores
            margin = scores
        # classes_[1] iff the margin is positive, as everywhere in this library
        return np.column_stack([-margin, np.where(margin == 0.0, -1e-300, margin)])

    @property
    def shared_key(self) -> Any:
        """The key of the estimator; model files ask for it."""
        return getattr(self, "estimator_", self.estimator).shared_key

    def __sklearn_clone__(self) -> Any:
        params = self.get_params(deep=False)
        copies = {name: clone(value, safe=False) for name, value in params.items()}
        return type(self)(**{**copies, "incumbent": self.incumbent})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        return with_base_tags(super().__sklearn_tags__(), base_estimator(self.estimator))


def _ask(model: Any, X: Any, ids: Any) -> Any:
    """Ask a model; ids go to models of this library only."""
    if ids is None or not (hasattr(model, "certificate_") or hasattr(model, "n_retrainings_")):
        return model.predict(copy_rows(X))
    return model.predict(X, ids=ids)
