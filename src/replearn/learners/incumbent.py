"""Retrain, and keep the predictions of the model in use unless the new evidence is clear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone, is_regressor
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from replearn.bounds.numeric import binomial_limits
from replearn.checks.incumbent import bind_fitted
from replearn.compat import HasMethods, Interval, StrOptions
from replearn.exceptions import NotCertifiedWarning, UsefulnessWarning, warn_user
from replearn.execution.context import RunContext, fit_in_context
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.promise import derive
from replearn.learners.chain import (
    CONFIDENCE,
    DECISION,
    FIXED_MEMORY,
    LABEL,
    MARGIN,
    MAX_MEMORY,
    MEMORIES,
    PROBABILITY,
    Codes,
    Floats,
    KeepsChain,
    Replay,
    Step,
    band_for,
    calibration_report,
    chain_of,
    check_columns,
    evidence_of,
    extended,
    held_out_rows,
    keep_label,
    margins,
    mix,
    new_rows_are_worse,
    new_rows_of,
    predict_with,
    remember_or_forget,
    replay_labels,
    retrainings_since_change,
    score_kind,
    score_of,
    whole_rows,
    why_labels_worse,
)
from replearn.learners.explanation import InWords
from replearn.learners.inputs import (
    all_or_nothing,
    base_estimator,
    check_features,
    check_ids,
    check_labels,
    checked_fit,
    refuse_one_class,
    with_base_tags,
)
from replearn.learners.row_sketch import sketch_rows
from replearn.learners.threshold import (
    WITH_THRESHOLD,
    fitted_threshold,
    refuse_inner_threshold,
    threshold_on_last_label,
)
from replearn.tables.rows import copy_rows, n_rows, take_rows

DEFAULT_BAND = 0.1
"""Band at a decision threshold of 0.5, and in units of margin."""

CHOSEN_FROM_DATA = (
    "memory and band of the incumbent were chosen from this sample (memory='auto' or max_changes), "
    "and two runs may choose differently"
)

_N_LABEL_ROWS = 256
"""Training rows that show which labels an incumbent without ``classes_`` predicts."""

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
    memory : float or "auto", default="auto"
        Weight of the remembered score, from 0 to 0.8. With "auto" it is 0.7, or 0.5, or nothing is
        remembered: the first of these that no test shows to be worse than the new estimator alone.
        The tests are of decisions, of the log loss, and of mean probabilities in all rows and in
        segments, on rows of the new sample that the new estimator has not seen (five more fits on
        four fifths of the sample; the first fit of a chain costs no more). Nothing is remembered
        either if the ``new_rows`` of a window are predicted worse than its other rows, until the
        window has moved past that change. Where the sample cannot show it (fewer than 100 new rows,
        or rows of the incumbent's sample) memory is 0.5, and ``fit`` warns. A number needs no
        further fits and keeps the certificate of an estimator that has one, but after a sudden
        change of the world it loses many points of accuracy for a month or more. An estimator
        without ``predict_proba`` and ``margin`` has the memory 0.
    band : float, default=None
        How far the score must be beyond the decision threshold to change a prediction: in
        probability, or in units of ``margin`` if the estimator has one, as
        `PointwiseReplicableClassifier` does. With more than two classes the score of another
        class must exceed that of the old prediction by twice as much. If None, 0.1; for decision
        thresholds other than 0.5 a fifth of the distance to the nearer of 0 and 1, which is
        smaller (0.012 for a threshold of 0.06).
    threshold : float, "prevalence" or pair of float, default=None
        Decision threshold on the probability of ``pos_label``, for two classes and an estimator
        without ``margin``: a number, the costs of a false positive and of a false negative such as
        ``(1, 5)``, or the share of ``pos_label`` in the sample. If None, the decision threshold of
        the estimator, or else that of the incumbent, or else 0.5.
    pos_label : label, default=None
        The label that ``threshold`` refers to; required if the labels are not 0 and 1 or booleans.
    max_changes : float, default=None
        Share of predictions that may change. The band is widened until this holds on cross-fitted
        rows of the new sample. On other rows it holds approximately (see ``history_``), and for
        a batch exactly with `predict_batch`.

    Attributes
    ----------
    estimator_ : classifier
        The estimator, trained on the new sample.
    chain_ : tuple of Step
        The start of the chain and its latest 16 retrainings.
    history_ : list of dict
        One entry of plain values for the start and for each of the latest retrainings, up to 120:

        - ``date``, ``rows``, and ``tested``, the number of rows that were tested;
        - ``memory``, ``band``, ``threshold``;
        - ``alarm``: the test that the longest memory has failed ("decisions", "log_loss", "mean",
          "segment", "window", "waiting"), or None;
        - ``untested``: "few_rows" or "same_rows" if the sample could not decide, or None;
        - ``changed``: share of predictions changed, with a 95 % limit ``changed_limit``, on
          cross-fitted rows, or without the limit on training rows if there are none;
        - for two classes the mean of ``classes_[1]`` ``observed``, by the model ``in_use`` and
          ``served`` from now on, in all tested rows, and with the prefix ``segment_`` in those
          where both models differ most.
    certificate_ : Certificate
        The certificate of the estimator, if it has one, for runs that share key, incumbent, memory
        and band: it lists their fingerprints and values, and `Certificate.comparable` compares
        them. What it promises about two runs also holds with an incumbent; an estimate holds as
        long as standard errors vary little across the band (see the theory page incumbent-band).
        Nothing is certified if memory or band are decided from the sample, by "auto" or by
        ``max_changes``: ``fit`` then warns; ``memory=0.5`` alone keeps the certificate. What it
        says about accuracy concerns the estimator alone.
    row_sketch_ : RowSketch or None
        Keyed hashes of at most 512 training rows, from which `compare` and the next retraining tell
        that rows were used before.
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
    not clear; ``benchmarks/incumbent.py`` measures what this costs. A prediction needs those of
    all models of the chain, of which there are at most 17. When older retrainings are dropped, the
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
        "memory": [Interval(Real, 0, MAX_MEMORY, closed="both"), StrOptions({"auto"})],
        "band": [Interval(Real, 0, None, closed="left"), None],
        "threshold": [Interval(Real, 0, 1, closed="neither"), str, tuple, None],
        "pos_label": [Real, str, "boolean", None],
        "max_changes": [_SHARE, None],
    }

    def __init__(
        self,
        estimator=None,
        incumbent=None,
        *,
        memory="auto",
        band=None,
        threshold=None,
        pos_label=None,
        max_changes=None,
    ):
        self.estimator = estimator
        self.incumbent = incumbent
        self.memory = memory
        self.band = band
        self.threshold = threshold
        self.pos_label = pos_label
        self.max_changes = max_changes

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
            window): memory and band are decided on these. If None, all rows are new.
        groups : array-like of shape (n,), default=None
            Rows that belong together, such as those of one patient: they are left out together
            when memory and band are decided. They are also passed to an estimator whose ``fit``
            takes groups.
        context : RunContext, default=None
            How to run, for estimators whose ``fit`` takes it: a store of finished blocks, a time
            limit. It does not change the result.
        **fit_params
            Arguments of the estimator's ``fit``, such as ``sample_weight``.

        Returns
        -------
        self : object
            The fitted estimator.

        Warns
        -----
        RetrainingWarning
            If a test shows that what is remembered is worse than the new estimator alone, or if the
            sample cannot show it.
        """
        self._refuse_itself()
        with all_or_nothing(self):
            codes, classes = check_labels(X, y, None)
            X = check_features(self, X, reset=True)
            refuse_one_class(classes)
            base = base_estimator(self.estimator)
            self._check_options(base, classes)
            if self.incumbent is not None:
                names = getattr(self, "feature_names_in_", None)
                check_incumbent(self.incumbent, X, classes, names)
            rows = held_out_rows(new_rows, len(codes))
            if groups is not None and takes_groups(base):
                fit_params["groups"] = groups
            self.estimator_ = fit_in_context(clone(base), X, y, context, **fit_params)
            self.classes_ = self.estimator_.classes_
            threshold = self._threshold_in_force(codes)
            entry = {"rows": len(codes), "memory": 0.0, "band": 0.0}
            if self.incumbent is None:
                self.chain_ = (Step(self.estimator_, 0.0, 0.0, threshold),)
            else:
                entry |= self._retrain(base, X, codes, rows, groups, fit_params, threshold)
            self._record({**entry, "threshold": round(threshold, 12)})
            self.row_sketch_ = sketch_rows(X)
            if hasattr(self.estimator_, "certificate_"):
                self.certificate_ = self._certify(self.estimator_.certificate_)
        return self

    def _retrain(
        self,
        base: Any,
        X: Any,
        codes: Codes,
        rows: NDArray[np.intp],
        groups: Any,
        fit_params: dict[str, Any],
        threshold: float,
    ) -> dict[str, Any]:
        """Decide memory and band, extend the chain, and return what ``history_`` says about it."""
        kind = score_kind(self.estimator_)
        chain = chain_of(self.incumbent, kind)
        assert chain is not None
        every, untested = None, None
        if self._decides_from_data:
            y = self.classes_[codes]
            every, untested = self._cross_fitted(base, X, y, rows, groups, fit_params)
        points = take_rows(X, rows)
        found = replay_labels(chain, points, None, self.classes_, kind)
        score = score_of(self.estimator_, points, None) if every is None else every[rows]
        tested = new_rows_of(X, codes, score, rows, groups, fit_params)
        memory = FIXED_MEMORY if self.memory == "auto" else float(self.memory)
        memory = 0.0 if kind == DECISION else memory
        band, alarm = self._band_in_force(threshold), None
        if self.memory == "auto" and every is not None:
            alarm = self._window_alarm(every, codes, rows, groups, threshold)
            if alarm is not None:
                memory, band = 0.0, 0.0
            else:
                why = partial(
                    why_labels_worse,
                    threshold=threshold,
                    equal_costs=self._equal_costs(kind, threshold),
                    kind=kind,
                )
                memories = (0.0,) if kind == DECISION else MEMORIES
                memory, band, alarm = remember_or_forget(found, tested, band, why, memories)
        mixed = mix(found.score, score, memory)
        evidence = evidence_of(mixed, threshold)
        if self.max_changes is not None:
            changes = evidence.argmax(axis=1) != found.prediction
            strength = margins(evidence, found.prediction)[changes]
            band = band_for(strength, self.max_changes, len(rows), band)
        step = Step(self.estimator_, memory, band, threshold)
        self.chain_ = extended(chain, step)
        n_changed = int((keep_label(mixed, found.prediction, step) != found.prediction).sum())
        entry = {
            "memory": memory,
            "band": band,
            "alarm": alarm,
            "untested": untested,
            "changed": n_changed / len(rows),
        }
        if every is not None:
            limit = binomial_limits(n_changed, len(rows), 2.0 * (1.0 - CONFIDENCE))[1]
            entry |= {"tested": len(rows), "changed_limit": float(limit)}
            if kind == PROBABILITY and found.score is not None and score.ndim == 1:
                entry |= calibration_report(tested, found.score, mixed)
        return entry

    def _window_alarm(
        self, every: Floats, codes: Codes, rows: NDArray[np.intp], groups: Any, threshold: float
    ) -> str | None:
        """Say that the window has changed; rows of groups are not independent."""
        past = retrainings_since_change(getattr(self.incumbent, "history_", []))
        if past is not None and past + 1 < len(codes) / len(rows):  # months that a window has
            return "waiting"
        is_new = np.isin(np.arange(len(codes)), rows)
        if is_new.all() or groups is not None:
            return None
        wrong = evidence_of(every, threshold).argmax(axis=1) != codes
        return "window" if new_rows_are_worse(wrong, is_new) else None

    def _check_options(self, base: Any, classes: NDArray[Any]) -> None:
        """Raise where the parameters do not fit to the estimator or to the number of classes."""
        name = type(base).__name__
        kind = score_kind(base)
        if kind == LABEL:
            raise ValueError(
                f"{name} predicts labels only: an incumbent requires an estimator with "
                "predict_proba or decision_function. (The incumbent itself may predict labels "
                "only.)"
            )
        if kind == MARGIN and len(classes) > 2:
            raise ValueError(
                f"y has {len(classes)} classes: with {name} an incumbent is supported for two "
                "classes only; use another estimator."
            )
        if self.threshold is None:
            if self.pos_label is not None:
                raise ValueError(
                    f"pos_label={self.pos_label!r} requires threshold, which is about that label."
                )
            return
        refuse_inner_threshold(base, self.threshold)
        if kind != PROBABILITY:
            raise ValueError(
                f"threshold={self.threshold!r} is not supported with {name}, which has no "
                "predict_proba, or has a threshold of its own: set it there."
            )
        if len(classes) > 2:
            raise ValueError(
                f"threshold={self.threshold!r} requires two classes, but there are {len(classes)}: "
                "remove it, and use class_weight in the base estimator."
            )

    def _threshold_in_force(self, codes: Codes) -> float:
        """Return the decision threshold: the parameter, the estimator's, or the incumbent's."""
        if score_kind(self.estimator_) != PROBABILITY or len(self.classes_) != 2:
            return 0.0
        own = fitted_threshold(self.estimator_)
        if own is None and isinstance(self.estimator_, WITH_THRESHOLD):
            raise ValueError(
                f"estimator={type(self.estimator_).__name__} has a threshold on decision values, "
                'which is not supported: use response_method="predict_proba".'
            )
        if own is not None and self.threshold is not None:
            raise ValueError(
                f"threshold={self.threshold!r} and estimator={type(self.estimator_).__name__}, "
                "which has a threshold, are two decision thresholds: remove one of them."
            )
        if self.threshold is not None:
            own = threshold_on_last_label(self.threshold, self.pos_label, self.classes_, codes)
        if own is None and self.incumbent is not None:
            own = fitted_threshold(self.incumbent)
        # A label is predicted from the decision threshold on, not only beyond it.
        return 0.5 if own is None else float(np.nextafter(own, 0.0))

    def _decision_threshold(self) -> float | None:
        """Return the decision threshold as people write it; None for the most probable class."""
        if score_kind(self.estimator_) != PROBABILITY:
            return fitted_threshold(self.estimator_)
        threshold = self.chain_[-1].threshold
        if threshold is None or threshold == 0.5 or len(self.classes_) != 2:
            return None
        return round(threshold, 12)

    def _equal_costs(self, kind: str, threshold: float) -> float:
        """Return the probability at which both errors cost the same: the decision threshold."""
        if kind == PROBABILITY:
            return threshold
        blocks = getattr(self.estimator_, "block_thresholds_", None)  # of estimators that vote
        known = fitted_threshold(self.estimator_) if blocks is None else float(np.mean(blocks))
        return 0.5 if known is None else known

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

    @property
    def _decides_from_data(self) -> bool:
        return self.memory == "auto" or self.max_changes is not None

    def _certify(self, certificate: Certificate) -> Certificate:
        """Issue the estimator's certificate again, for a run that keeps this incumbent."""
        if self.incumbent is None:
            return certificate
        bound = bind_fitted(self.incumbent)
        newest = self.chain_[-1]
        has_margin = hasattr(self.estimator_, MARGIN)
        kept = {
            "fingerprint": bound.digest,
            "memory": newest.memory,
            "band": newest.band,
            "threshold": None if has_margin else self.history_[-1]["threshold"],
        }
        run = certificate.identity
        unbound = (*run.unbound, *(f"incumbent: {text}" for text in bound.unbound))
        failed = run.failed_conditions
        if self._decides_from_data:
            failed = (*failed, CHOSEN_FROM_DATA)
            self._warn_if_lost(certificate, newest)
        # theorem: incumbent-band (section 5: the bound on two runs stands for given settings)
        run = replace(run, incumbent=kept, unbound=unbound, failed_conditions=failed)
        return Certificate.of(derive(certificate.task, certificate.inputs), run)

    def _warn_if_lost(self, certificate: Certificate, newest: Step) -> None:
        """Warn that a certificate is lost because the sample decides on memory or band."""
        if certificate.verdict == "not certified":
            return
        warn_user(
            f"{type(self.estimator_).__name__} is {certificate.verdict}, this model is not: memory "
            'and band are decided from this sample (memory="auto" or max_changes), and another lab '
            "may decide differently. Give memory=0.5 and no max_changes to keep the certificate, "
            f"or let one lab decide and give all others its memory={newest.memory:g} and "
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
        codes = self._replay(X, ids).prediction
        return self.classes_[codes]

    def predict_batch(
        self, X: Any, *, max_changes: float | None = None, ids: Any = None
    ) -> NDArray[Any]:
        """Predict a batch, and change no more predictions than a share of its rows.

        The changes of `predict` with the strongest evidence are made; the others wait. Which
        ones are made depends on the other rows of the batch, and the chain does not remember it.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.
        max_changes : float, default=None
            Share of the rows whose prediction may change, which is never exceeded. If None, the
            parameter of the estimator.
        ids : array-like of shape (n,), default=None
            As in `predict`.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        found = self._replay(X, ids)
        share = self.max_changes if max_changes is None else max_changes
        if share is None:
            return self.classes_[found.prediction]
        if not 0 <= share <= 1:
            raise ValueError(f"max_changes={share} must be a share of the rows, between 0 and 1.")
        changed = np.flatnonzero(found.prediction != found.before)
        strength = margins(self._evidence(found), found.before)[changed]
        waiting = changed[np.argsort(-strength, kind="stable")[whole_rows(share, n_rows(X)) :]]
        codes = found.prediction.copy()
        codes[waiting] = found.before[waiting]
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
        found = self._replay(X, ids)
        evidence = self._evidence(found)
        return KeptExplanation(
            prediction=self.classes_[found.prediction],
            incumbent_prediction=self.classes_[np.maximum(found.before, 0)],
            new_prediction=self.classes_[evidence.argmax(axis=1)],
            margin=margins(evidence, found.before),
            band=np.full(len(evidence), self.chain_[-1].band),
            unchanged_for=found.age,
            is_alone=len(self.chain_) == 1,
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
        mixed: Floats | None = None
        for step in self.chain_:
            known = np.array_equal(getattr(step.model, "classes_", ()), self.classes_)
            if known and hasattr(step.model, PROBABILITY):
                found = np.asarray(step.model.predict_proba(copy_rows(X)))
                mixed = mix(mixed, found, step.memory)
        assert mixed is not None
        return mixed

    def _replay(self, X: Any, ids: Any) -> Replay:
        """Return the chain at these points."""
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        if ids is not None:
            check_ids(X, ids)
        kind = score_kind(self.estimator_)
        return replay_labels(self.chain_, X, ids, self.classes_, kind)

    def _evidence(self, found: Replay) -> Floats:
        threshold = self.chain_[-1].threshold
        assert threshold is not None
        return evidence_of(found.score, threshold)

    def __sklearn_tags__(self) -> Any:
        return with_base_tags(super().__sklearn_tags__(), base_estimator(self.estimator))


def takes_groups(base: Any) -> bool:
    """Tell whether ``fit`` of an estimator, or of the one inside it, has the argument groups."""
    inner = getattr(base, "estimator", None)
    return any(has_fit_parameter(one, "groups") for one in (base, inner) if hasattr(one, "fit"))


def check_incumbent(incumbent: Any, X: Any, classes: NDArray[Any], names: Any) -> None:
    """Raise if the incumbent is not fitted, or has other columns or labels than the new sample."""
    if hasattr(incumbent, "__sklearn_tags__"):  # others only need to predict
        check_is_fitted(incumbent)
        if is_regressor(incumbent):
            raise ValueError(f"incumbent={incumbent!r} is a regressor: give a classifier.")
    check_columns(incumbent, X, names)
    labels = getattr(incumbent, "classes_", None)
    is_complete = labels is not None
    if labels is None:
        some = take_rows(X, np.arange(min(n_rows(X), _N_LABEL_ROWS)))
        labels = predict_with(incumbent, some, None)
    known = set(np.asarray(labels).tolist())
    present = set(classes.tolist())
    only_incumbent = sorted(known - present, key=str)
    only_sample = sorted(present - known, key=str) if is_complete else []
    if only_incumbent or only_sample:
        raise ValueError(
            "labels of incumbent and y must match: "
            f"incumbent has {sorted(known, key=str)[:5]}, y has {sorted(present, key=str)[:5]}; "
            f"not in y: {only_incumbent[:5]}, unknown to incumbent: {only_sample[:5]}. Use one "
            "coding of the labels in both; if a class has no rows or is new, start a new chain "
            "(incumbent=None)."
        )


@dataclass(frozen=True, eq=False)
class KeptExplanation(InWords):
    """One row per point: the incumbent's prediction, the evidence, and whether it was clear.

    Parameters
    ----------
    prediction : ndarray
        Predicted label.
    incumbent_prediction : ndarray
        The prediction before the last retraining.
    new_prediction : ndarray
        What the score predicts without the band. With ``memory=0`` it is the prediction of the new
        estimator alone.
    margin : ndarray
        Evidence for ``new_prediction`` beyond the decision threshold; the incumbent's prediction
        stays where that is another one and at most ``band``.
    band : ndarray
        Half-width of the band, in the unit of the margin.
    unchanged_for : ndarray of int
        Retrainings since the prediction last changed, as far as the chain goes back.
    is_alone : bool, default=False
        Whether the chain has one model, so that no earlier prediction is remembered.
    """

    prediction: NDArray[Any]
    incumbent_prediction: NDArray[Any]
    new_prediction: NDArray[Any]
    margin: Floats
    band: Floats
    unchanged_for: NDArray[np.intp]
    is_alone: bool = False

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Whether the last retraining has changed the prediction."""
        return np.asarray(self.prediction != self.incumbent_prediction)

    @property
    def kept_because(self) -> NDArray[np.str_]:
        """Why a prediction is as before: "agreement", "band", or empty if it has changed."""
        agrees = self.new_prediction == self.incumbent_prediction
        return np.where(self.changed, "", np.where(agrees, "agreement", "band"))

    def sentences(self) -> Iterator[str]:
        """Explain each point in a few sentences."""
        reasons = self.kept_because
        for row in range(len(self)):
            old = self.incumbent_prediction[row]
            new = self.new_prediction[row]
            evidence = f"margin {self.margin[row]:.3f}, band {self.band[row]:g}"
            if self.is_alone:
                yield f"Prediction {new!s}: there is no earlier prediction to keep ({evidence})."
            elif reasons[row] == "agreement":
                yield f"Prediction {new!s}: the model in use and the new one agree ({evidence})."
            elif reasons[row] == "band":
                yield (
                    f"Prediction {old!s}, as before: the new model leans to {new!s}, but not "
                    f"clearly enough to change the prediction ({evidence})."
                )
            else:
                yield (
                    f"Prediction {self.prediction[row]!s} instead of {old!s}: the new evidence is "
                    f"clear ({evidence})."
                )
