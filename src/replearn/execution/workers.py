"""Worker processes with the import path of the process that starts them.

``python -m`` and ``python -c``, by which joblib starts its workers, put the current folder in front
of the import path. A file ``json.py`` in the folder of somebody's data would run in every worker.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any

_SAFE_PATH = "PYTHONSAFEPATH"


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


def in_workers(parallel: Any, jobs: Iterable[Any]) -> Iterator[Any]:
    """Yield what joblib's ``Parallel`` returns for jobs, from workers with this import path."""
    with same_import_path():
        yield from parallel(jobs)


def _current_folder_is_first() -> bool:
    """Tell whether a module of the current folder would be found before any other."""
    if not sys.path:
        return False
    try:
        return os.path.samefile(sys.path[0] or os.curdir, os.curdir)
    except OSError:  # an archive, a folder that is gone
        return False
