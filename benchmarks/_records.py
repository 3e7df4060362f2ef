"""Data files of benchmarks: sections of records, which a later run replaces one by one."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import replearn

DECIMALS = 6
IDENTITY = (
    *("data", "model", "contender", "drift", "where", "threshold"),
    *("draw", "draws", "n", "samples", "T", "partitions", "law", "vote", "up_to"),
    *("source", "new_rows", "window"),
)
"""Fields that say what was measured; the others are what came out."""


def read(path: Path) -> dict[str, Any]:
    """Read a data file; one that is not there has no sections."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def merge(data: dict[str, Any], section: str, records: Sequence[Any], made: str) -> None:
    """Put records into a section; each replaces the one about the same measurement.

    A section names every machine and date that has made some of its records.
    """
    old = data.get(section, {"made": [], "records": []})
    known = {_identity(record): record for record in old["records"]}
    left = known.keys() - {_identity(record) for record in records}
    known |= {_identity(record): rounded(record) for record in records}
    before = old["made"] if left else []
    data[section] = {"made": [*dict.fromkeys([*before, made])], "records": list(known.values())}


def write(path: Path, data: dict[str, Any]) -> None:
    """Write a data file with one record per line."""
    parts = []
    for name, section in data.items():
        if name == "note":
            parts.append(f'"note": {json.dumps(section, ensure_ascii=False)}')
            continue
        lines = ",\n".join(_compact(record) for record in section["records"])
        made = json.dumps(section["made"], ensure_ascii=False)
        parts.append(f'{json.dumps(name)}: {{"made": {made}, "records": [\n{lines}\n]}}')
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def rounded(value: Any) -> Any:
    """Round all numbers of a record, to more decimals than a table shows; nan is not known."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    if isinstance(value, float):
        return None if np.isnan(value) else round(float(value), DECIMALS)
    return value.item() if isinstance(value, np.generic) else value


def machine() -> str:
    """Say what made the numbers."""
    today = datetime.now(UTC).date().isoformat()
    return (
        f"{today}, {_processor()}, one thread; Python {platform.python_version()}, "
        f"numpy {np.__version__}, scikit-learn {sklearn.__version__}, "
        f"replicable-learn {replearn.__version__}"
    )


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = re.search(r"model name\s*:\s*(.*)", info.read_text())
        if found:
            return found.group(1).strip()
    return platform.processor() or platform.machine()


def _identity(record: Any) -> tuple[Any, ...]:
    return tuple((name, record[name]) for name in IDENTITY if name in record)


def _compact(record: Any) -> str:
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)
