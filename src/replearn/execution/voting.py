"""Let the models of all blocks vote, bit for bit the same however the rows are handed over.

The counts do not depend on the number of jobs, on threads or processes, on the order of the rows
or on the size of a batch. Votes of one row must not depend on the other rows of a batch, but
matrix products round differently for different shapes. The plain loop therefore always calls a
model with the same number of rows: `CHUNK` is a multiple of every register tile in use (4, 6, 8,
12, 16, 24, 32, 48, 64 or 96 rows), so each row, wherever it stands, goes through the same
instructions. Plug-ins keep the promise in their own ways: see `replearn.execution.plugins`.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from replearn import compat
from replearn.execution import plugins
from replearn.execution.context import naming
from replearn.execution.plugins import (
    BlockModel,
    Predictor,
    predict_codes,
    predict_numbers,
    predict_probabilities,
)
from replearn.tables.rows import n_rows, pad_rows, row_chunks, slice_rows, take_rows

CHUNK = 768
"""Rows per call of a model: a longer one is faster in bulk, a shorter one for a single row."""

MAX_PROBABILITIES = 2**22
"""Probabilities of single models that are kept at a time, 64 MiB."""

MIN_ROWS_PER_TASK = 4 * CHUNK
MAX_ROWS_PER_TASK = 256 * CHUNK
"""Rows handed to one worker at a time, if possible an equal share for each."""

MIN_ROWS_TO_STOP = 1024
"""Fewer rows are voted on by all blocks at once."""

STOPS = (0.35, 0.5, 0.66, 0.83, 0.91)
"""Shares of a partition's blocks after which rows that are decided are dropped."""


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run numerical libraries on one thread: sums split over threads are rounded differently."""
    with _controller(len(sys.modules)).limit(limits=1):
        yield


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Look for numerical libraries again only when modules were imported since (it costs 1 ms)."""
    return ThreadpoolController()


class LoopPredictor(Predictor):
    """The plain loop: the models predict one by one, always the same number of rows."""

    def chunks(self, X: Any) -> Iterator[tuple[slice, Any]]:
        """Yield which rows are predicted at a time, and the table of them, padded."""
        for start, stop in row_chunks(n_rows(X), CHUNK):
            yield slice(start, stop), pad_rows(slice_rows(X, start, stop), CHUNK)

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows."""
        for rows, chunk in self.chunks(X):
            for block_model in self.block_models:
                codes = predict_codes(block_model.model, chunk, block_model.codes, block_model.name)
                add_codes(counts[rows], block_model, codes)

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the class probabilities of some rows, model by model in a fixed order."""
        for rows, chunk in self.chunks(X):
            part = totals[rows]
            for block_model in self.block_models:
                shares = predict_probabilities(
                    block_model.model, chunk, len(block_model.codes), block_model.name
                )
                part[:, block_model.partition, block_model.codes] += shares[: len(part)]


def add_codes(counts: NDArray[np.int32], block_model: BlockModel, codes: NDArray[np.intp]) -> None:
    """Add one model's votes."""
    codes = codes[: len(counts)]
    if counts.shape[2] == 2:
        counts[:, block_model.partition, 1] += codes
        counts[:, block_model.partition, 0] += 1 - codes
    else:
        counts[np.arange(len(counts)), block_model.partition, codes] += 1


