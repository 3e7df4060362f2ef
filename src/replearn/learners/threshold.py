"""A replicable threshold on one feature: proper, agnostic, valid with ties."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from replearn.binding import bind
from replearn.bounds import threshold_error_tail, threshold_flip_bound, threshold_scale
from replearn.compat import Interval, StrOptions
from replearn.hypotheses import Hypothesis, make_box
from replearn.learners.inputs import all_or_nothing, checked_fit
from replearn.learners.single_rule import SingleRuleClassifier
from replearn.learners.training import FRACTION, warn_if_not_certified
from replearn.primitives import Cuts, cuts_of_sample, draw_level
from replearn.randomness import SharedKey
from replearn.records import bisect

_HALVINGS = 60


class ReplicableThresholdClassifier(SingleRuleClassifier):
    """Learn a cut on one feature that hardly moves on a fresh sample.

    A level of the feature's distribution function is drawn by the errors of its cuts and shared
    random numbers; the rule is the cut nearest to that level. Two runs return rules that differ on
    a mass of at most ``gamma``, except with probability ``rho``, whatever the distribution.

    Parameters
    ----------
    rho : float, default=0.1
        Probability that the rules of two runs differ on a mass above gamma.
    gamma : float, default=0.1
        Mass on which the rules of two runs may differ.
    alpha, beta : float, default=0.1, 0.05
        Excess error over the best threshold, and its failure probability.
    feature : int or str, default=None
        The column, by index or name; None if there is only one.
    direction : {"both", ">", "<="}, default="both"
        Whether the second class lies above the cut, below it, or on the side that is better.
    sharpness : float, default=None
        Scale of the errors relative to the shared random numbers. If None, it follows from the
        other parameters.
    classes : array-like, default=None
        The two labels. If None, those in ``y``.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness. It must be the same in both runs, and fixed before the data
        are seen.
    plan : Plan, default=None
        A plan shared between labs. It sets ``rho``, ``gamma``, ``alpha``, ``beta`` and
        ``direction``, which must then keep their defaults here, and the number of rows: a surplus
        is left out by key.

    Attributes
    ----------
    hypothesis_ : Hypothesis
        The rule, a frozen value.
    cut_ : float
        The value above which the class changes: a value of the sample, or -inf.
    level_ : float
        The shared level that it was rounded from.
    certificate_ : Certificate
        What is promised.
    classes_ : ndarray
        The labels.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.learners import ReplicableThresholdClassifier
    >>> X = np.round(np.random.default_rng(0).normal(50, 10, (400_000, 1)))
    >>> options = {"rho": 0.2, "gamma": 0.2, "alpha": 0.2, "beta": 0.1, "direction": ">"}
    >>> model = ReplicableThresholdClassifier(**options, shared_key="k").fit(X, X[:, 0] > 60)
    >>> model.rule(), model.certificate_.certified
    ('True if x0 > 60, else False', True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SingleRuleClassifier._parameter_constraints,
        "gamma": [FRACTION],
        "feature": [Integral, str, None],
        "direction": [StrOptions({"both", ">", "<="})],
        "sharpness": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        *,
        rho=0.1,
        gamma=0.1,
        alpha=0.1,
        beta=0.05,
        feature=None,
        direction="both",
        sharpness=None,
        classes=None,
        shared_key=None,
        plan=None,
    ):
        self.rho = rho
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.feature = feature
        self.direction = direction
        self.sharpness = sharpness
        self.classes = classes
        self.shared_key = shared_key
        self.plan = plan

    @checked_fit
    def fit(self, X: Any, y: ArrayLike):
        """Fit the cut.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The rows; only one column is used.
        y : array-like of shape (n,)
            Labels of two classes.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            params = self._in_force()
            sample = X, y
            X, y = self._check_rows(X, y)
            feature = self._column(X.shape[1])
            key = self._key_for_fit()
            n_directions = 2 if params.direction == "both" else 1
            t = params.sharpness
            if t is None:
                t = level_scale(len(y), **self._targets(), n_directions=n_directions)
            # theorem: thresholds-proper (a level drawn by errors, the cut nearest to it)
            cuts = cuts_of_sample(X[:, feature], y)
            self.level_, self.cut_, direction = draw_cut(cuts, t, params.direction, key)
            self.hypothesis_ = threshold_rule(feature, self.cut_, direction)
            shared = {"sharpness": float(t), "n_directions": n_directions, "feature": feature}
            self._certify("thresholds", X, y, bind(params.direction), sample=sample, **shared)
        warn_if_not_certified(self.certificate_)
        return self

    def _column(self, n_features: int) -> int:
        if self.feature is None:
            if n_features > 1:
                raise ValueError(f"feature is None, but X has {n_features} columns: choose one.")
            return 0
        if isinstance(self.feature, str):
            names = list(getattr(self, "feature_names_in_", []))
            if self.feature not in names:
                raise ValueError(f"feature={self.feature!r} is not among the columns {names}.")
            return names.index(self.feature)
        if not -n_features <= self.feature < n_features:
            raise ValueError(f"feature={self.feature} is not one of the {n_features} columns.")
        return int(self.feature) % n_features


def draw_cut(cuts: Cuts, t: float, direction: str, key: SharedKey) -> tuple[float, float, str]:
    """Return the level, the cut and the direction that are drawn.

    >>> cuts = cuts_of_sample([1.0, 2.0, 3.0], [True, False, False])
    >>> draw_cut(cuts, 1000.0, "both", SharedKey("k"))[1:]
    (1.0, '<=')
    """
    directions = [">", "<="] if direction == "both" else [direction]
    above = cuts.errors
    assert above is not None
    errors = np.array([above if side == ">" else 1.0 - above for side in directions])
    level, index, rule = draw_level(cuts, sharpness=t, key=key.child("threshold"), errors=errors)
    return level, float(cuts.values[index]), directions[rule]


def threshold_rule(feature: int, value: float, direction: str) -> Hypothesis:
    """Return the rule "feature > value" or "feature <= value" as a hypothesis."""
    bounds = (value, math.inf) if direction == ">" else (-math.inf, value)
    return make_box([(feature, *bounds)])


def level_scale(
    n: int, rho: float, gamma: float, alpha: float, beta: float, n_directions: int
) -> float:
    """Return the scale t: the largest that keeps rho if that is accurate enough, else alpha's.

    >>> round(level_scale(10**6, 0.2, 0.2, 0.2, 0.1, 1), 1)
    158.2
    """

    # theorem: thresholds-proper
    def keeps_rho(t: float) -> bool:
        return threshold_flip_bound(t, n, gamma, n_directions) <= rho

    stable = bisect(keeps_rho, 0.0, 1e9, halvings=_HALVINGS)
    if stable > 0 and threshold_error_tail(stable, n, alpha, n_directions) <= beta:
        return stable
    accurate = threshold_scale(n, alpha, beta, n_directions)
    return math.log(4.0 / (alpha * beta)) / alpha if accurate is None else accurate
