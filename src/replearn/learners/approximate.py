"""Approximately replicable learning: two whole models differ on little of the population.

The paper's Theorem ``apx-repl-chernoff``, with the step it leaves out: the expected disagreement
concentrates over rows and blocks as well as over the thresholds (theorem: approximate-direct, and
approximate-heavy with a heavy stage). The way through the pointwise promise (theorem:
approximate-markov) stays open.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from replearn.compat import Interval, StrOptions
from replearn.guarantees import Plan, plan
from replearn.learners._block_voting import BlockVotingClassifier
from replearn.learners._followed_plan import refuse_planned
from replearn.learners.pointwise import PointwiseReplicableClassifier


class ApproximatelyReplicableClassifier(BlockVotingClassifier):
    """Make two retrained models agree on all but a small share of the population.

    Two models that share the key and the plan, trained on two samples of one population, answer at
    most a share ``gamma`` of it differently, except with probability ``rho``.

    Parameters
    ----------
    estimator : classifier, default=None
        The base learner, trained once per block; ``LogisticRegression(max_iter=1000)`` if None.
        Everything learned from data belongs inside it, as a pipeline.
    rho : float, default=0.1
        Probability that two models differ on more than gamma.
    gamma : float, default=0.1
        Share of the population on which two models may differ.
    route : {"auto", "direct", "pointwise"}, default="auto"
        What the plan aims at: concentration over blocks and thresholds ("direct"), a pointwise
        promise of rho times gamma ("pointwise"), or the second where the first is not enough
        ("auto"). The certificate states the better of both numbers in any case.
    atoms : float, default=0.0
        Bound on the sum of squared probabilities of single points: 0 for continuous data. Above 0
        rows may occur in both samples, and the promise pays for that. Not needed with ``alpha``:
        the heavy stage takes care of points that carry mass.
    alpha : float, default=None
        Accuracy with high probability: the error exceeds the mean error of the block models by at
        most alpha, except with probability ``beta``. Points that occur often then get a stage of
        their own (`heavy_`), and the promise holds on every population.
    beta : float, default=0.05
        Failure probability of ``alpha``.
    setting : {"agnostic", "realizable"}, default="agnostic"
        Realizable: every point has one label only, so heavy points need few labels.
    heavy : {"auto", "paper", "off"}, default="auto"
        The heavy stage: on exactly when ``alpha`` is given, with the law of membership that needs
        the fewest rows ("auto") or the paper's ("paper").
    n_blocks : int, default=None
        Number of blocks T. None: from the targets, the number of rows and ``max_fits``.
    n_partitions : int or "auto", default="auto"
        In how many keyed ways the same rows are cut into blocks.
    law : {"arcsine", "uniform"} or ThresholdLaw, default=None
        Distribution of the shared thresholds; None: that of the route.
    width : float, default=None
        Half-width of the law, in (0, 1]; None: from the targets.
    vote : {"hard", "soft"}, default="hard"
        Whether blocks vote by label or by predicted probability.
    max_fits : int, default=None
        Compute budget: at most this many base learners; None: the planner's default.
    classes : array-like, default=None
        The labels. None: those found in ``y``.
    decimals : int, default=None
        Round numeric features to so many decimals before they key the thresholds.
    shared_key : str, bytes, int or SharedKey, default=0
        All randomness of the learner; the same in both runs, fixed before the data are seen.
    plan : Plan, default=None
        A plan shared between labs.
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
    PointwiseReplicableClassifier : Promise the answer of each fixed point.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from replearn.learners import ApproximatelyReplicableClassifier
    >>> X, y = make_classification(20_000, random_state=0)
    >>> lab_a = ApproximatelyReplicableClassifier(gamma=0.2, shared_key="t").fit(X[::2], y[::2])
    >>> lab_b = ApproximatelyReplicableClassifier(gamma=0.2, shared_key="t").fit(X[1::2], y[1::2])
    >>> lab_a.certificate_.certified, lab_a.disagreement(lab_b, X[:1000]) < 0.2
    (True, True)
    """

    _notion: ClassVar[str] = "approximate"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: allowed
            for name, allowed in PointwiseReplicableClassifier._parameter_constraints.items()
            if name != "law"
        },
        "gamma": [Interval(Real, 0, 1, closed="right")],
        "route": [StrOptions({"auto", "direct", "pointwise"})],
        "atoms": [Interval(Real, 0, 1, closed="both")],
        "law": [*PointwiseReplicableClassifier._parameter_constraints["law"], None],
        "n_blocks": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(  # noqa: PLR0913
        self,
        estimator=None,
        *,
        rho=0.1,
        gamma=0.1,
        route="auto",
        atoms=0.0,
        alpha=None,
        beta=0.05,
        setting="agnostic",
        heavy="auto",
        n_blocks=None,
        n_partitions="auto",
        law=None,
        width=None,
        vote="hard",
        max_fits=None,
        classes=None,
        decimals=None,
        shared_key=0,
        plan=None,
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.rho = rho
        self.gamma = gamma
        self.route = route
        self.atoms = atoms
        self.alpha = alpha
        self.beta = beta
        self.setting = setting
        self.heavy = heavy
        self.n_blocks = n_blocks
        self.n_partitions = n_partitions
        self.law = law
        self.width = width
        self.vote = vote
        self.max_fits = max_fits
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
            Fixes n, blocks, law, partitions, classes, rho and gamma.
        estimator : classifier, default=None
            The base learner; the same in all labs.
        **params
            Other parameters: ``shared_key``, ``n_jobs``, ``verbose``.

        Returns
        -------
        ApproximatelyReplicableClassifier
            Not yet fitted.
        """
        refuse_planned(cls, params)
        return cls(estimator, plan=plan, **params)

    def disagreement(self, other: Any, X: Any) -> float:
        """Share of the points that two fitted models answer differently.

        Parameters
        ----------
        other : fitted classifier
            The other lab's model.
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            Points of the population, not from either training sample.

        Returns
        -------
        float
            An estimate of the mass that the certificate bounds by gamma.
        """
        return float(np.mean(self.predict(X) != other.predict(X)))

    def _plan_for(self, n: int, n_classes: int, unit: str) -> Plan:
        routes = ("direct", "pointwise") if self.route == "auto" else (self.route,)
        if n_classes > 2 and self.alpha is None:
            routes = routes[:1]  # one law only: the certificate compares both routes anyway
        made = self._plan_by(routes[0], n, n_classes, unit)
        for route in routes[1:]:
            if not made.certified:
                other = self._plan_by(route, n, n_classes, unit)
                made = other if other.certified or _closer(other, made) else made
        return made

    def _plan_by(self, route: str, n: int, n_classes: int, unit: str) -> Plan:
        common = {
            "n": n,
            "width": self.width,
            "vote": self.vote,
            "n_blocks": self.n_blocks,
            "n_partitions": None if self.n_partitions == "auto" else self.n_partitions,
            "max_fits": self.max_fits,
            "n_classes": n_classes,
            "classes": self._listed_classes(),
            "unit": unit,
            "decimals": self.decimals,
        }
        law, direct = self.law, route == "direct"
        # theorem: approximate-markov
        pointwise = self.rho * self.gamma
        stage = self._stage(
            n, n_classes, self.rho if direct else pointwise, self.gamma if direct else None
        )
        if not direct and self.n_blocks is None and law is None and n_classes == 2:
            first = plan("pointwise", rho=pointwise, law="arcsine", heavy=stage, **common)
            common |= {"n_blocks": first.n_blocks, "width": None}
            law = first.law
        return plan(
            "approximate",
            rho=self.rho,
            gamma=self.gamma,
            law=law,
            max_point_mass=self.atoms,
            heavy=stage,
            **common,
        )


def _closer(other: Plan, made: Plan) -> bool:
    """Whether a plan that fails as well comes closer: first accuracy, then gamma."""
    if (other.alpha is None) != (made.alpha is None):
        return made.alpha is None
    return (other.gamma or 1.0) < (made.gamma or 1.0)
