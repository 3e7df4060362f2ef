"""Linear models vote by one product with all their weights at once.

Each row is multiplied on its own (a matrix-vector product per row, looped inside numpy), so that
its scores cannot depend on the other rows, on their number or on its place among them: a product
of matrices would round differently for different shapes. The scores are computed in float64 and
may differ from the model's own ``decision_function`` in the last bit, which differs from itself in
the last bit when the batch changes. These votes are the definition; they agree with ``predict``
except where a score is zero up to rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
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

from replearn.execution.plugins import Member, Voter
from replearn.execution.voting import add_codes
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


class LinearVoter(Voter):
    """Linear models that vote together."""

    def __init__(self, members: list[Member], forms: list[Form] | None = None) -> None:
        forms = forms or [_own_form(member.model) for member in members]
        self._first = members[0].model
        # Models of two classes have one score and come first: their votes are counted at once.
        order = sorted(range(len(members)), key=lambda place: len(members[place].codes) > 2)
        self.binary = [members[place] for place in order if len(members[place].codes) == 2]
        self.wide = [members[place] for place in order if len(members[place].codes) > 2]
        self._weights = np.ascontiguousarray(np.hstack([forms[place][0] for place in order]))
        self._intercepts = np.concatenate([forms[place][1] for place in order])
        self._tallies: dict[tuple[int, int], Tally] = {}
        self._chunk = max(1, SCORES_PER_CHUNK // self._weights.shape[1])

    @staticmethod
    def recognises(model: Any, soft: bool) -> bool:
        """Tell whether the model is linear and, for soft votes, logistic."""
        return type(model) in (LOGISTIC if soft else LINEAR) and isinstance(model.coef_, np.ndarray)

    def prepare(self, X: Any) -> Any:
        """Validate the table once, as any of the models would."""
        table = checked_table(self._first, X, accept_sparse="csr")
        if is_sparse(table) and not table.has_sorted_indices:
            return table.sorted_indices()  # a row's sum must not depend on their order
        return table

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows: the second class iff the score is above zero."""
        shape = counts.shape[1], counts.shape[2]
        if shape not in self._tallies:
            self._tallies[shape] = Tally(self.binary, shape)
        tally, n_binary = self._tallies[shape], len(self.binary)
        # A rounded sum a + b is above zero iff a > -b: the intercepts need not be added. They are
        # repeated for every row of a chunk, as numpy compares whole arrays twice as fast.
        borders = np.tile(-self._intercepts[:n_binary], (min(self._chunk, n_rows(X)), 1))
        for start, stop, products in self._products(X):
            answers = products[:, :n_binary] > borders[: stop - start]
            tally.add(answers, counts[start:stop])
            if self.wide:
                scores = products[:, n_binary:] + self._intercepts[n_binary:]
                add_wide_votes(self.wide, scores, counts[start:stop])

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
            for member, columns in _wide_columns(self.wide):
                part[:, member.partition, member.codes] += softmax(scores[:, columns], copy=True)

    def _products(self, X: Any) -> Any:
        """Yield the scores of all models without their intercepts, some rows at a time."""
        for start, stop in row_chunks(n_rows(X), self._chunk):
            yield start, stop, _row_products(X[start:stop], self._weights)


def _wide_columns(members: list[Member]) -> Iterator[tuple[Member, slice]]:
    """Yield models with several scores, and where these stand when they follow each other."""
    start = 0
    for member in members:
        yield member, slice(start, start + len(member.codes))
        start += len(member.codes)


def add_wide_votes(members: list[Member], scores: Any, counts: NDArray[np.int32]) -> None:
    """Add the votes of models with one score for each class: the first of the largest."""
    for member, columns in _wide_columns(members):
        add_codes(counts, member, member.codes[scores[:, columns].argmax(axis=1)])


class Tally:
    """Count the answers of models with two classes, as a product of small whole numbers.

    They are exact in float32, and so is their sum in any order.
    """

    def __init__(self, members: list[Member], shape: tuple[int, ...]) -> None:
        first = np.zeros((len(members), *shape), dtype=np.float32)
        second = np.zeros_like(first)
        for place, member in enumerate(members):
            first[place, member.partition, member.codes[0]] = 1
            second[place, member.partition, member.codes[1]] = 1
        # Everybody votes for the first class; an answer moves one vote to the second.
        self._if_nobody = first.sum(axis=0).astype(np.int32)
        # What the other classes win, class 0 loses: its own column need not be multiplied.
        self._moves = (second - first)[..., 1:].reshape(len(members), shape[0] * (shape[1] - 1))

    def add(self, answers: NDArray[np.bool_], counts: NDArray[np.int32]) -> None:
        """Add a vote for the second class where the answer is true, else for the first."""
        moved = (answers.astype(np.float32) @ self._moves).astype(np.int32)
        others = moved.reshape(counts[..., 1:].shape)
        counts += self._if_nobody
        counts[..., 1:] += others
        counts[..., 0] -= others.sum(axis=2)


def is_plain_table(X: Any) -> bool:
    """Tell whether there is nothing to convert and nothing to refuse in a table."""
    return (
        type(X) is np.ndarray
        and X.ndim == 2
        and X.dtype == np.float64
        and X.flags.c_contiguous
        and bool(np.isfinite(X).all())
    )


def checked_table(model: Any, X: Any, **options: Any) -> Any:
    """Validate a table as ``model`` would, unless nothing is left to check but finite numbers.

    The learner has checked the shape and the names; a plain table of numbers needs no copy.
    """
    unnamed = not hasattr(model, "feature_names_in_")
    if unnamed and is_plain_table(X) and X.shape[1] == model.n_features_in_:
        return X
    return validate_data(model, X, reset=False, dtype=np.float64, order="C", **options)


def _own_form(model: Any) -> Form:
    weights = np.atleast_2d(model.coef_).T.astype(float)
    return weights, np.broadcast_to(model.intercept_, weights.shape[1]).astype(float)


def _row_products(X: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Multiply each row by the weights, independently of the other rows."""
    if is_sparse(X):
        return np.asarray(X @ weights)  # scipy adds up row by row
    products: NDArray[np.float64] = np.matmul(X[:, np.newaxis, :], weights)[:, 0, :]
    return products
