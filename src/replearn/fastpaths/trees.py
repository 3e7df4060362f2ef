"""Trees and forests vote through their leaves, on a table that is converted once.

A leaf's prediction is looked up, never computed again, so the votes are exactly those of
``predict``.
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

from replearn.execution import BlockModel, Predictor, add_codes
from replearn.fastpaths.packed_trees import (
    FEW_ROWS,
    MAX_NODES,
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


class TreesPredictor(Predictor):
    """Trees and forests that vote on one converted table."""

    def __init__(self, block_models: list[BlockModel]) -> None:
        self.block_models = block_models
        self._leaf_codes = [_leaf_predictions(block_model) for block_model in block_models]
        self._takes_missing = False

    @cached_property
    def _packed(self) -> PackedTreeVotes | None:
        return pack_trees(self.block_models, [0] * len(self.block_models))

    @staticmethod
    def supports(model: Any, soft: bool) -> bool:
        """Tell whether the model is a tree or a forest with one output."""
        return type(model) in TREES | FORESTS and model.n_outputs_ == 1

    def prepare(self, X: Any) -> Any:
        """Convert the table to float32 once, as any of the models would."""
        model = self.block_models[0].model
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
            for block_model, predictions in zip(self.block_models, self._leaf_codes, strict=True):
                if predictions is None:
                    best = _forest_shares(block_model.model, rows).argmax(axis=1)
                    add_codes(part, block_model, block_model.codes[best])
                else:
                    add_codes(
                        part, block_model, predictions.take(block_model.model.tree_.apply(rows))
                    )

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the class probabilities of some rows, model by model in a fixed order."""
        for start, stop in row_chunks(n_rows(X), ROWS_PER_CHUNK):
            rows = X[start:stop]
            part = totals[start:stop]
            for block_model in self.block_models:
                if type(block_model.model) in FORESTS:
                    shares = _forest_shares(block_model.model, rows)
                else:
                    shares = block_model.model.tree_.predict(rows)
                part[:, block_model.partition, block_model.codes] += shares


class PackedTreeVotes:
    """Trees that vote together on a few rows; see `pack_trees`."""

    def __init__(self, trees: PackedTrees, block_models: list[BlockModel]) -> None:
        self._trees = trees
        self._codes = np.concatenate(
            [_leaf_predictions(block_model) for block_model in block_models]
        )
        self._partitions = np.array([block_model.partition for block_model in block_models])

    def add_votes(self, features: NDArray[Any], counts: NDArray[np.int32]) -> None:
        """Add the votes on the columns of ``features``, which hold those of all trees."""
        codes = self._codes.take(self._trees.leaves(features))
        count_votes(codes, self._partitions, counts)


def pack_trees(block_models: list[BlockModel], offsets: Sequence[int]) -> PackedTreeVotes | None:
    """Put trees into one table; None if some are no trees, or the table were too large.

    ``offsets`` says for each tree where its first feature stands among those of all.
    """
    if any(type(block_model.model) not in TREES for block_model in block_models):
        return None
    if sum(block_model.model.tree_.node_count for block_model in block_models) > MAX_NODES:
        return None
    nodes = [nodes_of_tree(block_model.model.tree_) for block_model in block_models]
    return PackedTreeVotes(PackedTrees(nodes, offsets), block_models)


def _leaf_predictions(block_model: BlockModel) -> NDArray[np.intp] | None:
    """Look up the class of every node of a tree once; a forest's prediction is no single leaf's."""
    if type(block_model.model) in FORESTS:
        return None
    predictions: NDArray[np.intp] = block_model.codes[
        block_model.model.tree_.value[:, 0, :].argmax(axis=1)
    ]
    return predictions


def _forest_shares(forest: Any, rows: Any) -> NDArray[np.float64]:
    shares = np.zeros((n_rows(rows), len(forest.classes_)))
    for tree in forest.estimators_:
        shares += tree.tree_.predict(rows)
    shares /= len(forest.estimators_)
    return shares
