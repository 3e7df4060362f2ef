"""Which rows and which seeds a block gets, by key.

Each row's block follows from the key and the row's own content (features, label, and how many
equal rows came before), so the partition does not depend on the order of the file. Surplus rows
are the last in keyed order and are dropped: blocks of unequal size would break the guarantee.
Every random state of a base estimator, however deeply nested, gets a seed of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.randomness import Points, SharedKey, as_points
from replearn.records import check_count


def make_blocks(
    key: SharedKey,
    points: Points | Any,
    y: ArrayLike,
    n_blocks: int,
    block_size: int,
    *,
    partition: int | Sequence[int] = 0,
    groups: ArrayLike | None = None,
) -> list[NDArray[np.intp]]:
    """Cut the rows into ``n_blocks`` disjoint blocks in keyed order.

    Parameters
    ----------
    key : SharedKey
        The estimator's key; partition ``j`` is ordered by ``key.child("partition", j)``.
    points : Points or container of rows
        The rows' canonical points.
    y : array-like of shape (n,)
        The labels; part of what a row says.
    n_blocks : int
        Number of blocks, T.
    block_size : int
        Rows per block, m; with ``groups``, groups per block.
    partition : int or sequence of int, default=0
        Which of several partitions of the same rows. Several are cut at once, one after another
        in the list: the cells of the points are encoded once for all.
    groups : array-like of shape (n,), optional
        Rows of one group stay in one block. Groups are ordered by their keyed ids and blocks are
        cut by number of groups.

    Returns
    -------
    list of ndarray of intp
        Row positions of each block, in keyed order. Without groups all have ``block_size`` rows.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution import make_blocks
    >>> from replearn.randomness import SharedKey
    >>> X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    >>> [len(block) for block in make_blocks(SharedKey("demo"), X, y, 2, 3, partition=range(2))]
    [3, 3, 3, 3]
    """
    check_count("n_blocks", n_blocks)
    check_count("block_size", block_size)
    numbers = partition if isinstance(partition, Sequence) else [partition]
    points = as_points(points)
    if len(numbers) > 1:
        points = points.encoded_once()
    keys = [key.child("partition", number) for number in numbers]
    cuts = [_cut(partition_key, points, y, n_blocks, block_size, groups) for partition_key in keys]
    return list(chain.from_iterable(cuts))


def _cut(
    partition_key: SharedKey,
    points: Points,
    y: ArrayLike,
    n_blocks: int,
    block_size: int,
    groups: ArrayLike | None,
) -> list[NDArray[np.intp]]:
    """Cut the rows once."""
    # theorem: content-keyed-partition
    order = partition_key.order(points, y)
    if groups is None:
        _check_enough(len(order), n_blocks, block_size, "rows")
        return list(order[: n_blocks * block_size].reshape(n_blocks, block_size))
    group_of_row, group_order = _keyed_groups(partition_key, groups)
    if len(group_of_row) != len(order):
        raise ValueError(f"groups has {len(group_of_row)} entries for {len(order)} rows")
    _check_enough(len(group_order), n_blocks, block_size, "groups")
    block_of_group = np.full(len(group_order), n_blocks, dtype=np.intp)
    used = group_order[: n_blocks * block_size]
    block_of_group[used] = np.repeat(np.arange(n_blocks), block_size)
    block_of_row = block_of_group[group_of_row[order]]
    # A stable sort keeps the keyed order of the rows inside each block.
    by_block = order[np.argsort(block_of_row, kind="stable")]
    ends = np.cumsum(np.bincount(block_of_row, minlength=n_blocks)[:n_blocks])
    return np.split(by_block[: ends[-1]], ends[:-1])


def _keyed_groups(
    partition_key: SharedKey, groups: ArrayLike
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give each group a number and order them by the keyed hash of their ids."""
    ids = np.asarray(groups)
    if ids.ndim != 1:
        raise ValueError(f"groups must be one-dimensional, got shape {ids.shape}")
    numbers: dict[Any, int] = {}
    group_of_row = np.fromiter(
        (numbers.setdefault(group, len(numbers)) for group in ids.tolist()),
        dtype=np.intp,
        count=len(ids),
    )
    if any(group is None or group != group for group in numbers):
        raise ValueError("groups must not be missing: give each row without a group its own id")
    names = np.empty((len(numbers), 1), dtype=object)
    names[:, 0] = list(numbers)
    return group_of_row, partition_key.child("group").order(names)


def _check_enough(available: int, n_blocks: int, block_size: int, what: str) -> None:
    needed = n_blocks * block_size
    if available < needed:
        raise ValueError(
            f"{n_blocks} blocks of {block_size} {what} need {needed} {what}, got {available}"
        )


_NAME = "random_state"


def random_state_names(estimator: Any) -> list[str]:
    """List the parameters of a base estimator, however deeply nested, that take a seed.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn estimator.

    Returns
    -------
    list of str
        Parameter names; ``"cv.random_state"`` stands for the attribute of the splitter ``cv``,
        which is no estimator and has no parameters of its own.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from replearn.execution import random_state_names
    >>> random_state_names(BaggingClassifier(DecisionTreeClassifier()))
    ['estimator__random_state', 'random_state']
    """
    parameters = estimator.get_params(deep=True)
    names = [name for name in parameters if name == _NAME or name.endswith("__" + _NAME)]
    names += [f"{name}.{_NAME}" for name, value in parameters.items() if _is_splitter(value)]
    return sorted(names)


def keyed_seeds(names: list[str], key: SharedKey) -> dict[str, int]:
    """Return a seed of its own for each name."""
    return {name: key.seed_for(name) for name in names}


def set_seeds(estimator: Any, seeds: dict[str, int]) -> None:
    """Write the seeds into an estimator; its splitters must be its own (as after ``clone``)."""
    if list(seeds) == [_NAME]:
        estimator.random_state = seeds[_NAME]  # what set_params does, ten times as fast
        return
    parameters = {name: seed for name, seed in seeds.items() if "." not in name}
    if parameters:
        estimator.set_params(**parameters)
    for name, seed in seeds.items():
        if "." in name:
            splitter = estimator.get_params(deep=True)[name.removesuffix("." + _NAME)]
            splitter.random_state = seed


def _is_splitter(value: Any) -> bool:
    return (
        hasattr(value, _NAME)
        and hasattr(value, "split")
        and not hasattr(value, "get_params")
        and getattr(value, "shuffle", True)
    )
