"""Entries of zip archives that somebody else may have written: exactly as long as they declare."""

from __future__ import annotations

import copy
import zipfile
from collections.abc import Iterator

from replearn.persistence._budget import Budget
from replearn.persistence._container import ModelFileError

_CHUNK = 2**20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def entries_of(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """Return the entries of an archive by name; other methods than deflate are not supported.

    Python's zipfile decompresses bz2 and lzma without any limit.
    """
    listed = archive.infolist()
    entries = {entry.filename: entry for entry in listed}
    if len(entries) < len(listed):
        raise ModelFileError("the models have two entries with the same name.")
    if any(entry.compress_type not in _METHODS for entry in listed):
        raise ModelFileError("entries of the models must be stored or deflated.")
    return entries


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, budget: Budget) -> bytearray:
    """Return the content of an entry, counted before it is read."""
    budget.take(entry.file_size)
    data = bytearray(entry.file_size)
    n_read = 0
    for chunk in _chunks(archive, entry):
        data[n_read : n_read + len(chunk)] = chunk
        n_read += len(chunk)
    return data


def check_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, n_first: int) -> bytes:
    """Decompress an entry piece by piece, keeping nothing; return its first bytes."""
    first = b""
    for chunk in _chunks(archive, entry):
        if len(first) < n_first:
            first += chunk[: n_first - len(first)]
    return first


def _chunks(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the content of an entry; raise if it is not as long as declared."""
    # zipfile stops at the declared size without a word; one byte more shows what is behind it.
    longer = copy.copy(entry)
    longer.file_size += 1
    n_read = 0
    with archive.open(longer) as stream:
        while chunk := stream.read(_CHUNK):
            n_read += len(chunk)
            if n_read > entry.file_size:
                break
            yield chunk
    if n_read != entry.file_size:
        raise ModelFileError(f"the entry {entry.filename!r} does not have the size it declares.")
