"""Exact bits of every case of the corpus, in a process that is set up in another way.

``python -m tests.corpus.matrix BACK_END [NAME ...]`` prints a digest for each item of each case.
All probabilities and scores count to the last bit. With a back end, blocks leave the first process
after one fit, and rows are split among workers whatever their number: short work would stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np

from replearn.execution import fitting, voting

from .cases import CASES
from .fingerprint import Close

TIMED = {"seconds"}
BACK_ENDS = ("serial", "threading", "loky", "dask")


def bits(value: Any) -> str:
    """Digest of a value with all its bits."""
    if isinstance(value, Close):
        value = value.value
    array = np.asarray(value) if not isinstance(value, list | tuple) else None
    if array is not None and array.dtype.kind in "biuf":
        content = f"{array.dtype.str}{array.shape}".encode() + array.tobytes()
    else:
        content = repr(value if array is None or not array.ndim else array.tolist()).encode()
    return hashlib.sha256(content).hexdigest()[:16]


def bits_of(name: str) -> dict[str, str]:
    """Digests of all items of one case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {item: bits(value) for item, value in CASES[name]().items() if item not in TIMED}


@contextlib.contextmanager
def workers(back_end: str, n_jobs: int = 2) -> Iterator[None]:
    """Do everything with these workers, small pieces too."""
    if back_end == "serial":
        yield
        return
    kept = fitting._workers_pay, voting._rows_per_task
    fitting._workers_pay = lambda *_: True
    voting._rows_per_task = lambda length, _: 37
    try:
        with contextlib.ExitStack() as stack:
            if back_end == "dask":
                from distributed import Client

                local = {"processes": False, "dashboard_address": None}
                stack.enter_context(Client(n_workers=2, threads_per_worker=1, **local))
            stack.enter_context(joblib.parallel_config(back_end, n_jobs=n_jobs))
            yield
    finally:
        fitting._workers_pay, voting._rows_per_task = kept


def main(back_end: str, names: list[str]) -> None:
    with workers(back_end):
        found = {name: bits_of(name) for name in names or CASES}
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
