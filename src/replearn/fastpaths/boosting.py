"""Histogram boosting votes without walking its trees.

Tables of possible leaves lead to the leaf of each tree: see `replearn.fastpaths.bit_trees`. Leaf
values are added in the boosting's own order, so the votes are exactly those of ``predict``, several
times as fast.

The tables cost something for each model. Fewer rows are predicted by the models themselves, and a
handful by one table of all trees (`replearn.fastpaths.packed_trees`); the votes are the same. This
reads the node tables of fitted models, which are private to scikit-learn: models that look
different from what is expected predict one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from replearn.compat import boosting_is_readable
from replearn.execution import BlockModel, Predictor, add_codes
from replearn.fastpaths.bit_trees import BitTrees, are_expected, node_tables
from replearn.fastpaths.packed_trees import (
    FEW_ROWS,
    MAX_NODES,
    PackedTrees,
    count_votes,
    nodes_of_predictor,
)

MIN_ROWS = 128
"""Fewer rows are not worth the tables, which take about 1 ms for each model the first time."""


Tables = list[NDArray[Any]]
"""The node tables of one model, tree by tree."""


class BoostingPredictor(Predictor):
    """Histogram boosting models that vote on one table of ranks, or of numbers if it is short."""

    @cached_property
    def _packed(self) -> PackedBoostingVotes | None:
        return pack_boostings(self.block_models, [0] * len(self.block_models))

    @cached_property
    def _bit_trees(self) -> BitTrees:
        return BitTrees([block_model.model for block_model in self.block_models])

    @staticmethod
    def supports(model: Any, soft: bool) -> bool:
        """Tell whether the model is a boosting of small numeric trees, of the expected make."""
        return boosting_is_readable(model) and are_expected(node_tables(model))

    def prepare(self, X: Any) -> Any:
        """Validate the table once, as any of the models would; ranks if it is long enough."""
        options = {"dtype": np.float64, "order": "C", "ensure_all_finite": False}
        table = validate_data(self.block_models[0].model, X, reset=False, **options)
        return table if len(table) < MIN_ROWS else self._bit_trees.ranks(table)

    def part(self, start: int, stop: int) -> Predictor:
        """Return some of the models, which take the ranks of all."""
        part = BoostingPredictor(self.block_models[start:stop])
        part._bit_trees = self._bit_trees.part(start, stop)
        return part

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows: the second class iff the score is above zero."""
        if not _are_ranks(X) and len(X) <= FEW_ROWS and self._packed is not None:
            self._packed.add_votes(X.T, counts)
            return
        for block_model, scores in self._scores(X):
            second = np.asarray(scores[:, 0] > 0, dtype=np.intp)
            best = second if scores.shape[1] == 1 else scores.argmax(axis=1)
            add_codes(counts, block_model, block_model.codes[best])

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the class probabilities of some rows, model by model in a fixed order."""
        for block_model, scores in self._scores(X):
            shares = block_model.model._loss.predict_proba(scores)
            totals[:, block_model.partition, block_model.codes] += shares

    def _scores(self, X: NDArray[Any]) -> Iterator[tuple[BlockModel, NDArray[np.float64]]]:
        """Yield the raw scores of each model, of shape (rows, trees of an iteration)."""
        if _are_ranks(X):
            yield from zip(self.block_models, self._bit_trees.raw_scores(X), strict=True)
            return
        for block_model in self.block_models:
            yield block_model, _walked_scores(block_model.model, X)


class PackedBoostingVotes:
    """Boostings that vote together on a few rows; see `pack_boostings`."""

    def __init__(
        self, block_models: list[BlockModel], tables: list[Tables], offsets: Sequence[int]
    ) -> None:
        self._codes = np.array([block_model.codes for block_model in block_models])
        self._partitions = np.array([block_model.partition for block_model in block_models])
        nodes = [nodes_of_predictor(table) for own in tables for table in own]
        firsts = np.repeat(offsets, [len(own) for own in tables]).tolist()
        self._trees = PackedTrees(nodes, firsts)
        self._values = np.concatenate([table["value"] for own in tables for table in own])
        self._width = block_models[0].model.n_trees_per_iteration_
        rounds = np.array([len(own) // self._width for own in tables])
        self._baselines = np.array([np.ravel(m.model._baseline_prediction) for m in block_models])
        # which tree is the n-th of each model, or minus one where it has fewer
        self._indices = np.full((rounds.max(initial=0), len(block_models), self._width), -1)
        first = 0
        for block_model, n_rounds in enumerate(rounds):
            own = np.arange(first, first + n_rounds * self._width)
            self._indices[:n_rounds, block_model] = own.reshape(n_rounds, self._width)
            first += n_rounds * self._width

    def add_votes(self, features: NDArray[Any], counts: NDArray[np.int32]) -> None:
        """Add the votes on the columns of ``features``, which hold those of all models."""
        values = self._values.take(self._trees.leaves(features))
        # the last row stands for trees that are not there: to add zero changes no comparison
        values = np.vstack([values, np.zeros(len(counts))])
        scores = np.repeat(self._baselines[:, :, np.newaxis], len(counts), axis=2)
        for trees in self._indices:  # one after the other, as the boosting adds them
            scores += values[trees]
        best = scores[:, 0] > 0 if self._width == 1 else scores.argmax(axis=1)
        codes = np.take_along_axis(self._codes, best.astype(np.intp), axis=1)
        count_votes(codes, self._partitions, counts)


def pack_boostings(
    block_models: list[BlockModel], offsets: Sequence[int]
) -> PackedBoostingVotes | None:
    """Put the trees of boostings into one table; None if it were too large, or of several shapes.

    ``offsets`` says for each model where its first feature stands among those of all.
    """
    tables = [node_tables(block_model.model) for block_model in block_models]
    n_nodes = sum(len(table) for own in tables for table in own)
    widths = {block_model.model.n_trees_per_iteration_ for block_model in block_models}
    if n_nodes > MAX_NODES or len(widths) > 1 or not all(tables):
        return None
    return PackedBoostingVotes(block_models, tables, offsets)


def _are_ranks(X: NDArray[Any]) -> bool:
    return X.dtype == np.int32


def _walked_scores(model: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Let the model walk its own trees, on a table that is validated already."""
    scores = np.zeros((len(X), model.n_trees_per_iteration_), order="F")
    scores += model._baseline_prediction
    model._predict_iterations(X, model._predictors, scores, False, 1)
    return scores