class ThresholdPredictor(Predictor):
    """Two classes: each model votes by its own decision threshold on the second one's probability.

    A hard vote is for the second class iff its probability reaches the threshold. A soft vote is
    the probability on a scale on which the threshold is one half (`centred`).
    """

    def __init__(self, block_models: list[BlockModel]) -> None:
        super().__init__(block_models)
        self._thresholds = np.array([model.threshold for model in block_models], dtype=np.float64)
        self._partitions = np.array([model.partition for model in block_models])
        alone = [
            replace(model, partition=number, threshold=None)
            for number, model in enumerate(block_models)
        ]
        self._predictors = groups_of_models(alone, soft=True)
        self.stops_early = any(predictor.stops_early for predictor in self._predictors)

    def add_votes(self, X: Any, counts: NDArray[np.int32]) -> None:
        """Add the votes on some rows."""
        for rows, chances in self._probabilities(X):
            votes = chances >= self._thresholds
            for partition in range(counts.shape[1]):
                own = votes[:, self._partitions == partition]
                positive = own.sum(axis=1, dtype=np.int32)
                counts[rows, partition, 1] += positive
                counts[rows, partition, 0] += own.shape[1] - positive

    def add_probabilities(self, X: Any, totals: NDArray[np.float64]) -> None:
        """Add the centred probabilities of some rows, model by model in a fixed order."""
        for rows, chances in self._probabilities(X):
            shares = centred(chances, self._thresholds)
            for number, partition in enumerate(self._partitions.tolist()):
                totals[rows, partition, 1] += shares[:, number]
                totals[rows, partition, 0] += 1.0 - shares[:, number]

    def _probabilities(self, X: Any) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield the probability of the second class by each model, some rows at a time."""
        n_models = len(self.block_models)
        size = CHUNK * max(1, MAX_PROBABILITIES // (CHUNK * n_models))
        for start, stop in row_chunks(n_rows(X), size):
            totals = np.zeros((stop - start, n_models, 2))
            for predictor in self._predictors:
                table = predictor.prepare(slice_rows(X, start, stop))
                predictor.add_probabilities(table, totals)
            yield slice(start, stop), totals[:, :, 1]


def centred(chances: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rescale probabilities so that the threshold is one half: linear below it and above it.

    >>> centred(np.array([[0.0, 0.05, 0.1, 0.55, 1.0]]).T, np.array([0.1])).T.tolist()
    [[0.0, 0.25, 0.5, 0.75, 1.0]]
    """
    below = chances / (2.0 * thresholds)
    above = 0.5 + (chances - thresholds) / (2.0 * np.maximum(1.0 - thresholds, 1e-300))
    return np.clip(np.where(chances < thresholds, below, above), 0.0, 1.0)


def groups_of_models(block_models: list[BlockModel], *, soft: bool = False) -> list[Predictor]:
    """Put models into groups that vote together; the plain loop takes what no plug-in takes."""
    if block_models and block_models[0].threshold is not None:
        return [ThresholdPredictor(block_models)]
    predictors, others = plugins.group_models(block_models, soft)
    return [*predictors, LoopPredictor(others)] if others else predictors


class Segment(NamedTuple):
    """Models that vote before it is looked whether a row is decided."""

    partition: int
    groups: list[int]  # numbers of the groups that hold them
    predictors: list[Predictor]  # what they are of these groups


def _segment(partition: int, predictors: list[Predictor], wanted: set[int]) -> Segment:
    """Cut models, known by their ``id``, out of the groups that take time."""
    segment = Segment(partition, [], [])
    for number, group in enumerate(predictors):
        if not group.stops_early:
            continue
        own = [index for index, model in enumerate(group.block_models) if id(model) in wanted]
        if own:
            segment.groups.append(number)
            segment.predictors.append(group.part(own[0], own[-1] + 1))
    return segment


