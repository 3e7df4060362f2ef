"""Histogram boosting is fitted to the bits of scikit-learn with less work for each split.

A block of some hundred rows leaves scikit-learn's compiled histograms and splits little to do: half
of a fit is the loop around them, an object with twenty attributes and a record for each node. Here
scikit-learn's own ``fit`` runs with two of its parts replaced: a grower that calls the same
compiled code in the same order and keeps lists instead of nodes, and thresholds of bins that are
looked up for all columns at once. Everything else is scikit-learn's.

Constraints and categorical features are left to scikit-learn, and everything is when its bits are
not met on a small problem (another version may compute otherwise).
"""

from __future__ import annotations

from functools import cache, lru_cache
from heapq import heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import Pipeline

from replearn import compat
from replearn.execution.plugins import fit_steps, fits_step_by_step

PLAIN = {"interaction_cst": None, "monotonic_cst": None, "warm_start": False}
"""Parameters of the plain case; the others are free."""

MIN_HESSIAN = 1e-3
"""Least sum of hessians in a node that is split, as in scikit-learn."""

NO_CATEGORIES = np.zeros((0, 8), dtype=np.uint32)
"""The bit sets of a tree without categorical splits."""


def fit_plain_boosting(model: Any, X: Any, y: NDArray[Any]) -> bool:
    """Fit ``model`` if it is a histogram boosting without constraints and categorical features.

    A pipeline that ends with one is fitted, too: its transformers by scikit-learn. The result says
    whether it was done; if not, ``model`` is as it was.
    """
    if type(model) is Pipeline:
        if not (fits_step_by_step(model) and _is_plain(model.steps[-1][1])):
            return False
        fit_steps(model, X, y, fit_plain_boosting)
        return True
    if not (_is_plain(model) and type(X) is np.ndarray):
        return False
    _fit(model, X, y)
    return True


def _is_plain(model: Any) -> bool:
    if type(model) is not HistGradientBoostingClassifier:
        return False
    own = vars(model)
    categorical = own["categorical_features"]
    return (
        all(own[name] == value for name, value in PLAIN.items())
        and (categorical is None or (type(categorical) is str and categorical == "from_dtype"))
        and not any(name.endswith("_") or name.startswith("_") for name in own)
        and _same_bits_here()
    )


@cache
def _same_bits_here() -> bool:
    """Compare both ways on small problems, once in each process; it depends on nothing else."""
    if compat.boosting_parts() is None:
        return False
    angles = np.arange(1.0, 1801.0).reshape(300, 6)
    X = np.sin(angles**2)
    X[:, 1] = X[:, 1].round(1)
    X[::7, 2] = np.nan
    y = np.floor(1.5 + np.sin(angles.sum(axis=1) ** 2) + X[:, 0] / 2)
    params = {"max_iter": 3, "max_bins": 60, "max_leaf_nodes": 12, "min_samples_leaf": 5}
    try:
        return all(_same_bits(params, X, labels) for labels in (y, y > 1))
    except (AttributeError, KeyError, TypeError):  # pragma: no cover - the private parts differ
        return False


def _same_bits(params: dict[str, Any], X: NDArray[np.float64], y: NDArray[Any]) -> bool:
    ours = HistGradientBoostingClassifier(**params, random_state=0)
    theirs = HistGradientBoostingClassifier(**params, random_state=0)
    with config_context(skip_parameter_validation=True):
        theirs.fit(X, y)
        _fit(ours, X, y)
    return vars(ours).keys() == vars(theirs).keys() and _bits(ours) == _bits(theirs)


def _bits(model: Any) -> list[bytes]:
    trees = [tree for iteration in model._predictors for tree in iteration]
    thresholds = model._bin_mapper.bin_thresholds_
    return [tree.nodes.tobytes() for tree in trees] + [column.tobytes() for column in thresholds]


def _fit(model: Any, X: NDArray[Any], y: NDArray[Any]) -> None:
    replaced = {
        "_BinMapper": _Bins,
        "TreeGrower": _Grower(),
        "_update_raw_predictions": _update,
    }
    compat.boosting_parts().fit(model, X, y, **replaced)
    model._bin_mapper = model._bin_mapper.mapper


class _Bins:
    """Scikit-learn's map to bins, whose thresholds are found faster."""

    def __init__(self, **params: Any) -> None:
        self.mapper = compat.boosting_parts().BinMapper(**params)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.mapper, name)

    def fit_transform(
        self, X: NDArray[np.float64], sample_weight: NDArray[np.float64] | None = None
    ) -> NDArray[np.uint8]:
        """Find the thresholds and return the bins of a table."""
        mapper = self.mapper
        if sample_weight is not None or len(X) > mapper.subsample:
            binned: NDArray[np.uint8] = mapper.fit_transform(X, sample_weight=sample_weight)
            return binned
        mapper.is_categorical_ = np.zeros(X.shape[1], dtype=np.uint8)
        mapper.missing_values_bin_idx_ = mapper.n_bins - 1
        mapper.bin_thresholds_ = bin_thresholds(X, mapper.n_bins - 1)
        n_bins = [len(thresholds) + 1 for thresholds in mapper.bin_thresholds_]
        mapper.n_bins_non_missing_ = np.array(n_bins, dtype=np.uint32)
        binned = mapper.transform(X)
        return binned


