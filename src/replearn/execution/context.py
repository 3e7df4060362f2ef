"""What surrounds one fit: finished blocks, deadline, progress, errors with a name, and workers.

Worker processes import what their parent imports, and end when it ends. ``python -m`` and
``python -c``, by which joblib starts them, put the current folder in front of the import path: a
file ``json.py`` in the folder of somebody's data would run in every worker. And a parent that is
killed tells nobody. Its workers would finish their jobs, and wait for others for minutes; joblib's
resource tracker removes shared memory and semaphores only after them. So each worker watches its
parent.
"""

from __future__ import annotations

import contextlib
import inspect
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from replearn.randomness import SharedKey

A = TypeVar("A")
B = TypeVar("B")

QUIET_SECONDS = 5.0
SECONDS_BETWEEN_LINES = 1.0
"""On a terminal: shorter work is reported with ``verbose`` only, and the line is rewritten."""

PLAIN_QUIET_SECONDS = 30.0
SECONDS_BETWEEN_PLAIN_LINES = 10.0
"""In log files every report is a line that stays: fewer of them."""

_MLFLOW = "mlflow.utils.autologging_utils"


class BlockCache(Protocol):
    """The finished blocks of one training."""

    def done(self) -> dict[int, Any]:
        """Return the fitted estimators that are there already, by the number of their block."""

    def saver(self, number: int) -> Callable[[Any], None]:
        """Return a function that saves a block's estimator; a worker process may call it."""


class BlockStore(Protocol):
    """Where the finished blocks of a fit are kept."""

    def open(
        self,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        blocks: Sequence[NDArray[np.intp]],
        keys: Sequence[SharedKey],
    ) -> BlockCache:
        """Return the cache of this training, the same whenever the same training comes again.

        One fit may train blocks more than once. A store that belongs to another fit raises.
        """


class DeadlinePassed(Exception):
    """The deadline has passed in the middle of a fit; what it has learned so far is dropped."""


def now() -> float:
    """Seconds on the clock of deadlines, which all processes of a machine share."""
    return time.monotonic()


@dataclass(frozen=True)
class RunContext:
    """How a fit is run: the argument ``context`` of ``fit``. It never changes what is learned.

    Parameters
    ----------
    store : BlockStore, default=None
        Keeps finished blocks, so that an interrupted fit can continue; see
        `replearn.persistence.resumable`.
    deadline : float, default=None
        Time on the clock `now` after which no further block is fitted.
    block_seconds : float, default=None
        Longest time for one block, by the clock on the wall. Blocks are then fitted in worker
        processes that can be ended, as many as ``n_jobs`` says. A block that takes longer raises a
        `TimeoutError` that names it; the end of its process (out of memory, a crash of compiled
        code) raises a `RuntimeError` that names it. Starting the workers takes a few seconds.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from replearn import PointwiseReplicableClassifier
    >>> from replearn.execution import RunContext
    >>> X, y = make_classification(900, random_state=0)
    >>> model = PointwiseReplicableClassifier(n_blocks=18, max_fits=18)
    >>> _ = model.fit(X, y, context=RunContext(block_seconds=600))
    """

    store: BlockStore | None = None
    deadline: float | None = None
    block_seconds: float | None = None

    def check_deadline(self) -> None:
        """Raise `DeadlinePassed` after the deadline.

        >>> RunContext(deadline=now() - 1).check_deadline()
        Traceback (most recent call last):
        ...
        replearn.execution.context.DeadlinePassed
        """
        if self.deadline is not None and now() > self.deadline:
            raise DeadlinePassed


def check_context(context: Any) -> RunContext:
    """Return the context of a fit; None stands for one without store, deadline and limit.

    >>> check_context({"block_seconds": 60})
    Traceback (most recent call last):
    ...
    TypeError: context={'block_seconds': 60} must be a RunContext or None.
    """
    if context is None:
        return RunContext()
    if not isinstance(context, RunContext):
        raise TypeError(f"context={context!r} must be a RunContext or None.")
    return context


def accepts_context(estimator: Any) -> bool:
    """Whether ``fit`` of an estimator has the argument ``context``."""
    return "context" in inspect.signature(estimator.fit).parameters


def fit_in_context(
    estimator: Any, X: Any, y: Any, context: RunContext | None, **fit_params: Any
) -> Any:
    """Fit an estimator, with the context if it takes one."""
    if context is not None and accepts_context(estimator):
        fit_params["context"] = context
    return estimator.fit(X, y, **fit_params)


