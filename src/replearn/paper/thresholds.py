"""One threshold on one feature, proper and replicable.

In the paper: ``prop:thresholds-proper-formal``, ``alg:threshold-alg``. A draw among the cuts of
the sample with weights that fall with their errors. Theory page: thresholds-proper.
"""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.numeric import dkw_tail, upper_probability
from replearn.bounds.selection import same_candidates_flip_bound
from replearn.bounds.theorem import theorem
from replearn.checks.fingerprint import fingerprint
from replearn.compat import Interval, StrOptions
from replearn.guarantees.promise import Ledger, Promise, Task, reached, rounded_up
from replearn.learners.inputs import all_or_nothing, checked_fit
from replearn.learners.training import FRACTION, warn_if_not_certified
from replearn.paper.hypotheses import Hypothesis, make_box
from replearn.paper.quantiles import Cuts, cuts_of_sample, draw_level
from replearn.paper.single_rule import SingleRuleClassifier
from replearn.randomness.key import SharedKey
from replearn.records.checks import check_choice, check_count, check_fraction, check_positive
from replearn.records.search import bisect, require_pair

# Shares of gamma / 4 that are tried as the sampling error of the distribution functions.
_SPLITS = 16


def mean_level_distance(n: int) -> float:
    """Mean distance of the levels of one cut in two samples of size n, whatever the distribution.

    >>> round(mean_level_distance(10_000), 5)
    0.00574
    """
    check_count("n", n)
    root = math.sqrt(2 * n - 1)
    # theorem: thresholds-proper
    return upper_probability(min(1.0 / root, math.sqrt(2.0 / math.pi) / root + 1.0 / n))


def _weight_spread(sharpness: float, n: int, n_directions: int) -> float:
    """Root mean square of ``exp(t R) - 1``, R the range of the errors' difference from the pool."""
    step = 2.0 * sharpness / math.sqrt(n)
    term = 1.0
    total = 0.0
    k = 0
    while term > 1e-17 * total:
        k += 1
        # Terms step^k sqrt((2k - 1)!!) / k!: even moments of a walk against those of a normal.
        term *= step * math.sqrt(2 * k - 1) / k
        total += term
    return math.sqrt(n_directions) * total * (1.0 + 1e-12)


@theorem("thresholds-proper")
def threshold_flip_bound(sharpness: float, n: int, gamma: float, n_directions: int = 1) -> float:
    """Probability that the thresholds of two runs differ on a mass above ``gamma``.

    For every distribution, atoms or not; two directions when both are candidates.

    >>> round(threshold_flip_bound(40.0, 1_000_000, 0.2), 4)
    0.041
    """
    check_positive("sharpness", sharpness, zero=True)
    check_count("n", n)
    check_fraction("gamma", gamma)
    check_count("n_directions", n_directions, most=2)
    if 2.0 * sharpness > math.sqrt(n):
        return 1.0
    errors = same_candidates_flip_bound(sharpness, n)
    spread = _weight_spread(sharpness, n, n_directions) / math.sqrt(2 * n - 1)
    levels = mean_level_distance(n) + spread
    best = 1.0
    for split in range(1, _SPLITS):
        slack = gamma / 4.0 * split / _SPLITS
        scale = max(sharpness, 2.0 / (gamma - 4.0 * slack))
        best = min(best, errors + scale * levels + 2.0 * dkw_tail(n, slack))
    return upper_probability(best)


@theorem("thresholds-proper")
def threshold_error_tail(sharpness: float, n: int, alpha: float, n_directions: int = 1) -> float:
    """Probability that the chosen threshold is worse than the best one by more than ``alpha``.

    >>> round(threshold_error_tail(40.0, 1_000_000, 0.2), 4)
    0.0134
    """
    check_positive("sharpness", sharpness)
    check_count("n", n)
    check_fraction("alpha", alpha)
    if n < 2:
        return 1.0
    volume = sharpness * n_directions / -math.expm1(-sharpness)
    gap = 2.0 * math.log(n) / (n - 1)
    exponent = sharpness * ((1.0 + alpha) / n + sharpness / (2.0 * n) - (alpha - gap))
    return upper_probability(volume * math.exp(min(exponent, 0.0)) + 1.0 / n)


def threshold_scale(n: int, alpha: float, beta: float, n_directions: int = 1) -> float | None:
    """Return the smallest sharpness that is within ``alpha`` except with ``beta``, or None.

    >>> round(threshold_scale(1_000_000, 0.2, 0.1), 1)
    28.2
    """
    check_fraction("beta", beta)

    def accurate(sharpness: float) -> bool:
        return threshold_error_tail(sharpness, n, alpha, n_directions) <= beta

    passing = 1.0 / alpha
    while not accurate(passing):
        passing *= 2.0
        if passing > n:  # beyond, the fluctuation of the errors outweighs the sharpness
            return None
    return bisect(accurate, passing, passing / 2.0, tolerance=1e-9)


