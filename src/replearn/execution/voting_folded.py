"""Pipelines of scalers, imputers and one-hot encoders before a linear model vote by one product.

The table is turned into terms once (see `replearn.execution.basis`), for all blocks together, and
the transformers of each block are folded into the weights of its model. A score then differs from
the pipeline's own by rounding, as that of any linear model here: see `voting_linear`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from replearn.execution.basis import Basis
from replearn.execution.folding import Folded, fold
from replearn.execution.voters import Member
from replearn.execution.voting_linear import Form, LinearVoter


class FoldedVoter(LinearVoter):
    """Pipelines that vote together, folded into linear models of terms.

    Parameters
    ----------
    members : list of Member
        Pipelines that `fold_model` can fold.
    folds : list of Folded
        What it makes of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from replearn.execution.voters import Member
    >>> from replearn.execution.voting_folded import FoldedVoter, fold_model
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    >>> voter = FoldedVoter([Member(model, 0, np.array([0, 1]))], [fold_model(model, False)])
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
        try:
            return self._basis.matrix(X)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            self._first.predict(X)
            raise ValueError(
                f"X has other kinds of columns than the training table ({error}); "
                "give numbers where it had numbers, and texts where it had texts."
            ) from error


def fold_model(model: Any, soft: bool) -> Folded | None:
    """Fold a pipeline whose last step is linear and, for soft votes, logistic.

    Parameters
    ----------
    model : fitted classifier
        Any classifier.
    soft : bool
        Whether probabilities will be asked for.

    Returns
    -------
    Folded or None
        None for everything that cannot be folded.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn.execution.voting_folded import fold_model
    >>> fold_model(DecisionTreeClassifier(), False) is None
    True
    """
    if type(model) is not Pipeline or not LinearVoter.recognises(model.steps[-1][1], soft):
        return None
    return fold(model)
