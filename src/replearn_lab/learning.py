"""How the lab calls a learner, and the plain learners that it wraps.

A learner of the lab is a function of rows, labels and a key that returns something with
``predict``. `keyed` makes one of any scikit-learn classifier: the key becomes its ``shared_key``
or, failing that, its ``random_state``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from replearn import plan
from replearn.exceptions import (
    ConstantBlocksWarning,
    NotCertifiedWarning,
    PreprocessingWarning,
    UsefulnessWarning,
)
from replearn.learners.pointwise import PointwiseReplicableClassifier
from replearn.randomness.key import SharedKey

Learner = Callable[[Any, Any, SharedKey], Any]
_EXPECTED = (NotCertifiedWarning, ConstantBlocksWarning, PreprocessingWarning, UsefulnessWarning)


def keyed(estimator: Any) -> Learner:
    """Return a learner that fits a clone of a classifier under a key.

    Parameters
    ----------
    estimator : classifier
        With a parameter ``shared_key``, or ``random_state``, or neither (it is deterministic).

    Returns
    -------
    callable of (X, y, key) to the fitted classifier

    Examples
    --------
    >>> from replearn import SharedKey
    >>> model = keyed(TableLearner())([[0.0], [0.0], [1.0]], [1, 1, 0], SharedKey("k"))
    >>> model.predict([[0.0], [1.0]]).tolist()
    [1, 0]
    """
    names = estimator.get_params(deep=False)

    def learn(X: Any, y: Any, key: SharedKey) -> Any:
        model = clone(estimator)
        if "shared_key" in names:
            model.set_params(shared_key=key)
        elif "random_state" in names:
            model.set_params(random_state=key.seed_for("lab"))
        return fit_quietly(model, X, y)

    return learn


@lru_cache(maxsize=64)
def vote_learner(
    n: int, n_blocks: int, *, law: str = "uniform", width: float = 1.0, base: type | None = None
) -> Learner:
    """Return the pointwise learner for n rows on a finite set of points, planned once.

    Its blocks vote by `TableLearner`, or by another class of base learners.
    """
    planned = plan(n=n, n_blocks=n_blocks, law=law, width=width, n_partitions=1, classes=[0, 1])
    return keyed(PointwiseReplicableClassifier((base or TableLearner)(), plan=planned))


def fit_quietly(model: Any, X: Any, y: Any, *pool: Any) -> Any:
    """Fit without warnings about promise and usefulness: the lab leaves both on purpose."""
    with warnings.catch_warnings():
        for kind in _EXPECTED:
            warnings.simplefilter("ignore", kind)
        return model.fit(X, y, *pool)


class TableLearner(ClassifierMixin, BaseEstimator):
    """The majority label of each point 0, 1, ... of a line: the best rule of all on a finite set.

    Ties and points that were never seen get the label 0.
    """

    def fit(self, X: Any, y: Any) -> TableLearner:
        """Count labels by point."""
        self.classes_ = np.array([0, 1])
        places = np.asarray(X)[:, 0].astype(np.intp)
        self.table_ = np.bincount(places, 2.0 * np.asarray(y, dtype=float) - 1.0) > 0.0
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Look the points up."""
        places = np.asarray(X)[:, 0].astype(np.intp)
        known = places < len(self.table_)
        return (known & self.table_[np.where(known, places, 0)]).astype(np.intp)


class MajorityLabel(ClassifierMixin, BaseEstimator):
    """The majority label of the rows at every point; ties: 0."""

    def fit(self, X: Any, y: Any) -> MajorityLabel:
        """Count labels."""
        self.classes_ = np.array([0, 1])
        self.label_ = int(2 * np.sum(y) > len(y))
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Predict the same label everywhere."""
        return np.full(len(X), self.label_, dtype=np.intp)


class OnePointLearner(ClassifierMixin, BaseEstimator):
    """The best of the two rules that call one of the points 0 and 1 negative; ties: point 0."""

    def fit(self, X: Any, y: Any) -> OnePointLearner:
        """Count which of the two rules errs less often."""
        self.classes_ = np.array([0, 1])
        column = np.asarray(X)[:, 0]
        labels = np.asarray(y)
        errors = [np.sum((column != point) != labels) for point in (0, 1)]
        self.negative_ = int(errors[1] < errors[0])
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Predict 1 everywhere but at the chosen point."""
        return (np.asarray(X)[:, 0] != self.negative_).astype(np.intp)
