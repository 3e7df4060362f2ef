"""A folder of finished work, by which a fit, a search or an audit continues where it stopped.

All of them use one format: ``manifest.json`` says which work it is, and a folder that holds other
work is refused; each result is a file with its digest in front, written whole or not at all. A
result that is damaged counts as absent: it is computed again, and written anew.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from replearn.records.json import (
    differences,
    pretty_json,
    read_object,
    seal,
    unseal,
    write_bytes_atomically,
)

MANIFEST = "manifest.json"
FORMAT = "replearn-folder 1"


class WorkFolder:
    """A local folder; `replearn.outofcore.Folder` is one on any storage.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as path:
    ...     folder = WorkFolder(path)
    ...     folder.claim("fit", {"data": "2026"})
    ...     folder.put("block-0", b"a model")
    ...     folder.get("block-0"), folder.get("block-1")
    (b'a model', None)
    """

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.address = os.fspath(address)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address!r})"

    def child(self, name: str) -> Self:
        """Return a folder inside."""
        return type(self)(f"{self.address}/{name}")

    def __contains__(self, name: str) -> bool:
        return Path(self.address, name).is_file()

    def read(self, name: str) -> bytes:
        """Read a file."""
        return Path(self.address, name).read_bytes()

    def write(self, name: str, *parts: Any) -> None:
        """Write a file whole or not at all."""
        path = Path(self.address, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes_atomically(path, b"".join(parts))

    # -- which work it is
    def claim(self, work: str, manifest: Mapping[str, Any]) -> None:
        """Write down what the folder holds; raise if it holds something else.

        The manifest identifies the work: equal manifests, equal results.
        """
        described = {"format": FORMAT, "work": work, **manifest}
        known = self.manifest()
        if known is None:
            self.write(MANIFEST, (pretty_json(described) + "\n").encode())
            return
        different = differences(known, described)
        if different:
            raise ValueError(other_work(self.address, work, different))

    def manifest(self) -> dict[str, Any] | None:
        """Return what the folder says about itself; None if nobody has claimed it."""
        if MANIFEST not in self:
            return None
        return read_object(self.read(MANIFEST).decode(), f"{self.address}/{MANIFEST}")

    # -- results
    def put(self, name: str, result: bytes) -> None:
        """Keep a result."""
        self.write(name, seal(result))

    def get(self, name: str) -> bytes | None:
        """Return a result; None if it is not there, or damaged."""
        return unseal(self.read(name)) if name in self else None


def other_work(address: str, work: str, different: list[str]) -> str:
    """Say that a folder holds other work, and what to do.

    >>> print(other_work("kept", "fit", ["data", "key"]).split(". ")[0])
    folder 'kept' holds another fit: not the same data, key
    """
    shown = ["estimator" if name == "learner" else name for name in different]  # a key of files
    return (
        f"folder {address!r} holds another {work}: not the same {', '.join(shown)}. Give the same "
        "data and arguments, or another folder."
    )
