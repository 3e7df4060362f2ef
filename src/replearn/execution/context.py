"""What surrounds one fit: finished blocks, deadline, progress, errors with a name."""

from __future__ import annotations

import contextlib
import inspect
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from replearn.randomness.key import SharedKey

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
        `replearn.persistence.block_folder.resumable`.
    deadline : float, default=None
        Time on the clock `now` after which no further block is fitted.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from replearn import PointwiseReplicableClassifier
    >>> from replearn.execution.context import RunContext, now
    >>> X, y = make_classification(900, random_state=0)
    >>> model = PointwiseReplicableClassifier(n_blocks=18, max_fits=18)
    >>> _ = model.fit(X, y, context=RunContext(deadline=now() + 600))
    """

    store: BlockStore | None = None
    deadline: float | None = None

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
    """Return the context of a fit; None stands for one without store and deadline.

    >>> check_context({"deadline": 60})
    Traceback (most recent call last):
    ...
    TypeError: context={'deadline': 60} must be a RunContext or None.
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
    >>> from replearn.execution.context import side_by_side
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
    >>> from replearn.execution.context import Progress
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
