"""Dask: one task per piece, bucket or block; nothing but numbers passes through the scheduler.

A task reads and writes the folder, which must be on storage that all workers see, and returns
nothing. A lost worker costs the work that it had in hand; a lost scheduler costs no more, when the
fit is started again on the same folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from replearn.outofcore.engines import Work, pinned, progress_of

RETRIES = 2
"""A task that fails is tried again so many times: storage over a network has its moods."""


class DaskEngine:
    """Work on a Dask cluster.

    Parameters
    ----------
    client : dask.distributed.Client
        Connected to the scheduler.
    verbose : int, default=0
        As for learners.
    """

    def __init__(self, client: Any, verbose: int = 0) -> None:
        self.client, self.verbose = client, verbose

    @classmethod
    @contextmanager
    def connect(cls, client: Any, verbose: int = 0) -> Iterator[DaskEngine]:
        """Use a client, or connect to the address of a scheduler while the context lasts."""
        if not isinstance(client, str):
            yield cls(client, verbose)
            return
        try:
            from distributed import Client
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "a Dask cluster needs distributed: pip install 'replicable-learn[dask]'."
            ) from None
        with Client(client) as connected:
            yield cls(connected, verbose)

    def run(self, work: Work, numbers: Sequence[int], what: str) -> None:
        """Do all of it on the cluster; what one of them raises ends the others."""
        from distributed import as_completed

        futures = self.client.map(
            partial(pinned, work),
            list(numbers),
            key=what.replace(" ", "-"),
            pure=False,
            retries=RETRIES,
        )
        with progress_of(len(futures), what, self.verbose) as progress:
            try:
                for future in as_completed(futures):
                    future.result()
                    progress.advance()
                    future.release()  # else it would be done again if its worker is lost
            finally:
                if self.client.status == "running":
                    self.client.cancel(futures)
