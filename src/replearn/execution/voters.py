"""What a panel of models is made of: groups that vote together, and the plain loop.

Votes of one row must not depend on the other rows of a batch, but matrix products round
differently for different shapes. A voter therefore promises that each row's votes are a function
of the row alone. The plain loop keeps that promise by always calling the model with the same
number of rows: `CHUNK` is a multiple of every register tile in use (4, 6, 8, 12, 16, 24, 32, 48,
64 or 96 rows), so each row, wherever it stands, goes through the same instructions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from replearn.execution.constant import ConstantVote
from replearn.tables import is_sparse, n_rows, pad_rows, row_chunks, slice_rows

CHUNK = 768
"""Rows per call of a model: a longer one is faster in bulk, a shorter one for a single row."""


class Voter(Protocol):
    """A group of models that vote together."""

    def prepare(self, X: Any) -> Any:
        """Convert the whole table once."""

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some prepared rows to ``counts[row, partition, class]``."""

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the probabilities on some prepared rows to ``totals[row, partition, class]``."""


@dataclass(frozen=True)
class Member:
    """One model of the panel, and where its votes go.

    Parameters
    ----------
    model : fitted classifier
        Any classifier with ``classes_``.
    partition : int
        Its partition.
    codes : ndarray of intp
        Positions of ``model.classes_`` in the list of all classes.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution.constant import ConstantVote
    >>> from replearn.execution.voters import Member
    >>> Member(ConstantVote("b"), 0, np.array([1])).predicted_codes(np.zeros((2, 3)))
    array([1, 1])
    """

    model: Any
    partition: int
    codes: NDArray[np.intp]

    def predicted_codes(self, X: Any) -> NDArray[np.intp]:
        """Ask the model, and translate its labels to positions in the list of all classes.

        Parameters
        ----------
        X : container of rows
            The rows.

        Returns
        -------
        ndarray of intp
            One code per row.
        """
        labels = np.asarray(self.model.predict(X))
        codes = np.full(len(labels), -1, dtype=np.intp)
        for label, code in zip(self.model.classes_, self.codes, strict=True):
            codes[labels == label] = code
        if (codes < 0).any():
            raise ValueError(
                f"{type(self.model).__name__} answered {labels[codes < 0][0]!r}, "
                f"which is not one of its classes {self.model.classes_!r}"
            )
        return codes


class LoopVoter:
    """Ask the models one by one, always with the same number of rows.

    Parameters
    ----------
    members : list of Member
        The models.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution.constant import ConstantVote
    >>> from replearn.execution.voters import LoopVoter, Member
    >>> counts = np.zeros((2, 1, 2), dtype=np.int32)
    >>> LoopVoter([Member(ConstantVote(7), 0, np.array([1]))]).add_votes(np.zeros((2, 3)), counts)
    >>> counts[:, 0, 1]
    array([1, 1], dtype=int32)
    """

    def __init__(self, members: list[Member]) -> None:
        self.members = members

    def prepare(self, X: Any) -> Any:
        """Leave the conversion to the models."""
        return sliceable(X)

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows."""
        for start, stop in row_chunks(n_rows(X), CHUNK):
            chunk = pad_rows(slice_rows(X, start, stop), CHUNK)
            for member in self.members:
                add_codes(counts[start:stop], member, member.predicted_codes(chunk))

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the class probabilities of some rows, model by model in a fixed order."""
        for start, stop in row_chunks(n_rows(X), CHUNK):
            chunk = pad_rows(slice_rows(X, start, stop), CHUNK)
            for member in self.members:
                shares = member.model.predict_proba(chunk)[: stop - start]
                totals[start:stop, member.partition, member.codes] += shares


class ConstantVoter:
    """Models that saw one class only.

    Parameters
    ----------
    members : list of Member
        Members whose model is a `ConstantVote`.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution.constant import ConstantVote
    >>> from replearn.execution.voters import ConstantVoter, Member
    >>> counts = np.zeros((2, 1, 2), dtype=np.int32)
    >>> voter = ConstantVoter([Member(ConstantVote(7), 0, np.array([1]))])
    >>> voter.add_votes(np.zeros((2, 3)), counts)
    >>> counts[:, 0, 1]
    array([1, 1], dtype=int32)
    """

    def __init__(self, members: list[Member]) -> None:
        self.members = members

    @staticmethod
    def recognises(model: Any, soft: bool) -> bool:
        """Tell whether the model is a constant."""
        return isinstance(model, ConstantVote)

    def prepare(self, X: Any) -> Any:
        """Do without the table: only its length is looked at."""
        return np.empty((n_rows(X), 0))

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add one vote per model to every row."""
        for member in self.members:
            counts[:, member.partition, member.codes[0]] += 1

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add probability one per model to every row."""
        for member in self.members:
            totals[:, member.partition, member.codes[0]] += 1.0


class Tally:
    """Count the answers of models with two classes, as a product of small whole numbers.

    They are exact in float32, and so is their sum in any order.

    Parameters
    ----------
    members : list of Member
        Models with two classes.
    shape : tuple of int
        Number of partitions and of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution.voters import Member, Tally
    >>> members = [Member(None, 0, np.array([0, 1])), Member(None, 0, np.array([0, 1]))]
    >>> counts = np.zeros((2, 1, 2), dtype=np.int32)
    >>> Tally(members, (1, 2)).add(np.array([[True, True], [False, True]]), counts)
    >>> counts[:, 0, 1]
    array([2, 1], dtype=int32)
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
        """Add a vote for the second class where the answer is true, else for the first.

        Parameters
        ----------
        answers : ndarray of bool, shape (rows, members)
            The answers.
        counts : ndarray of int32, shape (rows, n_partitions, n_classes)
            Changed in place.
        """
        moved = (answers.astype(np.float32) @ self._moves).astype(np.int32)
        others = moved.reshape(counts[..., 1:].shape)
        counts += self._if_nobody
        counts[..., 1:] += others
        counts[..., 0] -= others.sum(axis=2)


def add_codes(counts: NDArray[np.int32], member: Member, codes: NDArray[np.intp]) -> None:
    """Add one model's votes.

    Parameters
    ----------
    counts : ndarray of int32, shape (rows, n_partitions, n_classes)
        Changed in place.
    member : Member
        The model.
    codes : ndarray of intp
        Its answers; those beyond the rows of ``counts`` belong to padding.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution.constant import ConstantVote
    >>> from replearn.execution.voters import Member, add_codes
    >>> counts = np.zeros((2, 1, 2), dtype=np.int32)
    >>> add_codes(counts, Member(ConstantVote(7), 0, np.array([1])), np.array([1, 0, 0]))
    >>> counts[:, 0, 1]
    array([1, 0], dtype=int32)
    """
    codes = codes[: len(counts)]
    if counts.shape[2] == 2:
        counts[:, member.partition, 1] += codes
        counts[:, member.partition, 0] += 1 - codes
    else:
        counts[np.arange(len(counts)), member.partition, codes] += 1


def sliceable(X: Any) -> Any:
    """Bring a table into a form whose rows can be sliced cheaply, without changing its kind.

    Parameters
    ----------
    X : array-like, frame or sparse matrix
        Any container of rows.

    Returns
    -------
    same kind of container
        CSR with sorted indices for sparse matrices (a row's sum must not depend on their order).

    Examples
    --------
    >>> from scipy import sparse
    >>> from replearn.execution.voters import sliceable
    >>> sliceable(sparse.csc_matrix([[0, 1]])).format
    'csr'
    """
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X)
    if is_sparse(X):
        X = X.tocsr()
        return X if X.has_sorted_indices else X.sorted_indices()
    return X
