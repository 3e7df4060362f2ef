"""One limit on the memory that a model file may take, for all parts of the file together.

A few kilobytes can declare gigabytes: deflated zeros, a constant column, many references to one
array. Whatever a reader is about to build is counted first and never given back, so that the sum
is an upper limit of what exists at any one time.
"""

from __future__ import annotations

from replearn.exceptions import ModelFileError

MIN_LIMIT = 2**29
MAX_EXPANSION = 64
"""By default the models may take 512 MiB and 64 times the size of their file."""

OBJECT_BYTES = 128
"""Counted for each Python object, besides the content of arrays and texts."""

_SEPARATORS = (b",", b":", b"[", b"{")


class Budget:
    """The memory that reading one model file may take.

    Parameters
    ----------
    name : str
        The file, for the message.
    file_size : int
        Size of the whole file in bytes.
    max_bytes : int, default=None
        The limit; None for `MIN_LIMIT` and `MAX_EXPANSION` times the size of the file.
    """

    def __init__(self, name: str, file_size: int, max_bytes: int | None = None) -> None:
        self.name = name
        self.limit = MIN_LIMIT + MAX_EXPANSION * file_size if max_bytes is None else max_bytes
        self.used = 0

    def take(self, n_bytes: int = 0, *, n_objects: int = 0) -> None:
        """Count memory that is about to be allocated; raise where it exceeds the limit."""
        if n_bytes < 0 or n_objects < 0:
            raise ModelFileError(f"{self.name} declares a part of negative size.")
        self.used += n_bytes + OBJECT_BYTES * n_objects
        if self.used > self.limit:
            raise ModelFileError(
                f"{self.name} would take more memory than max_bytes={self.limit}. It may have been "
                "made to exhaust memory; if you know where it comes from, raise the limit: "
                "load(path, max_bytes=...) in Python, --max-bytes N on the command line."
            )

    def take_json(self, text: bytes | bytearray) -> None:
        """Count what a JSON text becomes: it has at most as many values as separators."""
        self.take(4 * len(text), n_objects=1 + sum(map(text.count, _SEPARATORS)))
