"""Few large blocks and thresholds in standard errors: the practical mode, with an estimate.

A point's score is the mean predicted probability of two dozen blocks, and its keyed threshold is
uniform within c standard errors of the decision threshold. How often two runs differ follows from
the standard error, which is estimated: the certificate says so.
"""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from replearn.bounds.scores import score_half_width
from replearn.checks.blocks import rows_needed, with_fewer_bins
from replearn.checks.fingerprint import bind_estimator, in_words
from replearn.checks.points import describe_points
from replearn.compat import HasMethods, Interval
from replearn.exceptions import NotCertifiedWarning, warn_user
from replearn.execution.context import RunContext
from replearn.execution.voting import BlockEnsemble
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.plan import Plan
from replearn.guarantees.promise import derive, rounded_up
from replearn.guarantees.score import MIN_BLOCKS, blocks_and_partitions
from replearn.learners.inputs import (
    PassesFitParams,
    all_or_nothing,
    base_estimator,
    check_base,
    check_features,
    check_n_models,
    checked_fit,
    fitted_key,
    with_base_tags,
)
from replearn.learners.predictions import KeyedPredictions
from replearn.learners.score_rule import (
    ErrorCurve,
    FittedScore,
    block_variances,
    fit_curve,
    leading_pairs,
    measure_scores,
    own_blocks,
)
from replearn.learners.threshold import (
    POS_LABEL_CONSTRAINTS,
    THRESHOLD_CONSTRAINTS,
    WITH_THRESHOLD,
    known_threshold,
    prevalence,
    split_threshold,
)
from replearn.learners.training import (
    Cut,
    FollowsPlan,
    Sample,
    check_sample,
    identity_of,
)
from replearn.learners.usefulness import (
    N_ROWS,
    warn_if_useless,
)
from replearn.randomness.key import SharedKey
from replearn.tables.rows import take_rows

CALIBRATION_ROWS = 4000
"""Rows of the sample from which the standard error is estimated."""


