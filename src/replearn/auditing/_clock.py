"""A deadline that ends a fit between two blocks, or between two models of an ensemble."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from replearn.execution.runtime import block_store


class TimeIsUp(Exception):
    """The deadline has passed in the middle of a fit; what it has learned so far is dropped."""


_DEADLINE: ContextVar[float | None] = ContextVar("replearn_audit_deadline", default=None)


def check_clock() -> None:
    """Raise `TimeIsUp` after the deadline of `stop_after`, if there is one."""
    deadline = _DEADLINE.get()
    if deadline is not None and time.monotonic() > deadline:
        raise TimeIsUp


@contextlib.contextmanager
def stop_after(deadline: float | None) -> Iterator[None]:
    """End fits inside after a time of the monotonic clock; None: never.

    Examples
    --------
    >>> with stop_after(time.monotonic() - 1):
    ...     check_clock()
    Traceback (most recent call last):
    ...
    replearn.auditing._clock.TimeIsUp
    """
    token = _DEADLINE.set(deadline)
    try:
        with block_store(None if deadline is None else _Watch()):
            yield
    finally:
        _DEADLINE.reset(token)


class _Watch:
    """A store of blocks that keeps nothing and looks at the clock after each block."""

    def open(self, *_: Any) -> _Watch:
        """Begin a fit."""
        return self

    def done(self) -> dict[int, Any]:
        """Return no finished blocks."""
        return {}

    def keeper(self, number: int) -> Callable[[Any], None]:
        """Return what is called after a block."""
        del number
        return _look


def _look(model: Any) -> None:
    del model
    check_clock()