def smallest_sample_threshold(
    rho: float, gamma: float, alpha: float, beta: float, n_directions: int = 1
) -> tuple[int, float]:
    """Find the sample size and sharpness for a replicable and accurate threshold.

    >>> n, sharpness = smallest_sample_threshold(0.2, 0.2, 0.2, 0.1)
    >>> n, round(sharpness, 1)
    (32560, 28.4)
    """
    check_fraction("rho", rho)

    return require_pair(
        lambda n: threshold_scale(n, alpha, beta, n_directions),
        lambda n, sharpness: threshold_flip_bound(sharpness, n, gamma, n_directions) <= rho,
        f"rho={rho!r} and alpha={alpha!r} need more than 10**15 rows.",
        limit=10**15,
    )


def _derive(
    ledger: Ledger,
    n: int,
    sharpness: float,
    direction: str,
    rho: float,
    gamma: float,
    alpha: float,
    beta: float,
    feature: int = 0,
) -> Promise:
    items = {"sharpness": sharpness, "n": n, "n_directions": _n_directions(direction)}
    flip = ledger.add(threshold_flip_bound, gamma=gamma, **items)
    tail = ledger.add(threshold_error_tail, alpha=alpha, **items)
    promises = (
        f"The rules of two runs on fresh samples of {n} rows differ on a mass above {gamma:g} with "
        f"probability at most {rounded_up(flip)}, ties or not.",
        f"The error exceeds that of the best threshold by more than {alpha:g} with probability at "
        f"most {rounded_up(tail)}.",
    )
    return reached(promises, rho=(flip, rho), gamma=gamma, alpha=alpha, beta=(tail, beta))


DIRECTIONS = ("both", ">", "<=")


def _n_directions(direction: str) -> int:
    return 2 if direction == "both" else 1


def _solve(
    n: int | None = None,
    rho: float = 0.1,
    gamma: float = 0.1,
    alpha: float = 0.1,
    beta: float = 0.05,
    direction: str = "both",
) -> dict[str, Any]:
    check_choice("direction", direction, DIRECTIONS)
    targets = {"rho": rho, "gamma": gamma, "alpha": alpha, "beta": beta}
    n_directions = _n_directions(direction)
    if n is None:
        n, sharpness = smallest_sample_threshold(**targets, n_directions=n_directions)
    else:
        sharpness = level_scale(n, **targets, n_directions=n_directions)
    return {"n": n, "sharpness": float(sharpness), "direction": direction, **targets}


TASKS = (
    Task(
        "thresholds",
        _derive,
        _solve,
        learners=("ReplicableThresholdClassifier",),
        theorem="thresholds-proper",
    ),
)

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
    >>> from replearn.paper.thresholds import ReplicableThresholdClassifier
    >>> X = np.round(np.random.default_rng(0).normal(50, 10, (400_000, 1)))
    >>> options = {"rho": 0.2, "gamma": 0.2, "alpha": 0.2, "beta": 0.1, "direction": ">"}
    >>> model = ReplicableThresholdClassifier(**options, shared_key="k").fit(X, X[:, 0] > 60)
    >>> model.rule(), model.certificate_.certified
    ('True if x0 > 60, else False', True)
    """

    _set_by_plan: ClassVar[tuple[str, ...]] = ("rho", "gamma", "alpha", "beta", "direction")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SingleRuleClassifier._parameter_constraints,
        "gamma": [FRACTION],
        "feature": [Integral, str, None],
        "direction": [StrOptions(set(DIRECTIONS))],
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
    def fit(self, X: Any, y: ArrayLike, *, groups: ArrayLike | None = None):
        """Fit the cut.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The rows; only one column is used.
        y : array-like of shape (n,)
            Labels of two classes.
        groups : array-like of shape (n,), default=None
            One id for each row: rows of one group (one person) are not independent, so that one
            of each group is used, and n counts groups.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            params = self._in_force()
            sample = X, y, groups
            X, y = self._check_rows(X, y, groups)
            feature = self._column(X.shape[1])
            key = self._key_for_fit()
            t = params.sharpness
            if t is None:
                n_directions = _n_directions(params.direction)
                t = level_scale(len(y), **self._targets(), n_directions=n_directions)
            # theorem: thresholds-proper (a level drawn by errors, the cut nearest to it)
            cuts = cuts_of_sample(X[:, feature], y)
            self.level_, self.cut_, direction = draw_cut(cuts, t, params.direction, key)
            self.hypothesis_ = threshold_rule(feature, self.cut_, direction)
            shared = {"sharpness": float(t), "direction": params.direction, "feature": feature}
            shared |= {"n": len(y), **self._targets()}
            bound = {"hypotheses": fingerprint(params.direction)}
            self._certify("thresholds", X, y, bound, sample=sample, **shared)
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
