"""Let the models of all blocks vote, bit for bit the same however the rows are handed over.

The counts do not depend on the number of jobs, on threads or processes, on the order of the rows
or on the size of a batch. See `replearn.execution.voters` for how each group keeps that promise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from joblib._parallel_backends import ThreadingBackend
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context, get_config
from sklearn.utils.parallel import Parallel, delayed

from replearn.execution.grouping import group_members
from replearn.execution.threads import one_thread
from replearn.execution.voters import CHUNK, Member, Voter
from replearn.tables import n_rows, row_chunks, slice_rows

FEWEST_ROWS_PER_TASK = 4 * CHUNK
MOST_ROWS_PER_TASK = 256 * CHUNK
"""Rows handed to one worker at a time, if possible an equal share for each."""


class Panel:
    """The models of all blocks, grouped by how they can vote together.

    Parameters
    ----------
    estimators : sequence of fitted classifiers
        Partition by partition, as many for each.
    classes : array-like
        All classes, in the order of the answer. A model may know fewer of them.
    n_partitions : int, default=1
        Number of partitions.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution import ConstantVote, Panel
    >>> panel = Panel([ConstantVote("yes"), ConstantVote("no")], ["no", "yes"], n_partitions=2)
    >>> panel.vote_counts(np.zeros((1, 3)))
    array([[1, 0]], dtype=int32)
    """

    def __init__(
        self, estimators: Sequence[Any], classes: ArrayLike, n_partitions: int = 1
    ) -> None:
        if n_partitions < 1 or len(estimators) % n_partitions or not len(estimators):
            raise ValueError(
                f"{len(estimators)} estimators cannot be {n_partitions} equal partitions"
            )
        self.n_partitions = n_partitions
        self.n_blocks = len(estimators) // n_partitions
        self.n_classes = len(np.asarray(classes))
        self._members = _members(estimators, np.asarray(classes), self.n_blocks)
        self._voters: dict[bool, list[Voter]] = {}

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
        X : array-like, frame or sparse matrix of shape (n, d)
            The points.
        n_jobs : int, optional
            Number of joblib workers (threads, unless a back end is configured).

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
            voters = self._grouped(soft)
            tables = [voter.prepare(X) for voter in voters]
            size = _rows_per_task(n_rows(X), effective_n_jobs(n_jobs))
            tasks = (
                (voters, [slice_rows(table, start, stop) for table in tables], shape)
                for start, stop in row_chunks(n_rows(X), size)
            )
            work = _add_rows if soft else _count_rows
            if n_rows(X) <= size or effective_n_jobs(n_jobs) == 1:
                parts = [work(*task) for task in tasks]
            else:
                parts = _in_parallel(work, tasks, n_jobs)
        return np.concatenate(parts)

    def _grouped(self, soft: bool) -> list[Voter]:
        if soft not in self._voters:
            self._voters[soft] = group_members(self._members, soft=soft)
        return self._voters[soft]


def vote_counts(
    estimators: Sequence[Any],
    X: Any,
    classes: ArrayLike,
    *,
    n_partitions: int = 1,
    n_jobs: int | None = None,
) -> NDArray[np.int32]:
    """Count the votes of each partition; see `Panel.vote_counts`.

    Parameters
    ----------
    estimators : sequence of fitted classifiers
        Partition by partition, as many for each.
    X : array-like, frame or sparse matrix of shape (n, d)
        The points.
    classes : array-like
        All classes.
    n_partitions : int, default=1
        Number of partitions.
    n_jobs : int, optional
        Number of joblib workers.

    Returns
    -------
    ndarray of int32, shape (n, n_partitions) or (n, n_partitions, n_classes)
        Two classes: votes for the second one. Otherwise: votes for each class.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution import ConstantVote, vote_counts
    >>> vote_counts([ConstantVote(0), ConstantVote(1)], np.zeros((2, 1)), [0, 1])
    array([[1],
           [1]], dtype=int32)
    """
    return Panel(estimators, classes, n_partitions).vote_counts(X, n_jobs=n_jobs)


def soft_scores(
    estimators: Sequence[Any],
    X: Any,
    classes: ArrayLike,
    *,
    n_partitions: int = 1,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Average the class probabilities of each partition; see `Panel.soft_scores`.

    Parameters
    ----------
    estimators : sequence of fitted classifiers
        Partition by partition, as many for each.
    X : array-like, frame or sparse matrix of shape (n, d)
        The points.
    classes : array-like
        All classes.
    n_partitions : int, default=1
        Number of partitions.
    n_jobs : int, optional
        Number of joblib workers.

    Returns
    -------
    ndarray of float64, shape (n, n_partitions) or (n, n_partitions, n_classes)
        Two classes: mean probability of the second one. Otherwise: of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.execution import ConstantVote, soft_scores
    >>> soft_scores([ConstantVote(0), ConstantVote(1)], np.zeros((1, 1)), [0, 1])
    array([[0.5]])
    """
    return Panel(estimators, classes, n_partitions).soft_scores(X, n_jobs=n_jobs)


def _members(estimators: Sequence[Any], classes: NDArray[Any], n_blocks: int) -> list[Member]:
    """Find the classes of each model in the list of all classes."""
    code_of = {label: code for code, label in enumerate(classes.tolist())}
    members = []
    for place, model in enumerate(estimators):
        try:
            codes = [code_of[label] for label in np.asarray(model.classes_).tolist()]
        except KeyError as error:
            raise ValueError(
                f"model {place} knows the class {error.args[0]!r}, which is not in classes"
            ) from None
        members.append(Member(model, place // n_blocks, np.asarray(codes, dtype=np.intp)))
    return members


def _rows_per_task(length: int, workers: int) -> int:
    """Give each worker an equal share, a whole number of the plain loop's chunks."""
    share = -(-length // (workers * CHUNK)) * CHUNK
    return min(max(share, FEWEST_ROWS_PER_TASK), MOST_ROWS_PER_TASK)


def _in_parallel(work: Any, tasks: Iterable[Any], n_jobs: int | None) -> list[Any]:
    """Run the tasks in threads, unless a back end is configured.

    joblib waits for threads by sleeping 10 ms at a time, a tenth of the time of 100,000 rows.
    """
    backend, _ = get_active_backend(prefer="threads")
    if not isinstance(backend, ThreadingBackend):
        found: list[Any] = Parallel(n_jobs=n_jobs)(delayed(work)(*task) for task in tasks)
        return found
    settings = get_config()  # scikit-learn keeps them by thread

    def run(task: Any) -> Any:
        with config_context(**settings):
            return work(*task)

    with ThreadPoolExecutor(effective_n_jobs(n_jobs)) as pool:
        return list(pool.map(run, tasks))


def _count_rows(
    voters: list[Voter], tables: list[Any], shape: tuple[int, int]
) -> NDArray[np.int32]:
    counts = np.zeros((n_rows(tables[0]), *shape), dtype=np.int32)
    with one_thread(), config_context(skip_parameter_validation=True):
        for voter, table in zip(voters, tables, strict=True):
            voter.add_votes(table, counts)
    return counts


def _add_rows(
    voters: list[Voter], tables: list[Any], shape: tuple[int, int]
) -> NDArray[np.float64]:
    totals = np.zeros((n_rows(tables[0]), *shape), dtype=np.float64)
    with one_thread(), config_context(skip_parameter_validation=True):
        for voter, table in zip(voters, tables, strict=True):
            voter.add_probabilities(table, totals)
    return totals
