"""Semi-replicable learning: candidates from a shared unlabelled pool, then a replicable choice."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.binding import bind
from replearn.compat import Interval, validate_data
from replearn.guarantees import selection_budget
from replearn.hypotheses import HypothesisClass, Stumps
from replearn.learners.inputs import all_or_nothing, checked_fit
from replearn.learners.single_rule import SingleRuleClassifier
from replearn.learners.training import warn_if_not_certified
from replearn.primitives import choice_scale, select_hypothesis


class SemiReplicableClassifier(SingleRuleClassifier):
    """Learn the identical rule in two labs that share an unlabelled pool.

    There is one candidate for each way in which the class can label the pool; one of them is chosen
    by empirical errors and shared random numbers. The rule itself is the same in both labs (equal,
    with the same hash and text), except with probability ``rho``.

    Parameters
    ----------
    hypotheses : HypothesisClass, default=None
        The class. If None, decision stumps over all features.
    rho : float, default=0.1
        Probability that two runs return different rules.
    alpha, beta : float, default=0.1, 0.05
        Excess error over the best of the class, and its failure probability.
    candidates : sequence of Hypothesis, default=None
        A list of candidates instead of the class, for classes that are too large to enumerate.
        Accuracy is then promised relative to the best of the list, and no pool is needed.
    sharpness : float, default=None
        Scale of the errors relative to the shared random numbers. If None, it follows from the
        other parameters.
    classes : array-like, default=None
        The two labels. If None, those in ``y``.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness. It must be the same in both runs, and fixed before the data
        are seen.
    plan : Plan, default=None
        A plan shared between labs. It sets ``rho``, ``alpha`` and ``beta``, which must then keep
        their defaults here, and the number of rows: a surplus is left out by key.

    Attributes
    ----------
    hypothesis_ : Hypothesis
        The rule, a frozen value: equal and of equal hash in two runs that agree.
    certificate_ : Certificate
        What is promised.
    selection_ : Selection
        Errors of all candidates, scale and margin of the choice.
    classes_ : ndarray
        The labels.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.learners import SemiReplicableClassifier
    >>> from replearn.hypotheses import Thresholds
    >>> rng = np.random.default_rng(0)
    >>> pool, X = rng.random((100, 1)), rng.random((60_000, 1))
    >>> model = SemiReplicableClassifier(Thresholds(">"), rho=0.3, alpha=0.25, shared_key="k")
    >>> model.fit(X, X[:, 0] > 0.6, X_shared=pool).rule(), model.certificate_.certified
    ('True if x0 > 0.6, else False', True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "hypotheses": [HypothesisClass, None],
        **SingleRuleClassifier._parameter_constraints,
        "candidates": [Sequence, None],
        "sharpness": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        hypotheses=None,
        *,
        rho=0.1,
        alpha=0.1,
        beta=0.05,
        candidates=None,
        sharpness=None,
        classes=None,
        shared_key=None,
        plan=None,
    ):
        self.hypotheses = hypotheses
        self.rho = rho
        self.alpha = alpha
        self.beta = beta
        self.candidates = candidates
        self.sharpness = sharpness
        self.classes = classes
        self.shared_key = shared_key
        self.plan = plan

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, X_shared: Any = None):
        """Choose a rule by its errors and shared random numbers.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            This run's own rows.
        y : array-like of shape (n,)
            Their labels, of two classes.
        X_shared : array-like of shape (u, n_features), default=None
            The unlabelled pool, with the same rows in all runs (in any order). It is needed unless
            ``candidates`` is given.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            sample = X, y
            X, y = self._check_rows(X, y)
            key = self._key_for_fit()
            # theorem: semi-replicable (one candidate for each labelling of the pool)
            candidates, n_shared, d = self._candidates(X, X_shared)
            targets = self._targets()
            alpha, beta = selection_budget(targets["alpha"], targets["beta"], n_shared, d)
            t = self.sharpness
            if t is None:
                rest = alpha or targets["alpha"] / 2
                t = choice_scale(len(candidates), len(y), targets["rho"], rest, beta)
            chosen = select_hypothesis(candidates, X, y, key=key, sharpness=t, **targets)
            self.hypothesis_ = chosen.candidate
            self.selection_ = chosen
            pool = None if self.candidates is not None else np.asarray(X_shared, dtype=np.float64)
            shared = {"n_shared": n_shared, "d": d, **chosen.certificate.inputs}
            fingerprint = bind(self.hypotheses)
            self._certify("semi", X, y, fingerprint, sample=sample, pool=pool, **shared)
        warn_if_not_certified(self.certificate_)
        return self

    def _candidates(self, X: NDArray[np.float64], X_shared: Any) -> tuple[Any, int, int | None]:
        """Return the candidates, the size of the pool and the VC dimension."""
        if self.candidates is not None:
            return list(self.candidates), 0, None
        if X_shared is None:
            raise ValueError(
                "X_shared is missing: give fit(X, y, X_shared=pool) the unlabelled rows that all "
                "runs share, or give candidates."
            )
        pool = validate_data(self, X_shared, reset=False, dtype=np.float64)
        hypotheses = Stumps(X.shape[1]) if self.hypotheses is None else self.hypotheses
        return hypotheses.cover(pool), len(pool), hypotheses.vc_dimension
