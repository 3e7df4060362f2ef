"""The page of the flip atlas: one HTML file with style, script and data inside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "atlas"
ASSETS = ROOT / "src" / "replearn" / "auditing" / "templates"
"""Head, style and helpers are those of the audit's report."""

TITLE = "The flip atlas - replicable-learn"


def make_page(data: dict[str, Any] | None = None) -> str:
    """Return the page; without data, with the data file of the documentation."""
    if data is None:
        data = json.loads(_text(FOLDER / "atlas.json"))
    # "<" would let a text of the data end the script.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    style = _text(ASSETS / "page.css") + _text(FOLDER / "atlas.css")
    head = _text(ASSETS / "head.html").replace("{{ title }}", TITLE)
    parts = {
        "head": head.replace("{{ style }}", style).rstrip(),
        "script": _text(ASSETS / "page.js") + _text(FOLDER / "atlas.js"),
        "data": text,
    }
    page = _text(FOLDER / "page.html")
    for name, content in parts.items():
        page = page.replace(f"<!-- {name} -->", content)
    return page


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
