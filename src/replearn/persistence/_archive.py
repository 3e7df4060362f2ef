"""Entries of zip archives: without dates where they are written, bounded where they are read."""

from __future__ import annotations

import copy
import zipfile

from replearn.exceptions import ModelFileError
from replearn.persistence._budget import Budget

_CHUNK = 2**20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def write_entry(archive: zipfile.ZipFile, name: str, content: bytes | str | memoryview) -> None:
    """Write an entry with a fixed date: equal models give equal bytes, whatever the clock says."""
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3  # Unix, on every system
    entry.external_attr = 0o600 << 16
    archive.writestr(entry, content, archive.compression, archive.compresslevel)


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
    """Return the content of an entry, counted before it is read; it is as long as declared."""
    budget.take(entry.file_size)
    data = bytearray(entry.file_size)
    # zipfile stops at the declared size without a word; one byte more shows what is behind it.
    longer = copy.copy(entry)
    longer.file_size += 1
    n_read = 0
    with archive.open(longer) as stream:
        while chunk := stream.read(_CHUNK):
            if n_read + len(chunk) > entry.file_size:
                n_read += len(chunk)
                break
            data[n_read : n_read + len(chunk)] = chunk
            n_read += len(chunk)
    if n_read != entry.file_size:
        raise ModelFileError(f"the entry {entry.filename!r} does not have the size it declares.")
    return data
