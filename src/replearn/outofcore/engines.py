"""Who does the work: this process, joblib's workers, or a Dask cluster.

Work is a function of a number. It reads and writes the folder and returns nothing, so that nothing
large travels; the files that are there show what is done. On a cluster the folder must be on
storage that all workers see. A lost worker costs the work that it had in hand; a lost scheduler
costs no more, when the fit is started again on the same folder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from replearn.execution.context import Progress
from replearn.execution.voting import one_thread

Work = Callable[[int], None]


RETRIES = 2
"""On a cluster a task that fails is tried again: storage over a network has its moods."""


class LocalEngine:
    """Work in this process, or in joblib's workers; a configured back end is used."""

    def __init__(self, n_jobs: int | None = None, verbose: int = 0) -> None:
        self.n_jobs = n_jobs
        self.verbose = verbose

    def run(self, work: Work, numbers: Sequence[int], what: str) -> None:
        """Do all of it, in order of the numbers if there is one worker."""
        with progress_of(len(numbers), what, self.verbose) as progress:
            if effective_n_jobs(self.n_jobs) == 1 or len(numbers) < 2:
                for number in numbers:
                    pinned(work, number)
                    progress.advance()
                return
            run = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")
            for _ in run(delayed(pinned)(work, number) for number in numbers):
                progress.advance()


class DaskEngine:
    """Work on a Dask cluster: one task for each number."""

    def __init__(self, client: Any, verbose: int = 0) -> None:
        self.client = client
        self.verbose = verbose

    def run(self, work: Work, numbers: Sequence[int], what: str) -> None:
        """Do all of it on the cluster; what one of them raises ends the others."""
        from distributed import as_completed

        futures = self.client.map(
            partial(pinned, work),
            list(numbers),
            key=what.replace(" ", "-"),
            pure=False,
            retries=RETRIES,
        )
        with progress_of(len(futures), what, self.verbose) as progress:
            try:
                for future in as_completed(futures):
                    future.result()
                    progress.advance()
                    future.release()  # else it would be done again if its worker is lost
            finally:
                if self.client.status == "running":
                    self.client.cancel(futures)


Engine = LocalEngine | DaskEngine


@contextmanager
def engine_for(client: Any, n_jobs: int | None, verbose: int) -> Iterator[Engine]:
    """Return who works: a Dask cluster, given by its client or its address, else this machine."""
    if client is None:
        yield LocalEngine(n_jobs, verbose)
        return
    if not isinstance(client, str):
        yield DaskEngine(client, verbose)
        return
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "a Dask cluster needs distributed: pip install 'replicable-learn[dask]'."
        ) from None
    with Client(client) as connected:
        yield DaskEngine(connected, verbose)


@contextmanager
def progress_of(total: int, what: str, verbose: int) -> Iterator[Progress]:
    """Report progress; the line is ended also after an interruption."""
    counted, _, verb = what.partition(" ")
    progress = Progress(total, counted, verb=verb, verbose=verbose)
    try:
        yield progress
    finally:
        progress.close()


_LOCK = threading.Lock()
_LIMITS: dict[str, Any] = {"users": 0, "stack": None}


def pinned(work: Work, number: int) -> None:
    """Do a piece of work with one thread for BLAS and OpenMP.

    Several threads of one process may be at work: the last to finish lifts the limit.
    """
    with _LOCK:
        if _LIMITS["users"] == 0:
            _LIMITS["stack"] = ExitStack()
            _LIMITS["stack"].enter_context(one_thread())
        _LIMITS["users"] += 1
    try:
        work(number)
    finally:
        with _LOCK:
            _LIMITS["users"] -= 1
            if _LIMITS["users"] == 0:
                _LIMITS["stack"].close()
