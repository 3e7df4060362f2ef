"""Many alike objects as few long arrays: a zip archive of a structure and its columns.

Hundreds of models have the same attributes. They are written attribute by attribute: a column of
numbers is one array, a column of arrays is one array and their shapes, a column of lists is their
lengths and one column of all items, and a column of objects is one column for each attribute.
Reading builds the same values: every bit of every number, order in memory included.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.compat import node_types
from replearn.exceptions import ModelFileError
from replearn.persistence._archive import entries_of, read_entry, write_entry
from replearn.persistence._budget import Budget
from replearn.persistence._native_types import NATIVE_TYPES
from replearn.persistence._packed_types import kind_named, name_of
from replearn.persistence._skops import refuse_untrusted

Column = dict[str, Any]

_STRUCTURE = "structure.json"
_SIMPLE = {type(None): "none", bool: "bool", int: "int", str: "str"}
_MAX_DEEP = 60


class NotPackedError(TypeError):
    """A value is, or holds, what is not packed."""


def pack_values(values: list[Any]) -> bytes:
    """Write values as an archive of columns; raise `NotPackedError` where that is not possible."""
    writer = _Writer()
    structure = {"length": len(values), "column": writer.column(values, 0)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        write_entry(archive, _STRUCTURE, json.dumps(structure, separators=(",", ":")))
        for number, data in enumerate(writer.data):
            write_entry(archive, str(number), data)
    return buffer.getvalue()


def unpack_values(
    data: bytes, budget: Budget | None = None, trusted_types: Sequence[str] = ()
) -> list[Any]:
    """Read what `pack_values` has written; whatever it would not have written raises."""
    budget = Budget("the archive", len(data)) if budget is None else budget
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        reader = _Reader(archive, budget, trusted_types)
        structure = reader.structure()
        return reader.column(structure["column"], structure["length"])


def native_types(data: bytes, budget: Budget) -> set[str]:
    """Return the types of an archive that are written in formats of other packages."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        left: list[Any] = [_Reader(archive, budget, ()).structure()]
    found = set()
    while left:
        part = left.pop()
        if isinstance(part, list):
            left += part
        elif isinstance(part, dict):
            left += part.values()
            if part.get("type") in NATIVE_TYPES:
                found.add(part["type"])
    return found


class _Writer:
    """Write columns; ``data`` are the bytes of the arrays."""

    def __init__(self) -> None:
        self.data: list[bytes] = []

    def column(self, values: list[Any], depth: int) -> Column:
        """Write values of any kinds: those of one kind together."""
        if depth > _MAX_DEEP:
            raise NotPackedError("values are nested too deeply, or contain themselves")
        signed = [_signature(value) for value in values]
        kinds = list(dict.fromkeys(kind for kind, _ in signed))
        if len(kinds) == 1:
            return self._alike(kinds[0], [content for _, content in signed], depth + 1)
        index = {kind: number for number, kind in enumerate(kinds)}
        parts: list[list[Any]] = [[] for _ in kinds]
        for kind, content in signed:
            parts[index[kind]].append(content)
        return {
            "kind": "mixed",
            "which": self._array(np.array([index[kind] for kind, _ in signed], dtype=np.int64)),
            "parts": [
                {"length": len(part), "column": self._alike(kind, part, depth + 1)}
                for kind, part in zip(kinds, parts, strict=True)
            ],
        }

    def _alike(self, kind: tuple[Any, ...], values: list[Any], depth: int) -> Column:
        name, *about = kind
        if name in _SIMPLE.values():
            same = all(value == values[0] for value in values)
            return {"kind": name, "same": values[0]} if same else {"kind": name, "each": values}
        if name == "float":
            return {"kind": name, "array": self._array(np.array(values, dtype=np.float64))}
        if name == "scalar":
            return {"kind": name, "array": self._array(np.array(values))}
        if name == "array":
            return self._arrays(values, about[1])
        if name == "objects":
            items = self.column([value.ravel().tolist() for value in values], depth)
            shapes = self.column([list(value.shape) for value in values], depth)
            return {"kind": name, "items": items, "shapes": shapes}
        if name in ("list", "tuple"):
            return self._sequences(name, values, depth)
        if name == "pairs":
            keys = self.column([list(value) for value in values], depth)
            items = self.column([list(value.values()) for value in values], depth)
            return {"kind": name, "keys": keys, "items": items}
        columns = {
            item: self.column([value[item] for value in values], depth) for item in about[-1]
        }
        return {"kind": name, "columns": columns, **({"type": about[0]} if about[1:] else {})}

    def _sequences(self, name: str, values: list[Any], depth: int) -> Column:
        lengths = np.array([len(value) for value in values], dtype=np.int64)
        items = self.column([item for value in values for item in value], depth) if values else None
        return {"kind": name, "lengths": self._array(lengths), "items": items}

    def _arrays(self, values: list[NDArray[Any]], order: str) -> Column:
        shapes = np.array([value.shape for value in values], dtype=np.int64)
        flat = _joined([value.ravel(order=order) for value in values])  # type: ignore[arg-type]
        return {
            "kind": "array",
            "order": order,
            "shapes": self._array(shapes),
            "array": self._array(flat),
        }

    def _array(self, array: NDArray[Any]) -> Column:
        """Write one array; a table of records field by field, which compresses better."""
        if array.dtype.names is None:
            self.data.append(array.tobytes())
            index = {"dtype": array.dtype.str, "shape": array.shape, "data": len(self.data) - 1}
            return index
        fields = {name: array.dtype.fields[name] for name in array.dtype.names}  # type: ignore[index]
        return {
            "itemsize": array.dtype.itemsize,
            "offsets": [offset for _, offset, *_ in fields.values()],
            "fields": {name: self._array(array[name]) for name in fields},
        }


