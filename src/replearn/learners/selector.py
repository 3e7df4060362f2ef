"""Which of several models goes live: a replicable choice among models that exist already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from replearn.checks.choices import bind_candidates, certify_choice
from replearn.compat import Interval
from replearn.learners.inputs import all_or_nothing, check_labels, checked_fit
from replearn.learners.training import FollowsPlan, warn_if_not_certified
from replearn.primitives import select_hypothesis
from replearn.randomness import SharedKey


def _chosen_has(method: str):
    def check(selector: Any) -> bool:
        return hasattr(getattr(selector, "selected_", None), method)

    return check


class ReplicableSelector(FollowsPlan, ClassifierMixin, BaseEstimator):
    """Choose one of several existing models, the same one on a fresh sample.

    The models (last year's, a vendor's, a rule of thumb) are fixed, and two runs evaluate them on
    two samples: they choose different models with probability at most ``rho``. Nothing is trained,
    so nothing is assumed about how the models were made.

    Parameters
    ----------
    candidates : mapping of str to fitted classifier or callable
        Models with ``predict(X)``, or functions of X that return labels. The choice is keyed by
        the names, so both runs must use the same name for the same model. scikit-learn's ``clone``
        returns unfitted estimators: wrap models in ``sklearn.frozen.FrozenEstimator`` if they may
        be cloned.
    rho : float, default=0.1
        Probability that two runs choose different models.
    alpha, beta : float, default=0.1, 0.05
        Excess error over the best candidate, and its failure probability.
    sharpness : float, default=None
        Scale of the errors relative to the shared random numbers. If None, that of
        `replearn.primitives.choice_scale`.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness. It must be the same in both runs, and fixed before the data
        are seen.
    plan : Plan, default=None
        A plan shared between labs. It sets ``rho``, ``alpha`` and ``beta``, which must then keep
        their defaults here, and the number of rows: a surplus is left out by key.

    Attributes
    ----------
    selected_ : object
        The chosen model.
    selected_name_ : str
        Its name.
    selection_ : Selection
        Errors of all candidates, scale and margin.
    certificate_ : Certificate
        What is promised.
    classes_ : ndarray
        The labels of the evaluation sample.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.learners import ReplicableSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 1))
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(20_000) > 0.5
    >>> models = {"last year's": lambda X: X[:, 0] > 0.7, "vendor's": lambda X: X[:, 0] > 0.5}
    >>> choice = ReplicableSelector(models, rho=0.1, alpha=0.1, shared_key="k").fit(X, y)
    >>> choice.selected_name_, choice.certificate_.certified
    ("vendor's", True)
    """

    _derived_state: ClassVar[tuple[str, ...]] = ("selected_",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "candidates": [Mapping],
        **FollowsPlan._parameter_constraints,
        "sharpness": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        candidates,
        *,
        rho=0.1,
        alpha=0.1,
        beta=0.05,
        sharpness=None,
        shared_key=None,
        plan=None,
    ):
        self.candidates = candidates
        self.rho = rho
        self.alpha = alpha
        self.beta = beta
        self.sharpness = sharpness
        self.shared_key = shared_key
        self.plan = plan

    @checked_fit
    def fit(self, X: Any, y: ArrayLike):
        """Choose a model by its errors on a sample that none of them was trained on.

        Parameters
        ----------
        X : container of rows
            The evaluation sample, in the form that the candidates expect.
        y : array-like of shape (n,)
            Its labels.

        Returns
        -------
        self : object
            The fitted selector.
        """
        with all_or_nothing(self):
            codes, self.classes_ = check_labels(X, y, None)
            sample = X, y
            X, codes, rows = self._planned_rows(X, codes)
            y = np.asarray(y) if rows is None else np.asarray(y)[rows]
            key = self._key_for_fit()
            t = self.sharpness
            chosen = select_hypothesis(
                self.candidates, X, y, key=key, sharpness=t, **self._targets()
            )
            self.selection_ = chosen
            self.selected_ = chosen.candidate
            self.selected_name_ = chosen.name
            fingerprints = {"candidates": bind_candidates(self.candidates, X)}
            inputs = chosen.certificate.inputs
            self.certificate_ = certify_choice(
                "selection", key, X, codes, sample=sample, fingerprints=fingerprints, **inputs
            )
        warn_if_not_certified(self.certificate_)
        return self

    def _file_state(self) -> dict[str, Any]:
        """Return the attributes of a file: the chosen model is among the candidates."""
        state = super()._file_state()
        if "selection_" in state:
            state["candidates"] = dict(self.candidates)
            state["selection_"] = replace(self.selection_, candidate=None)
        return state

    def _derive(self, key: SharedKey) -> None:
        self.selected_ = self.candidates[self.selected_name_]
        self.selection_ = replace(self.selection_, candidate=self.selected_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels with the chosen model.

        Parameters
        ----------
        X : container of rows
            The points, in the form that the chosen model expects.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        return np.asarray(getattr(self.selected_, "predict", self.selected_)(X))

    @available_if(_chosen_has("predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities with the chosen model.

        Parameters
        ----------
        X : container of rows
            The points, in the form that the chosen model expects.

        Returns
        -------
        ndarray of shape (n, n_classes)
            What the chosen model says.
        """
        return self.selected_.predict_proba(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "selected_")
