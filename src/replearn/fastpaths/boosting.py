"""Histogram boosting votes without walking its trees.

Tables of possible leaves lead to the leaf of each tree: see `replearn.fastpaths.bit_trees`. Leaf
values are added in the boosting's own order, so the votes are exactly those of ``predict``, several
times as fast.

The tables cost something for each model: fewer rows are predicted by the models themselves. This
reads the node tables of fitted models, which are private to scikit-learn: models that look
different from what is expected predict one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from replearn.compat import boosting_is_readable
from replearn.execution.plugins import BlockModel, Predictor
from replearn.execution.voting import add_codes
from replearn.fastpaths.bit_trees import BitTrees, are_expected, node_tables

MIN_ROWS = 128
"""Fewer rows are not worth the tables, which take about 1 ms for each model the first time."""


class BoostingPredictor(Predictor):
    """Histogram boosting models that vote on one table of ranks, or of numbers if it is short."""

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


def _are_ranks(X: NDArray[Any]) -> bool:
    return X.dtype == np.int32


def _walked_scores(model: Any, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Let the model walk its own trees, on a table that is validated already."""
    scores = np.zeros((len(X), model.n_trees_per_iteration_), order="F")
    scores += model._baseline_prediction
    model._predict_iterations(X, model._predictors, scores, False, 1)
    return scores
