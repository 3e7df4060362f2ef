"""Pipelines of scalers, imputers and one-hot encoders before a linear model vote by one product.

The table is turned into terms once (see `replearn.fastpaths.basis`), for all blocks together, and
the transformers of each block are folded into the weights of its model. A score then differs from
the pipeline's own by rounding, as that of any linear model here: see `voting_linear`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from replearn.execution.voters import Member
from replearn.fastpaths.basis import Basis
from replearn.fastpaths.folding import MOST_WEIGHTS, Folded, fold
from replearn.fastpaths.voting_linear import Form, LinearVoter


class FoldedVoter(LinearVoter):
    """Pipelines that vote together, folded into linear models of terms.

    Parameters
    ----------
    members : list of Member
        Pipelines that `fold` can fold.
    folds : list of Folded
        What it makes of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from replearn.fastpaths.folding import fold
    >>> from replearn.execution.voters import Member
    >>> from replearn.fastpaths.voting_folded import FoldedVoter
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    >>> voter = FoldedVoter([Member(model, 0, np.array([0, 1]))], [fold(model)])
    >>> counts = np.zeros((4, 1, 2), dtype=np.int32)
    >>> voter.add_votes(voter.prepare(X), counts)
    >>> counts[:, 0, 1]
    array([0, 0, 1, 1], dtype=int32)
    """

    def __init__(self, members: list[Member], folds: list[Folded]) -> None:
        self._first = members[0].model
        terms = [term for folded in folds for term in folded.terms]
        self._basis = Basis(terms, folds[0].names)
        self._seat(members, [self._spread(folded) for folded in folds])

    def _spread(self, folded: Folded) -> Form:
        """Put the weights of one pipeline at the places of its terms among all."""
        weights = np.zeros((len(self._basis.places), folded.weights.shape[1]))
        weights[[self._basis.places[term] for term in folded.terms]] = folded.weights
        return weights, folded.intercepts

    def prepare(self, X: Any) -> Any:
        """Turn the table into terms; what does not fit, a pipeline refuses in its own words."""
        return self._basis.matrix_or_refusal(X, self._first)


def fold_members(members: list[Member], soft: bool) -> tuple[FoldedVoter | None, list[Member]]:
    """Let those members vote together that can be folded.

    Parameters
    ----------
    members : list of Member
        Models of any kind.
    soft : bool
        Whether probabilities will be asked for: only logistic models are folded then.

    Returns
    -------
    FoldedVoter or None
        None if no member can be folded, or if there would be too many weights.
    list of Member
        The others.

    Examples
    --------
    >>> from replearn.fastpaths.voting_folded import fold_members
    >>> fold_members([], False)
    (None, [])
    """
    folds = [_fold(member.model, soft) for member in members]
    found = [(one, folded) for one, folded in zip(members, folds, strict=True) if folded]
    terms = {term for _, folded in found for term in folded.terms}
    n_scores = sum(len(folded.intercepts) for _, folded in found)
    if not found or len(terms) * n_scores > MOST_WEIGHTS:
        return None, members
    voter = FoldedVoter([one for one, _ in found], [folded for _, folded in found])
    return voter, [one for one, folded in zip(members, folds, strict=True) if not folded]


def _fold(model: Any, soft: bool) -> Folded | None:
    if type(model) is not Pipeline or not LinearVoter.recognises(model.steps[-1][1], soft):
        return None
    return fold(model)
