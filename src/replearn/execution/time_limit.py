"""A time limit for each block, in worker processes that can be ended.

Nothing can interrupt an estimator that hangs in compiled code of this process, nor survive one that
ends it. Under a limit every block is therefore fitted in a worker process.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from typing import Any

from replearn import compat
from replearn.execution.context import end_with
from replearn.records import check_positive

_READY_SECONDS = 0.05


class TimeLimit:
    """Worker processes that are watched: none may work on one block for longer than ``seconds``."""

    def __init__(self, seconds: float) -> None:
        check_positive("block_seconds", seconds)
        if compat.ProcessPoolExecutor is None:
            raise RuntimeError("block_seconds needs joblib's worker processes, which have moved")
        self.seconds = float(seconds)
        self._pool: Any = None
        self._workers = 0

    def run(
        self, jobs: Iterator[tuple[str, tuple[Any, ...]]], work: Callable[..., Any], workers: int
    ) -> Iterator[Any]:
        """Do named jobs in worker processes and yield what comes out, in order."""
        try:
            yield from self._run(jobs, work, workers)
        finally:
            self.end()

    def _run(
        self, jobs: Iterator[tuple[str, tuple[Any, ...]]], work: Callable[..., Any], workers: int
    ) -> Iterator[Any]:
        self._start(workers)
        waiting: deque[tuple[Future[Any], str, float]] = deque()
        for name, arguments in jobs:
            future = self._pool.submit(work, *arguments)
            waiting.append((future, name, time.monotonic() + self.seconds))
            while sum(not future.done() for future, _, _ in waiting) >= workers:
                self._wait(waiting)
            while waiting and waiting[0][0].done():
                yield self._result(waiting)
        while waiting:
            if not waiting[0][0].done():
                self._wait(waiting)
            else:
                yield self._result(waiting)

    def end(self) -> None:
        """End the worker processes, whatever they do."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, kill_workers=True)
            self._pool = None

    def _start(self, workers: int) -> None:
        """Begin with processes that have loaded their libraries: that is not the block's time."""
        if self._pool is None or self._workers != workers:
            self.end()
            self._pool = compat.ProcessPoolExecutor(workers)
            self._workers = workers
            list(self._pool.map(_ready, [os.getpid()] * workers))

    def _wait(self, waiting: deque[tuple[Future[Any], str, float]]) -> None:
        """Wait until one more job is done; give up when one is overdue."""
        running = [item for item in waiting if not item[0].done()]
        first = min(deadline for _, _, deadline in running)
        futures = [future for future, _, _ in running]
        wait(futures, timeout=max(0.0, first - time.monotonic()), return_when=FIRST_COMPLETED)
        late = [name for future, name, deadline in running if _is_late(future, deadline)]
        if late:
            self.end()
            raise TimeoutError(
                f"{late[0]} took longer than the time limit of {self.seconds:g} s and was ended. "
                "Raise the limit, or give the base estimator fewer rows or fewer iterations."
            )

    def _result(self, waiting: deque[tuple[Future[Any], str, float]]) -> Any:
        try:
            result = waiting[0][0].result()
        except BrokenExecutor as error:
            names = " or ".join(name for future, name, _ in waiting if _is_broken(future))
            self.end()
            raise RuntimeError(
                f"the process that fitted {names} ended by itself: out of memory, or the base "
                "estimator ends or crashes its process"
            ) from error
        waiting.popleft()
        return result


def _is_late(future: Future[Any], deadline: float) -> bool:
    return not future.done() and time.monotonic() >= deadline


def _is_broken(future: Future[Any]) -> bool:
    return not future.done() or isinstance(future.exception(), BrokenExecutor)


def _ready(parent: int) -> None:
    """Watch the parent, and stay long enough for the other workers to be called too."""
    end_with(parent)
    time.sleep(_READY_SECONDS)
