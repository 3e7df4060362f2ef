"""The trees of one boosting as tables of possible leaves.

For one model and one feature, a table says for each rank of the feature's value which leaves of
each tree are still possible, one bit per leaf; the bitwise *and* over the features leaves one bit
per tree, its leaf. The idea of leaf bit sets is QuickScorer's (Lucchese et al., SIGIR 2015).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.tables import row_chunks

ROWS_PER_CHUNK = 2048
"""Rows whose leaf sets are kept at a time: they stay in the cache, and threads seldom meet."""

MAX_LEAVES = 64
FIELDS = {"value", "feature_idx", "num_threshold", "missing_go_to_left", "left", "right"}
FLAGS = {"is_leaf", "is_categorical"}


class BitTrees:
    """The trees of one boosting whose `node_tables` are accepted by `are_expected`.

    ``points`` are the sorted split points of each feature, the model's among them.
    """

    def __init__(self, model: Any, points: list[NDArray[np.float64]]) -> None:
        tables = node_tables(model)
        self._width = model.n_trees_per_iteration_
        self._baseline = np.reshape(model._baseline_prediction, (-1, 1))
        self._values = _leaf_values(tables)
        sizes = np.array([len(table) for table in tables])
        trees = np.repeat(np.arange(len(tables)), sizes)
        nodes = join_tables(tables)
        self._all_leaves, if_left, if_right = _leaf_sets(nodes, sizes)
        inner = nodes["is_leaf"] == 0
        self._features = []
        for feature, sorted_points in enumerate(points):
            used = np.flatnonzero(inner & (nodes["feature_idx"] == feature))
            if len(used):
                own, sets = _allowed_leaves(
                    nodes[used], trees[used], if_left[used], if_right[used], len(tables)
                )
                self._features.append((feature, _codes(own, sorted_points), sets))

    def raw_scores(self, ranks: NDArray[np.intp]) -> NDArray[np.float64]:
        """Add up the leaf values of each row, in the order of the trees.

        ``ranks`` has one row per feature: the number of split points below each value, and one
        more than their number where it is missing.
        """
        scores = np.empty((self._width, ranks.shape[1]))
        n_trees = len(self._all_leaves[0])
        for start, stop in row_chunks(ranks.shape[1], ROWS_PER_CHUNK):
            terms = np.empty((1 + n_trees // self._width, self._width, stop - start))
            terms[0] = self._baseline
            leaves = terms[1:].reshape(n_trees, stop - start)
            self._values.take(self._indices(ranks[:, start:stop]), out=leaves, mode="clip")
            # Along the first axis numpy adds one layer after the other, as the boosting does; but
            # a single column it would add in pairs, and the sum depend on the size of the batch.
            if terms[0].size == 1:
                scores[:, start:stop] = np.add.accumulate(terms, axis=0)[-1]
            else:
                np.add.reduce(terms, axis=0, out=scores[:, start:stop])
        return scores.T

    def _indices(self, ranks: NDArray[np.intp]) -> NDArray[np.int64]:
        """Find the index of each row's leaf in the list of values; shape (trees, rows)."""
        possible = np.repeat(self._all_leaves, ranks.shape[1], axis=0)
        allowed = np.empty_like(possible)  # fresh memory for each feature would cost more
        for feature, code_of_rank, sets in self._features:
            sets.take(code_of_rank.take(ranks[feature]), axis=0, out=allowed, mode="clip")
            possible &= allowed
        # One bit is left: a power of two, whose floating-point exponent is its position.
        bits = possible.T.astype(np.float64, order="C").view(np.int64)
        bits >>= 52
        bits += (np.arange(len(bits)) * MAX_LEAVES - 1023)[:, np.newaxis]
        return bits


