"""Linear models vote by one product with all their weights at once.

Each row is multiplied on its own (a matrix-vector product per row, looped inside numpy), so that
its scores cannot depend on the other rows, on their number or on its place among them: a product
of matrices would round differently for different shapes. The scores are computed in float64 and
may differ from the model's own ``decision_function`` in the last bit, which differs from itself in
the last bit when the batch changes. These votes are the definition; they agree with ``predict``
except where a score is zero up to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
)
from sklearn.svm import LinearSVC
from sklearn.utils.extmath import softmax
from sklearn.utils.validation import validate_data

from replearn.execution.voters import Member, Tally, add_codes, sliceable
from replearn.tables import is_sparse, n_rows, row_chunks

LOGISTIC = frozenset({LogisticRegression, LogisticRegressionCV})
LINEAR = LOGISTIC | {
    LinearDiscriminantAnalysis,
    LinearSVC,
    Perceptron,
    RidgeClassifier,
    RidgeClassifierCV,
    SGDClassifier,
}
"""Exact types: a subclass may predict in its own way."""

SCORES_PER_CHUNK = 2**18
"""Scores computed before they are counted: enough that threads seldom wait for the interpreter."""


Form = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Weights, one column per score, and intercepts."""


class LinearVoter:
    """Linear models that vote together.

    Parameters
    ----------
    members : list of Member
        Members that `recognises` accepts.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from replearn.execution.voters import Member
    >>> from replearn.fastpaths.voting_linear import LinearVoter
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> voter = LinearVoter([Member(LogisticRegression().fit(X, y), 0, np.array([0, 1]))])
    >>> counts = np.zeros((4, 1, 2), dtype=np.int32)
    >>> voter.add_votes(voter.prepare(X), counts)
    >>> counts[:, 0, 1]
    array([0, 0, 1, 1], dtype=int32)
    """

    def __init__(self, members: list[Member]) -> None:
        self._seat(members, [_own_form(member.model) for member in members])
        self._first = members[0].model

    def _seat(self, members: list[Member], forms: list[Form]) -> None:
        """Put the scores of all models side by side.

        Models of two classes have one score and come first: their votes are counted at once.
        """
        order = sorted(range(len(members)), key=lambda place: len(members[place].codes) > 2)
        self.binary = [members[place] for place in order if len(members[place].codes) == 2]
        self.wide = [members[place] for place in order if len(members[place].codes) > 2]
        self._weights = np.ascontiguousarray(np.hstack([forms[place][0] for place in order]))
        self._intercepts = np.concatenate([forms[place][1] for place in order])
        self._chunk = max(1, SCORES_PER_CHUNK // self._weights.shape[1])

    @staticmethod
    def recognises(model: Any, soft: bool) -> bool:
        """Tell whether the model is linear and, for soft votes, logistic."""
        return type(model) in (LOGISTIC if soft else LINEAR) and isinstance(model.coef_, np.ndarray)

    def prepare(self, X: Any) -> Any:
        """Validate the table once, as any of the models would."""
        table = validate_data(
            self._first, X, reset=False, accept_sparse="csr", dtype=np.float64, order="C"
        )
        return sliceable(table)

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows: the second class iff the score is above zero."""
        tally = Tally(self.binary, counts.shape[1:])
        n_binary = len(self.binary)
        # A rounded sum a + b is above zero iff a > -b: the intercepts need not be added. They are
        # repeated for every row of a chunk, as numpy compares whole arrays twice as fast.
        borders = np.tile(-self._intercepts[:n_binary], (min(self._chunk, n_rows(X)), 1))
        for start, stop, products in self._products(X):
            answers = products[:, :n_binary] > borders[: stop - start]
            tally.add(answers, counts[start:stop])
            scores = products[:, n_binary:] + self._intercepts[n_binary:]
            for member, columns in self._wide_columns():
                add_codes(
                    counts[start:stop], member, member.codes[scores[:, columns].argmax(axis=1)]
                )

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the logistic probabilities, model by model in a fixed order."""
        n_binary = len(self.binary)
        for start, stop, products in self._products(X):
            part = totals[start:stop]
            products += self._intercepts
            second, scores = expit(products[:, :n_binary]), products[:, n_binary:]
            for place, member in enumerate(self.binary):
                part[:, member.partition, member.codes[0]] += 1.0 - second[:, place]
                part[:, member.partition, member.codes[1]] += second[:, place]
            for member, columns in self._wide_columns():
                part[:, member.partition, member.codes] += softmax(scores[:, columns], copy=True)

    def _products(self, X: Any) -> Any:
        """Yield the scores of all models without their intercepts, some rows at a time."""
        for start, stop in row_chunks(n_rows(X), self._chunk):
            yield start, stop, _row_products(X[start:stop], self._weights)

    def _wide_columns(self) -> Any:
        start = 0
        for member in self.wide:
            yield member, slice(start, start + len(member.codes))
            start += len(member.codes)


def _own_form(model: Any) -> Form:
    weights = np.atleast_2d(model.coef_).T.astype(float)
    return weights, np.broadcast_to(model.intercept_, weights.shape[1]).astype(float)


def _row_products(X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply each row by the weights, independently of the other rows."""
    if is_sparse(X):
        return np.asarray(X @ weights)  # scipy adds up row by row
    products: NDArray[np.float64] = np.matmul(X[:, np.newaxis, :], weights)[:, 0, :]
    return products