def bin_thresholds(X: NDArray[np.float64], max_bins: int) -> list[NDArray[np.float64]]:
    """Return the thresholds between the bins of each column, as scikit-learn chooses them.

    They are values at fixed positions of the sorted column, or in the middle of two neighbours. The
    positions are scikit-learn's; columns with few or special values are left to it.
    """
    find = compat.boosting_parts().find_thresholds
    table = np.sort(X.T, axis=1)
    n_distinct = 1 + (table[:, 1:] != table[:, :-1]).sum(axis=1)
    is_plain = (n_distinct > max_bins) & np.isfinite(table[:, [0, -1]]).all(axis=1)
    if not is_plain.any():
        return [find(column, max_bins) for column in X.T]
    positions = _threshold_positions(table.shape[1], max_bins)
    below = table[:, np.floor(positions).astype(np.intp)]
    above = table[:, np.ceil(positions).astype(np.intp)]
    middles = above - (above - below) * 0.5  # numpy's own order of operations
    found = np.where(positions % 1 == 0, below, middles)
    repeats = (found[:, 1:] == found[:, :-1]).any(axis=1)
    thresholds = []
    for index, row in enumerate(found):
        if is_plain[index]:
            own = np.unique(row) if repeats[index] else row.copy()
            thresholds.append(np.clip(own, None, compat.boosting_parts().max_threshold))
        else:
            thresholds.append(find(X[:, index], max_bins))
    return thresholds


@lru_cache(maxsize=16)
def _threshold_positions(n_rows: int, max_bins: int) -> NDArray[np.float64]:
    """Return the positions of the thresholds in a sorted column of different values."""
    positions: NDArray[np.float64] = compat.boosting_parts().find_thresholds(
        np.arange(n_rows, dtype=np.float64), max_bins
    )
    return positions


class _Node(float):
    """A node that can be split; as a number minus its gain, by which the heap compares."""

    __slots__ = ("histograms", "index", "split")
    index: int
    split: Any
    histograms: Any


