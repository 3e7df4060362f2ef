"""Trees and forests vote through their leaves, on a table that is converted once.

A leaf's answer is looked up, never computed again, so the votes are exactly those of ``predict``.
A few rows walk all trees at once (`replearn.fastpaths.packed_trees`). Forests add the trees'
probabilities in the order of the trees, as scikit-learn does on one thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.validation import validate_data

from replearn.execution.plugins import Member, Voter
from replearn.execution.voting import add_codes
from replearn.fastpaths.packed_trees import (
    FEW_ROWS,
    MOST_NODES,
    PackedTrees,
    count_votes,
    nodes_of_tree,
)
from replearn.tables import is_sparse, n_rows, row_chunks, take_rows

TREES = frozenset({DecisionTreeClassifier, ExtraTreeClassifier})
FORESTS = frozenset({ExtraTreesClassifier, RandomForestClassifier})
"""Exact types: a subclass may predict in its own way."""

ROWS_PER_CHUNK = 2048
"""Rows sent through all trees before the next ones: they stay in the cache."""


class TreeVoter(Voter):
    """Trees and forests that vote on one converted table."""

    def __init__(self, members: list[Member]) -> None:
        self.members = members
        self._answers = [_leaf_answers(member) for member in members]
        self._takes_missing = False

    @cached_property
    def _packed(self) -> PackedTreeVotes | None:
        return pack_trees(self.members, [0] * len(self.members))

    @staticmethod
    def recognises(model: Any, soft: bool) -> bool:
        """Tell whether the model is a tree or a forest with one output."""
        return type(model) in TREES | FORESTS and model.n_outputs_ == 1

    def prepare(self, X: Any) -> Any:
        """Convert the table to float32 once, as any of the models would."""
        model = self.members[0].model
        finite = True if is_sparse(X) else "allow-nan"
        options = {"accept_sparse": "csr", "dtype": np.float32, "order": "C"}
        table = validate_data(model, X, reset=False, ensure_all_finite=finite, **options)
        if not self._takes_missing and not is_sparse(table) and np.isnan(table).any():
            # Whether a tree takes missing values depends on its parameters: let it refuse.
            row = np.isnan(table).any(axis=1).argmax()
            model.predict(take_rows(X, np.array([row])))
            self._takes_missing = True
        return table

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows."""
        if n_rows(X) <= FEW_ROWS and not is_sparse(X) and self._packed is not None:
            self._packed.add_votes(X.T, counts)
            return
        for start, stop in row_chunks(n_rows(X), ROWS_PER_CHUNK):
            rows = X[start:stop]
            part = counts[start:stop]
            for member, answers in zip(self.members, self._answers, strict=True):
                if answers is None:
                    best = _forest_shares(member.model, rows).argmax(axis=1)
                    add_codes(part, member, member.codes[best])
                else:
                    add_codes(part, member, answers.take(member.model.tree_.apply(rows)))

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the class probabilities of some rows, model by model in a fixed order."""
        for start, stop in row_chunks(n_rows(X), ROWS_PER_CHUNK):
            rows = X[start:stop]
            part = totals[start:stop]
            for member in self.members:
                if type(member.model) in FORESTS:
                    shares = _forest_shares(member.model, rows)
                else:
                    shares = member.model.tree_.predict(rows)
                part[:, member.partition, member.codes] += shares


class PackedTreeVotes:
    """Trees that vote together on a few rows; see `pack_trees`."""

    def __init__(self, trees: PackedTrees, members: list[Member]) -> None:
        self._trees = trees
        self._codes = np.concatenate([_leaf_answers(member) for member in members])
        self._partitions = np.array([member.partition for member in members])

    def add_votes(self, features: NDArray[Any], counts: NDArray[np.int32]) -> None:
        """Add the votes on the columns of ``features``, which hold those of all trees."""
        codes = self._codes.take(self._trees.leaves(features))
        count_votes(codes, self._partitions, counts)


def pack_trees(members: list[Member], offsets: Sequence[int]) -> PackedTreeVotes | None:
    """Put trees into one table; None if some are no trees, or the table were too large.

    ``offsets`` says for each tree where its first feature stands among those of all.
    """
    if any(type(member.model) not in TREES for member in members):
        return None
    if sum(member.model.tree_.node_count for member in members) > MOST_NODES:
        return None
    nodes = [nodes_of_tree(member.model.tree_) for member in members]
    return PackedTreeVotes(PackedTrees(nodes, offsets), members)


def _leaf_answers(member: Member) -> NDArray[np.intp] | None:
    """Look up the class of every node of a tree once; a forest's answer is no single leaf's."""
    if type(member.model) in FORESTS:
        return None
    answers: NDArray[np.intp] = member.codes[member.model.tree_.value[:, 0, :].argmax(axis=1)]
    return answers


def _forest_shares(forest: Any, rows: Any) -> NDArray[np.float64]:
    shares = np.zeros((n_rows(rows), len(forest.classes_)))
    for tree in forest.estimators_:
        shares += tree.tree_.predict(rows)
    shares /= len(forest.estimators_)
    return shares
