"""Gaussian naive Bayes votes on a table that is validated once, in cache-sized pieces.

The operations and their order are those of scikit-learn's joint log likelihood, and each row's sum
runs over the row alone, so the votes are exactly those of ``predict``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.validation import validate_data

from replearn.execution.voters import Member, add_codes
from replearn.tables import n_rows, row_chunks

CELLS_PER_CHUNK = 2**14
"""Cells of the table per step: the table's piece and the work space stay in the cache."""


class GaussianVoter:
    """Gaussian naive Bayes models that vote on one table.

    Parameters
    ----------
    members : list of Member
        Members that `recognises` accepts.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from replearn.execution.voters import Member
    >>> from replearn.execution.voting_bayes import GaussianVoter
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> voter = GaussianVoter([Member(GaussianNB().fit(X, y), 0, np.array([0, 1]))])
    >>> counts = np.zeros((4, 1, 2), dtype=np.int32)
    >>> voter.add_votes(voter.prepare(X), counts)
    >>> counts[:, 0, 1]
    array([0, 0, 1, 1], dtype=int32)
    """

    def __init__(self, members: list[Member]) -> None:
        self.members = members
        self._constants = [_constants(member.model) for member in members]

    @staticmethod
    def recognises(model: Any, soft: bool) -> bool:
        """Tell whether the model is a Gaussian naive Bayes that votes hard."""
        return type(model) is GaussianNB and not soft

    def prepare(self, X: Any) -> Any:
        """Validate the table once, as any of the models would."""
        return validate_data(self.members[0].model, X, reset=False, dtype=np.float64, order="C")

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows."""
        size = max(1, CELLS_PER_CHUNK // X.shape[1])
        space = np.empty((min(size, n_rows(X)), X.shape[1]))
        for start, stop in row_chunks(n_rows(X), size):
            rows, work = X[start:stop], space[: stop - start]
            for member, constants in zip(self.members, self._constants, strict=True):
                scores = [
                    _log_likelihood(rows, work, member.model, place, *constants[place])
                    for place in range(len(member.codes))
                ]
                add_codes(counts[start:stop], member, member.codes[_argmax(scores)])

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Refuse: probabilities take the plain loop (`recognises` says so)."""
        raise NotImplementedError("soft votes of naive Bayes take the plain loop")


def _constants(model: Any) -> list[tuple[float, float]]:
    """Compute the terms that do not depend on the row, for each class."""
    return [
        (float(np.log(prior)), float(-0.5 * np.sum(np.log(2.0 * np.pi * variance))))
        for prior, variance in zip(model.class_prior_, model.var_, strict=True)
    ]


def _log_likelihood(
    rows: NDArray[np.float64],
    work: NDArray[np.float64],
    model: Any,
    place: int,
    log_prior: float,
    log_scale: float,
) -> NDArray[np.float64]:
    np.subtract(rows, model.theta_[place], out=work)
    np.square(work, out=work)
    np.divide(work, model.var_[place], out=work)
    score: NDArray[np.float64] = log_prior + (log_scale - 0.5 * work.sum(axis=1))
    return score


def _argmax(scores: list[NDArray[np.float64]]) -> NDArray[np.intp]:
    if len(scores) == 2:
        return np.asarray(scores[1] > scores[0], dtype=np.intp)
    return np.asarray(np.argmax(np.stack(scores), axis=0))