class BlockEnsemble:
    """The models of all blocks, grouped by how they can vote together.

    Parameters
    ----------
    estimators : sequence of fitted classifiers
        Partition by partition, as many for each.
    classes : array-like
        All classes, in the order of the counts. A model may know fewer of them.
    n_partitions : int, default=1
        Number of partitions.
    thresholds : array-like of float, default=None
        Decision threshold of each estimator, on the probability of the second of two classes; None:
        estimators vote by what they predict.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution.constant import ConstantVote
    >>> from replearn.execution.voting import BlockEnsemble
    >>> models = [ConstantVote("yes"), ConstantVote("no")]
    >>> ensemble = BlockEnsemble(models, ["no", "yes"], n_partitions=2)
    >>> ensemble.vote_counts(np.zeros((1, 3)))
    array([[1, 0]], dtype=int32)
    """

    def __init__(
        self,
        estimators: Sequence[Any],
        classes: ArrayLike,
        n_partitions: int = 1,
        thresholds: ArrayLike | None = None,
    ) -> None:
        if n_partitions < 1 or len(estimators) % n_partitions or not len(estimators):
            raise ValueError(
                f"{len(estimators)} estimators cannot be {n_partitions} equal partitions"
            )
        self.n_partitions = n_partitions
        self.n_blocks = len(estimators) // n_partitions
        self.n_classes = len(np.asarray(classes))
        self._block_models = _with_codes(estimators, np.asarray(classes), self.n_blocks)
        if thresholds is not None:
            self._block_models = [
                replace(model, threshold=float(threshold))
                for model, threshold in zip(self._block_models, np.asarray(thresholds), strict=True)
            ]
        self._predictors: dict[Any, list[Predictor]] = {}
        self._segments: dict[Any, list[Segment]] = {}

    def __getstate__(self) -> dict[str, Any]:
        # How models vote together is found again: copies and files need not carry it.
        return {**self.__dict__, "_predictors": {}, "_segments": {}}

    def part(self, start: int, stop: int) -> BlockEnsemble:
        """Return some of the models as an ensemble of one partition."""
        part = copy.copy(self)
        part.n_partitions = 1
        part.n_blocks = stop - start
        part._block_models = [
            replace(model, partition=0) for model in self._block_models[start:stop]
        ]
        part._predictors = {}
        part._segments = {}
        return part

    def stops_early(self, X: Any) -> bool:
        """Whether it pays to stop when a row is decided: many rows, and models that take time."""
        if n_rows(X) < MIN_ROWS_TO_STOP or self.n_blocks < 2 * len(STOPS):
            return False
        return any(predictor.stops_early for predictor in self._grouped(False))

    def votes_until_decided(
        self,
        X: Any,
        is_open: Callable[
            [NDArray[np.int32], NDArray[np.intp], NDArray[np.int32]], NDArray[np.bool_]
        ],
        *,
        n_jobs: int | None = None,
    ) -> NDArray[np.int32]:
        """Count the votes for the second of two classes until the missing ones decide nothing.

        Parameters
        ----------
        X, n_jobs
            As for `vote_counts`.
        is_open : callable
            Takes votes so far, of shape (n, n_partitions), the numbers of these rows in ``X`` and
            how many votes are missing in each partition; tells for each row and partition whether
            the missing votes can change the prediction.

        Returns
        -------
        ndarray of int32, shape (n, n_partitions)
            Votes of the blocks that were called.
        """
        workers = effective_n_jobs(n_jobs)
        size = _rows_per_task(n_rows(X), workers)
        tasks = (
            (slice_rows(X, start, stop), start, is_open)
            for start, stop in row_chunks(n_rows(X), size)
        )
        self._in_segments()  # once for all workers
        with one_thread():
            if workers == 1:
                parts = [self._votes_on_open_rows(*task) for task in tasks]
            else:
                parts = _in_parallel(self._votes_on_open_rows, tasks, n_jobs)
        return np.concatenate(parts)

    def _votes_on_open_rows(self, X: Any, first: int, is_open: Any) -> NDArray[np.int32]:
        """Count votes partition by partition; ``first`` is the number of the first row."""
        shape = (self.n_partitions, self.n_classes)
        counts = np.zeros((n_rows(X), self.n_partitions), dtype=np.int32)
        n_missing = np.full_like(counts, self.n_blocks)
        still_open = np.ones(counts.shape, dtype=bool)
        with one_thread():
            tables = [group.prepare(X) for group in self._grouped(False)]
            for segment in self._in_segments():
                rows = still_open[:, segment.partition].nonzero()[0]
                if not len(rows):
                    continue
                own = [take_rows(tables[group], rows) for group in segment.groups]
                votes = _count(segment.predictors, own, shape, False)
                counts[rows] += votes[:, :, 1]
                n_missing[rows] -= votes[:, :, 0] + votes[:, :, 1]
                still_open[rows] = is_open(counts[rows], first + rows, n_missing[rows])
        return counts

    def _in_segments(self) -> list[Segment]:
        """Return the models, partition by partition, some at a time."""
        state = bool(plugins.active())
        if state not in self._segments:
            predictors = self._grouped(False)
            at_once = [number for number, group in enumerate(predictors) if not group.stops_early]
            segments = [Segment(0, at_once, [predictors[number] for number in at_once])]
            ends = [0, *(round(share * self.n_blocks) for share in STOPS), self.n_blocks]
            for partition in range(self.n_partitions):
                blocks = self._block_models[partition * self.n_blocks :]
                for start, stop in itertools.pairwise(ends):
                    wanted = {id(model) for model in blocks[start:stop]}
                    segments.append(_segment(partition, predictors, wanted))
            self._segments[state] = [segment for segment in segments if segment.groups]
        return self._segments[state]

    def vote_counts(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.int32]:
        """Count the votes of each partition.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, d)
            The points.
        n_jobs : int, optional
            Number of joblib workers (threads, unless a back end is configured).

        Returns
        -------
        ndarray of int32, shape (n, n_partitions) or (n, n_partitions, n_classes)
            Two classes: votes for the second one. Otherwise: votes for each class.
        """
        counts: NDArray[np.int32] = self._collect(X, False, n_jobs)
        return counts[:, :, 1] if self.n_classes == 2 else counts

    def soft_scores(self, X: Any, *, n_jobs: int | None = None) -> NDArray[np.float64]:
        """Average the class probabilities over the blocks of each partition.

        Parameters
        ----------
        X, n_jobs
            As for `vote_counts`.

        Returns
        -------
        ndarray of float64, shape (n, n_partitions) or (n, n_partitions, n_classes)
            Two classes: mean probability of the second one. Otherwise: of each class.
        """
        totals: NDArray[np.float64] = self._collect(X, True, n_jobs)
        totals /= self.n_blocks
        return totals[:, :, 1] if self.n_classes == 2 else totals

    def _collect(self, X: Any, soft: bool, n_jobs: int | None) -> Any:
        """Split the rows among the workers; each returns its own rows' results."""
        shape = (self.n_partitions, self.n_classes)
        if not n_rows(X):
            return np.zeros((0, *shape), dtype=np.float64 if soft else np.int32)
        with one_thread():
            predictors = self._grouped(soft)
            tables = [predictor.prepare(X) for predictor in predictors]
            workers = effective_n_jobs(n_jobs)
            size = _rows_per_task(n_rows(X), workers)
            if n_rows(X) <= size:
                return _count(predictors, tables, shape, soft)
            tasks = (
                (predictors, [slice_rows(table, start, stop) for table in tables], shape, soft)
                for start, stop in row_chunks(n_rows(X), size)
            )
            if workers == 1:
                parts = [_count(*task) for task in tasks]
            else:
                parts = _in_parallel(_work, tasks, n_jobs)
        return np.concatenate(parts)

    def _grouped(self, soft: bool) -> list[Predictor]:
        state = soft, bool(plugins.active())
        if state not in self._predictors:
            self._predictors[state] = groups_of_models(self._block_models, soft=soft)
        return self._predictors[state]


