"""Folders on any storage: a local path, or an address that pyarrow or fsspec knows.

A file is whole or not there, so that its presence says that the work is done. Nothing is pickled.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from replearn.records.work_folder import WorkFolder

LARGE_FILE = 1 << 22
"""Files from this size on go to the disk at once, and do not fill memory meanwhile."""

_OWNER_FOLDER = 0o700
_OWNER_FILE = 0o600
_ADDRESS = re.compile(r"^[a-z][a-z0-9+.\-]+://", re.IGNORECASE)  # a drive letter is none


def is_address(path: str) -> bool:
    """Whether a text is the address of some storage, with a scheme as in ``s3://...``."""
    return bool(_ADDRESS.match(path))


@lru_cache(maxsize=64)
def open_storage(address: str) -> tuple[Any, str]:
    """Return the pyarrow file system of an address, and the path on it.

    >>> storage, path = open_storage("rows")
    >>> storage.type_name, path.endswith("rows")
    ('local', True)
    """
    from pyarrow import fs

    if not is_address(address):
        # Mapped files are read without a copy, which is half of the time that a read takes; Windows
        # would not let them be removed.
        return fs.LocalFileSystem(use_mmap=os.name == "posix"), os.path.abspath(address)
    try:
        return fs.FileSystem.from_uri(address)
    except (ValueError, NotImplementedError, OSError) as refusal:
        try:
            import fsspec
        except ModuleNotFoundError:
            raise ValueError(
                f"{address}: pyarrow does not know this storage ({refusal}), and fsspec is not "
                "installed: pip install 'replicable-learn[dask]'."
            ) from None
        system, path = fsspec.core.url_to_fs(address)
        return fs.PyFileSystem(fs.FSSpecHandler(system)), str(path)


class Folder(WorkFolder):
    """A folder of work on any storage: files are written whole, and read in parts.

    It is a local path, or an address as ``s3://bucket/work``, and made when it is not there.
    """

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.address = os.fspath(address)
        if not is_address(self.address):
            self.address = os.path.abspath(self.address)

    @property
    def storage(self) -> Any:
        """The pyarrow file system."""
        return open_storage(self.address)[0]

    def path(self, name: str) -> str:
        """Return the path of a file on the storage."""
        return f"{open_storage(self.address)[1].rstrip('/')}/{name}"

    @property
    def is_local(self) -> bool:
        """Whether files are plain files of this machine."""
        return str(self.storage.type_name) == "local"

    def make(self, name: str) -> None:
        """Make a folder inside; rows of people are for their owner only."""
        if not self.is_local:
            self.storage.create_dir(self.path(name), recursive=True)
            return
        home = Path(self.path(""))
        home.mkdir(mode=_OWNER_FOLDER, parents=True, exist_ok=True)
        for part in Path(name).parts:  # mkdir makes parents with the default mode
            home = home / part
            home.mkdir(mode=_OWNER_FOLDER, exist_ok=True)

    def write(self, name: str, *parts: Any) -> None:
        """Write a file whole or not at all."""
        with self.writing(name) as stream:
            for part in parts:
                stream.write(part)

    def make_file(self, name: str) -> None:
        """Make an empty file that only its owner may read, for others to write to.

        On other storage than the local one, who may read a file is settled there.
        """
        self.make(name.rpartition("/")[0])
        if self.is_local:
            os.close(os.open(self.path(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _OWNER_FILE))
            os.chmod(self.path(name), _OWNER_FILE)

    def hide_files(self, name: str) -> None:
        """Let only the owner read files in a folder inside that another package has written."""
        for file in self.names(name) if self.is_local else ():
            os.chmod(self.path(f"{name}/{file}"), _OWNER_FILE)

    @contextmanager
    def writing(self, name: str, *, private: bool = True) -> Iterator[Any]:
        """Write a file while the context lasts: it is there when the context ends well.

        An object store shows a file only when it is closed.
        """
        self.make(name.rpartition("/")[0])
        storage = self.storage
        target = self.path(name)
        temporary = f"{name}.{uuid.uuid4().hex[:8]}.tmp" if self.is_local else name
        if private:
            self.make_file(temporary)
        path = self.path(temporary)
        stream = storage.open_output_stream(path)
        try:
            yield stream
        except BaseException:
            if path == target and hasattr(stream, "abort"):
                stream.abort()
            stream.close()
            storage.delete_file(path)
            raise
        stream.close()
        if path != target:
            if os.path.getsize(path) >= LARGE_FILE:
                _give_back(path, written=True)
            storage.move(path, target)

    def open(self, name: str) -> Any:
        """Open a file for reading anywhere in it."""
        return self.storage.open_input_file(self.path(name))

    def read(self, name: str, start: int = 0, size: int | None = None) -> bytes:
        """Read a part of a file."""
        with self.open(name) as stream:
            content = stream.read_at(stream.size() - start if size is None else size, start)
        return bytes(content)

    def write_arrow(self, name: str, table: Any) -> None:
        """Write a pyarrow table."""
        import pyarrow as pa

        with self.writing(name) as stream, pa.ipc.new_file(stream, table.schema) as writer:
            writer.write_table(table)

    def read_arrow(self, name: str) -> Any:
        """Read a pyarrow table."""
        import pyarrow as pa

        with self.open(name) as stream:
            return pa.ipc.open_file(stream).read_all().combine_chunks()

    def forget(self, name: str) -> None:
        """Free the memory in which the system keeps what was read of a file."""
        if self.is_local:
            _give_back(self.path(name), written=False)

    def names(self, name: str) -> set[str]:
        """Return the names of the files in a folder inside."""
        from pyarrow import fs

        chosen = fs.FileSelector(self.path(name), allow_not_found=True)
        return {info.base_name for info in self.storage.get_file_info(chosen) if info.is_file}

    def __contains__(self, name: str) -> bool:
        return bool(self.storage.get_file_info(self.path(name)).is_file)

    def remove(self, name: str) -> None:
        """Remove a folder inside, if it is there."""
        if self.storage.get_file_info(self.path(name)).type.name == "Directory":
            self.storage.delete_dir(self.path(name))

    def write_json(self, name: str, value: Any) -> None:
        """Write a small record."""
        self.write(name, json.dumps(value, indent=1).encode())

    def read_json(self, name: str) -> Any:
        """Read a small record."""
        return json.loads(self.read(name))


def _give_back(path: str, *, written: bool) -> None:
    """Free the memory in which the system keeps a file; one that was written goes to the disk.

    The next piece is then written to the same memory: new memory for every piece took eight times
    as many processor seconds where it was measured, and files larger than memory evict each other.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if written:
            os.fdatasync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError:  # pragma: no cover - a file system that does not know it
        pass
    finally:
        os.close(descriptor)