class _Grower:
    """Grows the trees of one model, one after the other, as scikit-learn's ``TreeGrower`` does.

    Nodes are numbered as they are made, both children of a split one after the other.
    """

    total_find_split_time = 0.0
    total_compute_hist_time = 0.0
    total_apply_split_time = 0.0

    def __init__(self) -> None:
        self._parts = compat.boosting_parts()
        self._find_split: Any = None

    def __call__(
        self,
        X_binned: NDArray[np.uint8],
        gradients: NDArray[np.float32],
        hessians: NDArray[np.float32],
        *,
        n_bins: int,
        n_threads: int,
        **params: Any,
    ) -> _Grower:
        """Begin a tree."""
        if self._find_split is None:
            self._prepare(X_binned, missing_bin=n_bins - 1, n_threads=n_threads, **params)
        builder = self._parts.HistogramBuilder(
            X_binned, n_bins, gradients, hessians, False, n_threads
        )
        self._count_rows = builder.compute_histograms_brute
        self._subtract = builder.compute_histograms_subtraction
        self._values = [0.0]
        self._rows = [self._all_rows]
        self._counts = [len(X_binned)]
        self._gains = [-1.0]
        self._depths = [0]
        self._done: list[tuple[int, Any]] = []  # nodes that were split, and how
        self._heap: list[_Node] = []
        return self

    def _prepare(
        self,
        X_binned: NDArray[np.uint8],
        *,
        missing_bin: int,
        max_leaf_nodes: int | None,
        max_depth: int | None,
        shrinkage: float,
        interaction_cst: None,
        **params: Any,
    ) -> None:
        """Keep what all trees share."""
        params["is_categorical"] = np.zeros(X_binned.shape[1], dtype=np.uint8)
        params["missing_values_bin_idx"] = missing_bin
        params["min_hessian_to_split"] = MIN_HESSIAN
        self._find_split = self._parts.Splitter(X_binned=X_binned, **params).find_node_split
        self._all_rows = np.arange(len(X_binned))
        self._columns = list(X_binned.T)
        self._missing_bin = missing_bin
        self._last_bins = (params["n_bins_non_missing"] - 1).tolist()
        self._has_missing = params["has_missing_values"].tolist()
        self._max_leaf_nodes = max_leaf_nodes
        self._max_depth = max_depth
        self._min_rows = 2 * params["min_samples_leaf"]
        self._shrinkage = shrinkage

    def grow(self) -> None:
        """Split the node with the largest gain until none is left."""
        self._start()
        heap = self._heap
        rows = self._rows
        depths = self._depths
        min_rows = self._min_rows
        while heap:
            node = heappop(heap)
            split = node.split
            left, right = self._split_rows(split, rows[node.index])
            n_left = len(left)
            n_right = len(right)
            first = len(rows)
            depth = depths[node.index] + 1
            rows += (left, right)
            self._counts += (n_left, n_right)
            depths += (depth, depth)
            self._values += (split.value_left, split.value_right)
            self._gains += (-1.0, -1.0)
            self._done.append((node.index, split))
            if not self._has_missing[split.feature_idx]:
                # rows that miss the value in a prediction go where most rows go
                split.missing_go_to_left = n_left > n_right
            if len(self._done) + 1 == self._max_leaf_nodes:
                break
            if depth == self._max_depth or (n_left < min_rows and n_right < min_rows):
                continue
            if n_left < n_right:
                in_left = self._count_rows(left.astype(np.uint32))
                in_right = self._subtract(node.histograms, in_left)
            else:
                in_right = self._count_rows(right.astype(np.uint32))
                in_left = self._subtract(node.histograms, in_right)
            if n_left >= min_rows:
                self._open(first, in_left, split.sum_gradient_left, split.sum_hessian_left)
            if n_right >= min_rows:
                self._open(first + 1, in_right, split.sum_gradient_right, split.sum_hessian_right)

    def _start(self) -> None:
        """Make the root."""
        rows = self._all_rows
        histograms = self._count_rows(rows.astype(np.uint32))
        first = histograms.base[0]  # the sums over the bins of any column are those over all rows
        sum_gradients = first["sum_gradients"].sum()
        sum_hessians = first["sum_hessians"].sum()
        if len(rows) >= self._min_rows and sum_hessians >= MIN_HESSIAN:
            self._open(0, histograms, sum_gradients, sum_hessians)

    def _open(self, index: int, histograms: Any, sum_gradients: float, sum_hessians: float) -> None:
        """Find the best split of a node; without one it stays a leaf."""
        n_rows = self._counts[index]
        value = self._values[index]
        split = self._find_split(n_rows, histograms, sum_gradients, sum_hessians, value)
        gain = split.gain
        self._gains[index] = gain
        if gain > 0:
            node = _Node(-gain)
            node.index = index
            node.split = split
            node.histograms = histograms
            heappush(self._heap, node)

    def _split_rows(
        self, split: Any, rows: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        feature = split.feature_idx
        bins = self._columns[feature].take(rows)
        goes_left = bins <= split.bin_idx
        if split.missing_go_to_left and self._has_missing[feature]:
            goes_left |= bins == self._missing_bin
        return rows[goes_left], rows[~goes_left]

    def make_predictor(self, binning_thresholds: list[NDArray[np.float64]]) -> Any:
        """Write the nodes into a table, each left child behind its parent."""
        inner = [index for index, _ in self._done]
        splits = [split for _, split in self._done]
        positions = np.array(self._positions())
        is_leaf = np.ones(len(positions), dtype=bool)
        is_leaf[inner] = False
        values = np.array(self._values)
        values[is_leaf] *= self._shrinkage
        counts = np.array(self._counts)
        nodes = np.zeros(len(positions), dtype=self._parts.NODE)
        nodes["value"][positions] = values
        nodes["count"][positions] = counts
        nodes["gain"][positions] = self._gains
        nodes["depth"][positions] = self._depths
        nodes["is_leaf"][positions] = is_leaf
        at = positions[inner]
        nodes["feature_idx"][at] = [split.feature_idx for split in splits]
        nodes["bin_threshold"][at] = [split.bin_idx for split in splits]
        nodes["missing_go_to_left"][at] = [split.missing_go_to_left for split in splits]
        nodes["num_threshold"][at] = self._thresholds(splits, binning_thresholds)
        nodes["left"][at] = positions[1::2]
        nodes["right"][at] = positions[2::2]
        self._leaves = is_leaf.nonzero()[0].tolist()
        self._added = np.repeat(values[is_leaf], counts[is_leaf])
        return self._parts.TreePredictor(nodes, NO_CATEGORIES.copy(), NO_CATEGORIES.copy())

    def _positions(self) -> list[int]:
        """Return the index of each node in the table."""
        sizes = [1] * len(self._values)
        for first, (index, _) in zip(range(len(sizes) - 2, 0, -2), self._done[::-1], strict=True):
            sizes[index] += sizes[first] + sizes[first + 1]
        positions = [0] * len(sizes)
        for first, (index, _) in zip(range(1, len(sizes), 2), self._done, strict=True):
            positions[first] = positions[index] + 1
            positions[first + 1] = positions[first] + sizes[first]
        return positions

    def _thresholds(
        self, splits: list[Any], binning_thresholds: list[NDArray[np.float64]]
    ) -> list[float]:
        """Return the largest value that goes left: all but missing ones, or up to a bin's end."""
        return [
            np.inf
            if split.bin_idx == self._last_bins[split.feature_idx]
            else binning_thresholds[split.feature_idx][split.bin_idx]
            for split in splits
        ]

    def add_values(self, scores: NDArray[np.float64]) -> None:
        """Add the value of each leaf of the tree to the scores of its rows."""
        scores[np.concatenate([self._rows[index] for index in self._leaves])] += self._added


def _update(raw_predictions: NDArray[np.float64], grower: _Grower, n_threads: int) -> None:
    grower.add_values(raw_predictions)
