"""Results that survive an interruption, tables, and the documentation page made from them."""

from __future__ import annotations

import json
import platform
import re
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import replearn


class Cells:
    """A folder with one JSON file per computed cell; what is there is not computed again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, *name: Any) -> Path:
        return self.folder / ("-".join(str(part) for part in name) + ".json")

    def get(self, *name: Any) -> Any | None:
        path = self.path(*name)
        return json.loads(path.read_text()) if path.exists() else None

    def compute(self, name: Sequence[Any], work: Callable[[], Any]) -> Any:
        known = self.get(*name)
        if known is not None:
            return known
        start = time.perf_counter()
        result = json.loads(json.dumps(work()))
        path = self.path(*name)
        unfinished = path.with_suffix(".part")
        unfinished.write_text(json.dumps(result))
        unfinished.replace(path)
        print(f"  {'-'.join(map(str, name))}: {time.perf_counter() - start:.0f} s", flush=True)
        return result


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Format a table: first column to the left, numbers to the right."""
    texts = [list(map(str, header)), *[list(map(str, row)) for row in rows]]
    widths = [max(len(line[i]) for line in texts) for i in range(len(header))]
    ruler = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
    texts.insert(1, ruler)
    lines = []
    for line in texts:
        cells = [line[0].ljust(widths[0])]
        cells += [text.rjust(width) for text, width in zip(line[1:], widths[1:], strict=True)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


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


def add_report_arguments(parser: ArgumentParser, name: str) -> None:
    """Where the numbers go: a file with a folder of cells beside it, and a page's section."""
    parser.add_argument("--out", type=Path, default=Path(f"{name}.json"))
    parser.add_argument("--page", type=Path, help="write the tables into this page")
    parser.add_argument("--section", default=name, help="the page's section to write")
    parser.add_argument("--only-report", action="store_true", help="compute nothing new")


def write_report(options: Namespace, results: Any, text: str, **others: str) -> None:
    """Keep the numbers, show the tables under the machine, and put them into the page.

    ``others`` are further sections of the page, without the machine.
    """
    options.out.write_text(json.dumps({"machine": machine(), "results": results}, indent=1))
    for section, content in {options.section: f"{machine()}.\n\n{text}", **others}.items():
        print(content, end="\n\n")
        if options.page:
            put_into_page(options.page, section, content)


def put_into_page(page: Path, section: str, text: str) -> None:
    """Replace what stands between ``<!-- section -->`` and ``<!-- end of section -->``."""
    begin, end = f"<!-- {section} -->", f"<!-- end of {section} -->"
    content = page.read_text()
    if begin not in content or end not in content:
        raise ValueError(f"{page} has no section {begin} ... {end}")
    before, rest = content.split(begin, 1)
    after = rest.split(end, 1)[1]
    page.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}")