@contextlib.contextmanager
def no_autologging() -> Iterator[None]:
    """Switch off MLflow's automatic logging, if MLflow is loaded: blocks are no runs of their own.

    Logging hundreds of block models makes a fit of seconds take minutes.
    """
    switch = getattr(sys.modules.get(_MLFLOW), "disable_autologging", None)
    with contextlib.nullcontext() if switch is None else switch():
        yield


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
    >>> from replearn.execution import side_by_side
    >>> side_by_side(lambda: 1, lambda: 2)
    (1, 2)
    """
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(beside)
        return work(), second.result()


class Progress:
    """Report how many of ``total`` steps are done.

    Parameters
    ----------
    total : int
        Number of steps.
    what : str, default="blocks"
        What is counted.
    verb : str, default="fitted"
        What has been done to it.
    verbose : int, default=0
        0 stays silent for the first seconds, 1 or more reports at once, negative never.
    stream : text stream, optional
        Standard error by default.
    clock : callable, default=time.monotonic
        Seconds.

    Examples
    --------
    >>> import sys
    >>> from replearn.execution import Progress
    >>> progress = Progress(2, verbose=1, stream=sys.stdout, clock=lambda: 0.0)
    >>> progress.advance(2)
    replearn: 2 of 2 blocks fitted, 0 s elapsed
    """

    def __init__(
        self,
        total: int,
        what: str = "blocks",
        *,
        verb: str = "fitted",
        verbose: int = 0,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.total = total
        self.done = 0
        self._what = f"{what} {verb}"
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._start = clock()
        self._rewrites = bool(getattr(self._stream, "isatty", lambda: False)())
        self._quiet_until = _quiet_seconds(verbose, self._rewrites)
        self._gap = SECONDS_BETWEEN_LINES if self._rewrites else SECONDS_BETWEEN_PLAIN_LINES
        self._next = max(self._quiet_until, self._gap)
        self._said_something = False
        self.note = ""  # what is known so far, at the end of the line

    def advance(self, steps: int = 1) -> None:
        """Count finished steps and say so when it is time."""
        self.done += steps
        elapsed = self._clock() - self._start
        finished = self.done >= self.total
        if elapsed < self._quiet_until or not (finished or elapsed >= self._next):
            return
        self._next = elapsed + self._gap
        self._say(self._line(elapsed))

    def close(self) -> None:
        """End the line that is being rewritten (also after an interruption)."""
        if self._rewrites and self._said_something:
            self._stream.write("\n")
            self._stream.flush()
            self._said_something = False

    def _line(self, elapsed: float) -> str:
        text = f"replearn: {self.done} of {self.total} {self._what}, {elapsed:.0f} s elapsed"
        if self.done < self.total:
            remaining = elapsed / self.done * (self.total - self.done)
            text += f", about {remaining:.0f} s left"
        return f"{text}; {self.note}" if self.note else text

    def _say(self, line: str) -> None:
        self._stream.write(f"\r{line}\x1b[K" if self._rewrites else f"{line}\n")
        self._stream.flush()
        self._said_something = True


def _quiet_seconds(verbose: int, is_terminal: bool) -> float:
    if verbose != 0:
        return 0.0 if verbose > 0 else float("inf")
    return QUIET_SECONDS if is_terminal else PLAIN_QUIET_SECONDS


@contextlib.contextmanager
def naming(estimator: Any, name: str) -> Iterator[None]:
    """Say in an error which estimator and which block it comes from; its type stays what it was.

    An estimator that ends the process by ``sys.exit`` is an error too.
    """
    where = f"{type(estimator).__name__} failed on {name}"
    try:
        yield
    except SystemExit as error:
        raise RuntimeError(f"{where}: it called sys.exit({error.code!r})") from error
    except Exception as error:
        if len(error.args) == 1 and isinstance(error.args[0], str):
            error.args = (f"{where}: {error.args[0]}",)
        else:
            error.add_note(where)
        raise


# -- worker processes ------------------------------------------------------------------------------
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

    The parent itself (its threads, a worker that works alone) and workers of a cluster are left
    alone.
    """
    if parent in _watching or parent == os.getpid():
        return
    if os.getppid() != parent and not _is_worker_of_joblib():
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
