"""Markdown tables from records: a column is a header and a template of the fields it shows."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]


class _Template(string.Formatter):
    """``{gain!p:+.2f}`` is a share in percent; everything else is as in `str.format`."""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        return 100 * value if conversion == "p" else super().convert_field(value, conversion)


_TEMPLATE = _Template()


def cell(template: str, record: Record) -> str:
    """Fill a template; a cell is empty if a field that it shows is not known."""
    fields = [field for _, field, _, _ in _TEMPLATE.parse(template) if field is not None]
    if any(record.get(field) is None for field in fields):
        return ""
    return _TEMPLATE.vformat(template, (), record)


def table(records: Sequence[Record], columns: Mapping[str, str]) -> str:
    """Write one line per record; a column of which nothing is known is left out."""
    cells = {
        header: [cell(template, record) for record in records]
        for header, template in columns.items()
    }
    shown = {header: column for header, column in cells.items() if any(column)}
    return markdown_table(list(shown), list(zip(*shown.values(), strict=True)))


def pivot(records: Sequence[Record], corner: str, line: str, column: str, template: str) -> str:
    """Write one line and one column per value of two templates; a cell is one record's."""
    lines: dict[str, dict[str, str]] = {}
    for record in records:
        found = lines.setdefault(cell(line, record), {})
        found[cell(column, record)] = cell(template, record)
    headers = list(dict.fromkeys(header for found in lines.values() for header in found))
    body = [[name, *(found.get(header, "") for header in headers)] for name, found in lines.items()]
    return markdown_table([corner, *headers], body)


def grouped(records: Sequence[Record], *names: str) -> dict[tuple[Any, ...], list[Record]]:
    """Group records that agree on some fields, in the order in which they come."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        groups.setdefault(tuple(record.get(name) for name in names), []).append(record)
    return groups


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
