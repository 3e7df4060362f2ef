"""What estimators that choose have in common: the planned rows, and one hypothesis as the model."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from replearn.binding.choices import certify_choice
from replearn.binding.digests import Fingerprint
from replearn.compat import Interval, validate_data
from replearn.exceptions import NotCertifiedWarning, warn_user
from replearn.guarantees import Certificate, Plan
from replearn.learners.fitted_state import FittedState
from replearn.learners.inputs import check_labels
from replearn.learners.planning import refuse_planned
from replearn.primitives import sample_order
from replearn.randomness import HoldsKey, SharedKey
from replearn.tables import take_rows

FRACTION = Interval(Real, 0, 1, closed="right")
COUNT = Interval(Integral, 1, None, closed="left")


class FollowsPlan(FittedState, HoldsKey):
    """Estimators that choose, built from a plan that two labs share.

    A subclass has the parameters ``rho``, ``alpha``, ``beta``, ``sample_size`` and ``shared_key``,
    and fits on `_planned_rows`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: [FRACTION] for name in ("rho", "alpha", "beta")},
        "sample_size": [COUNT, None],
        "shared_key": [str, bytes, Integral, SharedKey, None],
    }
    sample_size: int | None
    shared_key: Any

    @classmethod
    def from_plan(cls, plan: Plan, *args: Any, **params: Any):
        """Build an estimator that follows a plan shared between labs.

        Every lab fits it on ``plan.n`` rows: a lab with more leaves the surplus out by key, a lab
        with fewer cannot follow the plan.

        Parameters
        ----------
        plan : Plan
            From `replearn.plan`; fixes rho, alpha, beta, the rows and the rest of the design.
        *args
            What the estimator takes first: an estimator, hypotheses, candidates.
        **params
            Other parameters: ``shared_key``, ``n_jobs``.

        Returns
        -------
        object
            The estimator, not yet fitted.
        """
        if cls.__name__ not in plan.learners:
            raise ValueError(
                f"this plan is for {' or '.join(plan.learners)}, not for {cls.__name__}."
            )
        settings = {**plan.settings, "sample_size": plan.n}
        refuse_planned([name for name in params if name in settings])
        return cls(*args, **settings, **params)

    def _targets(self) -> dict[str, float]:
        """Return the targets: rho, alpha and beta, and gamma if the estimator has one."""
        names = ("rho", "gamma", "alpha", "beta")
        return {name: float(getattr(self, name)) for name in names if hasattr(self, name)}

    def _planned_rows(self, X: Any, codes: NDArray[Any]) -> tuple[Any, NDArray[Any], Any]:
        """Return the rows to fit on with their labels, and their indices; None: all of them.

        The order is the sample's own: two labs keep independent rows, as every proof assumes.
        """
        size = self.sample_size
        available = len(codes)
        if size is None or available == size:
            return X, codes, None
        if available < size:
            raise ValueError(
                f"sample_size={size} rows are planned, but the sample has {available}. Make a plan "
                "for the smallest sample among the labs."
            )
        rows = sample_order(self._key().child("surplus"), X, codes)[:size]
        return take_rows(X, rows), codes[rows], rows


class SingleRuleClassifier(FollowsPlan, ClassifierMixin, BaseEstimator):
    """Predict with ``hypothesis_``, which a subclass fits, and print it as a rule."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FollowsPlan._parameter_constraints,
        "classes": ["array-like", None],
    }

    def _check_rows(self, X: Any, y: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the planned rows with their labels as truth values; sets ``classes_``."""
        X = validate_data(self, X, reset=True, dtype=np.float64)
        codes, self.classes_ = check_two_labels(X, y, self.classes)
        X, codes, _ = self._planned_rows(X, codes)
        return X, codes == 1

    def _certify(self, task: str, X: Any, y: Any, fingerprint: Fingerprint, **inputs: Any) -> None:
        """Issue the certificate of the rule that was chosen."""
        names = getattr(self, "feature_names_in_", None)
        shared = {"n": len(y), **inputs, **self._targets()}
        key = self._key_for_fit()
        fingerprints = {"hypotheses": fingerprint}
        self.certificate_ = certify_choice(
            task, key, X, y, names=names, fingerprints=fingerprints, **shared
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        codes = np.asarray(self.hypothesis_.predict(X)).astype(np.intp)
        return self.classes_[np.minimum(codes, len(self.classes_) - 1)]

    def rule(self) -> str:
        """Return the model as a sentence.

        Returns
        -------
        str
            The condition for the second class, in the names of the features if they have names.
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        text = self.hypothesis_.rule(names) if hasattr(self.hypothesis_, "rule") else "the model"
        if text in ("always", "never"):
            return f"always {self.classes_[-1 if text == 'always' else 0]}"
        return f"{self.classes_[-1]} if {text}, else {self.classes_[0]}"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "hypothesis_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags


def check_two_labels(
    X: Any, y: ArrayLike, classes: ArrayLike | None
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return labels as codes into the sorted list of classes, of which there may be two."""
    codes, known = check_labels(X, y, classes)
    if len(known) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"multiclass: y has {len(known)} classes."
        )
    return codes, known


def warn_if_not_certified(certificate: Certificate) -> None:
    """Say plainly that the sample is too small for the promise."""
    if not certificate.certified:
        hint = "replearn.plan tells how many rows a promise needs"
        warn_user(f"{certificate.reason}; {hint}", NotCertifiedWarning)