class ScoreReplicableClassifier(FollowsPlan, PassesFitParams, KeyedPredictions):
    """Keep the predictions of a strong estimator, with few, large blocks and an estimated promise.

    Two runs that share the key, on two samples of one population, give a fixed point different
    predictions with probability about ``rho``, if the standard error of its score is the one
    estimated. This costs less accuracy than `PointwiseReplicableClassifier` and is not certified.

    Parameters
    ----------
    estimator : classifier, default=None
        The base estimator, with ``predict_proba``; ``LogisticRegression(max_iter=1000)`` if None.
        Everything learned from data belongs inside it, as a pipeline. Histogram boosting whose
        ``max_bins`` has its default has 63 bins in blocks of fewer than 4,080 rows.
    rho : float, default=0.1
        Nominal probability that two runs predict differently for a point near its threshold.
    threshold : float, str or pair of float, default=None
        Decision threshold on the probability of ``classes_[1]``: a number, costs ``(1, 5)``,
        of a false positive and of a false negative, or ``"prevalence"``. If None, the threshold of
        a ``FixedThresholdClassifier`` around the base estimator is used, or 0.5.
    pos_label : label, default=None
        The label that ``threshold`` refers to. If None, ``classes_[1]``, the last of the sorted
        labels.
    n_blocks : int, default=None
        Number of blocks of a partition, at least 3. If None, 24, or 8 if ``rho`` is at least 0.2
        and there are at least 10,000 rows; fewer if a block would have less than 80 rows, or
        less than the estimator needs (four times ``min_samples_leaf``).
    classes : array-like, default=None
        The labels. If None, those in ``y``.
    decimals : int, default=None
        Number of decimals to which features are rounded before they key the thresholds.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness of the estimator. Runs that should agree must use the same
        key.
    plan : Plan, default=None
        A plan shared between labs. It sets ``rho`` and ``n_blocks``, which must then keep their
        defaults here, the number of rows (a surplus is left out by key), and what only it has: the
        number of partitions, and a standard error that was fixed beforehand.
    n_jobs : int, default=None
        Number of joblib workers. Predictions do not depend on it.
    verbose : int, default=0
        Progress: 0 reports progress only for long fits, 1 always, negative never.

    Attributes
    ----------
    certificate_ : Certificate
        What holds if the standard error is right, and in the worst case. Its verdict is
        "estimated".
    standard_error_ : float
        Standard error of a score at the decision threshold.
    threshold_ : float
        The decision threshold in force.
    estimators_ : list of classifier
        The fitted base estimators, partition by partition.
    usefulness_ : Usefulness or None
        Accuracy, recall and AUC on some training rows, each predicted by the blocks that have not
        seen it. Predictions do not depend on it; ``fit`` warns with `UsefulnessWarning` if the
        model predicts a single class.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if ``X`` had names.

    See Also
    --------
    PointwiseReplicableClassifier : The strict mode, certified for any estimator and population.

    Notes
    -----
    ``fit`` warns with `NotCertifiedWarning` if scores vary too much for ``rho``: thresholds cannot
    lie beyond scores of 0 and 1, and the certificate states the rho that is reached.

    ``sample_weight`` and other arguments of ``fit`` are passed to the base estimator, directly or
    by scikit-learn's metadata routing. ``predict_proba`` is the mean of the models' probabilities;
    ``predict`` is not its argmax, because each point has its own threshold. A point whose
    standard error is twice that of the curve flips up to twice as often; `flip_probability` uses
    the point's own standard error if it is larger.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from replearn import ScoreReplicableClassifier
    >>> X, y = make_classification(8000, random_state=0)
    >>> lab_a = ScoreReplicableClassifier(shared_key="trial-2026").fit(X[:4000], y[:4000])
    >>> lab_b = ScoreReplicableClassifier(shared_key="trial-2026").fit(X[4000:], y[4000:])
    >>> lab_a.certificate_.verdict, bool(lab_a.certificate_.comparable(lab_b.certificate_))
    ('estimated', True)
    >>> float((lab_a.predict(X[:500]) != lab_b.predict(X[:500])).mean()) < 0.05
    True
    """

    _private_state: ClassVar[tuple[str, ...]] = ("_ensemble",)
    _derived_state: ClassVar[tuple[str, ...]] = ("_ensemble",)
    _set_by_plan: ClassVar[tuple[str, ...]] = ("rho", "n_blocks")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), None],
        "rho": [Interval(Real, 0, 1, closed="right")],
        "threshold": THRESHOLD_CONSTRAINTS,
        "pos_label": POS_LABEL_CONSTRAINTS,
        "n_blocks": [Interval(Integral, MIN_BLOCKS, None, closed="left"), None],
        "classes": ["array-like", None],
        "decimals": [Integral, None],
        "shared_key": [str, bytes, Integral, SharedKey, None],
        "plan": [Plan, None],
        "n_jobs": [Integral, None],
        "verbose": [Integral, "boolean"],
    }

    def __init__(  # noqa: PLR0913
        self,
        estimator=None,
        *,
        rho=0.1,
        threshold=None,
        pos_label=None,
        n_blocks=None,
        classes=None,
        decimals=None,
        shared_key=None,
        plan=None,
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.rho = rho
        self.threshold = threshold
        self.pos_label = pos_label
        self.n_blocks = n_blocks
        self.classes = classes
        self.decimals = decimals
        self.shared_key = shared_key
        self.plan = plan
        self.n_jobs = n_jobs
        self.verbose = verbose

    @checked_fit
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        *,
        groups: ArrayLike | None = None,
        context: RunContext | None = None,
        **fit_params: Any,
    ):
        """Fit the base estimator on every block, and estimate the standard error of the scores.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The sample.
        y : array-like of shape (n,)
            Labels of any kind.
        groups : array-like of shape (n,), default=None
            Rows of one group (one patient) stay in one block.
        context : RunContext, default=None
            How to run: a store of finished blocks, a time limit. It does not change the result.
        **fit_params
            Arguments of the base estimator's ``fit`` with one value per row, such as
            ``sample_weight``.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X = check_features(self, X, reset=True)
            key = self._key_for_fit()
            given, classes = check_sample(X, y, groups, self.classes)
            base, threshold = self._split_threshold(classes)
            check_base(base, vote=None)
            params = self._in_force()
            n = self._n_planned(given.n, given.unit)
            ways = None if self.plan is None else self.plan.inputs["n_partitions"]
            cut = cut_for(given, params, n, ways)
            if given.unit == "rows":
                base = with_fewer_bins(base, cut.block_size)
            fingerprint = bind_estimator(base)
            given = given._replace(params=self._params_of_rows(fit_params, len(given.codes)))
            failed = given.failed_conditions()

            # Train: two dozen disjoint blocks, or fewer in a few ways.
            sample = given.planned(key, cut)
            run = {"n_jobs": self.n_jobs, "verbose": self.verbose, "context": context}
            blocks = sample.cut(cut, key)
            blocks.train(base, **run)
            warned = blocks.warn_if_constant(base)

            # Standardise: how much scores vary, from rows and the blocks that do not know them.
            n_classes = max(2, len(classes))
            self.estimators_ = blocks.estimators
            self.threshold_, uncertainty = score_threshold(threshold, sample.codes)
            self._ensemble = self._make_ensemble(n_classes)
            curve = self._curve(sample, blocks.rows, cut, uncertainty)
            self.standard_error_ = curve.level

            if not sample.params:
                failed += blocks.failed_conditions(base)
            schema = describe_points(blocks.probe_rows, base=base, decimals=self.decimals)
            shared = self._inputs(
                cut, sample.unit, n_classes, sorted(sample.params), curve, threshold
            )
            identity = identity_of(
                key, in_words(base), fingerprint, classes, given.n, failed, schema
            )
            self.certificate_ = Certificate.of(derive("score", shared), identity)
            self.classes_ = classes
            self.usefulness_ = measure_scores(self._vote(), blocks, classes, N_ROWS)
            if not warned:
                warn_if_useless(self.usefulness_, base)
        warn_if_above_budget(self.certificate_)
        return self

    def predict(self, X: Any, *, ids: Any = None) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.
        ids : array-like of shape (n,), default=None
            Ids that key the thresholds instead of the features.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        fitted = self._vote()
        X = check_features(self, X, reset=False)
        # theorem: score-thresholds (1 iff the standardised score exceeds the point's threshold)
        codes = fitted.rule.predictions(*fitted.votes_and_noise(X, ids))
        return self.classes_[np.minimum(codes, len(self.classes_) - 1)]

    def _curve(
        self, sample: Sample, blocks: list[NDArray[np.intp]], cut: Cut, uncertainty: float
    ) -> ErrorCurve:
        """Return the curve of standard errors, with that of the threshold on top."""
        fixed = self._fixed_error()
        if fixed is not None:
            return ErrorCurve(fixed, self.threshold_)
        per_block = -(-CALIBRATION_ROWS // cut.n_blocks)
        rows = np.concatenate([block[:per_block] for block in blocks[: cut.n_blocks]])
        scores = self._ensemble.soft_scores(take_rows(sample.X, rows), n_jobs=self.n_jobs)
        own = own_blocks(blocks, rows, cut.n_partitions, len(sample.codes))
        if scores.ndim == 3:
            return fit_curve(leading_pairs(scores, own, cut.n_partitions), 0.5)
        curve = fit_curve(block_variances(scores, own, cut.n_partitions), self.threshold_)
        # theorem: score-thresholds, section "A threshold from the data": both vary.
        return replace(curve, level=curve.level + uncertainty)

    def _fixed_error(self) -> float | None:
        """Return the standard error that the plan fixes; None if it is estimated."""
        return None if self.plan is None else self.plan.inputs["standard_error"]

    def _split_threshold(self, classes: NDArray[Any]) -> tuple[Any, Any]:
        """Return the base estimator and its decision threshold, 0.5 by default."""
        base, threshold = split_threshold(
            base_estimator(self.estimator), self.threshold, classes, self.pos_label
        )
        if isinstance(base, WITH_THRESHOLD):
            raise ValueError(
                f"estimator={base!r}: the threshold of {type(base).__name__} would not be used, "
                "because scores are averaged before they are compared with a threshold. Give the "
                "estimator inside it, and threshold= a number, costs (1, 5) or 'prevalence'."
            )
        return base, 0.5 if threshold is None else threshold

    def _inputs(
        self,
        cut: Cut,
        unit: str,
        n_classes: int,
        fit_params: list[str],
        curve: ErrorCurve,
        threshold: Any,
    ) -> dict[str, Any]:
        """Return the items that all runs of the promise share, and what this one estimated."""
        params = self._in_force()
        threshold = threshold if isinstance(threshold, str) else self.threshold_
        reach = curve.reach if n_classes == 2 else None
        width = score_half_width(float(params.rho), reach)
        return {
            **cut._asdict(),
            "block_size": cut.block_size,
            "unit": unit,
            "n_classes": n_classes,
            "rho": float(params.rho),
            "threshold": threshold,
            "fit_params": fit_params,
            "fixed_error": self._fixed_error(),
            "standard_error": curve.level,
            "least_error": curve.least_error(width),
            "reach": reach,
        }

    def _make_ensemble(self, n_classes: int) -> BlockEnsemble:
        return BlockEnsemble(self.estimators_, np.arange(n_classes), len(self.estimators_))

    def _derive(self, key: SharedKey) -> None:
        inputs = self.certificate_.inputs
        check_n_models(self.estimators_, inputs["n_blocks"], inputs["n_partitions"])
        self._ensemble = self._make_ensemble(inputs["n_classes"])

    def _vote(self) -> FittedScore:
        """Return models, curve and key of the last fit."""
        check_is_fitted(self)
        key = fitted_key(self)
        inputs = self.certificate_.inputs
        return FittedScore(
            self._ensemble,
            inputs["n_partitions"],
            ErrorCurve(self.standard_error_, self.threshold_),
            self.certificate_.value("score_half_width"),
            key.child("score"),
            inputs["n_classes"],
            inputs["decimals"],
            self.n_jobs,
        )

    def _decision_threshold(self) -> float:
        return float(self.threshold_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self):
        return with_base_tags(super().__sklearn_tags__(), base_estimator(self.estimator))


# -- blocks and decision threshold -----------------------------------------------------------------
def cut_for(sample: Sample, params: Any, n: int, n_partitions: int | None) -> Cut:
    """Return how n rows of a sample are cut by the parameters in force, and the plan if any.

    It depends on the number of rows, rho and the base estimator's parameters, never on the data.
    """
    need = rows_needed(base_estimator(params.estimator)) if sample.unit == "rows" else None
    useful = 0 if need is None else need.useful
    sizes = params.n_blocks, n_partitions
    n_blocks, ways = blocks_and_partitions(n, float(params.rho), *sizes, useful)
    if n < n_blocks:
        raise ValueError(
            f"n_blocks={n_blocks} blocks need as many {sample.unit}, but n_samples={n}."
        )
    return Cut(n, n_blocks, ways, params.decimals)


def score_threshold(threshold: Any, codes: NDArray[np.intp]) -> tuple[float, float]:
    """Return the probability from which the second class is predicted, and its standard error.

    >>> score_threshold((1, 4), np.array([0, 1]))
    (0.2, 0.0)
    """
    known = known_threshold(threshold)
    if known is not None:
        return known, 0.0
    share = prevalence(codes)
    return share, math.sqrt(share * (1.0 - share) / len(codes))


def warn_if_above_budget(certificate: Certificate) -> None:
    """Warn that scores vary too much for the requested rho."""
    inputs = certificate.inputs
    rho = certificate.rho
    if rho is None or rho <= inputs["rho"] * (1 + 1e-9):
        return
    # theorem: score-thresholds (thresholds end at scores of 0 and 1)
    rows = math.ceil(inputs["n"] * (rho / inputs["rho"]) ** 2)
    warn_user(
        f"requested rho={inputs['rho']:g}, but the estimate for this sample is "
        f"{rounded_up(rho)}: scores have a standard error of {inputs['standard_error']:.3g}, and "
        "thresholds would have to reach beyond scores of 0 and 1. Use more rows (about "
        f"{rows} {inputs['unit']} if standard errors fall as usual), an estimator whose "
        f"probabilities vary less, or rho={rounded_up(rho)}.",
        NotCertifiedWarning,
    )
