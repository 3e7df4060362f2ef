"""One BLAS and OpenMP thread, whoever calls.

Sums split over threads are rounded differently, so the number of threads would change bits.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

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
