"""What skops would build from an archive, counted before skops sees it.

skops decompresses every array that a file refers to, once for each reference, before it looks at
types.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from replearn.persistence._archive import check_entry, entries_of, read_entry
from replearn.persistence._budget import Budget
from replearn.persistence._container import ModelFileError

SCHEMA = "schema.json"
_NODE_BYTES = 1024
"""Counted for each node of the schema, besides its JSON: skops makes an object of it."""

_ARRAYS = ("NdArrayNode", "SparseMatrixNode")
_CACHED = "CachedNode"
_COPIES_OF_BYTES = 10
"""skops makes a list of all bytes on the way to a bytearray."""

_HEADER = 2**14
_MAGIC_OF_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def check_skops_archive(data: bytes, budget: Budget) -> None:
    """Raise if building what an archive of skops describes would exceed the budget."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = entries_of(archive)
        text = read_entry(archive, entries[SCHEMA], budget)
        budget.take_json(text)
        schema = json.loads(text)
        arrays = {}
        for node in nodes_of(schema):
            budget.take(_NODE_BYTES)
            if isinstance(content := node.get("content"), str):  # JSON inside of JSON
                budget.take_json(content.encode("utf-8", "surrogatepass"))
            if "file" not in node:
                continue
            entry = entries[node["file"]]
            if node.get("__loader__") not in _ARRAYS:
                budget.take(_COPIES_OF_BYTES * entry.file_size)
                check_entry(archive, entry, 0)
                continue
            if entry.filename not in arrays:
                arrays[entry.filename] = _size_of_array(archive, entry, budget)
            budget.take(2 * arrays[entry.filename])
    budget.take(n_objects=_Expansion(schema).count(schema))


def nodes_of(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield all dictionaries of the schema."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _size_of_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, budget: Budget) -> int:
    """Return how much memory an array takes; what it declares must be what is there."""
    budget.take(entry.file_size)
    first = check_entry(archive, entry, _HEADER)
    if not first.startswith(_MAGIC_OF_ZIP):
        _check_header(first, entry)
        return entry.file_size
    # A sparse matrix is an archive of arrays itself.
    inner_data = read_entry(archive, entry, budget)
    with zipfile.ZipFile(io.BytesIO(inner_data)) as inner:
        size = entry.file_size
        for part in entries_of(inner).values():
            budget.take(part.file_size)
            _check_header(check_entry(inner, part, _HEADER), part)
            size += part.file_size
    return size


def _check_header(first: bytes, entry: zipfile.ZipInfo) -> None:
    """Raise if an array in numpy's format has not as many cells as it declares."""
    stream = io.BytesIO(first)
    version = np.lib.format.read_magic(stream)
    if version not in _HEADERS:
        raise ModelFileError(f"the array {entry.filename!r} has the unknown version {version}.")
    shape, _, dtype = _HEADERS[version](stream)
    if dtype.hasobject or stream.tell() + math.prod(shape) * dtype.itemsize != entry.file_size:
        raise ModelFileError(f"the array {entry.filename!r} does not have the size it declares.")


class _Expansion:
    """Count the values of a schema as if nothing in it were shared.

    skops writes an object once and refers to it afterwards. Whoever copies what was built, as numpy
    does with nested lists, loses the sharing: thirty lists of two references each are 2**30 values.
    """

    def __init__(self, schema: Any) -> None:
        self._shared: dict[Any, list[Any]] = defaultdict(list)
        self._counts: dict[Any, int] = {}
        for node in nodes_of(schema):
            if "__id__" in node and node.get("__loader__") != _CACHED:
                self._shared[node["__id__"]].append(node)

    def count(self, value: Any) -> int:
        """Return the number of values inside a value, itself included."""
        if isinstance(value, list):
            return 1 + sum(map(self.count, value))
        if not isinstance(value, dict):
            return 1
        return self._count_shared(value["__id__"]) if "__id__" in value else self._inside(value)

    def _inside(self, node: dict[str, Any]) -> int:
        return 1 + sum(map(self.count, node.values()))

    def _count_shared(self, number: Any) -> int:
        if number not in self._counts:
            self._counts[number] = 1  # inside of itself
            self._counts[number] = max(map(self._inside, self._shared[number]), default=1)
        return self._counts[number]
