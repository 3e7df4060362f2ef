"""What surrounds one fit: a store of finished blocks, a deadline, a time limit for each block."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from replearn.randomness import SharedKey


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
