"""Pointwise replicable prediction: any scikit-learn classifier in, a replicable one out.

The algorithm of the paper's Theorem ``predict-formal`` on light points: train the base learner on T
disjoint blocks and answer 1 iff the law's value of the vote share exceeds the point's own keyed
threshold. Letters follow the glossary of the documentation: rho is the probability that two runs
differ, T the number of blocks.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from replearn.bounds import ThresholdLaw
from replearn.compat import HasMethods, Interval, StrOptions
from replearn.guarantees import Plan, plan
from replearn.learners._block_voting import BlockVotingClassifier
from replearn.learners._followed_plan import refuse_planned
from replearn.randomness import SharedKey


class PointwiseReplicableClassifier(BlockVotingClassifier):
    """Make any classifier answer alike when it is retrained on a fresh sample.

    Two runs that share the key and the plan, on two samples of one population, give a fixed point
    different answers with probability at most ``rho``, whatever the population.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner, trained once per block; ``LogisticRegression(max_iter=1000)`` if None.
        Everything learned from data (scaling, encoding, imputation) belongs inside it, as a
        pipeline: a transformer in front of this classifier voids the promise.
    rho : float, default=0.1
        Probability that two runs answer one point differently.
    n_blocks : int, default=None
        Number of blocks T. None: from ``rho``, the number of rows and ``max_fits``. If given
        without a matching width, the certificate states the rho that is reached.
    n_partitions : int or "auto", default="auto"
        In how many keyed ways the same rows are cut into blocks, at most 1023. More partitions
        never weaken the promise, and make real flips rarer.
    law : {"arcsine", "uniform", "optimal"} or ThresholdLaw, default="arcsine"
        Distribution of the shared thresholds.
    width : float, default=None
        Half-width of the law, in (0, 1]; None: the smallest that reaches ``rho``. Not for
        "optimal" or a ThresholdLaw, which have their own.
    vote : {"hard", "soft"}, default="hard"
        Whether blocks vote by label or by predicted probability.
    max_fits : int, default=None
        Compute budget: at most this many base learners, over all partitions; None: the planner's
        default.
    alpha : float, default=None
        Accuracy with high probability: the error exceeds the mean error of the block models by at
        most alpha, except with probability ``beta``. Points that occur often then get a stage of
        their own (`heavy_`), and the plan says how many rows that needs. None: all of ``rho`` goes
        to the votes and accuracy is promised on average.
    beta : float, default=0.05
        Failure probability of ``alpha``.
    setting : {"agnostic", "realizable"}, default="agnostic"
        Realizable: every point has one label only, so heavy points need few labels.
    heavy : {"auto", "paper", "off"}, default="auto"
        The heavy stage: on exactly when ``alpha`` is given, with the law of membership that needs
        the fewest rows ("auto") or the paper's ("paper").
    classes : array-like, default=None
        The labels. None: those found in ``y``; give them when two labs may not both see a rare one.
    decimals : int, default=None
        Round numeric features to so many decimals (0 to 15) before they key the thresholds (not
        before they are learned from): for data that went through other files or float32.
    shared_key : str, bytes, int or SharedKey, default=0
        All randomness of the learner. Two runs that shall agree use the same key, fixed before the
        data are seen.
    plan : Plan, default=None
        A plan shared between labs. It fixes n, blocks, law, partitions and classes, which must
        then keep their defaults here.
    n_jobs : int, default=None
        Number of joblib workers. Predictions do not depend on it.
    verbose : int, default=0
        Progress: 0 speaks only when a fit takes long, 1 always, negative never.

    Attributes
    ----------
    certificate_ : Certificate
        What is promised, by which theorem, under which assumptions.
    plan_ : Plan
        The plan in force.
    heavy_ : HeavyPoints or None
        Points, masses and labels of the heavy stage; None without one.
    estimators_ : list of classifier
        The fitted base learners, partition by partition.
    joint_variance_ : float
        Variance of the vote share of all partitions, as a part of one partition's; found in fit
        from a few training rows, for estimates of flips.
    classes_ : ndarray
        The labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, when ``X`` had them.

    See Also
    --------
    replearn.plan : What n samples can promise, and how many a promise needs.

    Notes
    -----
    ``predict`` is not the argmax of ``predict_proba``: each point has its own threshold. The
    paper's literal setting is ``law="uniform", width=1, vote="hard", n_partitions=1``.

    ``fit`` warns with `NotCertifiedWarning` if the sample is too small for ``rho``, with
    `PreprocessingWarning` if a fitted transformer seems to stand in front, and with
    `ConstantBlocksWarning` if the blocks have too few rows for the base learner to tell rows apart.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from replearn import PointwiseReplicableClassifier
    >>> X, y = make_classification(20_000, random_state=0)
    >>> lab_a = PointwiseReplicableClassifier(shared_key="trial-2026").fit(X[:10_000], y[:10_000])
    >>> lab_b = PointwiseReplicableClassifier(shared_key="trial-2026").fit(X[10_000:], y[10_000:])
    >>> lab_a.certificate_.certified, bool(lab_a.certificate_.comparable(lab_b.certificate_))
    (True, True)
    >>> float((lab_a.predict(X[:500]) != lab_b.predict(X[:500])).mean()) < 0.1
    True
    """

    _notion: ClassVar[str] = "pointwise"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), None],  # stacking shows predict only when fitted
        "rho": [Interval(Real, 0, 1, closed="right")],
        "n_blocks": [Interval(Integral, 1, None, closed="left"), None],
        "n_partitions": [Interval(Integral, 1, 1023, closed="both"), StrOptions({"auto"})],
        "law": [StrOptions({"arcsine", "uniform", "optimal"}), ThresholdLaw],
        "width": [Interval(Real, 0, 1, closed="right"), None],
        "vote": [StrOptions({"hard", "soft"})],
        "max_fits": [Interval(Integral, 1, None, closed="left"), None],
        "alpha": [Interval(Real, 0, 1, closed="neither"), None],
        "beta": [Interval(Real, 0, 1, closed="neither")],
        "setting": [StrOptions({"agnostic", "realizable"})],
        "heavy": [StrOptions({"auto", "paper", "off"})],
        "classes": ["array-like", None],
        "decimals": [Interval(Integral, 0, 15, closed="both"), None],
        "shared_key": [str, bytes, Integral, SharedKey],
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
        n_partitions="auto",
        law="arcsine",
        width=None,
        vote="hard",
        max_fits=None,
        alpha=None,
        beta=0.05,
        setting="agnostic",
        heavy="auto",
        classes=None,
        decimals=None,
        shared_key=0,
        plan=None,
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.rho = rho
        self.n_blocks = n_blocks
        self.n_partitions = n_partitions
        self.law = law
        self.width = width
        self.vote = vote
        self.max_fits = max_fits
        self.alpha = alpha
        self.beta = beta
        self.setting = setting
        self.heavy = heavy
        self.classes = classes
        self.decimals = decimals
        self.shared_key = shared_key
        self.plan = plan
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def from_plan(cls, plan: Plan, estimator: Any = None, **params: Any):
        """Build a learner that follows a plan shared between labs.

        Parameters
        ----------
        plan : Plan
            Fixes n, blocks, law, partitions, classes, rho.
        estimator : classifier, default=None
            The base learner; the same in all labs.
        **params
            Other parameters: ``shared_key``, ``n_jobs``, ``verbose``.

        Returns
        -------
        PointwiseReplicableClassifier
            Not yet fitted.
        """
        refuse_planned(cls, params)
        return cls(estimator, plan=plan, **params)

    def _plan_for(self, n: int, n_classes: int, unit: str) -> Plan:
        return plan(
            "pointwise",
            n=n,
            rho=self.rho,
            law=self.law,
            width=self.width,
            vote=self.vote,
            n_blocks=self.n_blocks,
            n_partitions=None if self.n_partitions == "auto" else self.n_partitions,
            max_fits=self.max_fits,
            n_classes=n_classes,
            classes=self._listed_classes(),
            unit=unit,
            decimals=self.decimals,
            heavy=self._stage(n, n_classes, self.rho),
        )
