"""Hundreds of trees side by side in one table, for a few rows at a time.

A call per tree costs ten microseconds and more, whatever the number of rows. Here all trees take
one step at once, for every row: as many steps as the deepest tree is deep. Each comparison is the
one that the tree makes itself, so every row ends in the same leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEW_ROWS = 16
"""From here on the trees are faster one by one: their own loops pass over many rows."""

MAX_NODES = 2**22
"""Nodes of all trees together, about 100 MB."""


@dataclass(frozen=True)
class Nodes:
    """One tree: its children (a leaf has none, the number is not read), features and borders."""

    is_leaf: NDArray[np.bool_]
    left: NDArray[Any]
    right: NDArray[Any]
    feature: NDArray[Any]
    threshold: NDArray[np.float64]
    missing_goes_left: NDArray[Any]


def nodes_of_tree(tree: Any) -> Nodes:
    """Read the table of a tree as scikit-learn's decision trees keep it."""
    left = tree.children_left
    right = tree.children_right
    missing = tree.missing_go_to_left
    return Nodes(left == -1, left, right, tree.feature, tree.threshold, missing)


def nodes_of_predictor(table: NDArray[Any]) -> Nodes:
    """Read the node table of one tree of a histogram boosting."""
    missing = table["missing_go_to_left"]
    is_leaf = table["is_leaf"] == 1
    children = (table["left"], table["right"])
    return Nodes(is_leaf, *children, table["feature_idx"], table["num_threshold"], missing)


class PackedTrees:
    """Trees that are walked together.

    ``offsets`` says for each tree where its first feature stands among those of all.
    """

    def __init__(self, trees: Sequence[Nodes], offsets: Sequence[int]) -> None:
        sizes = np.array([len(nodes.is_leaf) for nodes in trees])
        self.roots = np.concatenate([[0], sizes.cumsum()[:-1]])
        first = np.repeat(self.roots, sizes)
        is_leaf = np.concatenate([nodes.is_leaf for nodes in trees])
        itself = np.arange(len(is_leaf))
        left = np.where(is_leaf, itself, first + _joined(trees, "left"))
        right = np.where(is_leaf, itself, first + _joined(trees, "right"))
        self._depth = _depth(self.roots, left, right, is_leaf)
        # A leaf leads to itself, whichever way: trees that have arrived wait for the others.
        self._children = np.column_stack([right, left]).ravel()
        own = np.where(is_leaf, 0, _joined(trees, "feature").astype(np.intp))
        self._features = own + np.repeat(np.asarray(offsets, dtype=np.intp), sizes)
        self._thresholds = _joined(trees, "threshold").astype(np.float64)
        self._missing_left = _joined(trees, "missing_goes_left").astype(bool)

    def leaves(self, features: NDArray[Any]) -> NDArray[np.intp]:
        """Return the node where each row ends, counted through all trees; shape (trees, rows).

        ``features`` has one row per feature and a column for each row of the table.
        """
        n_rows = features.shape[1]
        cells = features.ravel()
        column = np.arange(n_rows)
        some_missing = bool(np.isnan(features).any())
        at = np.repeat(self.roots[:, np.newaxis], n_rows, axis=1)
        for _ in range(self._depth):
            values = cells.take(self._features.take(at) * n_rows + column)
            goes_left = values <= self._thresholds.take(at)
            if some_missing:
                goes_left |= np.isnan(values) & self._missing_left.take(at)
            at = self._children.take(2 * at + goes_left)
        return at


def count_votes(
    codes: NDArray[np.intp], partitions: NDArray[np.intp], counts: NDArray[np.int32]
) -> None:
    """Add votes to ``counts[row, partition, class]``; ``codes`` has a row for each model.

    >>> counts = np.zeros((2, 1, 2), dtype=np.int32)
    >>> count_votes(np.array([[0, 1], [1, 1]]), np.array([0, 0]), counts)
    >>> counts[:, 0].tolist()
    [[1, 1], [0, 2]]
    """
    n_rows, n_partitions, n_classes = counts.shape
    cells = n_partitions * np.arange(n_rows) + partitions[:, np.newaxis]
    indices = (cells * n_classes + codes).ravel()
    counts += np.bincount(indices, minlength=counts.size).reshape(counts.shape)


def _joined(trees: Sequence[Nodes], field: str) -> NDArray[Any]:
    return np.concatenate([getattr(nodes, field) for nodes in trees])


def _depth(
    roots: NDArray[np.intp],
    left: NDArray[np.intp],
    right: NDArray[np.intp],
    is_leaf: NDArray[np.bool_],
) -> int:
    """Count the steps to the deepest leaf."""
    depth = 0
    level = roots[~is_leaf[roots]]
    while len(level):
        depth += 1
        level = np.concatenate([left[level], right[level]])
        level = level[~is_leaf[level]]
    return depth
