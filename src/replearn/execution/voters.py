"""What a panel of models is made of: groups that vote together, and the plain loop.

Votes of one row must not depend on the other rows of a batch, but matrix products round
differently for different shapes. A voter therefore promises that each row's votes are a function
of the row alone. The plain loop keeps that promise by always calling the model with the same
number of rows: `CHUNK` is a multiple of every register tile in use (4, 6, 8, 12, 16, 24, 32, 48,
64 or 96 rows), so each row, wherever it stands, goes through the same instructions.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from replearn.execution.constant import ConstantVote
from replearn.tables import n_rows, pad_rows, row_chunks, slice_rows

CHUNK = 384
"""Rows per call of a model; see the module's docstring."""


class Voter(Protocol):
    """A group of models that vote together."""

    def prepare(self, X: Any) -> Any:
        """Convert the whole table once."""

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some prepared rows to ``counts[row, partition, class]``."""

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the probabilities on some prepared rows to ``totals[row, partition, class]``."""


class Member:
    """One model of the panel: where its votes go.

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
    >>> Member(ConstantVote(7), 0, np.array([1])).codes
    array([1])
    """

    def __init__(self, model: Any, partition: int, codes: NDArray[np.intp]) -> None:
        self.model = model
        self.partition = partition
        self.codes = codes


class LoopVoter:
    """Ask the models one by one, always with `CHUNK` rows.

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
        """Leave the table as it is: the models convert it themselves."""
        return X

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows."""
        for start, stop in row_chunks(n_rows(X), CHUNK):
            chunk = pad_rows(slice_rows(X, start, stop), CHUNK)
            rows = np.arange(start, stop)
            for member in self.members:
                codes = predicted_codes(member, chunk)[: stop - start]
                counts[rows, member.partition, codes] += 1

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
    def recognises(model: Any) -> bool:
        """Tell whether the model is a constant."""
        return isinstance(model, ConstantVote)

    def prepare(self, X: Any) -> Any:
        """Leave the table as it is: nobody looks at it."""
        return X

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add one vote per model to every row."""
        for member in self.members:
            counts[:, member.partition, member.codes[0]] += 1

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add probability one per model to every row."""
        for member in self.members:
            totals[:, member.partition, member.codes[0]] += 1.0


def predicted_codes(member: Member, X: Any) -> NDArray[np.intp]:
    """Ask one model, and translate its labels to positions in the list of all classes.

    Parameters
    ----------
    member : Member
        A model of the panel.
    X : container of rows
        The rows.

    Returns
    -------
    ndarray of intp
        One code per row.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution.constant import ConstantVote
    >>> from replearn.execution.voters import Member, predicted_codes
    >>> predicted_codes(Member(ConstantVote("b"), 0, np.array([1])), np.zeros((2, 3)))
    array([1, 1])
    """
    labels = np.asarray(member.model.predict(X))
    classes = member.model.classes_
    positions = np.searchsorted(classes, labels)
    return member.codes[positions]
