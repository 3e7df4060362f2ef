"""What estimators of the paper have in common: rows of numbers, two labels, one rule."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from replearn.checks.choices import certify_choice
from replearn.checks.fingerprint import Fingerprint
from replearn.compat import validate_data
from replearn.exceptions import UsefulnessWarning, warn_user
from replearn.learners.inputs import check_labels
from replearn.learners.training import FollowsPlan
from replearn.paper.groups import one_of_each_group
from replearn.tables.rows import is_frame


class PaperClassifier(FollowsPlan, ClassifierMixin, BaseEstimator):
    """Learn two labels from rows of numbers, independent ones, as many as the plan says."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **FollowsPlan._parameter_constraints,
        "classes": ["array-like", None],
    }

    def _check_rows(
        self, X: Any, y: ArrayLike, groups: ArrayLike | None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the planned rows, one of each group, with labels as truth values.

        Sets ``classes_``.
        """
        X = validate_data(self, X, reset=True, dtype=np.float64)
        codes, self.classes_ = check_two_labels(X, y, self.classes)
        if groups is not None:
            rows = one_of_each_group(self._key(), X, codes, groups)
            X = X[rows]
            codes = codes[rows]
        X, codes, _ = self._planned_rows(X, codes, unit="rows" if groups is None else "groups")
        return X, codes == 1

    def _certify(
        self,
        task: str,
        X: Any,
        y: Any,
        fingerprints: dict[str, Fingerprint],
        *,
        sample: tuple[Any, Any, Any],
        pool: Any = None,
        failed: tuple[str, ...] = (),
        **inputs: Any,
    ) -> None:
        """Issue the certificate of a fit; ``sample`` is what fit was given: X, y, groups."""
        names = getattr(self, "feature_names_in_", None)
        key = self._key_for_fit()
        table, labels, groups = sample
        if not is_frame(table):  # names of columns and an index tell more than numbers do
            table = np.asarray(table, dtype=np.float64)
        self.certificate_ = certify_choice(
            task,
            key,
            X,
            y,
            names=names,
            sample=(table, labels, groups),
            fingerprints=fingerprints,
            pool=pool,
            failed=failed,
            **inputs,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags


class SingleRuleClassifier(PaperClassifier):
    """Predict with ``hypothesis_``, which a subclass fits, and print it as a rule."""

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


def warn_if_abstains(model: SingleRuleClassifier, reason: str) -> None:
    """Say that no hypothesis is released, and which label is predicted instead."""
    if not model.released_:
        warn_user(
            f"{type(model).__name__} abstains: {reason}, so that no hypothesis is released "
            f"(released_ is False) and {model.classes_.tolist()[-1]!r} is predicted for every "
            "point.",
            UsefulnessWarning,
        )
