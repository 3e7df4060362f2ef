"""Where changed predictions come from: the same rows with another seed, order or number of threads.

The first run of a pair is repeated on its own sample with one thing changed. What then changes is
not due to the data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer

from replearn.auditing._runs import Job, PairOutcome, Runner, Store, Task
from replearn.execution import random_state_names
from replearn.tables import is_frame, n_rows, take_rows

SEED = "seed"
ROW_ORDER = "row order"
COLUMN_ORDER = "column order"
THREADS = "number of threads"
SOURCES = (SEED, ROW_ORDER, COLUMN_ORDER, THREADS)

MAX_SHARE = 0.2
"""Trainings that all sources together may add, as a share of those of the contenders."""

MIN_REPEATS = 5
"""With fewer, limits would miss the truth too often where one seed changes much and another little.
"""

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

    All sources together take at most a fifth of the contenders' trainings, but five each.

    >>> n_repeats(20, 5), n_repeats(20, 1), n_repeats(2, 5)
    (10, 5, 2)
    """
    allowed = int(MAX_SHARE * 2 * n_pairs * n_contenders / len(SOURCES))
    return min(n_pairs, max(MIN_REPEATS, allowed))


def measure_sources(
    task: Task, first_runs: Mapping[int, PairOutcome], runner: Runner, tolerance: float | None
) -> tuple[SourceResult, ...]:
    """Repeat the baseline's first runs with one thing changed; ``first_runs`` are its pairs.

    A source that cannot be changed (columns by index) or that had no time is left out.
    """
    estimator = task.contenders[0].estimator
    if not hasattr(estimator, "get_params"):  # nothing can be changed
        return ()
    pairs = sorted(first_runs)[: n_repeats(task.design.n_pairs, len(task.contenders))]
    names = [name for name in SOURCES if _can_change(name, task)]
    # Without a seed there is nothing to repeat: it changes no prediction.
    repeated = [name for name in names if name != SEED or random_state_names(estimator)]
    for name in repeated:
        changed = partial(_changed, name, task, runner.deadline)
        jobs = {source_name(name, pair): partial(changed, pair) for pair in pairs}
        # Several threads in several workers at a time would wait for each other.
        runner.run_missing(jobs, f"repetitions ({name})", n_jobs=1 if name == THREADS else None)
    unchanged = np.zeros((len(pairs), len(task.rows.test)))
    found = {
        name: _changes(name, first_runs, runner.store, tolerance) if name in repeated else unchanged
        for name in names
    }
    return tuple(SourceResult(name, flips) for name, flips in found.items() if len(flips) > 1)


def _changes(
    name: str, first_runs: Mapping[int, PairOutcome], store: Store, tolerance: float | None
) -> Floats:
    """Compare first runs with their repetitions, as far as these are finished."""
    kept = store.finished
    done = [pair for pair in first_runs if source_name(name, pair) in kept]
    return np.array(
        [first_runs[pair].changes(kept[source_name(name, pair)], tolerance) for pair in done]
    )


def source_name(name: str, pair: int) -> str:
    """Name under which a repetition is kept."""
    return f"source-{name.replace(' ', '-')}-{pair:04d}.pair"


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


def _changed(name: str, task: Task, deadline: float | None, pair: int) -> Job:
    """Return the first run of a pair with one thing changed, by a key of its own."""
    job = task.job(0, pair, deadline)
    job = dataclasses.replace(job, samples=job.samples[:1], explained=False)
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
    return dataclasses.replace(job, n_threads=N_THREADS)


def _take_columns(X: Any, columns: NDArray[np.intp]) -> Any:
    return X[[X.columns[index] for index in columns]] if is_frame(X) else X[:, columns]