def _signature(value: Any) -> tuple[tuple[Any, ...], Any]:
    """Return what alike values have in common, and the content that is written."""
    kind: Any = type(value)
    if kind in _SIMPLE:
        return (_SIMPLE[kind],), value
    if kind in (float, list, tuple):
        return (kind.__name__,), value
    if kind is np.ndarray:
        return _signature_of_array(value), value
    if isinstance(value, np.generic):
        return ("scalar", _plain_dtype(value.dtype)), value
    if kind is dict:
        keys = tuple(value)
        texts = all(type(key) is str for key in keys)
        return (("dict", keys) if texts else ("pairs",)), value
    name = name_of(kind)
    state = None if name is None else kind_named(name).take(value)
    if state is None or not all(type(key) is str for key in state):
        raise NotPackedError(f"{kind.__module__}.{kind.__qualname__} is not packed")
    return ("object", name, tuple(state)), state


def _signature_of_array(value: NDArray[Any]) -> tuple[Any, ...]:
    if value.dtype == object:
        return ("objects",)
    order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
    return "array", _described(value.dtype), order, value.ndim


@lru_cache(maxsize=256)
def _described(dtype: np.dtype[Any]) -> Any:
    """Describe a type of cells, or of records of cells."""
    fields = dtype.fields
    if fields is None:
        return _plain_dtype(dtype)
    if dtype not in node_types():
        raise NotPackedError(f"arrays of {dtype} are not packed")
    cells = tuple((name, _plain_dtype(fields[name][0]), fields[name][1]) for name in fields)
    return cells, dtype.itemsize


