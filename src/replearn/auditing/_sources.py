"""Where changed predictions come from: the same rows with another seed, order or number of threads.

The first run of a pair is repeated on its own sample with one thing changed. What then changes is
not due to the data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from threadpoolctl import threadpool_limits

from replearn.auditing import _runs
from replearn.auditing._runs import Job, PairOutcome, Task
from replearn.execution import DeadlinePassed, Progress, in_workers, random_state_names
from replearn.tables import is_frame, n_rows, take_rows

SEED = "seed"
ROW_ORDER = "row order"
COLUMN_ORDER = "column order"
THREADS = "number of threads"
SOURCES = (SEED, ROW_ORDER, COLUMN_ORDER, THREADS)

MAX_SHARE = 0.2
"""Trainings that all sources together may add, as a share of those of the contenders."""

MIN_REPEATS = 2
N_THREADS = 2
_BY_COLUMN = ("categorical_features", "monotonic_cst", "interaction_cst", "cat_features")
"""Parameters that name columns by their index."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SourceResult:
    """Which predictions change when one thing changes, and the rows stay the same.

    Parameters
    ----------
    name : str
        What changes: "seed", "row order", "column order" or "number of threads".
    flips : ndarray of shape (n_repeats, n_test)
        1 where the prediction of a test row changes.
    """

    name: str
    flips: Floats


def n_repeats(n_pairs: int, n_contenders: int) -> int:
    """Return how often each source is measured: a number that depends on the design alone.

    All sources together take at most a fifth of the contenders' trainings, but two each.

    >>> n_repeats(20, 5), n_repeats(20, 1), n_repeats(2, 5)
    (10, 2, 2)
    """
    allowed = int(MAX_SHARE * 2 * n_pairs * n_contenders / len(SOURCES))
    return min(n_pairs, max(MIN_REPEATS, allowed))


def measure_sources(
    task: Task,
    first_runs: Mapping[int, PairOutcome],
    *,
    tolerance: float | None,
    deadline: float | None,
    n_jobs: int | None,
    verbose: int,
) -> tuple[SourceResult, ...]:
    """Repeat the baseline's first runs with one thing changed; ``first_runs`` are its pairs.

    A source that cannot be changed (columns by index) or that had no time is left out.
    """
    if not hasattr(task.contenders[0].estimator, "get_params"):  # nothing can be changed
        return ()
    pairs = sorted(first_runs)[: n_repeats(task.design.n_pairs, len(task.contenders))]
    names = [name for name in SOURCES if _can_change(name, task)]
    jobs = list(_jobs(task, names, pairs, deadline))
    progress = Progress(len(jobs), "repetitions", verb="run", verbose=verbose)
    found: dict[tuple[str, int], Floats] = {}
    # Several threads in several workers at a time would wait for each other.
    shared = [job for job in jobs if job[0] != THREADS]
    alone = [job for job in jobs if job[0] == THREADS]
    for part, workers in ((shared, n_jobs), (alone, 1)):
        options = {"n_jobs": workers, "return_as": "generator_unordered"}
        for name, pair, outcome in in_workers(_run_one, part, **options):
            if outcome is not None:
                found[name, pair] = _changes(first_runs[pair], outcome, tolerance)
            progress.advance()
    progress.close()
    if SEED in names and not random_state_names(task.contenders[0].estimator):
        n_test = len(task.rows.test)
        found |= {(SEED, pair): np.zeros(n_test) for pair in pairs}
    return tuple(
        SourceResult(name, np.stack([found[name, pair] for pair in pairs]))
        for name in names
        if all((name, pair) in found for pair in pairs)
    )


def _can_change(name: str, task: Task) -> bool:
    return name != COLUMN_ORDER or not _takes_columns_by_index(task)


def _takes_columns_by_index(task: Task) -> bool:
    """Whether another order of the columns would be another model, or none at all."""
    if not is_frame(task.X) and not (isinstance(task.X, np.ndarray) and task.X.ndim == 2):
        return True
    params = task.contenders[0].estimator.get_params(deep=True)
    by_index = any(
        isinstance(value, ColumnTransformer) and not is_frame(task.X) for value in params.values()
    )
    named = {name.rpartition("__")[2]: value for name, value in params.items()}
    return by_index or any(named.get(name) not in (None, "from_dtype") for name in _BY_COLUMN)


def _jobs(
    task: Task, names: Sequence[str], pairs: Sequence[int], deadline: float | None
) -> Iterator[tuple[str, Job]]:
    for pair in pairs:
        job = task.job(0, pair, deadline)
        job = dataclasses.replace(job, samples=job.samples[:1])
        for name in names:
            if name != SEED or random_state_names(job.contender.estimator):
                yield name, _changed(name, job)


def _changed(name: str, job: Job) -> Job:
    """Return the job with one thing changed, by a key of its own."""
    key = job.key.child("source", name, job.pair)
    [(X, labels, groups)] = job.samples
    if name == SEED:
        return dataclasses.replace(job, seed_key=key)
    if name == ROW_ORDER:
        order = np.argsort(key.uniforms(np.arange(n_rows(X))))
        groups = None if groups is None else groups[order]
        return dataclasses.replace(job, samples=[(take_rows(X, order), labels[order], groups)])
    if name == COLUMN_ORDER:
        columns = np.argsort(key.uniforms(np.arange(X.shape[1])))
        sample = (_take_columns(X, columns), labels, groups)
        return dataclasses.replace(job, samples=[sample], points=_take_columns(job.points, columns))
    return job


def _take_columns(X: Any, columns: NDArray[np.intp]) -> Any:
    return X[[X.columns[index] for index in columns]] if is_frame(X) else X[:, columns]


def _run_one(name: str, job: Job) -> tuple[str, int, PairOutcome | None]:
    try:
        if name != THREADS:
            return name, job.pair, _runs.run_pair(job)
        with threadpool_limits(N_THREADS):
            return name, job.pair, _runs.run_pair(job, n_threads=N_THREADS)
    except DeadlinePassed:
        return name, job.pair, None


def _changes(first: PairOutcome, again: PairOutcome, tolerance: float | None) -> Floats:
    """Compare the first run of a pair with its repetition, row by row."""
    if tolerance is None:
        assert first.predictions is not None
        assert again.predictions is not None
        return (first.predictions[0] != again.predictions[0]).astype(np.float64)
    assert first.reported is not None
    assert again.reported is not None
    gap = np.abs(first.reported[0] - again.reported[0])
    return (gap >= tolerance * (1 - 1e-9)).astype(np.float64)
