"""Fold the transformers of a fitted pipeline into the weights of its linear model.

Scaling, filling in and one-hot encoding give weighted sums of terms (see
`replearn.fastpaths.basis`), and so does a linear model of them: a pipeline is one vector of
weights over terms, and the scores of all blocks are one product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from replearn.fastpaths.basis import Of, Sum, Term
from replearn.fastpaths.rules import CannotFold, as_sum, columns_of, through


@dataclass(frozen=True)
class Features:
    """What reaches the last step of a pipeline, and the names of the table's columns."""

    names: Sequence[str]
    sums: list[Sum]
    n_columns = 1  # weights are sparse: one pipeline counts as one column of terms

    @cached_property
    def terms(self) -> list[Term]:
        """All terms, in the order of their first use, and those of missing cells."""
        terms: dict[Term, None] = {}
        for one in self.sums:
            terms.update(dict.fromkeys(one.terms))
            if one.open is not None:
                terms[Term(one.open, Of.MISSING)] = None
        return list(terms)


@dataclass(frozen=True)
class Folded:
    """The scores of a pipeline: weights of terms, one column per score, and intercepts."""

    terms: list[Term]
    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    names: Sequence[str]

    @property
    def n_columns(self) -> int:
        """Number of scores."""
        return len(self.intercepts)


def fold(pipeline: Pipeline) -> Folded | None:
    """Fold a fitted pipeline that ends with a linear model."""
    features = encoded_features(pipeline)
    if features is None or any(map(_keeps_missing_codes, features.sums)):
        return None
    sums = features.sums
    model = pipeline.steps[-1][1]
    coefficients = np.atleast_2d(model.coef_).astype(np.float64)
    if not sums or coefficients.shape[1] != len(sums):
        return None
    entries = [
        (term, column, weight)
        for column, feature in enumerate(sums)
        for term, weight in feature.terms.items()
    ]
    terms, columns, factors = zip(*entries, strict=True)
    places = {term: place for place, term in enumerate(dict.fromkeys(terms))}
    weights = np.zeros((len(places), len(coefficients)))
    products = np.array(factors)[:, np.newaxis] * coefficients.T[list(columns)]
    np.add.at(weights, [places[term] for term in terms], products)
    constants = np.array([feature.constant for feature in sums])
    intercepts = (coefficients * constants).sum(axis=1) + model.intercept_
    return Folded(list(places), weights, intercepts, features.names)


def encoded_features(pipeline: Pipeline) -> Features | None:
    """Return what reaches the last step of a pipeline as sums of terms."""
    steps = [step for _, step in pipeline.steps[:-1]]
    try:
        names, features = columns_of(steps)
        return Features(names, [as_sum(feature) for feature in through(steps, features)])
    except CannotFold:
        return None


def _keeps_missing_codes(feature: Sum) -> bool:
    """Whether a missing cell, which is no number, reaches the model as such."""
    return feature.open is not None and Term(feature.open, Of.NUMBER) not in feature.terms
