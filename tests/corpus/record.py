"""Write the fingerprints; run by hand, and only when an answer is meant to change.

From the root of the repository: ``python -m tests.corpus.record``, or with the beginnings of the
names of those cases that shall be written anew.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .cases import CASES, run

PATH = Path(__file__).with_name("fingerprints.json")
PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "polars", "pyarrow")


def load() -> dict[str, Any]:
    return json.loads(PATH.read_text(encoding="utf-8"))


def versions() -> dict[str, str]:
    return {name: version(name) for name in PACKAGES}


def written(content: dict[str, Any]) -> str:
    """One line for each item, so that a change shows as one line."""
    parts = []
    for case, items in content.items():
        lines = [
            f"  {json.dumps(name, ensure_ascii=False)}: {json.dumps(item, ensure_ascii=False)}"
            for name, item in items.items()
        ]
        parts.append(f"{json.dumps(case, ensure_ascii=False)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main(beginnings: list[str]) -> None:
    old = load() if beginnings else {}
    wanted = tuple(beginnings) or ("",)
    content = {"recorded with": versions()}
    for name in CASES:
        content[name] = run(name) if name.startswith(wanted) else old[name]
    PATH.write_text(written(content), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