def model_predictions(models: Sequence[Any], X: Any) -> Iterator[NDArray[np.float64]]:
    """Yield each model's predictions as numbers; rows are cut into chunks as in the plain loop.

    >>> from replearn.execution.constant import ConstantVote
    >>> next(model_predictions([ConstantVote(2.5)], np.zeros((2, 1))))
    array([2.5, 2.5])
    """
    chunks = list(LoopPredictor([]).chunks(X))
    with one_thread():
        for index, model in enumerate(models):
            predictions = np.empty(n_rows(X))
            for rows, chunk in chunks:
                numbers = predict_numbers(model, chunk, f"block {index}")
                predictions[rows] = numbers[: rows.stop - rows.start]
            yield predictions


def _with_codes(
    estimators: Sequence[Any], classes: NDArray[Any], n_blocks: int
) -> list[BlockModel]:
    """Find the classes of each model in the list of all classes."""
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    block_models = []
    for index, model in enumerate(estimators):
        name = f"block {index % n_blocks} of partition {index // n_blocks}"
        with naming(model, name):
            known = np.asarray(model.classes_).tolist()
        unknown = [label for label in known if label not in code_of]
        if unknown:
            raise ValueError(
                f"{type(model).__name__} of {name} knows the class {unknown[0]!r}, which is not "
                "one of the labels"
            )
        codes = np.asarray([code_of[label] for label in known], dtype=np.intp)
        block_models.append(BlockModel(model, index // n_blocks, codes, name))
    return block_models


def _rows_per_task(length: int, workers: int) -> int:
    """Give each worker an equal share."""
    share = -(-length // workers)
    return min(max(share, MIN_ROWS_PER_TASK), MAX_ROWS_PER_TASK)


def _in_parallel(work: Any, tasks: Iterable[Any], n_jobs: int | None) -> list[Any]:
    """Run the tasks in threads, unless a back end is configured.

    joblib waits for threads by sleeping 10 ms at a time, a tenth of the time of 100,000 rows.
    """
    if not compat.threads_are_configured():
        in_threads = Parallel(n_jobs=n_jobs, prefer="threads")
        return list(in_threads(delayed(work)(*task) for task in tasks))
    settings = get_config()  # scikit-learn keeps them by thread

    def run(task: Any) -> Any:
        with config_context(**settings):
            return work(*task)

    with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool:
        return list(pool.map(run, tasks))


def _work(
    predictors: list[Predictor], tables: list[Any], shape: tuple[int, int], soft: bool
) -> Any:
    """Count in a worker, which has limits of its own."""
    with one_thread():
        return _count(predictors, tables, shape, soft)


def _count(
    predictors: list[Predictor], tables: list[Any], shape: tuple[int, int], soft: bool
) -> Any:
    """Add up the votes or the probabilities of all groups on some rows."""
    result = np.zeros((n_rows(tables[0]), *shape), dtype=np.float64 if soft else np.int32)
    with config_context(skip_parameter_validation=True):
        for predictor, table in zip(predictors, tables, strict=True):
            (predictor.add_probabilities if soft else predictor.add_votes)(table, result)
    return result
