"""Threads: one for BLAS and OpenMP, whoever calls, and a second for work that can be done beside.

Sums split over threads are rounded differently, so the number of threads would change bits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from threadpoolctl import ThreadpoolController

A = TypeVar("A")
B = TypeVar("B")

_controllers: dict[int, ThreadpoolController] = {}


@contextmanager
def one_thread() -> Iterator[None]:
    """Run numerical libraries on one thread.

    Yields
    ------
    None
        While the context is open.

    Examples
    --------
    >>> from replearn.execution.threads import one_thread
    >>> with one_thread():
    ...     pass
    """
    with _controller().limit(limits=1):
        yield


def _controller() -> ThreadpoolController:
    """Look for numerical libraries again only when modules were imported since (it costs 1 ms)."""
    loaded = len(sys.modules)
    if loaded not in _controllers:
        _controllers.clear()
        _controllers[loaded] = ThreadpoolController()
    return _controllers[loaded]


def side_by_side(work: Callable[[], A], beside: Callable[[], B]) -> tuple[A, B]:
    """Do two things at the same time, the second one in a thread of its own.

    Parameters
    ----------
    work : callable
        Runs in the calling thread; if both raise, its error is the one that is seen.
    beside : callable
        Runs in another thread: it must not warn, nor depend on the caller's context.

    Returns
    -------
    tuple
        Both results.

    Examples
    --------
    >>> from replearn.execution.threads import side_by_side
    >>> side_by_side(lambda: 1, lambda: 2)
    (1, 2)
    """
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(beside)
        return work(), second.result()
