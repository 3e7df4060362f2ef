"""Realizable learning that is replicable on every distribution, realizable or not."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from replearn.binding import bind
from replearn.bounds import best_ceiling
from replearn.compat import HasMethods
from replearn.hypotheses import Constant, HypothesisClass, Stumps
from replearn.learners.configurations import seeded
from replearn.learners.inputs import all_or_nothing, checked_fit
from replearn.learners.single_rule import SingleRuleClassifier, warn_if_abstains
from replearn.learners.training import FRACTION, warn_if_not_certified
from replearn.randomness import SharedKey


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
    >>> from replearn.learners import RealizableReplicableClassifier
    >>> from replearn.hypotheses import Thresholds
    >>> X = np.random.default_rng(0).random((20_000, 1))
    >>> model = RealizableReplicableClassifier(Thresholds(">"), shared_key="k")
    >>> model.fit(X, X[:, 0] > 0.25).rule(), model.certificate_.certified
    ('True if x0 > 0.25, else False', True)
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):  # no threshold is right, which fit says
    ...     model.fit(X, X[:, 0] % 0.5 > 0.25).released_
    False
    """

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
    def fit(self, X: Any, y: ArrayLike):
        """Fit the best hypothesis, or abstain if none fits well.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The rows.
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
            fingerprint = bind(hypotheses if exact else clone(hypotheses))
            shared = {"d": d, "max_error_limit": float(ceiling)}
            self._certify("realizable", X, y, fingerprint, sample=sample, **shared)
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