def _allowed_leaves(
    nodes: NDArray[Any],
    trees: NDArray[np.intp],
    if_left: NDArray[Any],
    if_right: NDArray[Any],
    n_trees: int,
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the split points of one feature, and the leaves it leaves possible by code and tree.

    The code of a value is the number of points below it; the last code: missing.
    """
    points, indices = np.unique(nodes["num_threshold"], return_inverse=True)
    n_codes = len(points) + 1
    sets = np.invert(np.zeros((n_codes + 1, n_trees), dtype=if_left.dtype))
    left = sets[:n_codes].copy()
    # A value with c points below it goes right at points 0 ... c - 1, left at the others.
    np.bitwise_and.at(sets, (indices + 1, trees), if_right)
    np.bitwise_and.at(left, (indices, trees), if_left)
    np.bitwise_and.accumulate(sets[:n_codes], axis=0, out=sets[:n_codes])
    sets[:n_codes] &= np.bitwise_and.accumulate(left[::-1], axis=0)[::-1]
    if_missing = np.where(nodes["missing_go_to_left"] == 1, if_left, if_right)
    np.bitwise_and.at(sets[n_codes], trees, if_missing)
    return points, sets


def _codes(own: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Translate ranks among all points to codes of a model with points of its own."""
    codes = np.zeros(len(points) + 2, dtype=np.uint16)
    codes[1:-1] = own.searchsorted(points, side="right")
    codes[-1] = len(own) + 1
    return codes


def node_tables(model: Any) -> list[NDArray[Any]]:
    """List the node tables of a fitted histogram boosting, tree by tree."""
    return [tree.nodes for iteration in model._predictors for tree in iteration]


def join_tables(tables: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate node tables as plain bytes: numpy need not compare their fields."""
    kind = tables[0].dtype
    return np.concatenate([table.view(f"V{kind.itemsize}") for table in tables]).view(kind)


def are_expected(tables: list[NDArray[Any]]) -> bool:
    """Tell whether the node tables of a model can be turned into leaf sets."""
    if not all(set(table.dtype.names or ()) >= FIELDS | FLAGS for table in tables):
        return False
    if len({table.dtype for table in tables}) != 1:
        return False
    sizes = np.array([len(table) for table in tables])
    nodes = join_tables(tables)
    inner = nodes["is_leaf"] == 0
    tree_of_node = np.repeat(np.arange(len(tables)), sizes)
    n_leaves = np.bincount(tree_of_node[~inner], minlength=len(tables))
    index_in_tree = np.arange(len(nodes)) - (sizes.cumsum() - sizes)[tree_of_node]
    children = np.stack([nodes["left"][inner], nodes["right"][inner]])
    return bool(
        not nodes["is_categorical"].any()
        and n_leaves.max() <= MAX_LEAVES
        and (children > index_in_tree[inner]).all()
        and (children < sizes[tree_of_node[inner]]).all()
    )


def _leaf_values(tables: list[NDArray[Any]]) -> NDArray[np.float64]:
    """List the leaf values of all trees, `MAX_LEAVES` entries for each."""
    values = np.zeros((len(tables), MAX_LEAVES))
    for row, nodes in zip(values, tables, strict=True):
        leaves = nodes["value"][nodes["is_leaf"] == 1]
        row[: len(leaves)] = leaves
    return values.ravel()


def _leaf_sets(
    nodes: NDArray[Any], sizes: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return all leaves of each tree, and what stays possible left and right of each node."""
    real = np.arange(sizes.max()) < sizes[:, np.newaxis]
    padded = np.zeros(real.shape, dtype=nodes.dtype)
    padded[real] = nodes
    is_leaf = padded["is_leaf"] == 1
    numbers = np.cumsum(is_leaf, axis=1) - 1
    set_type = np.uint32 if numbers.max() < 32 else np.uint64
    sets = np.where(is_leaf, np.left_shift(set_type(1), numbers.astype(set_type)), set_type(0))
    left = padded["left"].astype(np.intp)
    right = padded["right"].astype(np.intp)
    for node in range(sizes.max() - 1, -1, -1):  # children stand behind their parents
        trees = np.flatnonzero(~is_leaf[:, node] & real[:, node])
        sets[trees, node] = sets[trees, left[trees, node]] | sets[trees, right[trees, node]]
    rows = np.arange(len(sizes))[:, np.newaxis]
    # Going left rules out what lies on the right, and the other way round.
    return sets[np.newaxis, :, 0], ~sets[rows, right][real], ~sets[rows, left][real]
