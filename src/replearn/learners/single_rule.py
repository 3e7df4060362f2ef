"""What estimators that choose have in common: the planned rows, and one hypothesis as the model."""

from __future__ import annotations

from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from replearn.binding import Fingerprint, certify_choice
from replearn.compat import Interval, validate_data
from replearn.exceptions import NotCertifiedWarning, warn_user
from replearn.guarantees import Certificate, Plan
from replearn.learners.inputs import FittedState, check_labels
from replearn.learners.planning import changed_params, refuse_planned
from replearn.primitives import sample_order
from replearn.randomness import HoldsKey, SharedKey
from replearn.tables import is_frame, take_rows

FRACTION = Interval(Real, 0, 1, closed="right")
COUNT = Interval(Integral, 1, None, closed="left")


class FollowsPlan(FittedState, HoldsKey):
    """Estimators that choose; they may follow a plan that two labs share.

    A subclass has the parameters ``shared_key`` and ``plan``, reads the parameters that a plan may
    set from `_in_force`, and fits on `_planned_rows`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: [FRACTION] for name in ("rho", "alpha", "beta")},
        "shared_key": [str, bytes, Integral, SharedKey, None],
        "plan": [Plan, None],
    }
    shared_key: Any
    plan: Plan | None

    def _in_force(self: Any) -> SimpleNamespace:
        """Return all parameters; those that the plan sets have its values."""
        params = self.get_params(deep=False)
        if self.plan is None:
            return SimpleNamespace(**params)
        if not {kind.__name__ for kind in type(self).__mro__}.intersection(self.plan.learners):
            raise ValueError(
                f"plan is for {' or '.join(self.plan.learners)}, not for {type(self).__name__}."
            )
        refuse_planned(changed_params(self, self.plan.settings))
        return SimpleNamespace(**(params | self.plan.settings))

    def _n_planned(self, available: int, unit: str = "rows") -> int:
        """Return the number of rows (or groups) to fit on, of those that are available."""
        if self.plan is None:
            return available
        self._in_force()  # another estimator's plan is said to be one
        if available < self.plan.n:
            raise ValueError(
                f"plan needs n={self.plan.n} {unit}, but the sample has {available}. Make a plan "
                "for the smallest sample among the labs."
            )
        return self.plan.n

    def _targets(self) -> dict[str, float]:
        """Return the targets: rho, alpha and beta, and gamma if the estimator has one."""
        params = vars(self._in_force())
        names = ("rho", "gamma", "alpha", "beta")
        return {name: float(params[name]) for name in names if name in params}

    def _planned_rows(self, X: Any, codes: NDArray[Any]) -> tuple[Any, NDArray[Any], Any]:
        """Return the rows to fit on with their labels, and their indices; None for all of them.

        The order is the sample's own: two labs keep independent rows, as every proof assumes.
        """
        size = self._n_planned(len(codes))
        if size == len(codes):
            return X, codes, None
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

    def _certify(
        self,
        task: str,
        X: Any,
        y: Any,
        fingerprint: Fingerprint,
        *,
        sample: tuple[Any, Any],
        **inputs: Any,
    ) -> None:
        """Issue the certificate of the rule that was chosen; ``sample`` is what fit was given."""
        names = getattr(self, "feature_names_in_", None)
        shared = {"n": len(y), **inputs, **self._targets()}
        key = self._key_for_fit()
        fingerprints = {"hypotheses": fingerprint}
        table, labels = sample
        if not is_frame(table):  # names of columns and an index tell more than numbers do
            table = np.asarray(table, dtype=np.float64)
        sample = table, labels
        self.certificate_ = certify_choice(
            task, key, X, y, names=names, sample=sample, fingerprints=fingerprints, **shared
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