@lru_cache(maxsize=256)
def _plain_dtype(dtype: np.dtype[Any]) -> str:
    if dtype.kind not in "biufcUSmM" or dtype.shape:
        raise NotPackedError(f"arrays of {dtype} are not packed")
    return dtype.str


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate arrays of one type; records as plain bytes: numpy need not compare fields."""
    dtype = arrays[0].dtype
    if dtype.names is None:
        return np.concatenate(arrays)
    return np.concatenate([array.view(f"V{dtype.itemsize}") for array in arrays]).view(dtype)


class _Reader:
    """Read columns back; everything is counted before it is built."""

    def __init__(
        self, archive: zipfile.ZipFile, budget: Budget, trusted_types: Sequence[str]
    ) -> None:
        self._archive = archive
        self._trusted_types = frozenset(trusted_types)
        self._entries = entries_of(archive)
        self._budget = budget

    def structure(self) -> Column:
        """Read which columns there are."""
        text = read_entry(self._archive, self._entries[_STRUCTURE], self._budget)
        self._budget.take_json(text)
        structure: Column = json.loads(text)
        return structure

    def column(self, column: Column, length: int) -> list[Any]:
        """Read as many values of a column."""
        if type(length) is not int:
            raise ModelFileError(f"a column has the length {length!r}.")
        self._budget.take(n_objects=length)
        values = getattr(self, f"_read_{_READERS[column['kind']]}")(column, length)
        if len(values) != length:
            raise ModelFileError(f"a column has {len(values)} values instead of {length}.")
        return values

    def _read_mixed(self, column: Column, length: int) -> list[Any]:
        parts = [iter(self.column(part["column"], part["length"])) for part in column["parts"]]
        return [next(parts[which]) for which in self._cells(column["which"], length).tolist()]

    def _read_simple(self, column: Column, length: int) -> list[Any]:
        values = [column["same"]] * length if "same" in column else column["each"]
        if any(_SIMPLE.get(type(value)) != column["kind"] for value in values):
            raise ModelFileError(f"a column of kind {column['kind']} holds other values.")
        return values

    def _read_float(self, column: Column, length: int) -> list[Any]:
        return self._cells(column["array"], length).tolist()

    def _read_scalar(self, column: Column, length: int) -> list[Any]:
        return list(self._cells(column["array"], length))

    def _read_array(self, column: Column, length: int) -> list[Any]:
        flat = self._array(column["array"])
        shapes = self._array(column["shapes"])
        if shapes.ndim != 2 or len(shapes) != length or (shapes < 0).any():
            raise ModelFileError("the sizes of arrays are negative, or not one for each array.")
        self._budget.take(flat.nbytes, n_objects=shapes.size)  # copies, and shapes as lists
        sizes = np.prod(shapes, axis=1)
        ends = np.cumsum(sizes)
        if length and ends[-1] != len(flat):
            raise ModelFileError("the sizes of arrays do not add up.")
        ranges = zip(ends.tolist(), sizes.tolist(), strict=True)
        # Copies: each array owns its memory, and begins where a fresh one would.
        parts = [flat[end - size : end].copy() for end, size in ranges]
        if shapes.shape[1] == 1:
            return parts
        return [
            part.reshape(shape, order=column["order"])
            for part, shape in zip(parts, shapes.tolist(), strict=True)
        ]

    def _read_objects(self, column: Column, length: int) -> list[Any]:
        arrays = []
        shapes = self.column(column["shapes"], length)
        for items, shape in zip(self.column(column["items"], length), shapes, strict=True):
            array = np.empty(len(items), dtype=object)
            for index, item in enumerate(items):  # all at once, numpy would unpack lists
                array[index] = item
            arrays.append(array.reshape(shape))
        return arrays

    def _read_sequences(self, column: Column, length: int) -> list[Any]:
        lengths = self._cells(column["lengths"], length)
        if (lengths < 0).any():
            raise ModelFileError("a list has a negative length.")
        items = self.column(column["items"], sum(lengths.tolist())) if length else []
        ends = np.cumsum(lengths).tolist()
        kind = list if column["kind"] == "list" else tuple
        return [
            kind(items[end - size : end]) for end, size in zip(ends, lengths.tolist(), strict=True)
        ]

    def _read_pairs(self, column: Column, length: int) -> list[Any]:
        keys = self.column(column["keys"], length)
        items = self.column(column["items"], length)
        return [dict(zip(*pair, strict=True)) for pair in zip(keys, items, strict=True)]

    def _read_dicts(self, column: Column, length: int) -> list[Any]:
        self._budget.take(n_objects=3 * length)  # empty dictionaries, and those of attributes
        names = list(column["columns"])
        columns = [self.column(part, length) for part in column["columns"].values()]
        rows = zip(*columns, strict=True) if columns else ([()] * length)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _read_built(self, column: Column, length: int) -> list[Any]:
        name = column["type"]
        if name in NATIVE_TYPES and name not in self._trusted_types:
            refuse_untrusted({name}, self._budget.name)
        build = kind_named(name).build
        return [build(state) for state in self._read_dicts(column, length)]

    def _cells(self, index: Column, length: int) -> NDArray[Any]:
        """Read an array of one dimension that has one cell for each value."""
        cells = self._array(index)
        if cells.shape != (length,):
            raise ModelFileError(f"a column has {cells.size} values instead of {length}.")
        return cells

    def _array(self, index: Column) -> NDArray[Any]:
        if "fields" not in index:
            dtype = np.dtype(index["dtype"])
            _plain_dtype(dtype)
            entry = self._entries[str(int(index["data"]))]
            data = read_entry(self._archive, entry, self._budget)
            cells = np.frombuffer(data, dtype=dtype) if data else np.empty(0, dtype=dtype)
            return cells.reshape(index["shape"])
        fields = {name: self._array(part) for name, part in index["fields"].items()}
        formats = [part.dtype for part in fields.values()]
        layout: Any = {"names": list(fields), "formats": formats, "offsets": index["offsets"]}
        layout["itemsize"] = index["itemsize"]
        dtype = np.dtype(layout)
        if dtype not in node_types():
            raise ModelFileError("only trees are tables of records.")
        length = len(next(iter(fields.values())))
        self._budget.take(dtype.itemsize * length)
        made = np.zeros(length, dtype=dtype)
        for name, part in fields.items():
            made[name] = part
        return made


_READERS = {
    **dict.fromkeys(_SIMPLE.values(), "simple"),
    **{name: name for name in ("mixed", "float", "scalar", "array", "objects", "pairs")},
    **{"list": "sequences", "tuple": "sequences", "dict": "dicts", "object": "built"},
}
