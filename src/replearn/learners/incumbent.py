"""Retrain, and keep the predictions of the model in use unless the new evidence is clear."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from replearn.checks.incumbent import bind_fitted
from replearn.compat import HasMethods, Interval, StrOptions
from replearn.exceptions import NotCertifiedWarning, UsefulnessWarning, warn_user
from replearn.execution import RunContext, fit_in_context
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.promise import derive
from replearn.learners.decision_threshold import (
    POS_LABEL_CONSTRAINTS,
    THRESHOLD_CONSTRAINTS,
    fitted_threshold,
    split_threshold,
    with_threshold,
)
from replearn.learners.incumbent_chain import (
    DECISION,
    MARGIN,
    MAX_MEMORY,
    PROBABILITY,
    Chain,
    Floats,
    KeepsChain,
    Replay,
    Retraining,
    chain_scores,
    error_costs,
    margins,
    mixed_probabilities,
    replay_scores,
    score_kind,
)
from replearn.learners.incumbent_explanation import KeptExplanation
from replearn.learners.incumbent_retraining import (
    Budget,
    NewSample,
    Options,
    chain_of,
    changes_between,
    check_incumbent,
    choose_changes,
    errors_of,
    first_entry,
    held_out_rows,
    retrain,
    since_drift,
    takes_groups,
    was_alarmed,
)
from replearn.learners.inputs import (
    all_or_nothing,
    base_estimator,
    check_features,
    check_ids,
    check_labels,
    checked_fit,
    with_base_tags,
)
from replearn.tables import copy_rows

DEFAULT_BAND = 0.1
"""Band at a decision threshold of 0.5, and in units of margin."""

_WITH_THRESHOLD = (FixedThresholdClassifier, TunedThresholdClassifierCV)
_SHARE = Interval(Real, 0, 1, closed="both")


def _fitted_has(method: str) -> Any:
    def check(self: Any) -> bool:
        return hasattr(getattr(self, "estimator_", base_estimator(self.estimator)), method)

    return check


class IncumbentClassifier(ClassifierMixin, KeepsChain):
    """Retrain, and keep the predictions of the model in use unless the new evidence is clear.

    After a retraining the score of a point is ``memory`` times its score before and
    ``1 - memory`` times that of the new estimator. The old prediction stays where this score is
    within ``band`` of the decision threshold. Next month this model is the incumbent.

    Parameters
    ----------
    estimator : classifier, default=None
        The estimator that is trained anew; ``LogisticRegression(max_iter=1000)`` if None.
    incumbent : fitted classifier, default=None
        The model in use; None for the first fit. It is not changed, and ``clone`` keeps it.
    memory : float, "all" or "auto", default="auto"
        Weight of the remembered score, from 0 to 0.8. "all" is the mean of all models, up to that
        weight. "auto" chooses the longest memory and the widest band (at most ``band``) whose
        predictions for rows of the new sample, cross-fitted with five folds, are not worse than
        those of plain retraining. Nothing is remembered if all of them are worse, or if the
        ``new_rows`` of a window are predicted worse than its other rows, until the window has
        moved past that change. With "auto" each retraining costs five more fits on four fifths
        of the sample; the first fit costs no more. A number needs no further fits and keeps the
        certificate of an estimator that has one, but after a sudden change of the world it loses
        many points of accuracy for a month or more. If the estimator has neither
        ``predict_proba`` nor ``margin``, the memory is 0.
    band : float, default=None
        How far the score must be beyond the decision threshold to change a prediction: in
        probability, or in units of ``margin`` if the estimator has one, as
        `PointwiseReplicableClassifier` does. With more than two classes the score of another
        class must exceed that of the old prediction by twice as much. If None, 0.1; for decision
        thresholds other than 0.5 a fifth of the distance to the nearer of 0 and 1, which is
        smaller (0.012 for a threshold of 0.06).
    threshold : float, str or pair of float, default=None
        Decision threshold on the score, as in `DecisionThresholdClassifier`, for two classes and
        an estimator without ``margin``. If None, the decision threshold of the estimator, or else
        that of the incumbent, or else 0.5.
    pos_label : label, default=None
        The label that ``threshold`` refers to. If None, ``classes_[1]``, the last of the sorted
        labels.
    band_unit : {"score", "standard_error"}, default="score"
        The unit of ``band``. Standard errors of the point's new score require two classes and a
        `ScoreReplicableClassifier` as estimator.
    max_changes : float, default=None
        Share of predictions that may change. The band is widened until this holds on cross-fitted
        rows of the new sample. On other rows it holds approximately (see ``history_``), and for
        a batch exactly with `predict_batch`.
    max_negative_flips : float, default=None
        Share of predictions that may change from right to wrong, in the same way.
    keep_rate : float, default=None
        By how much the share of ``classes_[1]`` among the predictions may change, in the same
        way; for two classes only.
    max_loss : float, default=0.0
        With ``memory="auto"``, memory is shortened if it loses more accuracy (or ``scoring``) than
        this relative to plain retraining, at 99 % confidence. A loss without that confidence is
        enough at the retraining that follows, and if the incumbent is wrong more often than when
        it was trained. ``history_`` has the upper limit of the loss.
    scoring : callable, default=None
        With ``memory="auto"``, the metric ``scoring(y_true, y_pred)`` on codes of labels, of which
        larger values are better; it must accept ``sample_weight`` if ``fit`` gets it. If None,
        accuracy, in which rows of ``classes_[1]`` have the weight ``2 (1 - t)`` and all others
        ``2 t``, where t is the decision threshold: the costs of errors that the threshold
        implies, which are equal at 0.5.

    Attributes
    ----------
    estimator_ : classifier
        The estimator, trained on the new sample.
    chain_ : Chain
        The start of the chain and its latest 16 retrainings.
    history_ : list of dict
        One entry for each of the latest 120 retrainings: date, rows, memory, band, share of
        predictions changed, what dropping old retrainings has changed, alarms, budgets, and with
        "auto" how many rows that the model had not seen were predicted wrongly.
    certificate_ : Certificate
        The certificate of the estimator, if it has one, for runs that share key, incumbent, memory
        and band: it lists their fingerprints and values, and `Certificate.comparable` compares
        them. What it promises about two runs also holds with an incumbent; an estimate holds as
        long as standard errors vary little across the band (see the theory page incumbent-band).
        Nothing is certified if memory or band are decided from the sample, by "auto" or by a
        budget: ``fit`` then warns; ``memory=0.5`` without a budget keeps the certificate. What it
        says about accuracy concerns the estimator alone.
    n_retrainings_ : int
        Number of incumbents in the chain.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` had names.

    See Also
    --------
    IncumbentRegressor : The same for numbers.
    PointwiseReplicableClassifier : Two labs without a common model.

    Notes
    -----
    A prediction near the threshold may stay although it is wrong, for as long as the evidence is
    not clear; ``benchmarks/incumbent.py`` measures for how long. A prediction needs those of all
    models of the chain, of which there are at most 17. When older retrainings are dropped, the
    chain is replayed without them from the same start. A fitted model does not need its
    incumbent: pickles and model files leave it out.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from replearn import IncumbentClassifier
    >>> X, y = make_classification(3000, flip_y=0.3, random_state=0)
    >>> may = IncumbentClassifier().fit(X[:1000], y[:1000])
    >>> june = IncumbentClassifier(incumbent=may).fit(X[1000:2000], y[1000:2000])
    >>> changed = (june.predict(X[2000:]) != may.predict(X[2000:])).mean()
    >>> alone = (june.estimator_.predict(X[2000:]) != may.predict(X[2000:])).mean()
    >>> bool(changed < alone / 4)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), None],
        "incumbent": [HasMethods(["predict"]), None],
        "memory": [Interval(Real, 0, MAX_MEMORY, closed="both"), StrOptions({"all", "auto"})],
        "band": [Interval(Real, 0, None, closed="left"), None],
        "threshold": THRESHOLD_CONSTRAINTS,
        "pos_label": POS_LABEL_CONSTRAINTS,
        "band_unit": [StrOptions({"score", "standard_error"})],
        "max_changes": [_SHARE, None],
        "max_negative_flips": [_SHARE, None],
        "keep_rate": [_SHARE, None],
        "max_loss": [Interval(Real, 0, None, closed="left")],
        "scoring": [Callable, None],
    }

    def __init__(  # noqa: PLR0913
        self,
        estimator=None,
        incumbent=None,
        *,
        memory="auto",
        band=None,
        threshold=None,
        pos_label=None,
        band_unit="score",
        max_changes=None,
        max_negative_flips=None,
        keep_rate=None,
        max_loss=0.0,
        scoring=None,
    ):
        self.estimator = estimator
        self.incumbent = incumbent
        self.memory = memory
        self.band = band
        self.threshold = threshold
        self.pos_label = pos_label
        self.band_unit = band_unit
        self.max_changes = max_changes
        self.max_negative_flips = max_negative_flips
        self.keep_rate = keep_rate
        self.max_loss = max_loss
        self.scoring = scoring

    @checked_fit
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        new_rows: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        context: RunContext | None = None,
        **fit_params: Any,
    ):
        """Train the estimator on a new sample; the incumbent is not trained.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The new sample.
        y : array-like of shape (n,)
            Labels of any kind, the same as those of the incumbent.
        new_rows : array-like of bool of shape (n,), default=None
            Rows that no model of the chain has been trained on, if samples overlap (a rolling
            window): memory, band and budgets are decided on these. If None, all rows are new.
        groups : array-like of shape (n,), default=None
            Rows that belong together, such as those of one patient: they are left out together
            when memory, band and budgets are decided. They are also passed to an estimator whose
            ``fit`` takes groups.
        context : RunContext, default=None
            How to run, for estimators whose ``fit`` takes it: a store of finished blocks, a time
            limit. It does not change the result.
        **fit_params
            Arguments of the estimator's ``fit``, such as ``sample_weight``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._refuse_itself()
        with all_or_nothing(self):
            codes, classes = check_labels(X, y, None)
            X = check_features(self, X, reset=True)
            base = base_estimator(self.estimator)
            self._check_options(base, classes)
            if self.threshold is not None or self.pos_label is not None:
                split = split_threshold(base, self.threshold, classes, self.pos_label)
                base = with_threshold(*split)
            previous = chain_of(self.incumbent)
            if previous is not None:
                names = getattr(self, "feature_names_in_", None)
                check_incumbent(self.incumbent, X, classes, names)
            rows = held_out_rows(new_rows, len(codes))
            if groups is not None and takes_groups(base):
                fit_params["groups"] = groups
            self.estimator_ = fit_in_context(clone(base), X, y, context, **fit_params)
            self.classes_ = self.estimator_.classes_
            options = self._options(previous)
            if previous is None:
                first = Retraining(self.estimator_, 0.0, 0.0, options.threshold)
                self.chain_ = Chain(first)
                entry = first_entry(len(codes), options.shown_threshold)
            else:
                sample = NewSample(X, codes, classes, rows, fit_params, groups)
                self.chain_, entry = retrain(previous, self.estimator_, base, sample, options)
            self._record(entry)
            if hasattr(self.estimator_, "certificate_"):
                self.certificate_ = self._certify(self.estimator_.certificate_, options)
        return self

    def _check_options(self, base: Any, classes: NDArray[Any]) -> None:
        """Raise where the parameters do not fit to the estimator or to the number of classes."""
        name = type(base).__name__
        kind = score_kind(base)
        if kind == MARGIN and len(classes) > 2:
            raise ValueError(
                f"y has {len(classes)} classes: with {name} an incumbent is supported for two "
                "classes only; use another estimator."
            )
        if self.band_unit == "standard_error" and not hasattr(base, "standard_error"):
            raise ValueError(
                f'band_unit="standard_error" requires a ScoreReplicableClassifier, but estimator '
                f'is {name}: use that, or band_unit="score".'
            )
        if self.threshold is not None and kind == MARGIN:
            raise ValueError(
                f"threshold={self.threshold!r} is not supported with {name}, which has a threshold "
                "of its own: set it there."
            )
        has_scores = hasattr(base, MARGIN) or hasattr(base, PROBABILITY)
        if not has_scores and not hasattr(base, DECISION):
            raise ValueError(
                f"{name} predicts labels only: an incumbent requires an estimator with "
                "predict_proba, or with decision_function and memory=0. (The incumbent itself may "
                "predict labels only.)"
            )
        if self.memory != 0 and not has_scores and hasattr(base, DECISION):
            raise ValueError(
                f"memory={self.memory!r} requires an estimator with predict_proba, which {name} "
                "does not have: decision values of two fits have different scales. Use memory=0, "
                "or wrap it in CalibratedClassifierCV."
            )
        if self.keep_rate is not None and len(classes) != 2:
            raise ValueError(
                f"keep_rate={self.keep_rate} requires two classes, y has {len(classes)}."
            )

    def _options(self, previous: Chain | None) -> Options:
        threshold = self._threshold_in_force(previous)
        history = getattr(self.incumbent, "history_", [])
        return Options(
            self.memory,
            self._band_in_force(threshold),
            threshold,
            self.band_unit,
            self._budget(),
            float(self.max_loss),
            self.scoring,
            error_costs(len(self.classes_), self._error_threshold(threshold)),
            was_alarmed(history),
            since_drift(history),
            errors_of(history),
        )

    def _band_in_force(self, threshold: float) -> float:
        """Return the band; one that no probability can leave on one side is warned about."""
        is_probability = score_kind(self.estimator_) == PROBABILITY and len(self.classes_) == 2
        nearer = min(threshold, 1.0 - threshold) if is_probability else 0.5
        if self.band is None:
            return DEFAULT_BAND * 2.0 * nearer
        if is_probability and nearer <= self.band < 1.0 - nearer:
            label = str(self.classes_[1 if threshold < 0.5 else 0])
            warn_user(
                f"band={self.band:g} reaches beyond the probabilities on one side of the decision "
                f"threshold {threshold:.3g}: a prediction of {label!r} can never change. Use a "
                f"band below {nearer:.3g}; band=None is {DEFAULT_BAND * 2.0 * nearer:.3g} here.",
                UsefulnessWarning,
            )
        return float(self.band)

    def _budget(self) -> Budget:
        return Budget(self.max_changes, self.max_negative_flips, self.keep_rate)

    def _decision_threshold(self) -> float | None:
        return fitted_threshold(self.estimator_)

    def _threshold_in_force(self, previous: Chain | None) -> float:
        """Return the decision threshold: the parameter, the estimator's, or the incumbent's."""
        if score_kind(self.estimator_) != PROBABILITY or len(self.classes_) != 2:
            return 0.0
        fitted = fitted_threshold(self.estimator_)
        if fitted is None and isinstance(self.estimator_, _WITH_THRESHOLD):
            raise ValueError(
                f"estimator={type(self.estimator_).__name__} has a threshold on decision values, "
                'which is not supported: use response_method="predict_proba".'
            )
        if fitted is None and previous is not None:
            newest = previous.newest
            if newest.threshold is not None and score_kind(newest.model) == PROBABILITY:
                return newest.threshold
            fitted = fitted_threshold(newest.model)
        # These classifiers predict classes_[1] from the threshold on, not only beyond it.
        return 0.5 if fitted is None else float(np.nextafter(fitted, 0.0))

    def _error_threshold(self, threshold: float) -> float:
        """Return the probability at which both errors cost the same: the decision threshold."""
        if score_kind(self.estimator_) == PROBABILITY:
            return threshold
        blocks = getattr(self.estimator_, "block_thresholds_", None)  # of estimators that vote
        known = fitted_threshold(self.estimator_) if blocks is None else float(np.mean(blocks))
        return 0.5 if known is None else known

    def _certify(self, certificate: Certificate, options: Options) -> Certificate:
        """Issue the estimator's certificate again, for a run that keeps this incumbent."""
        if self.incumbent is None:
            return certificate
        bound = bind_fitted(self.incumbent)
        newest = self.chain_.newest
        kept = {
            "fingerprint": bound.digest,
            "memory": newest.memory,
            "band": newest.band,
            "unit": self.band_unit.replace("_", " "),
            "threshold": None if hasattr(self.estimator_, MARGIN) else options.shown_threshold,
        }
        run = certificate.identity
        unbound = (*run.unbound, *(f"incumbent: {text}" for text in bound.unbound))
        failed = run.failed_conditions
        if options.from_data:
            failed = (*failed, CHOSEN_FROM_DATA)
            self._warn_if_lost(certificate, newest)
        # theorem: incumbent-band (section 5: the bound on two runs stands for given settings)
        run = replace(run, incumbent=kept, unbound=unbound, failed_conditions=failed)
        return Certificate.of(derive(certificate.task, certificate.inputs), run)

    def _warn_if_lost(self, certificate: Certificate, newest: Retraining) -> None:
        """Warn that a certificate is lost because the sample decides on memory or band."""
        if certificate.verdict == "not certified":
            return
        warn_user(
            f"{type(self.estimator_).__name__} is {certificate.verdict}, this model is not: memory "
            'and band are decided from this sample (memory="auto" or a budget), and another lab '
            "may decide differently. Give memory=0.5 and no budget to keep the certificate, or let "
            f"one lab decide and give all others its memory={newest.memory:g} and "
            f"band={newest.band:g}.",
            NotCertifiedWarning,
        )

    def predict(self, X: Any, *, ids: Any = None) -> NDArray[Any]:
        """Predict class labels: the remembered ones, unless the evidence is clear.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.
        ids : array-like of shape (n,), default=None
            Ids, for estimators of this library that key their thresholds by them. All models of
            the chain get the same ids.

        Returns
        -------
        ndarray of shape (n,)
            Labels. A prediction does not depend on the other rows.
        """
        codes = self._replay(X, ids)[0].prediction
        return self.classes_[codes]

    def predict_batch(
        self,
        X: Any,
        *,
        max_changes: float | None = None,
        max_negative_flips: float | None = None,
        keep_rate: float | None = None,
        ids: Any = None,
    ) -> NDArray[Any]:
        """Predict a batch, and change no more predictions than a budget allows.

        The changes of `predict` with the strongest evidence are made first; the others wait. Which
        ones are made depends on the other rows of the batch, and the chain does not remember it.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.
        max_changes : float, default=None
            Share of the rows whose prediction may change, which is never exceeded. If None, the
            parameter of the estimator.
        max_negative_flips : float, default=None
            Share of the rows that may change from right to wrong: the sum, over changed rows, of
            the probability that the remembered prediction is right, by ``predict_proba``. None:
            the parameter.
        keep_rate : float, default=None
            By how much the share of ``classes_[1]`` among the predictions may change, which is
            never exceeded. If None, the parameter of the estimator.
        ids : array-like of shape (n,), default=None
            As in `predict`.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        given = (max_changes, max_negative_flips, keep_rate)
        pairs = zip(given, self._budget(), strict=True)
        budget = Budget(*(own if value is None else value for value, own in pairs))
        for name, share in budget._asdict().items():
            if share is not None and not 0 <= share <= 1:
                raise ValueError(f"{name}={share} must be a share of the rows, between 0 and 1.")
        if budget.keep_rate is not None and len(self.classes_) != 2:
            raise ValueError(f"keep_rate={budget.keep_rate} requires two classes.")
        found, scale = self._replay(X, ids)
        before = found.remembered
        cost = np.zeros(len(before))
        if budget.max_negative_flips is not None:
            cost = self.predict_proba(X)[np.arange(len(before)), np.maximum(before, 0)]
        strength = margins(found.evidence, before) / scale
        moves = changes_between(before, found.prediction, strength, cost)
        made = choose_changes(moves, budget, len(before))
        codes = found.prediction.copy()
        codes[moves.row[~made]] = before[moves.row[~made]]
        return self.classes_[codes]

    def explain(self, X: Any, *, ids: Any = None) -> KeptExplanation:
        """Explain which predictions were kept, and how clear the evidence is.

        Parameters
        ----------
        X, ids
            As in ``predict``.

        Returns
        -------
        KeptExplanation
            Prints as sentences; ``frame()`` gives a table.
        """
        found, scale = self._replay(X, ids)
        before = found.remembered
        newest = self.chain_.newest
        return KeptExplanation(
            prediction=self.classes_[found.prediction],
            incumbent_prediction=self.classes_[np.maximum(before, 0)],
            new_prediction=self.classes_[found.evidence.argmax(axis=1)],
            margin=margins(found.evidence, before),
            band=np.full(len(before), newest.band) * scale,
            unchanged_for=found.age,
            is_alone=not self.chain_.recent,
        )

    @available_if(_fitted_has("predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities: the mean of the models' by their weights in the score.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The score that `predict` compares with the decision threshold and its band; for an
            estimator with ``margin`` it compares that.
        """
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        return mixed_probabilities(self.chain_, X, self.classes_)

    def _replay(self, X: Any, ids: Any) -> tuple[Replay, Floats | float]:
        """Return the chain at these points, and what one unit of the last band is there."""
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        if ids is not None:
            check_ids(X, ids)
        scores = chain_scores(self.chain_, copy_rows(X), ids, self.classes_, self.band_unit)
        return replay_scores(self.chain_, scores), scores.scores[-1].scale

    def __sklearn_tags__(self) -> Any:
        return with_base_tags(super().__sklearn_tags__(), base_estimator(self.estimator))


CHOSEN_FROM_DATA = (
    "memory and band of the incumbent were chosen from this sample (memory='auto' or a budget), "
    "and two runs may choose differently"
)
