"""Models that are not packed: written by skops, opened only if every type inside is named.

Packed parts are built from a closed list and checked. What skops writes is neither: skops builds
any class of scikit-learn from any state, and compiled code follows its numbers without looking. So
whoever opens such a part names its types, and trusts the file with all that they do.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

from replearn import compat
from replearn.exceptions import ModelFileError
from replearn.persistence._archive import entries_of, read_entry, write_entry
from replearn.persistence._budget import Budget

_SCHEMA = "schema.json"
_COPIES = 3
"""Of each array: the entry, its bytes inside of skops, and the array."""

_PLAIN = {
    "builtins": "NoneType bool bytes bytearray complex dict float int list set slice str tuple",
    "collections": "OrderedDict defaultdict",
    "numpy": "bool bool_ dtype float32 float64 int8 int16 int32 int64 ndarray object_ str_ "
    "uint8 uint16 uint32 uint64",
    "numpy.random.mtrand": "RandomState",
    "numpy.random._generator": "Generator",
}
_PLAIN_TYPES = {f"{module}.{name}" for module, names in _PLAIN.items() for name in names.split()}
_PLAIN_LOADERS = {
    *("BytearrayNode", "BytesNode", "CachedNode", "DTypeNode", "DefaultDictNode", "DictNode"),
    *("JsonNode", "ListNode", "NdArrayNode", "OrderedDictNode", "RandomGeneratorNode"),
    *("RandomStateNode", "SetNode", "SliceNode", "TupleNode", "TypeNode"),
}
"""Containers and arrays; a part that holds nothing else needs no name."""


def write(state: dict[str, Any]) -> bytes:
    """Write a state as an archive of skops; equal states give equal bytes."""
    skops_io = _skops_io()
    entries = compat.skops_entries(state)
    if entries is None:
        return bytes(skops_io.dumps(state, compression=zipfile.ZIP_DEFLATED, compresslevel=1))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in entries.items():
            write_entry(archive, name, content)
    return buffer.getvalue()


def read(data: bytes, trusted_types: Sequence[str], budget: Budget) -> Any:
    """Build what an archive holds if all of its types are trusted; otherwise nothing is built."""
    skops_io = _skops_io()
    refuse_untrusted(types_of(data, budget) - set(trusted_types), budget.name)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in entries_of(archive).values():
            budget.take(_COPIES * entry.file_size)
    return skops_io.loads(data, trusted=list(trusted_types))


def types_of(data: bytes, budget: Budget) -> set[str]:
    """Return the names of the types in an archive that must be trusted by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        text = read_entry(archive, entries_of(archive)[_SCHEMA], budget)
    budget.take_json(text)
    found = set()
    for node in _nodes_of(json.loads(text)):
        name = f"{node.get('__module__')}.{node.get('__class__')}"
        if name not in _PLAIN_TYPES or node.get("__loader__") not in _PLAIN_LOADERS:
            found.add(name)
    return found


def refuse_untrusted(types: set[str], name: str) -> None:
    """Raise if there are types that are not trusted; say how they are named."""
    if not types:
        return
    unknown = sorted(types)
    raise ModelFileError(
        f"{name} holds types that must be trusted by name: they may run code, or compiled code "
        "that does not check the state it is given. If you know where the file comes from: "
        f"trusted_types={unknown!r} in Python, {trust_options(unknown)} on the command line, "
        f"REPLEARN_TRUSTED_TYPES={','.join(unknown)} for MLflow."
    )


def trust_options(types: Sequence[str]) -> str:
    """Return the options of the command line that trust some types.

    >>> trust_options(["sklearn.svm._classes.SVC"])
    '--trust sklearn.svm._classes.SVC'
    """
    return " ".join(f"--trust {name}" for name in types)


def _nodes_of(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield all dictionaries of a schema that describe a value."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if {"__class__", "__module__", "__loader__"} & set(value):
                yield value
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)


def _skops_io() -> Any:
    try:
        import skops.io.exceptions
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "Model files of this base estimator require skops: "
            "pip install 'replicable-learn[files]'."
        ) from None
    return skops.io
