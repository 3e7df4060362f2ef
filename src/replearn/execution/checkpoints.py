"""Where finished blocks are kept, so that an interrupted fit continues where it stopped.

Who keeps blocks, and how, is not this room's business: a store is put in place around a fit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from replearn.randomness import SharedKey


class Shelf(Protocol):
    """The finished blocks of one training."""

    def done(self) -> dict[int, Any]:
        """Return the models that are there already, by the number of their block."""
        ...

    def keeper(self, number: int) -> Callable[[Any], None]:
        """Return a function that keeps a block's model; it may be called in a worker process."""
        ...


class BlockStore(Protocol):
    """A place for finished blocks; one fit may train blocks more than once."""

    def open(
        self,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        blocks: Sequence[NDArray[np.intp]],
        keys: Sequence[SharedKey],
    ) -> Shelf:
        """Return the shelf of this training: the same one for the same training, whenever it comes.

        Raises if the store belongs to another fit.
        """
        ...


_ACTIVE: ContextVar[BlockStore | None] = ContextVar("replearn_block_store", default=None)


@contextlib.contextmanager
def block_store(store: BlockStore | None) -> Iterator[None]:
    """Keep the blocks of the fit inside; None: nothing is kept.

    Parameters
    ----------
    store : BlockStore or None
        Where finished blocks go.

    Examples
    --------
    >>> from replearn.execution.checkpoints import active_store, block_store
    >>> with block_store(None):
    ...     print(active_store())
    None
    """
    token = _ACTIVE.set(store)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def active_store() -> BlockStore | None:
    """Return the store in place, if any."""
    return _ACTIVE.get()
