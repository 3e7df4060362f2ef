"""Worker processes: they import what their parent imports, and end when it ends.

``python -m`` and ``python -c``, by which joblib starts its workers, put the current folder in front
of the import path. A file ``json.py`` in the folder of somebody's data would run in every worker.

A parent that is killed tells nobody. Its workers would finish their jobs, and wait for others for
minutes; joblib's resource tracker removes shared memory and semaphores only after them. So each
worker watches its parent.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from sklearn.utils.parallel import Parallel, delayed

T = TypeVar("T")

_SAFE_PATH = "PYTHONSAFEPATH"

_SECONDS_BETWEEN_LOOKS = 0.5


class _SafePath:
    """Set an environment variable while at least one thread starts workers."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_users = 0
        self._before: str | None = None

    def enter(self) -> None:
        with self._lock:
            if self._n_users == 0:
                self._before = os.environ.get(_SAFE_PATH)
                os.environ[_SAFE_PATH] = "1"
            self._n_users += 1

    def leave(self) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users:
                return
            if self._before is None:
                os.environ.pop(_SAFE_PATH, None)
            else:
                os.environ[_SAFE_PATH] = self._before


_SAFE = _SafePath()


@contextlib.contextmanager
def same_import_path() -> Iterator[None]:
    """Start processes without the current folder, unless this process looks there first itself.

    Workers of joblib take over the import path of this process, but only after their first
    imports.

    Examples
    --------
    >>> import subprocess, sys
    >>> from replearn.execution import same_import_path
    >>> command = [sys.executable, "-c", "import sys; print(sys.path[0] == '')"]
    >>> sys.path.insert(0, "/elsewhere")
    >>> with same_import_path():
    ...     subprocess.run(command, capture_output=True, text=True).stdout.strip()
    'False'
    >>> sys.path.remove("/elsewhere")
    """
    if _current_folder_is_first():
        yield
        return
    _SAFE.enter()
    try:
        yield
    finally:
        _SAFE.leave()


def in_workers(
    function: Callable[..., T], arguments: Iterable[tuple[Any, ...]], **options: Any
) -> Iterator[T]:
    """Call a function with each tuple of arguments in workers, and yield what it returns.

    Worker processes have the import path of this process, and those of this machine end within
    seconds when this process does.

    Parameters
    ----------
    function : callable
        What the workers run.
    arguments : iterable of tuple
        The positional arguments of each call.
    **options
        Parameters of joblib's ``Parallel``.

    Examples
    --------
    >>> from replearn.execution import in_workers
    >>> list(in_workers(pow, [(2, 3), (3, 2)], n_jobs=2, prefer="threads"))
    [8, 9]
    """
    parent = os.getpid()
    run = delayed(_run_watched)
    with same_import_path():
        yield from Parallel(**options)(run(parent, function, each) for each in arguments)


def _run_watched(parent: int, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    end_with(parent)
    return function(*arguments)


_watching: set[int] = set()


def end_with(parent: int) -> None:
    """End this process soon after its parent has ended, if ``parent`` has started it.

    Threads of the parent itself and workers of a cluster are left alone.
    """
    if parent in _watching or not (os.getppid() == parent or _is_worker_of_joblib()):
        return
    _watching.add(parent)
    threading.Thread(target=_wait_for_end, args=(parent,), daemon=True).start()


def _is_worker_of_joblib() -> bool:
    """Tell such a worker even where its parent was gone before the first job began."""
    return multiprocessing.current_process().name.startswith("LokyProcess")


def _wait_for_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _current_folder_is_first() -> bool:
    """Tell whether a module of the current folder would be found before any other."""
    if not sys.path:
        return False
    try:
        return os.path.samefile(sys.path[0] or os.curdir, os.curdir)
    except OSError:  # an archive, a folder that is gone
        return False
