"""Cut a sample into blocks by keyed order, and fit one copy of the base estimator on each.

The fitted models do not depend on the number of jobs, the back end or the order of the file: the
rows arrive in keyed order, every seed follows from the key, and numerical libraries run on one
thread in serial and in parallel alike.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils.parallel import Parallel, delayed

from replearn import compat
from replearn.execution.constant import ConstantVote
from replearn.execution.context import (
    BlockCache,
    Progress,
    RunContext,
    check_context,
    naming,
    no_autologging,
)
from replearn.execution.plugins import fit_functions
from replearn.execution.voting import one_thread
from replearn.randomness.key import SharedKey
from replearn.randomness.points import Points, as_points
from replearn.records.checks import check_count
from replearn.tables.rows import copy_rows, take_rows


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
    >>> from replearn.execution.fitting import make_blocks
    >>> from replearn import SharedKey
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
    cuts = [
        _partition(partition_key, points, y, n_blocks, block_size, groups) for partition_key in keys
    ]
    return list(chain.from_iterable(cuts))


def _partition(
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
    >>> from replearn.execution.fitting import random_state_names
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


START_SECONDS = 3.0
"""Starting worker processes costs about this much: shorter fits stay in this process."""

DISPATCH_SECONDS = 0.1
"""The same when the workers run already, or are threads.

