"""Fold the transformers of a fitted pipeline into the weights of its linear model.

Scaling, filling in and one-hot encoding give weighted sums of terms (see `execution.basis`), and
so does a linear model of them: a pipeline is one vector of weights over terms, and the scores of
all blocks are one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from replearn.execution.basis import Term
from replearn.execution.folding_rules import CannotFold, Sum, as_sum, columns_of, through


@dataclass(frozen=True)
class Folded:
    """The scores of a pipeline: weights of terms, one column per score, and intercepts."""

    terms: list[Term]
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    names: Sequence[str]


def fold(pipeline: Pipeline) -> Folded | None:
    """Fold a fitted pipeline that ends with a linear model.

    Parameters
    ----------
    pipeline : Pipeline
        Its last step has ``coef_`` and ``intercept_``.

    Returns
    -------
    Folded or None
        None if some step is not surely a weighted sum of terms.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> from replearn.execution.folding import fold
    >>> X, y = np.array([[0.0], [2.0], [4.0], [8.0]]), np.array([0, 0, 1, 1])
    >>> model = make_pipeline(MaxAbsScaler(), LogisticRegression()).fit(X, y)
    >>> bool(fold(model).weights[0, 0] == model[-1].coef_[0, 0] / 8)
    True
    """
    steps = [step for _, step in pipeline.steps[:-1]]
    try:
        names, features = columns_of(steps)
        sums = [as_sum(feature) for feature in through(steps, features)]
    except CannotFold:
        return None
    model = pipeline.steps[-1][1]
    coefficients = np.atleast_2d(model.coef_).astype(np.float64)
    if not sums or coefficients.shape[1] != len(sums):
        return None
    places = {term: place for place, term in enumerate(dict.fromkeys(_terms_of(sums)))}
    entries = [
        (places[term], column, weight)
        for column, feature in enumerate(sums)
        for term, weight in feature.terms.items()
    ]
    rows, columns, factors = (np.array(part) for part in zip(*entries, strict=True))
    weights = np.zeros((len(places), len(coefficients)))
    np.add.at(weights, rows, factors[:, np.newaxis] * coefficients.T[columns])
    constants = np.array([feature.constant for feature in sums])
    intercepts = (coefficients * constants).sum(axis=1) + model.intercept_
    return Folded(list(places), weights, intercepts, names)


def _terms_of(sums: list[Sum]) -> list[Term]:
    return [term for feature in sums for term in feature.terms]
