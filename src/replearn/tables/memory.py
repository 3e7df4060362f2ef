"""How much memory there is, and how much a table takes that is read whole.

What a table takes follows from its file: rows and columns of Parquet files stand in their metadata,
those of text files follow from their size. What there is follows from the machine, from the limits
of its control groups (containers), and from limits of the process.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from replearn.tables._address_space import address_space_left
from replearn.tables.files import EXCEL, PACKED_FACTOR, is_text_file

MIB = 1 << 20

SMALL_BYTES = 32 * MIB
"""Files below this size are read whole, whatever they hold."""

BASE_BYTES = 400 * MIB
TYPED_FACTOR = 3.0
TEXT_FACTOR = 5.0
"""Memory of a fit: libraries, and this many times the bytes of the cells, or of a text file.
Measured (docs/scale.md) and rounded up."""

SHARE_USED = 0.7
"""Share of the memory that is available which one command takes."""

_CELL = 8
_TEXT_CELL = 24
_SAMPLE_BYTES = 1 << 20
_UNLIMITED = 1 << 60
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


class TableSize(NamedTuple):
    """Rows of a table and bytes of its cells, estimated."""

    rows: int
    bytes: int


def parse_memory(text: str) -> int:
    """Read an amount of memory.

    >>> parse_memory("3GiB"), parse_memory("500 MB"), parse_memory("1024")
    (3221225472, 500000000, 1024)
    """
    found = _AMOUNT.fullmatch(text)
    if found is None or float(found[1]) <= 0.0:
        raise ValueError(f"{text!r} is no amount of memory: write it as 3GiB or 500MB.")
    number, prefix, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** _POWERS[prefix.lower()])


def format_memory(n_bytes: int) -> str:
    """Write an amount of memory.

    >>> format_memory(3221225472), format_memory(300 * MIB)
    ('3.0 GiB', '300 MiB')
    """
    return f"{n_bytes / 1024**3:.1f} GiB" if n_bytes >= 1024**3 else f"{n_bytes // MIB} MiB"


# -- what a table takes
def memory_needed(path: Path, *, bytes_per_row: int = 0) -> int:
    """Estimate the memory of a command that reads a file whole; 0 for small files and workbooks.

    ``bytes_per_row`` is what the command needs for each row beside the cells.
    """
    if path.suffix.lower() == EXCEL or not path.is_file() or path.stat().st_size < SMALL_BYTES:
        return 0
    size = size_of_table(path)
    factor = TEXT_FACTOR if is_text_file(path) else TYPED_FACTOR
    return int(BASE_BYTES + factor * size.bytes + bytes_per_row * size.rows)


def size_of_table(path: Path) -> TableSize:
    """Estimate rows and bytes of a table without reading it."""
    n_bytes = path.stat().st_size
    name = path.name.lower()
    if name.endswith((".parquet", ".pq")):
        return _parquet_size(path, n_bytes)
    if not is_text_file(path):
        return TableSize(n_bytes // _CELL, n_bytes)
    if name.endswith(".gz"):
        n_bytes *= PACKED_FACTOR
    return TableSize(n_bytes // _line_bytes(path), n_bytes)


def _parquet_size(path: Path, n_bytes: int) -> TableSize:
    """Numbers take eight bytes, texts what they take without packing, or more."""
    try:
        from pyarrow import parquet
    except ModuleNotFoundError:
        return TableSize(n_bytes // _CELL, PACKED_FACTOR * n_bytes)
    metadata = parquet.ParquetFile(path).metadata
    total = 0
    for group in (metadata.row_group(index) for index in range(metadata.num_row_groups)):
        for column in (group.column(index) for index in range(metadata.num_columns)):
            is_text = column.physical_type in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
            least = group.num_rows * (_TEXT_CELL if is_text else _CELL)
            total += max(least, column.total_uncompressed_size) if is_text else least
    return TableSize(metadata.num_rows, total)


def _line_bytes(path: Path) -> int:
    """Return the mean length of the first lines of a text file."""
    with open(path, "rb") as stream:
        start = stream.read(_SAMPLE_BYTES)
    return max(1, len(start) // max(1, start.count(b"\n")))


# -- what there is
def available_memory(root: str | os.PathLike[str] = "/") -> int | None:
    """Return the bytes that this process may still take; None if that is unknown.

    ``root`` is where the system's files are.
    """
    files = Path(root)
    known = [_of_machine(files), *_of_groups_v2(files), *_of_groups_v1(files), address_space_left()]
    return min((amount for amount in known if amount is not None), default=None)


def _of_machine(root: Path) -> int | None:
    text = _read(root / "proc/meminfo")
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    if found is not None:
        return int(found[1]) * 1024
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _of_groups_v2(root: Path) -> list[int]:
    """Return what is left in the control group of this process and those around it."""
    path = re.search(r"^0::(.*)$", _read(root / "proc/self/cgroup"), re.MULTILINE)
    if path is None:
        return []
    return _left(root / "sys/fs/cgroup", path[1], "memory.max", "memory.current", "inactive_file")


def _of_groups_v1(root: Path) -> list[int]:
    pattern = r"^\d+:[^:]*\bmemory\b[^:]*:(.*)$"
    path = re.search(pattern, _read(root / "proc/self/cgroup"), re.MULTILINE)
    if path is None:
        return []
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    return _left(root / "sys/fs/cgroup/memory", path[1], *names)


def _left(mount: Path, path: str, limit: str, used: str, cache: str) -> list[int]:
    """Return limits without what is used, from a group upwards; cached files can be given back."""
    parts = [part for part in path.split("/") if part not in ("", "..")]
    found = []
    for depth in range(len(parts), -1, -1):
        group = mount.joinpath(*parts[:depth])
        most = _read(group / limit).strip()
        taken = _read(group / used).strip()
        if not most.isdigit() or not taken.isdigit() or int(most) >= _UNLIMITED:
            continue
        cached = re.search(rf"^{cache} (\d+)$", _read(group / "memory.stat"), re.MULTILINE)
        found.append(max(0, int(most) - int(taken) + (0 if cached is None else int(cached[1]))))
    return found


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
