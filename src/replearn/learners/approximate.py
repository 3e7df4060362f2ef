"""Approximately replicable learning: two whole models differ on little of the population.

The algorithm of `replearn.learners.pointwise` under another plan. The paper's Theorem
``apx-repl-chernoff``, with the step it leaves out: the expected disagreement concentrates over rows
and blocks as well as over the thresholds (theorem: approximate-direct, and approximate-heavy with a
heavy stage). The way through the pointwise promise (theorem: approximate-markov) stays open.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from replearn.compat import Interval, StrOptions
from replearn.guarantees import Plan, PlanRequest, plan_votes
from replearn.learners.pointwise import PointwiseReplicableClassifier


class ApproximatelyReplicableClassifier(PointwiseReplicableClassifier):
    """Make two retrained models agree on all but a small share of the population.

    Two models that share the key and the plan, trained on two samples of one population, predict
    differently on at most a share ``gamma`` of it, except with probability ``rho``.

    Parameters
    ----------
    estimator : classifier, default=None
        The base estimator with all its preprocessing, trained once per block.
    rho : float, default=0.1
        Probability that two models differ on more than gamma.
    gamma : float, default=0.1
        Share of the population on which two models may differ.
    n_blocks, vote, threshold, pos_label, classes, max_fits, law, width, n_partitions, block_size, \
    min_block, small_blocks, decimals, runs, alpha, beta, d, label_noise, heavy
        As in `PointwiseReplicableClassifier`; ``law=None`` is "uniform".
    max_point_mass : float, default=0.0
        Bound on the sum of squared probabilities of single points, which is 0 for continuous data;
        the direct route depends on it. ``fit`` tests it: if equal rows of the sample refute it,
        the certificate states what holds without it. It is not needed with ``alpha``: the heavy
        stage treats points that carry mass, and the promise holds for every population.
    route : {"auto", "direct", "pointwise"}, default="auto"
        What the plan rests on: concentration over blocks and thresholds ("direct"), a pointwise
        promise of rho times gamma ("pointwise"), or the second if the first is not enough
        ("auto"). The certificate states the better of both numbers in any case.
    check_price : bool, default=False
        As in `PointwiseReplicableClassifier`.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness. It must be the same in both runs, and fixed before the data
        are seen.
    plan : Plan, default=None
        A plan shared between labs. It sets all parameters that `replearn.plan` has, which must
        then keep their defaults here.
    n_jobs : int, default=None
        Number of joblib workers. Predictions do not depend on it.
    verbose : int, default=0
        Progress: 0 reports progress only for long fits, 1 always, negative never.

    Attributes
    ----------
    certificate_, plan_, heavy_, estimators_, joint_variance_, classes_, n_features_in_
        As in `PointwiseReplicableClassifier`.

    See Also
    --------
    PointwiseReplicableClassifier : The same algorithm with a promise for each fixed point.

    Notes
    -----
    Blocks and seeds are keyed by ``shared_key`` and the whole sample, so that those of two runs are
    independent: models of two samples that share most of their rows are no more similar than
    others.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from replearn.learners import ApproximatelyReplicableClassifier
    >>> X, y = make_classification(20_000, random_state=0)
    >>> shared = {"gamma": 0.2, "n_partitions": 1, "shared_key": "t"}
    >>> lab_a = ApproximatelyReplicableClassifier(**shared).fit(X[::2], y[::2])
    >>> lab_b = ApproximatelyReplicableClassifier(**shared).fit(X[1::2], y[1::2])
    >>> lab_a.certificate_.certified, lab_a.disagreement(lab_b, X[:1000]) < 0.2
    (True, True)
    """

    _notion: ClassVar[str] = "approximate"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PointwiseReplicableClassifier._parameter_constraints,
        "gamma": [Interval(Real, 0, 1, closed="right")],
        "route": [StrOptions({"auto", "direct", "pointwise"})],
    }

    def __init__(  # noqa: PLR0913
        self,
        estimator=None,
        *,
        rho=0.1,
        gamma=0.1,
        n_blocks=None,
        vote="hard",
        threshold=None,
        pos_label=None,
        classes=None,
        max_fits=None,
        law=None,
        width=None,
        n_partitions=None,
        block_size=None,
        min_block=None,
        small_blocks="adapt",
        decimals=None,
        runs=2,
        alpha=None,
        beta=None,
        d=None,
        label_noise=True,
        heavy="auto",
        max_point_mass=0.0,
        route="auto",
        check_price=False,
        shared_key=None,
        plan=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            estimator,
            rho=rho,
            n_blocks=n_blocks,
            vote=vote,
            threshold=threshold,
            pos_label=pos_label,
            classes=classes,
            max_fits=max_fits,
            law=law,
            width=width,
            n_partitions=n_partitions,
            block_size=block_size,
            min_block=min_block,
            small_blocks=small_blocks,
            decimals=decimals,
            runs=runs,
            alpha=alpha,
            beta=beta,
            d=d,
            label_noise=label_noise,
            heavy=heavy,
            max_point_mass=max_point_mass,
            check_price=check_price,
            shared_key=shared_key,
            plan=plan,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.gamma = gamma
        self.route = route

    def disagreement(self, other: Any, X: Any) -> float:
        """Return the share of the points on which two fitted models predict differently.

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

    def _plan_for(self, request: PlanRequest) -> Plan:
        routes = _ROUTES[self.route]
        if not request.binary and request.heavy is None:
            routes = routes[:1]  # one law only: the certificate compares both routes anyway
        best = routes[0](request)
        for by_route in routes[1:]:
            if not best.certified:
                plan = by_route(request)
                best = plan if plan.certified or _closer(plan, best) else best
        return best


def _plan_by_points(request: PlanRequest) -> Plan:
    """Take heavy stage, blocks and law, where open, of the pointwise plan that implies this one."""
    is_open = request.n_blocks is None and request.law is None and request.binary
    if not is_open and request.heavy is None:
        return plan_votes(request)
    assert request.rho is not None
    assert request.gamma is not None
    pointwise = plan_votes(
        replace(
            request,
            task="pointwise",
            rho=request.rho * request.gamma,  # theorem: approximate-markov
            gamma=None,
            law="arcsine" if is_open else request.law,
            max_point_mass=0.0,
        )
    )
    if request.heavy is not None:  # the stage states alpha, beta and the noise of labels
        stage = pointwise.heavy
        request = replace(request, heavy=stage, alpha=None, beta=None, label_noise=True)
    if is_open:
        n_blocks = pointwise.n_blocks
        request = replace(request, n_blocks=n_blocks, law=pointwise.law, width=None)
    return plan_votes(request)


_ROUTES = {
    # theorem: approximate-direct, approximate-heavy
    "auto": (plan_votes, _plan_by_points),
    "direct": (plan_votes,),
    "pointwise": (_plan_by_points,),
}


def _closer(other: Plan, plan: Plan) -> bool:
    """Whether a plan that fails as well comes closer: first accuracy, then gamma."""
    if (other.alpha is None) != (plan.alpha is None):
        return plan.alpha is None
    return (other.gamma or 1.0) < (plan.gamma or 1.0)
