"""Whether a limit of the address space (``ulimit -v``) leaves enough to read a file."""

from __future__ import annotations

import os
from pathlib import Path

try:
    import resource
except ModuleNotFoundError:  # Windows has no such limit
    resource = None  # type: ignore[assignment]

MIN_BYTES = 700 * 2**20
BYTES_PER_THREAD = 136 * 2**20
BYTES_PER_FILE_BYTE = 16
"""What reading takes: measured, and rounded up (a stack and an arena for each thread)."""

_STATUS = Path("/proc/self/statm")


def check_address_space(path: Path) -> None:
    """Raise MemoryError if a limit leaves too little address space to read a file.

    The compiled reader ends the process, without a word about its cause, where an allocation
    fails: too late to say anything.
    """
    limit = address_space_left()
    if limit is None:
        return
    needed = MIN_BYTES + BYTES_PER_THREAD * _n_threads() + BYTES_PER_FILE_BYTE * _size(path)
    if limit < needed:
        raise MemoryError(
            f"{path}: reading it requires about {needed >> 20:,} MiB of address space, but the "
            f"limit of this process leaves {limit >> 20:,} MiB: raise it (ulimit -v)."
        )


def address_space_left() -> int | None:
    """Return how many bytes the process may still allocate; None if there is no limit."""
    if resource is None or not _STATUS.exists():
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY:
        return None
    pages = int(_STATUS.read_text().split()[0])
    return max(0, soft - pages * resource.getpagesize())


def _n_threads() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
