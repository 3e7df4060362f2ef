"""What surrounds a run: progress, work side by side, errors with a name."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TextIO, TypeVar

A = TypeVar("A")
B = TypeVar("B")

QUIET_SECONDS = 5.0
SECONDS_BETWEEN_LINES = 1.0
"""On a terminal: shorter work is reported with ``verbose`` only, and the line is rewritten."""

PLAIN_QUIET_SECONDS = 30.0
SECONDS_BETWEEN_PLAIN_LINES = 10.0
"""In log files every report is a line that stays: fewer of them."""

_MLFLOW = "mlflow.utils.autologging_utils"


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
        return text

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