Both are seconds of processor time, so that a busy machine does not look like a slow estimator.
"""

WARM_UP_BLOCKS = 2
"""Blocks fitted in this process before anything is concluded from their time."""

SECONDS_PER_TASK = 0.1
"""Blocks are sent to the workers in batches of about this length."""

THREADED = frozenset(
    {DecisionTreeClassifier, ExtraTreeClassifier, ExtraTreesClassifier, RandomForestClassifier}
)
"""Estimators that leave Python while they learn: threads do, and nothing is sent to and fro."""

PLAIN_TYPES = frozenset({type(None), bool, int, float, str})
"""Values that copies may share."""


@dataclass(frozen=True)
class Block:
    """What one worker needs to fit one block."""

    X: Any
    y: NDArray[Any]
    seeds: dict[str, int]  # for each random_state of the base estimator
    name: str  # in errors
    save: Callable[[Any], None] | None = None  # called with the fitted model, where it was fitted
    faster: Sequence[Callable[[Any, Any, NDArray[Any]], bool]] = ()  # functions of plug-ins
    params: dict[str, NDArray[Any]] = field(default_factory=dict)  # further arguments of fit
    deadline: float | None = None  # on the clock `now`


def fit_blocks(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    blocks: Sequence[NDArray[np.intp]],
    keys: Sequence[SharedKey],
    *,
    names: Sequence[str] | None = None,
    params: Mapping[str, NDArray[Any]] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    context: RunContext | None = None,
) -> list[Any]:
    """Fit one clone of ``estimator`` per block.

    Parameters
    ----------
    estimator : classifier
        The base estimator; it is not changed.
    X : array-like, frame or sparse matrix of shape (n, d)
        Validated rows.
    y : array-like of shape (n,)
        Labels of any kind.
    blocks : sequence of ndarray of intp
        Row positions of each block, in keyed order, from `make_blocks`.
    keys : sequence of SharedKey
        One per block, usually ``key.child("seed", partition, block)``.
    names : sequence of str, optional
        How errors name the blocks; "block 0", "block 1", ... by default.
    params : mapping of str to ndarray, optional
        Further arguments of the base estimator's ``fit``, one value per row: sample weights.
    n_jobs : int, optional
        Number of joblib workers. The result does not depend on it.
    verbose : int, default=0
        See `Progress`.
    context : RunContext, optional
        Store of finished blocks, deadline.

    Returns
    -------
    list of fitted classifiers
        In the order of the blocks; a `ConstantVote` where a block has one class only.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from replearn.execution.fitting import fit_blocks, make_blocks
    >>> from replearn import SharedKey
    >>> key, X, y = SharedKey("demo"), np.arange(24.0).reshape(12, 2), np.arange(12) % 2
    >>> blocks = make_blocks(key, X, y, 2, 6)
    >>> keys = [key.child("seed", 0, block) for block in range(2)]
    >>> fit_blocks(GaussianNB(), X, y, blocks, keys)
    [GaussianNB(), GaussianNB()]
    """
    if names is None:
        names = [f"block {block}" for block in range(len(blocks))]
    if not len(blocks) == len(keys) == len(names):
        raise ValueError(
            f"got {len(blocks)} blocks, {len(keys)} keys and {len(names)} names: "
            "give one key and one name per block"
        )
    estimator = clone(estimator)  # without what an earlier fit may have left in it
    y = np.asarray(y)
    context = check_context(context)
    # Finished blocks are known by rows and labels alone: with more than these none are kept.
    store = None if params else context.store
    cache = None if store is None else store.open(estimator, X, y, blocks, keys)
    done = {} if cache is None else cache.done()
    parts = zip(range(len(blocks)), blocks, keys, names, strict=True)
    left = [part for part in parts if part[0] not in done]
    work = _cut(estimator, X, y, left, cache, params or {}, context.deadline)
    progress = Progress(len(left), verbose=verbose)
    models: list[Any] = []
    try:
        # The outer limit holds for the whole loop: workers that are threads of this process
        # share its libraries, and the first to finish must not lift the limit for the others.
        with one_thread(), no_autologging():
            for batch in _run(estimator, work, len(left), n_jobs):
                models += batch
                progress.advance(len(batch))
    finally:
        progress.close()
    done.update(zip((part[0] for part in left), models, strict=True))
    return [done[number] for number in range(len(blocks))]


def fit_one_block(estimator: Any, block: Block) -> Any:
    """Fit a clone of the base estimator on one block."""
    if (block.y == block.y[0]).all():
        return ConstantVote(block.y[0])
    with naming(estimator, block.name):
        model = _fresh(estimator)
        set_seeds(model, block.seeds)
        # Plug-ins check nothing: only where scikit-learn has checked the parameters before.
        if get_config()["skip_parameter_validation"]:
            for fit in block.faster:
                if fit(model, block.X, block.y):
                    return model
        model.fit(block.X, block.y, **block.params)  # whatever it returns
    return model


def _fresh(estimator: Any) -> Any:
    """Clone the base estimator; a plain copy does when nothing in it can be shared or fitted.

    ``clone`` inspects signatures, a tenth of the time of a small fit.
    """
    if all(type(value) in PLAIN_TYPES for value in vars(estimator).values()):
        return copy.copy(estimator)
    return clone(estimator)


def _fit_batch(estimator: Any, batch: list[Block]) -> list[Any]:
    """Fit several blocks in one worker; the parameters were checked with the first block."""
    # Large arrays reach a worker mapped for reading, and a base estimator may write into its rows.
    # With another mapping joblib would start processes anew between this library and others.
    own = (replace(block, X=copy_rows(block.X), y=block.y.copy()) for block in batch)
    with one_thread(), config_context(skip_parameter_validation=True):
        return [_fit_and_save(estimator, block) for block in own]


def _fit_and_save(estimator: Any, block: Block) -> Any:
    model = fit_one_block(estimator, block)
    if block.save is not None:
        block.save(model)
    RunContext(deadline=block.deadline).check_deadline()
    return model


def _cut(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    left: list[tuple[int, NDArray[np.intp], SharedKey, str]],
    cache: BlockCache | None,
    params: Mapping[str, NDArray[Any]],
    deadline: float | None,
) -> Iterator[Block]:
    """Cut the blocks out of the table one by one, when a worker is ready for them."""
    seed_names = random_state_names(estimator)
    # Chosen here: workers have switches of their own.
    faster = [] if params else fit_functions(estimator)
    for number, rows, key, name in left:
        yield Block(
            take_rows(X, rows),
            y[rows],
            keyed_seeds(seed_names, key),
            name,
            save=None if cache is None else cache.saver(number),
            faster=faster,
            params={item: values[rows] for item, values in params.items()},
            deadline=deadline,
        )


def _run(
    estimator: Any,
    work: Iterator[Block],
    n_blocks: int,
    n_jobs: int | None,
) -> Iterator[list[Any]]:
    """Fit in this process until it is clear that workers pay, then in parallel."""
    workers = effective_n_jobs(n_jobs)
    prefer = "threads" if type(estimator) in THREADED else "processes"
    seconds: list[float] = []
    checked = get_config()["skip_parameter_validation"]
    for block in work:
        start = time.thread_time()
        # Every block has the same parameters: scikit-learn checks them on the first one only.
        with config_context(skip_parameter_validation=checked or bool(seconds)):
            model = _fit_and_save(estimator, block)
        seconds.append(time.thread_time() - start)
        yield [model]
        if workers > 1 and _workers_pay(seconds, n_blocks - len(seconds), prefer):
            break
    else:
        return
    size = _batch_size(min(seconds), n_blocks - len(seconds), workers)
    batches = iter(lambda: list(islice(work, size)), [])
    try:
        run = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
        yield from run(delayed(_fit_batch)(estimator, batch) for batch in batches)
    except BrokenExecutor as error:
        raise RuntimeError(
            f"a worker process ended while {type(estimator).__name__} was fitted on one of "
            f"{n_blocks} blocks: out of memory, a module that workers cannot import, or a base "
            "estimator that ends or crashes its process. Use fewer n_jobs, or n_jobs=1: then the "
            "error names the block."
        ) from error


def _workers_pay(seconds: list[float], n_left: int, prefer: str) -> bool:
    """Extrapolate from the fastest block: the first ones also load libraries and fill caches."""
    if len(seconds) < WARM_UP_BLOCKS:
        return False
    start = DISPATCH_SECONDS if compat.workers_run(prefer) else START_SECONDS
    return min(seconds) * n_left > start


def _batch_size(seconds_per_block: float, n_blocks: int, workers: int) -> int:
    wanted = int(SECONDS_PER_TASK / max(seconds_per_block, 1e-6))
    return max(1, min(wanted, n_blocks // (4 * workers)))
