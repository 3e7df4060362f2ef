"""Put the models of a panel into groups that vote together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from replearn.execution.voters import (
    ConstantVoter,
    LoopVoter,
    Member,
    Voter,
    add_codes,
    sliceable,
)
from replearn.fastpaths.rowwise import ROWWISE_CLASSIFIERS, is_rowwise_transformer
from replearn.fastpaths.voting_bayes import GaussianVoter
from replearn.fastpaths.voting_boosting import BoostingVoter
from replearn.fastpaths.voting_encoded import encode_members
from replearn.fastpaths.voting_folded import fold_members
from replearn.fastpaths.voting_linear import LinearVoter
from replearn.fastpaths.voting_trees import TreeVoter
from replearn.tables import n_rows, row_chunks, slice_rows

ROWS_PER_CHUNK = 6144
"""Rows transformed at a time: what the transformers make of them must fit into memory."""


class RowwiseVoter:
    """Models that treat each row on its own: asked one by one, with all rows at once.

    Parameters
    ----------
    members : list of Member
        Members that `recognises` accepts.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from replearn.execution.grouping import RowwiseVoter
    >>> from replearn.execution.voters import Member
    >>> model = DummyClassifier().fit([[0], [0], [0]], [0, 1, 1])
    >>> counts = np.zeros((2, 1, 2), dtype=np.int32)
    >>> RowwiseVoter([Member(model, 0, np.array([0, 1]))]).add_votes(np.zeros((2, 1)), counts)
    >>> counts[:, 0, 1]
    array([1, 1], dtype=int32)
    """

    def __init__(self, members: list[Member]) -> None:
        self.members = members

    @staticmethod
    def recognises(model: Any, soft: bool) -> bool:
        """Tell whether the model treats each row on its own."""
        return type(model) in ROWWISE_CLASSIFIERS

    def prepare(self, X: Any) -> Any:
        """Leave the conversion to the models."""
        return sliceable(X)

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows."""
        for member in self.members:
            add_codes(counts, member, member.predicted_codes(X))

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the class probabilities of some rows, model by model in a fixed order."""
        for member in self.members:
            totals[:, member.partition, member.codes] += member.model.predict_proba(X)


class PipelineVoter:
    """Pipelines whose transformers treat each row on its own; the last step votes by its kind.

    Parameters
    ----------
    members : list of Member
        Members that `recognises` accepts.
    soft : bool, default=False
        Whether probabilities will be asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn.execution.grouping import PipelineVoter
    >>> from replearn.execution.voters import Member
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> model = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(X, y)
    >>> counts = np.zeros((4, 1, 2), dtype=np.int32)
    >>> PipelineVoter([Member(model, 0, np.array([0, 1]))]).add_votes(X, counts)
    >>> counts[:, 0, 1]
    array([0, 0, 1, 1], dtype=int32)
    """

    def __init__(self, members: list[Member], soft: bool = False) -> None:
        self._pipelines = [
            ([step for _, step in member.model.steps[:-1]], _last_step_voter(member, soft))
            for member in members
        ]

    @staticmethod
    def recognises(model: Any, soft: bool) -> bool:
        """Tell whether the model is a pipeline of transformers that treat each row on its own."""
        return type(model) is Pipeline and all(
            is_rowwise_transformer(step) for _, step in model.steps[:-1]
        )

    def prepare(self, X: Any) -> Any:
        """Leave the conversion to the transformers."""
        return sliceable(X)

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows."""
        for start, stop in row_chunks(n_rows(X), ROWS_PER_CHUNK):
            rows = slice_rows(X, start, stop)
            for steps, voter in self._pipelines:
                voter.add_votes(voter.prepare(_transform(steps, rows)), counts[start:stop])

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the class probabilities of some rows, model by model in a fixed order."""
        for start, stop in row_chunks(n_rows(X), ROWS_PER_CHUNK):
            rows = slice_rows(X, start, stop)
            for steps, voter in self._pipelines:
                voter.add_probabilities(voter.prepare(_transform(steps, rows)), totals[start:stop])


FAST_VOTERS: tuple[Any, ...] = (
    ConstantVoter,
    LinearVoter,
    TreeVoter,
    GaussianVoter,
    BoostingVoter,
    RowwiseVoter,
)
"""Each takes the models it recognises; pipelines come next, and the plain loop takes the rest."""


def group_members(members: list[Member], *, soft: bool = False) -> list[Voter]:
    """Put models into groups that vote together.

    Parameters
    ----------
    members : list of Member
        All models of a panel.
    soft : bool, default=False
        Whether probabilities will be asked for, or votes.

    Returns
    -------
    list of Voter
        Every member is in exactly one of them.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution.constant import ConstantVote
    >>> from replearn.execution.grouping import group_members
    >>> from replearn.execution.voters import Member
    >>> [type(voter).__name__ for voter in group_members([Member(ConstantVote(7), 0, [1])])]
    ['ConstantVoter']
    """
    voters: list[Voter] = []
    for kind in FAST_VOTERS:
        chosen, members = _split(kind, members, soft)
        if chosen:
            voters.append(kind(chosen))
    folding, members = fold_members(members, soft)
    if folding is not None:
        voters.append(folding)
    encoding, members = encode_members(
        members, soft, lambda last: group_members([last], soft=soft)[0]
    )
    if encoding is not None:
        voters.append(encoding)
    chosen, members = _split(PipelineVoter, members, soft)
    if chosen:
        voters.append(PipelineVoter(chosen, soft))
    if members:
        voters.append(LoopVoter(members))
    return voters


def _split(kind: Any, members: list[Member], soft: bool) -> tuple[list[Member], list[Member]]:
    known = [kind.recognises(member.model, soft) for member in members]
    chosen = [member for member, yes in zip(members, known, strict=True) if yes]
    return chosen, [member for member, yes in zip(members, known, strict=True) if not yes]


def _last_step_voter(member: Member, soft: bool) -> Voter:
    last = Member(member.model.steps[-1][1], member.partition, member.codes)
    return group_members([last], soft=soft)[0]


def _transform(steps: list[Any], X: Any) -> Any:
    for step in steps:
        if step is not None and step != "passthrough":
            X = step.transform(X)
    return X
