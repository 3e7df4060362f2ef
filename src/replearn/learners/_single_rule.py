"""What learners have in common that return one hypothesis of a class, two classes only."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from replearn.compat import validate_data
from replearn.exceptions import NotCertifiedWarning
from replearn.guarantees import Certificate
from replearn.learners._choice_plan import FollowsChoicePlan
from replearn.learners._inputs import check_labels


class SingleRuleClassifier(FollowsChoicePlan, ClassifierMixin, BaseEstimator):
    """Fit one hypothesis, predict with it, print it as a rule.

    A subclass stores its parameters and implements `_learn`.
    """

    @abstractmethod
    def _learn(self, X: NDArray[np.float64], y: NDArray[np.bool_], **shared: Any) -> dict[str, Any]:
        """Return the fitted attributes, ``hypothesis_`` and ``certificate_`` among them."""

    def _fit_rule(self, X: Any, y: ArrayLike, **shared: Any):
        """Check the sample, learn, and leave nothing half-fitted behind."""
        forget_fit(self)
        try:
            X = validate_data(self, X, reset=True, dtype=np.float64)
            codes, classes = check_two_labels(X, y, self.classes)
            rows = self._planned_rows(X, codes)
            if rows is not None:
                X, codes = X[rows], codes[rows]
            fitted = self._learn(X, codes == 1, **shared)
        except BaseException:
            forget_fit(self)
            raise
        self.classes_ = classes
        self.__dict__.update(fitted)
        warn_if_not_certified(self.certificate_, depth=4)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Answer each row by the rule.

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
    """Labels as codes into the sorted list of classes, of which there may be two."""
    codes, found = check_labels(X, y, classes)
    if len(found) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"multiclass: y has {len(found)} classes."
        )
    return codes, found


def forget_fit(learner: Any) -> None:
    """Remove all fitted attributes."""
    for name in [n for n in vars(learner) if n.endswith("_") and not n.startswith("__")]:
        delattr(learner, name)


def warn_if_not_certified(certificate: Certificate, *, depth: int) -> None:
    """Say plainly that the sample is too small for the promise; depth: calls above this one."""
    if not certificate.certified:
        hint = "replearn.plan tells how many rows a promise needs"
        text = f"{certificate.reason}; {hint}"
        warnings.warn(text, NotCertifiedWarning, stacklevel=depth + 1)
