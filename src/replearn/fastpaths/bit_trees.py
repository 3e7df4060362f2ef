"""The trees of boostings as tables of possible leaves.

All split points of all models on one feature are sorted into one list. A value's rank in that list
decides every comparison with them exactly (``x <= point[k]`` iff at most ``k`` points are below
``x``), and the ranks are computed once for all models.

For one model and one feature, a table says for each rank which leaves of each tree are not ruled
out, one bit per leaf, the leftmost leaf the highest bit: a value that goes right at a node rules
out the leaves on its left. Of the leaves that no feature rules out, the leftmost is the one that is
reached. The idea is QuickScorer's (Lucchese et al., SIGIR 2015).

What a model needs for its table takes less memory than its nodes and is kept; the tables
themselves, many times as large, are made for each prediction.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.tables.rows import row_chunks

ROWS_PER_CHUNK = 512
MAX_SETS = 2**20
"""Leaf sets that are gathered at a time: they stay in the cache, and threads, which meet between
two calls of numpy, seldom do."""

MAX_LEAVES = 64
FIELDS = {"value", "feature_idx", "num_threshold", "missing_go_to_left", "left", "right"}
FLAGS = {"is_leaf", "is_categorical"}


class BitTrees:
    """The trees of boostings whose `node_tables` are accepted by `are_expected`."""

    def __init__(self, models: list[Any]) -> None:
        self._models = [LeafSets(model) for model in models]
        features = np.concatenate([own.features for own in self._models])
        points = np.concatenate([own.points for own in self._models])
        self._points = [
            np.unique(points[features == feature]) for feature in range(models[0].n_features_in_)
        ]
        # Ranks are counted through all features: the points of each, all below, and missing.
        self._starts = np.cumsum([0, *(len(points) + 2 for points in self._points)])
        for own in self._models:
            own.set_ranks(self._points, self._starts)

    def part(self, start: int, stop: int) -> BitTrees:
        """Return some of the models, which take the ranks of all."""
        part = copy.copy(self)
        part._models = self._models[start:stop]
        return part

    def ranks(self, X: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the rank of each cell: of its feature, the number of split points below it."""
        ranks = np.empty(X.shape, dtype=np.int32)
        for feature, points in enumerate(self._points):
            values = X[:, feature]
            own = points.searchsorted(values)
            own[np.isnan(values)] = len(points) + 1
            ranks[:, feature] = own + self._starts[feature]
        return ranks

    def raw_scores(self, ranks: NDArray[np.int32]) -> Iterator[NDArray[np.float64]]:
        """Yield the scores of each model, of shape (rows, trees of an iteration)."""
        by_feature = np.ascontiguousarray(ranks.T, dtype=np.intp)
        for own in self._models:
            yield own.raw_scores(by_feature)


