"""Pointwise replicable prediction: any scikit-learn classifier in, a replicable one out.

The algorithm of the paper's Theorem ``predict-formal``: train the base estimator on T disjoint
blocks, and predict 1 iff the law's value of the vote share exceeds the point's own keyed threshold.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from replearn.checks.fingerprint import bind_estimator, in_words, joined
from replearn.checks.points import describe_points
from replearn.compat import HasMethods, Interval, StrOptions
from replearn.execution.context import RunContext
from replearn.execution.voting import BlockEnsemble
from replearn.guarantees.design import VoteDesign
from replearn.guarantees.plan import Plan
from replearn.learners.inputs import (
    all_or_nothing,
    base_estimator,
    check_base,
    check_features,
    check_n_models,
    checked_fit,
    fitted_key,
    with_base_tags,
)
from replearn.learners.predictions import VotePredictions
from replearn.learners.threshold import (
    POS_LABEL_CONSTRAINTS,
    THRESHOLD_CONSTRAINTS,
    block_thresholds,
    check_block_thresholds,
    split_threshold,
)
from replearn.learners.training import (
    base_for_blocks,
    certify_plan,
    check_sample,
    design_of,
    identity_of,
    key_of_blocks,
    plan_in_force,
    requested_classes,
    requested_vote,
    warn_if_blocks_cannot_learn,
)
from replearn.learners.usefulness import (
    N_ROWS,
    warn_if_useless,
)
from replearn.learners.vote import FittedVote, measure_votes, partition_variance
from replearn.randomness.encoding import read_once
from replearn.randomness.key import SharedKey


class PointwiseReplicableClassifier(VotePredictions):
    """Make any classifier predict the same when it is retrained on a fresh sample.

    Two runs that share the key and the plan, on two samples of one population, give a fixed point
    different predictions with probability at most ``rho``, whatever the population.

    Parameters
    ----------
    estimator : classifier, default=None
        The base estimator, trained once per block; ``LogisticRegression(max_iter=1000)`` if None.
        Everything learned from data (scaling, encoding, imputation) belongs inside it, as a
        pipeline: a transformer in front of this classifier voids the promise.
    rho : float, default=0.1
        Probability that two runs predict differently for one point.
    n_blocks : int, default=None
        Number of blocks T. If None, it follows from ``rho``, the number of rows and ``max_fits``.
        If it is given without a matching width, the certificate states the rho that is reached.
    vote : {"hard", "soft"}, default="hard"
        Whether blocks vote by label or by predicted probability.
    threshold : float, str or pair of float, default=None
        Decision threshold on the probability of ``classes_[1]``: a number, costs ``(1, 5)``,
        of a false positive and of a false negative, or ``"prevalence"``, which is that of each
        block. Each block votes by it. If None, the threshold of a ``FixedThresholdClassifier``
        around the base estimator is used, if there is one.
    pos_label : label, default=None
        The label that ``threshold`` refers to. If None, ``classes_[1]``, the last of the sorted
        labels.
    classes : array-like, default=None
        The labels. If None, those in ``y``. List them if a rare label may be missing in the
        sample of one of the labs.
    max_fits : int, default=None
        Compute budget: the largest number of base estimators, over all partitions. If None, the
        planner's default is used.
    decimals : int, default=None
        Number of decimals to which features are rounded before they key thresholds and blocks.
        If None, they are not rounded.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness of the estimator. Runs that should agree must use the same
        key, which must be fixed before the data are seen.
    plan : Plan, default=None
        A plan shared between labs, of task "pointwise" or "approximate". It sets all parameters
        that `replearn.plan` has, which must then keep their defaults here, and those that only it
        has: law, width, number of partitions, size of blocks, number of runs, accuracy.
    n_jobs : int, default=None
        Number of joblib workers. Predictions do not depend on it.
    verbose : int, default=0
        Progress: 0 reports progress only for long fits, 1 always, negative never.

    Attributes
    ----------
    certificate_ : Certificate
        What is promised, by which theorem, under which assumptions.
    plan_ : Plan
        The plan in force.
    estimators_ : list of classifier
        The fitted base estimators, partition by partition.
    block_thresholds_ : ndarray of float or None
        The decision threshold of each base estimator; None if they vote by what they predict.
    joint_variance_ : float
        Variance of the vote share of all partitions, relative to that of one partition. It is
        estimated in ``fit`` from a few training rows, and used to estimate flips.
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
    replearn.plan : What n rows can promise, and how many rows a promise needs.

    Notes
    -----
    ``predict`` is not the argmax of ``predict_proba``: each point has its own threshold. The
    paper's literal setting is a plan with ``law="uniform", width=1, n_partitions=1``.

    ``fit`` warns with `NotCertifiedWarning` if the sample is too small for ``rho``, if its rows
    show that they are not independent draws (oversampling, copies), or if its equal rows refute
    the ``max_point_mass`` that a plan with ``d`` assumes; with `PreprocessingWarning` if the
    features seem to come from a transformer fitted outside; and with `ConstantBlocksWarning` if
    the blocks have too few rows for the base estimator to distinguish rows.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from replearn import PointwiseReplicableClassifier
    >>> X, y = make_classification(20_000, random_state=0)
    >>> shared = {"rho": 0.1, "max_fits": 88, "shared_key": "trial-2026"}
    >>> lab_a = PointwiseReplicableClassifier(**shared).fit(X[:10_000], y[:10_000])
    >>> lab_b = PointwiseReplicableClassifier(**shared).fit(X[10_000:], y[10_000:])
    >>> lab_a.certificate_.certified, bool(lab_a.certificate_.comparable(lab_b.certificate_))
    (True, True)
    >>> float((lab_a.predict(X[:500]) != lab_b.predict(X[:500])).mean()) < 0.1
    True
    """

    _private_state: ClassVar[tuple[str, ...]] = ("_ensemble",)
    _derived_state: ClassVar[tuple[str, ...]] = ("_ensemble",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), None],  # stacking shows predict only when fitted
        "rho": [Interval(Real, 0, 1, closed="right")],
        "n_blocks": [Interval(Integral, 1, None, closed="left"), None],
        "vote": [StrOptions({"hard", "soft"})],
        "threshold": THRESHOLD_CONSTRAINTS,
        "pos_label": POS_LABEL_CONSTRAINTS,
        "classes": ["array-like", None],
        "max_fits": [Interval(Integral, 1, None, closed="left"), None],
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
        n_blocks=None,
        vote="hard",
        threshold=None,
        pos_label=None,
        classes=None,
        max_fits=None,
        decimals=None,
        shared_key=None,
        plan=None,
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.rho = rho
        self.n_blocks = n_blocks
        self.vote = vote
        self.threshold = threshold
        self.pos_label = pos_label
        self.classes = classes
        self.max_fits = max_fits
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
    ):
        """Fit the base estimator on every block.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The sample.
        y : array-like of shape (n,)
            Labels of any kind.
        groups : array-like of shape (n,), default=None
            Rows of one group (one patient) stay in one block; the certificate then counts groups.
        context : RunContext, default=None
            How to run: a store of finished blocks, a time limit. It does not change the result.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            X = check_features(self, X, reset=True)
            sample, classes = check_sample(X, y, groups, requested_classes(self))
            self._fit_rows(sample, classes, context)
        return self

    def _fit_rows(
        self, given: Any, classes: NDArray[Any], context: RunContext | None = None
    ) -> None:
        """Plan, train, vote and certify: the same for rows in memory and in files."""
        key = self._key_for_fit()
        base, threshold = split_threshold(
            base_estimator(self.estimator), self.threshold, classes, self.pos_label
        )
        check_base(base, requested_vote(self))
        failed = given.failed_conditions()

        # Plan: from the parameters and the number of rows, never from the data.
        plan = plan_in_force(self, given, classes)
        design = design_of(self, plan)
        base = base_for_blocks(base, design)
        fingerprint = joined([threshold], [bind_estimator(base)])
        own = key_of_blocks(key, given, plan)
        sample = given.planned(own, design)

        # Train: disjoint blocks of equal size, one base estimator on each.
        run = {"n_jobs": self.n_jobs, "verbose": self.verbose, "context": context}
        warned = warn_if_blocks_cannot_learn(plan.task, design, base)
        blocks = sample.cut(design, own)
        blocks.train(base, **run)
        warned = warned or blocks.warn_if_constant(base)

        # Vote.
        # theorem: decision-threshold (a block's threshold depends on that block alone)
        models = blocks.estimators
        thresholds = block_thresholds(len(models), threshold, blocks.positive_shares)
        self._set_ensemble(plan, classes, models, thresholds, blocks.probe_rows)

        # Certify: the promise of the plan, for this key and this base estimator.
        if plan.certified:
            failed += blocks.failed_conditions(base)
        schema = describe_points(blocks.probe_rows, base=base, decimals=design.decimals)
        named = in_words(base) if threshold is None else f"{in_words(base)}, threshold {threshold}"
        identity = identity_of(key, named, fingerprint, classes, given.n, failed, schema)
        self.certificate_ = certify_plan(plan, identity, blocks)
        self.usefulness_ = measure_votes(self._vote(), blocks, N_ROWS)
        if not warned:
            warn_if_useless(self.usefulness_, base)

    def _set_ensemble(
        self,
        plan: Plan,
        classes: NDArray[Any],
        models: list[Any],
        thresholds: NDArray[np.float64] | None,
        probes: Any,
    ) -> None:
        """Let the models vote as the plan says."""
        self._ensemble = _make_ensemble(models, thresholds, classes, design_of(self, plan))
        design = design_of(self, plan)
        self.joint_variance_ = partition_variance(self._ensemble, probes, design, self.n_jobs)
        self.plan_ = plan
        self.classes_ = classes
        self.estimators_ = models
        self.block_thresholds_ = thresholds

    def _derive(self, key: SharedKey) -> None:
        design = design_of(self, self.plan_)
        check_n_models(self.estimators_, design.n_blocks, design.n_partitions)
        thresholds = check_block_thresholds(self.block_thresholds_, len(self.estimators_))
        self._ensemble = _make_ensemble(self.estimators_, thresholds, self.classes_, design)

    def predict(self, X: Any, *, ids: Any = None) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The points.
        ids : array-like of shape (n,), default=None
            Ids, such as customer numbers, that key the thresholds instead of the features: a
            change of features then moves the vote, but not the threshold.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        with read_once(X):
            vote = self._vote()
            X = check_features(self, X, reset=False)
            # theorem: pointwise-threshold (1 iff the threshold is below the law's value)
            return self.classes_[vote.predictions(X, ids)]

    def _vote(self) -> FittedVote:
        """Return the blocks, plan and key of the last fit, ready to vote."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # raises scikit-learn's error; slower than the check above
        key = fitted_key(self)
        design = design_of(self, self.plan_)
        fitted = (self.classes_, self.joint_variance_)
        return FittedVote(self._ensemble, design, key.child("vote"), *fitted, self.n_jobs)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self):
        return with_base_tags(super().__sklearn_tags__(), base_estimator(self.estimator))


def _make_ensemble(
    models: list[Any],
    thresholds: NDArray[np.float64] | None,
    classes: NDArray[Any],
    design: VoteDesign,
) -> BlockEnsemble:
    return BlockEnsemble(models, np.arange(max(2, len(classes))), design.n_partitions, thresholds)
