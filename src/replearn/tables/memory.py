"""How much memory there is, and how people write amounts of it."""

from __future__ import annotations

import re
from pathlib import Path

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

    >>> format_memory(3221225472), format_memory(300 << 20)
    ('3.0 GiB', '300 MiB')
    """
    return f"{n_bytes / 1024**3:.1f} GiB" if n_bytes >= 1024**3 else f"{n_bytes >> 20} MiB"


def available_memory(root: str | Path = "/") -> int | None:
    """Return the bytes that are free on this machine, or in its container; None if unknown.

    ``root`` is where the system's files are.
    """
    files = Path(root)
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _read(files / "proc/meminfo"), re.MULTILINE)
    known = [] if found is None else [int(found[1]) * 1024]
    group = files / "sys/fs/cgroup"  # as a container sees its own
    limit = _read(group / "memory.max").strip()
    used = _read(group / "memory.current").strip()
    if limit.isdigit() and used.isdigit():
        cached = re.search(r"^inactive_file (\d+)$", _read(group / "memory.stat"), re.MULTILINE)
        known.append(max(0, int(limit) - int(used) + (int(cached[1]) if cached else 0)))
    return min(known, default=None)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
