"""How much memory there is, and how people write amounts of it.

What there is follows from the machine, from the limits of its control groups (containers), and from
limits of the process.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from replearn.tables.files import address_space_left

MIB = 1 << 20

SHARE_USED = 0.7
"""Share of the memory that is available which one command takes."""

_UNLIMITED = 1 << 60
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_memory(text: str) -> int:
    """Read an amount of memory.

    >>> parse_memory("3GiB"), parse_memory("500 MB"), parse_memory("1024")
    (3221225472, 500000000, 1024)
    """
    found = _AMOUNT.fullmatch(text)
    if found is None or float(found[1]) <= 0.0:
        raise ValueError(f"{text!r} is not an amount of memory: write it as 3GiB or 500MB.")
    number, prefix, binary = found.groups()
    return int(float(number) * (1024 if binary else 1000) ** _POWERS[prefix.lower()])


def format_memory(n_bytes: int) -> str:
    """Write an amount of memory.

    >>> format_memory(3221225472), format_memory(300 * MIB)
    ('3.0 GiB', '300 MiB')
    """
    return f"{n_bytes / 1024**3:.1f} GiB" if n_bytes >= 1024**3 else f"{n_bytes // MIB} MiB"


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
