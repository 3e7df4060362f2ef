"""Realizable learning that gives up replicably.

In the paper: ``thm:realizable-apx-repl``, ``alg:apx-repl-realizable``. The best training error is
compared with a shared random limit. Theory page: realizable.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from replearn.bounds.numeric import Floats, bernoulli_divergence, upper_probability
from replearn.bounds.theorem import theorem
from replearn.bounds.vc import GHOST_RATIOS, log_growth, realizable_tail, realizable_tail_within
from replearn.checks.fingerprint import fingerprint
from replearn.compat import HasMethods
from replearn.guarantees.promise import Ledger, Promise, Task, reached, rounded_up
from replearn.learners.inputs import all_or_nothing, checked_fit
from replearn.learners.search import seeded
from replearn.learners.training import FRACTION, warn_if_not_certified
from replearn.paper.hypotheses import Constant, HypothesisClass, Stumps
from replearn.paper.single_rule import SingleRuleClassifier, warn_if_abstains
from replearn.randomness.key import SharedKey
from replearn.records.checks import check_count, check_fraction, check_fractions
from replearn.records.search import bisect, require_pair

_LIMITS = 200

# Bisection of a distance: far below what any sample could resolve.
_HALVINGS = 40


def ceiling_flip_bound(n: int, max_error_limit: float) -> float:
    """Probability that one run abstains and the other does not, whatever the errors are.

    ``1 / (max_error_limit sqrt(3 n))``, rounded up.

    >>> round(ceiling_flip_bound(20_000, 0.08), 4)
    0.051
    """
    check_count("n", n)
    check_fraction("max_error_limit", max_error_limit)
    # theorem: realizable
    return upper_probability(1.0 / (max_error_limit * math.sqrt(3.0 * n)))


def underrated_tail(n: int, d: int, training_error: ArrayLike, error: float) -> Floats:
    """Probability that some hypothesis has at most this training error and at least this error.

    Relative uniform convergence: of order ``exp(-n error)`` where Hoeffding's inequality has
    ``exp(-n error^2)``. Rounded up.

    >>> underrated_tail(8000, 1, [0.02, 0.035], 0.05).round(6).tolist()
    [0.0, 5.9e-05]
    """
    check_fraction("error", error)
    logs = [_ghost_log_tails(n, d, np.asarray(training_error), error, r * n) for r in GHOST_RATIOS]
    tails: Floats = np.minimum(np.exp(np.min(logs, axis=0)) * (1.0 + 1e-9), 1.0)
    return tails


def _ghost_log_tails(n: int, d: int, training_error: Floats, error: float, ghost: int) -> Floats:
    """Logarithm of twice the growth times a hypergeometric tail, for one ghost sample."""
    few = np.floor(n * training_error * (1.0 + 1e-12))
    many = float(math.floor(ghost * error * (1.0 - 1e-12)))
    rows = n + ghost
    wrong = few + many
    # Terms of the tail fall at least as fast as a geometric series with this ratio.
    ratio = few * (ghost - many) / ((many + 1.0) * (n - few + 1.0))
    fine = (many >= 1.0) & (many < ghost) & (few < n) & (ratio < 1.0)
    # theorem: realizable (the largest term, by Stirling's formula on the safe side)
    largest = (
        -n * bernoulli_divergence(few / n, wrong / rows)
        - ghost * bernoulli_divergence(many / ghost, wrong / rows)
        + np.where(few > 0, 0.5 * _log_ratio(n, 2.0 * math.pi * few * (n - few)), 0.0)
        + 0.5 * _log_ratio(ghost, 2.0 * math.pi * many * (ghost - many))
        - 0.5 * _log_ratio(rows, 8.0 * wrong * (rows - wrong))
    )
    tail = largest - np.log1p(-np.where(fine, ratio, 0.0))
    return np.where(fine, np.minimum(math.log(2.0) + log_growth(d, rows) + tail, 0.0), 0.0)


def _log_ratio(above: float, below: ArrayLike) -> Floats:
    """ln(above / below), some number where below is not positive."""
    return np.log(above / np.maximum(below, 1.0))


def _flip_bounds(n: int, d: int, gamma: float, limits: Floats) -> Floats:
    """Bound for each largest limit, by absolute or by relative deviations: whichever is better."""
    # theorem: realizable
    slack = gamma / 2.0 - limits - math.sqrt(2.0 * log_growth(d, n) / n) * (1.0 + 1e-12)
    wrong = np.where(slack > 0.0, 2.0 * np.exp(-2.0 * n * np.maximum(slack, 0.0) ** 2), 1.0)
    absolute = 1.0 / (limits * math.sqrt(3.0 * n)) + wrong
    tail = underrated_tail(n, d, limits, gamma / 2.0)
    relative = np.sqrt((gamma + 2.0 * tail) / (1.5 * n)) / limits + 2.0 * tail
    return np.minimum(absolute, relative)


@theorem("realizable")
def realizable_flip_bound(n: int, d: int, gamma: float, max_error_limit: float) -> float:
    """Probability that the hypotheses of two runs differ on a mass above ``gamma``.

    For every distribution, realizable or not; ``d`` is the VC dimension.

    >>> round(realizable_flip_bound(50_000, 1, 0.2, 0.07), 4)
    0.0233
    """
    check_count("n", n)
    check_fractions(gamma=gamma, max_error_limit=max_error_limit)
    return upper_probability(float(_flip_bounds(n, d, gamma, np.array([max_error_limit]))[0]))


def best_ceiling(n: int, d: int, gamma: float) -> float:
    """Largest shared limit with the smallest :func:`realizable_flip_bound`.

    Returns ``gamma / 4`` when no limit gives a bound below 1.

    >>> round(best_ceiling(50_000, 1, 0.2), 4)
    0.091
    """
    check_fraction("gamma", gamma)
    limits = gamma / 2.0 * np.arange(1, _LIMITS) / _LIMITS
    bounds = _flip_bounds(n, d, gamma, limits)
    best = int(np.argmin(bounds))
    return float(limits[best]) if bounds[best] < 1.0 else gamma / 4.0


def smallest_sample_realizable(
    rho: float, gamma: float, alpha: float, beta: float, d: int
) -> tuple[int, float]:
    """Find the sample size and limit of a realizable estimator that is replicable everywhere.

    ``alpha`` and ``beta`` are error and failure probability where one hypothesis is right.

    >>> smallest_sample_realizable(0.1, 0.2, 0.1, 0.05, 1)
    (2896, 0.069)
    """
    check_fractions(rho=rho, alpha=alpha, beta=beta)

    def fits(n: int, limit: float) -> bool:
        # Sauer's sum has d terms: the flips want it for one size, the tail for up to seven.
        flips = realizable_flip_bound(n, d, gamma, limit)
        return flips <= rho and realizable_tail_within(n, d, alpha, beta)

    message = f"rho={rho!r}, gamma={gamma!r} need more than 10**12 rows"
    return require_pair(lambda n: best_ceiling(n, d, gamma), fits, message, limit=10**12)


@theorem("semi-replicable")
def cover_distance(n_shared: int, d: int, beta: float) -> float:
    """Mass on which the best hypothesis and its candidate in the cover of a pool may differ.

    Every candidate that agrees with a fixed hypothesis on the pool is within this mass of it,
    except with probability ``beta``; 1 when the pool is too small to say anything.

    >>> round(cover_distance(1000, 1, 0.025), 4)
    0.0143
    """
    check_count("n_shared", n_shared)
    check_count("d", d, least=0)
    check_fraction("beta", beta)
    distance = bisect(
        lambda mass: realizable_tail_within(n_shared, d, mass, beta), 1.0, 0.0, halvings=_HALVINGS
    )
    return math.nextafter(distance, 1.0)


_NO_CLASS = (
    "the estimator is no exact minimiser over a class of known VC dimension: measure how often "
    "models of fresh samples differ"
)


def _derive(
    ledger: Ledger,
    n: int,
    d: int | None,
    max_error_limit: float,
    rho: float,
    gamma: float,
    alpha: float,
    beta: float,
) -> Promise:
    if d is None:
        return Promise(promises=("Nothing is promised.",), reasons=(_NO_CLASS,))
    flip = ledger.add(realizable_flip_bound, n=n, d=d, gamma=gamma, max_error_limit=max_error_limit)
    tail = ledger.add(realizable_tail, m=n, d=d, alpha=alpha)
    promises = (
        f"The models of two runs on fresh samples of {n} rows differ on a mass above {gamma:g} "
        f"with probability at most {rounded_up(flip)}, on every distribution.",
        f"If some hypothesis makes no error, the error exceeds {alpha:g} with probability at most "
        f"{rounded_up(tail)}; otherwise nothing is promised about the error.",
    )
    return reached(promises, rho=(flip, rho), gamma=gamma, alpha=alpha, beta=(tail, beta))


def _solve(
    d: int,
    n: int | None = None,
    rho: float = 0.1,
    gamma: float = 0.2,
    alpha: float = 0.1,
    beta: float = 0.05,
) -> dict[str, Any]:
    if n is None:
        n, limit = smallest_sample_realizable(rho, gamma, alpha, beta, d)
    else:
        limit = best_ceiling(n, d, gamma)
    targets = {"rho": rho, "gamma": gamma, "alpha": alpha, "beta": beta}
    return {"n": n, "d": d, "max_error_limit": limit, **targets}


TASKS = (
    Task(
        "realizable",
        _derive,
        _solve,
        learners=("RealizableReplicableClassifier",),
        theorem="realizable",
    ),
)


class RealizableReplicableClassifier(SingleRuleClassifier):
    """Minimise the empirical risk, and abstain replicably if no hypothesis is good.

    If the smallest training error exceeds a random limit that the runs share, ``fit`` warns with
    `UsefulnessWarning` and the second class, ``classes_[1]``, is predicted for every point;
    otherwise the best hypothesis predicts. Two runs differ on a mass of at most ``gamma``, except
    with probability ``rho``, for every distribution; the error is small if some hypothesis makes
    no errors.

    Parameters
    ----------
    hypotheses : HypothesisClass or classifier, default=None
        The class, whose exact minimiser is used. If None, decision stumps over all features. If a
        classifier is given, its training error is used instead of the smallest one, and nothing
        is certified.
    rho : float, default=0.1
        Probability that the models of two runs differ on a mass above gamma.
    gamma : float, default=0.2
        Mass on which two models may differ.
    alpha, beta : float, default=0.1, 0.05
        Error in the realizable case, and its failure probability.
    max_error_limit : float, default=None
        Largest value of the shared limit. If None, the best one for gamma and the number of rows.
    classes : array-like, default=None
        The two labels. If None, those in ``y``.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness. It must be the same in both runs, and fixed before the data
        are seen.
    plan : Plan, default=None
        A plan shared between labs. It sets ``rho``, ``gamma``, ``alpha``, ``beta`` and
        ``max_error_limit``, which must then keep their defaults here, and the number of rows: a
        surplus is left out by key.

    Attributes
    ----------
    hypothesis_ : Hypothesis or classifier
        The model; the constant if the limit was exceeded.
    training_error_ : float
        Smallest training error.
    limit_ : float
        The shared limit.
    released_ : bool
        Whether the training error is within the limit, so that the hypothesis is released.
    certificate_ : Certificate
        What is promised.
    classes_ : ndarray
        The labels.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.paper.realizable import RealizableReplicableClassifier
    >>> from replearn.paper.hypotheses import Thresholds
    >>> X = np.random.default_rng(0).random((20_000, 1))
    >>> model = RealizableReplicableClassifier(Thresholds(">"), shared_key="k")
    >>> model.fit(X, X[:, 0] > 0.25).rule(), model.certificate_.certified
    ('True if x0 > 0.25, else False', True)
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):  # no threshold is right, which fit says
    ...     model.fit(X, X[:, 0] % 0.5 > 0.25).released_
    False
    """

    _set_by_plan: ClassVar[tuple[str, ...]] = ("rho", "gamma", "alpha", "beta", "max_error_limit")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "hypotheses": [HypothesisClass, HasMethods(["fit", "predict"]), None],
        **SingleRuleClassifier._parameter_constraints,
        "gamma": [FRACTION],
        "max_error_limit": [FRACTION, None],
    }

    def __init__(
        self,
        hypotheses=None,
        *,
        rho=0.1,
        gamma=0.2,
        alpha=0.1,
        beta=0.05,
        max_error_limit=None,
        classes=None,
        shared_key=None,
        plan=None,
    ):
        self.hypotheses = hypotheses
        self.rho = rho
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.max_error_limit = max_error_limit
        self.classes = classes
        self.shared_key = shared_key
        self.plan = plan

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, *, groups: ArrayLike | None = None):
        """Fit the best hypothesis, or abstain if none fits well.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The rows.
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
            key = self._key_for_fit()
            hypotheses = Stumps(X.shape[1]) if self.hypotheses is None else self.hypotheses
            exact = isinstance(hypotheses, HypothesisClass)
            model = hypotheses.erm(X, y) if exact else _trained(hypotheses, X, y, key)
            self.training_error_ = float(np.mean(np.asarray(model.predict(X)).astype(bool) != y))
            d = hypotheses.vc_dimension if exact else None
            ceiling = params.max_error_limit
            if ceiling is None:
                gamma = params.gamma
                ceiling = gamma / 4 if d is None else best_ceiling(len(y), d, gamma)
            # theorem: realizable
            self.limit_ = ceiling * float(key.child("limit").uniforms([0])[0])
            self.released_ = self.training_error_ <= self.limit_
            self.hypothesis_ = model if self.released_ else Constant(True)
            shared: dict[str, Any] = {"n": len(y), "d": d, "max_error_limit": float(ceiling)}
            shared |= self._targets()
            bound = {"hypotheses": fingerprint(hypotheses if exact else clone(hypotheses))}
            self._certify("realizable", X, y, bound, sample=sample, **shared)
        warn_if_not_certified(self.certificate_)
        warn_if_abstains(
            self,
            f"the training error {self.training_error_:.3g} of the best hypothesis exceeds the "
            f"shared random limit {self.limit_:.3g}",
        )
        return self


def _trained(estimator: Any, X: NDArray[np.float64], y: NDArray[np.bool_], key: SharedKey) -> Any:
    """Train a clone on the rows in keyed order."""
    if y.all() or not y.any():
        return Constant(bool(y[0]))
    order = key.child("rows").order(X, y)
    return seeded(estimator, key).fit(X[order], y[order])