class LeafSets:
    """The trees of one boosting.

    The table has a row for each code of each feature that is used (how many of the model's points
    are below a value), and one for missing values.
    """

    def __init__(self, model: Any) -> None:
        tables = node_tables(model)
        nodes = join_tables(tables)
        sizes = np.array([len(table) for table in tables])
        self._n_trees = len(tables)
        self._width = model.n_trees_per_iteration_
        self._baseline = np.reshape(model._baseline_prediction, (-1, 1))
        trees = np.repeat(np.arange(len(tables)), sizes)
        leaf_numbers = _leaf_numbers(nodes, sizes, trees)
        self._set_type = np.uint32 if leaf_numbers.max() < 32 else np.uint64
        self._values = self._leaf_values(nodes, trees, leaf_numbers)
        inner = np.flatnonzero(nodes["is_leaf"] == 0)
        keys = trees[inner], nodes["num_threshold"][inner], nodes["feature_idx"][inner]
        inner = inner[np.lexsort(keys)]
        rights = (sizes.cumsum() - sizes)[trees[inner]] + nodes["right"][inner]
        kept = self._kept_leaves(leaf_numbers[inner + 1], leaf_numbers[rights])
        goes_right = nodes["missing_go_to_left"][inner] == 0
        self._set_rows(nodes[inner], trees[inner], kept, goes_right)

    def _leaf_values(
        self, nodes: NDArray[Any], trees: NDArray[np.intp], leaf_numbers: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """List the leaf values of all trees by the bits of their leaves."""
        n_bits = 8 * self._set_type().itemsize
        leaves = nodes["is_leaf"] == 1
        values = np.zeros((self._n_trees, n_bits))
        values[trees[leaves], n_bits - 1 - leaf_numbers[leaves]] = nodes["value"][leaves]
        return values.ravel()

    def _kept_leaves(self, start: NDArray[np.intp], stop: NDArray[np.intp]) -> NDArray[Any]:
        """Return the sets of all leaves but those from ``start`` to ``stop``."""
        n_bits = 8 * self._set_type().itemsize
        one = self._set_type(1)
        several = np.left_shift(one, (stop - start).astype(self._set_type)) - one
        return ~np.left_shift(several, (n_bits - stop).astype(self._set_type))

    def _set_rows(
        self,
        nodes: NDArray[Any],
        trees: NDArray[np.intp],
        kept: NDArray[Any],
        goes_right: NDArray[np.bool_],
    ) -> None:
        """Find the row of the table for each node; they are ordered by feature and threshold."""
        is_feature = _changes(nodes["feature_idx"])
        is_point = is_feature | _changes(nodes["num_threshold"])
        self.features = nodes["feature_idx"][is_point]
        self.points = nodes["num_threshold"][is_point]
        self._n_points = np.diff(np.flatnonzero(np.append(is_feature[is_point], True)))
        slots = is_feature.cumsum() - 1
        self._n_rows = int(self._n_points.max(initial=0)) + 2
        codes = is_point.cumsum() - (self._n_points.cumsum() - self._n_points)[slots]
        cells = (slots * self._n_rows + codes) * self._n_trees + trees
        firsts = np.flatnonzero(_changes(cells))
        self._cells = cells[firsts].astype(np.int32)
        self._kept = np.bitwise_and.reduceat(kept, firsts) if len(firsts) else kept
        self._if_missing = np.invert(
            np.zeros((len(self._n_points), self._n_trees), dtype=self._set_type)
        )
        np.bitwise_and.at(
            self._if_missing, (slots[goes_right], trees[goes_right]), kept[goes_right]
        )

    def set_ranks(self, points: list[NDArray[np.float64]], starts: NDArray[np.intp]) -> None:
        """Keep which ranks among the points of all models lead to which row of the table."""
        rows = []
        lengths = []
        self._used = []
        end = 0
        for slot, stop in enumerate(self._n_points.cumsum()):
            own = self.points[stop - self._n_points[slot] : stop]
            feature = int(self.features[stop - 1])
            n_ranks = len(points[feature]) + 1
            ends = np.concatenate([[0], points[feature].searchsorted(own) + 1, [n_ranks]])
            first = slot * self._n_rows
            # the ranks of features in between, which are not used, lead anywhere
            rows += [[first], np.arange(len(own) + 1) + first, [first + self._n_rows - 1]]
            lengths += [[starts[feature] - end], np.diff(ends), [1]]
            self._used.append(feature)
            end = starts[feature + 1]
        self._rows = np.concatenate([*rows, []]).astype(np.intp)
        self._lengths = np.concatenate([*lengths, []]).astype(np.int32)

    def _table(self) -> NDArray[Any]:
        """Return the leaves that are not ruled out, by row and tree."""
        shape = (len(self._n_points), self._n_rows, self._n_trees)
        sets = np.invert(np.zeros(shape, dtype=self._set_type))
        sets.ravel()[self._cells] = self._kept
        known = sets[:, :-1]
        np.bitwise_and.accumulate(known, axis=1, out=known)
        sets[:, -1] = self._if_missing
        return sets.reshape(-1, self._n_trees)

    def raw_scores(self, ranks: NDArray[np.intp]) -> NDArray[np.float64]:
        """Add up the leaf values of each row, in the order of the trees.

        ``ranks`` has one row per feature; see `BitTrees.ranks`.
        """
        scores = np.empty((self._width, ranks.shape[1]))
        table = self._table()
        row_of_rank = np.repeat(self._rows, self._lengths)
        if len(self._used) < len(ranks):
            ranks = ranks[self._used]
        chunks = list(_equal_chunks(ranks.shape[1], ROWS_PER_CHUNK))
        space = _Space((len(ranks), chunks[0].stop, self._n_trees), self._set_type)
        terms = np.empty((1 + self._n_trees // self._width, self._width, chunks[0].stop))
        terms[0] = self._baseline
        leaves = terms[1:].reshape(self._n_trees, -1)
        for chunk in chunks:
            space.keep_possible(table, row_of_rank.take(ranks[:, chunk]))
            self._values.take(space.leftmost(), out=leaves, mode="clip")
            # Along the first axis numpy adds one layer after the other, as the boosting does; but
            # a single column it would add in pairs, and the sum depend on the size of the batch.
            if terms[0].size == 1:
                scores[:, chunk] = np.add.accumulate(terms, axis=0)[-1]
            else:
                np.add.reduce(terms, axis=0, out=scores[:, chunk])
        return scores.T


class _Space:
    """Leaf sets of some rows, in memory that serves one chunk after the other."""

    def __init__(self, shape: tuple[int, int, int], set_type: Any) -> None:
        n_features, n_rows, n_trees = shape
        n_gathered = max(1, min(n_features, MAX_SETS // max(1, n_rows * n_trees)))
        self._allowed = np.empty((n_gathered, n_rows, n_trees), dtype=set_type)
        self._possible = np.empty((n_rows, n_trees), dtype=set_type)
        self._numbers = np.empty((n_trees, n_rows))
        n_bits = 8 * self._possible.itemsize
        self._offsets = (np.arange(n_trees) * n_bits - 1023)[:, np.newaxis]

    def keep_possible(self, table: NDArray[Any], rows: NDArray[np.intp]) -> None:
        """Keep the leaves that no feature rules out; ``rows`` of the table, by feature."""
        if not len(rows):
            np.invert(np.zeros_like(self._possible), out=self._possible)
        for start, stop in row_chunks(len(rows), len(self._allowed)):
            allowed = self._allowed[: stop - start]
            table.take(rows[start:stop], axis=0, out=allowed, mode="clip")
            if start:
                allowed[0] &= self._possible
            np.bitwise_and.reduce(allowed, axis=0, out=self._possible)

    def leftmost(self) -> NDArray[np.int64]:
        """Find the index of each row's leaf in the list of values; shape (trees, rows)."""
        if self._possible.itemsize == 8:  # without its second bit a number is not rounded up
            self._possible &= ~(self._possible >> np.uint64(1))
        # The highest bit is the exponent of the floating-point number.
        self._numbers[...] = self._possible.T
        bits = self._numbers.view(np.int64)
        bits >>= 52
        bits += self._offsets
        return bits


def _equal_chunks(n_rows: int, size: int) -> Iterator[slice]:
    """Yield chunks of equal length that cover all rows; the last ones may overlap.

    >>> list(_equal_chunks(11, 4))
    [slice(0, 4, None), slice(4, 8, None), slice(7, 11, None)]
    """
    n_chunks = max(1, -(-n_rows // size))
    length = -(-n_rows // n_chunks)
    for number in range(n_chunks):
        start = min(number * length, n_rows - length)
        yield slice(start, start + length)


def _changes(sorted_values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which values differ from the one before.

    >>> _changes(np.array([3, 3, 5]))
    array([ True, False,  True])
    """
    changes = np.ones(len(sorted_values), dtype=bool)
    changes[1:] = sorted_values[1:] != sorted_values[:-1]
    return changes


def _leaf_numbers(
    nodes: NDArray[Any], sizes: NDArray[np.intp], trees: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Count the leaves of its tree that stand before each node."""
    is_leaf = (nodes["is_leaf"] == 1).astype(np.intp)
    before = is_leaf.cumsum() - is_leaf
    return np.asarray(before - before[sizes.cumsum() - sizes][trees])


def node_tables(model: Any) -> list[NDArray[Any]]:
    """List the node tables of a fitted histogram boosting, tree by tree."""
    return [tree.nodes for iteration in model._predictors for tree in iteration]


def join_tables(tables: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate node tables as plain bytes: numpy need not compare their fields."""
    return np.frombuffer(b"".join(table.tobytes() for table in tables), dtype=tables[0].dtype)


def are_expected(tables: list[NDArray[Any]]) -> bool:
    """Tell whether the node tables of a model can be turned into leaf sets."""
    if not all(set(table.dtype.names or ()) >= FIELDS | FLAGS for table in tables):
        return False
    if len({table.dtype for table in tables}) != 1:
        return False
    sizes = np.array([len(table) for table in tables])
    nodes = join_tables(tables)
    trees = np.repeat(np.arange(len(tables)), sizes)
    n_leaves = np.bincount(trees[nodes["is_leaf"] == 1], minlength=len(tables))
    return bool(
        not nodes["is_categorical"].any()
        and n_leaves.max() <= MAX_LEAVES
        and (sizes == 2 * n_leaves - 1).all()
        and _are_in_order(nodes, sizes, trees)
    )


def _are_in_order(nodes: NDArray[Any], sizes: NDArray[np.intp], trees: NDArray[np.intp]) -> bool:
    """Tell whether each node is followed by all nodes on its left, then by those on its right.

    In that order each inner node opens a gap, which its right child closes, as brackets do: in
    between are one leaf more than inner nodes.
    """
    is_inner = nodes["is_leaf"] == 0
    inner = np.flatnonzero(is_inner)
    starts = (sizes.cumsum() - sizes)[trees[inner]]
    right = starts + nodes["right"][inner]
    if (right >= len(nodes)).any():
        return False
    depth = np.where(is_inner, 1, -1).cumsum()
    return bool(
        (starts + nodes["left"][inner] == inner + 1).all()
        and (right > inner + 1).all()
        and (trees[right] == trees[inner]).all()
        and (depth[right - 1] == depth[inner] - 1).all()
        and len(np.unique(right)) == len(right)
    )
