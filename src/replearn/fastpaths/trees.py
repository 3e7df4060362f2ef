"""Trees and forests vote through their leaves, on a table that is converted once.

A leaf's prediction is looked up, never computed again, so the votes are exactly those of
``predict``. Many rows are put into an order in which neighbours take the same turns: a processor
guesses the next turn, and a wrong guess costs more than the comparison. Forests add the trees'
probabilities in the order of the trees, as scikit-learn does on one thread; for hard votes a row is
left out as soon as the missing trees cannot change its class.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.validation import validate_data

from replearn.execution.plugins import BlockModel, Predictor
from replearn.execution.voting import add_codes
from replearn.tables.rows import is_sparse, n_rows, row_chunks, take_rows

TREES = frozenset({DecisionTreeClassifier, ExtraTreeClassifier})
FORESTS = frozenset({ExtraTreesClassifier, RandomForestClassifier})
"""Exact types: a subclass may predict in its own way."""

ROWS_PER_CHUNK = 16384
"""Rows sent through all trees before the next ones: they stay in the cache."""

MIN_ROWS_TO_ORDER = 1024
MIN_TREES_TO_ORDER = 12
"""Fewer rows, or fewer trees, are not worth an order."""

TREES_TO_ORDER = 128
TURNS_TO_ORDER = 8
"""Rows are ordered by the most frequent turns of this many trees."""

STOPS = (0.54, 0.62, 0.72, 0.85)
"""Shares of a forest's trees after which rows that are decided are left out."""

ROUNDING = 1e-6
"""More than the sums of probabilities of a forest's trees can be rounded by."""


class TreesPredictor(Predictor):
    """Trees and forests that vote on one converted table."""

    def __init__(self, block_models: list[BlockModel]) -> None:
        self.block_models = block_models
        self._leaf_codes = [_leaf_predictions(block_model) for block_model in block_models]
        self._takes_missing = False
        self._n_trees = sum(
            len(getattr(block_model.model, "estimators_", [None])) for block_model in block_models
        )

    @cached_property
    def _turns(self) -> Turns:
        return frequent_turns([block_model.model for block_model in self.block_models])

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
        if n_rows(X) < MIN_ROWS_TO_ORDER or is_sparse(X) or self._n_trees < MIN_TREES_TO_ORDER:
            self._count(X, counts)
            return
        order = self._turns.order(X)
        ordered = np.zeros_like(counts)
        self._count(X[order], ordered)
        counts[order] += ordered

    def _count(self, X: Any, counts: NDArray[np.int32]) -> None:
        for start, stop in row_chunks(n_rows(X), ROWS_PER_CHUNK):
            rows = X[start:stop]
            part = counts[start:stop]
            for block_model, predictions in zip(self.block_models, self._leaf_codes, strict=True):
                if predictions is None:
                    best = forest_predictions(block_model.model, rows)
                    add_codes(part, block_model, block_model.codes[best])
                else:
                    leaves = block_model.model.tree_.apply(rows)
                    add_codes(part, block_model, predictions.take(leaves))

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


def _leaf_predictions(block_model: BlockModel) -> NDArray[np.intp] | None:
    """Look up the class of every node of a tree once; a forest's prediction is no single leaf's."""
    if type(block_model.model) in FORESTS:
        return None
    predictions: NDArray[np.intp] = block_model.codes[
        block_model.model.tree_.value[:, 0, :].argmax(axis=1)
    ]
    return predictions


class Turns(NamedTuple):
    """Comparisons ``x[feature] <= threshold`` that many trees make for many rows."""

    features: NDArray[np.intp]
    thresholds: NDArray[np.float64]

    def order(self, X: NDArray[np.float32]) -> NDArray[np.intp]:
        """Return an order of the rows in which neighbours take the same turns.

        >>> Turns(np.array([0]), np.array([0.5])).order(np.array([[0.0], [1.0], [0.2]]))
        array([1, 0, 2])
        """
        taken = X[:, self.features] <= self.thresholds
        return np.packbits(taken, axis=1)[:, 0].argsort(kind="stable")


def frequent_turns(models: Sequence[Any]) -> Turns:
    """Find the features that split most training rows, each with its weighted median threshold."""
    trees = [
        tree.tree_
        for model in models[:TREES_TO_ORDER]
        for tree in (model.estimators_[:1] if type(model) in FORESTS else [model])
    ]
    features = np.concatenate([tree.feature for tree in trees])
    inner = features >= 0
    if not inner.any():
        return Turns(np.zeros(1, dtype=np.intp), np.zeros(1))
    features = features[inner]
    thresholds = np.concatenate([tree.threshold for tree in trees])[inner]
    n_samples = np.concatenate([tree.n_node_samples for tree in trees])[inner]
    totals = np.bincount(features, weights=n_samples)
    chosen = np.argsort(-totals)[: min(TURNS_TO_ORDER, np.count_nonzero(totals))]
    medians = []
    for feature in chosen:
        own = np.flatnonzero(features == feature)
        own = own[thresholds[own].argsort()]
        half = n_samples[own].cumsum().searchsorted(totals[feature] / 2)
        medians.append(thresholds[own[half]])
    return Turns(chosen, np.array(medians))


def forest_predictions(forest: Any, rows: Any) -> NDArray[np.intp]:
    """Return the class of each row; rows that the missing trees cannot change are left out.

    The probabilities of one tree lie in [0, 1], so that each missing tree brings a class at most 1
    closer to the one that leads.
    """
    trees = forest.estimators_
    best = np.empty(n_rows(rows), dtype=np.intp)
    open_rows = np.arange(n_rows(rows))
    shares = np.zeros((n_rows(rows), len(forest.classes_)))
    ends = [0, *sorted({round(share * len(trees)) for share in STOPS} - {0, len(trees)})]
    for start, stop in pairwise([*ends, len(trees)]):
        for tree in trees[start:stop]:
            shares += tree.tree_.predict(rows)
        n_missing = len(trees) - stop
        if n_missing == 0:
            best[open_rows] = (shares / len(trees)).argmax(axis=1)
            break
        is_decided = _lead(shares) > n_missing + ROUNDING
        best[open_rows[is_decided]] = shares[is_decided].argmax(axis=1)
        open_rows = open_rows[~is_decided]
        if not len(open_rows):
            break
        shares = shares[~is_decided]
        rows = rows[~is_decided]
    return best


def _lead(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return by how much the largest share exceeds the second largest."""
    if shares.shape[1] < 2:
        return np.full(len(shares), np.inf)
    if shares.shape[1] == 2:
        return np.abs(shares[:, 1] - shares[:, 0])
    second, first = np.partition(shares, -2, axis=1)[:, -2:].T
    return np.asarray(first - second)


def _forest_shares(forest: Any, rows: Any) -> NDArray[np.float64]:
    shares = np.zeros((n_rows(rows), len(forest.classes_)))
    for tree in forest.estimators_:
        shares += tree.tree_.predict(rows)
    shares /= len(forest.estimators_)
    return shares
