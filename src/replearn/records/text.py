"""Small tables for terminal and notebook."""

import html
import textwrap
from collections.abc import Sequence

Row = Sequence[str]
WIDTH = 100


def aligned(rows: Sequence[Row]) -> str:
    """Write rows as text with aligned columns; the first row is the header.

    >>> print(aligned([("", "ours"), ("blocks", "64")]))
            ours
    ------  ----
    blocks  64
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def two_columns(rows: Sequence[Row]) -> str:
    """Write name and value per line, aligned, long values wrapped below each other.

    >>> print(two_columns([("n", "6400"), ("theorems", "one, two")]))
    n         6400
    theorems  one, two
    """
    indent = max(len(name) for name, _ in rows) + 2
    return "\n".join(
        textwrap.fill(
            value,
            WIDTH,
            initial_indent=name.ljust(indent),
            subsequent_indent=" " * indent,
            break_on_hyphens=False,
            break_long_words=False,
        )
        for name, value in rows
    )


def html_table(title: str, rows: Sequence[Row], *, header: bool = False) -> str:
    """Write rows as an HTML table; every text is escaped.

    >>> html_table("T", [("a", "<b>")])
    '<table><caption>T</caption><tr><td>a</td><td>&lt;b&gt;</td></tr></table>'
    """
    parts = [f"<table><caption>{html.escape(title)}</caption>"]
    for index, row in enumerate(rows):
        tag = "th" if header and index == 0 else "td"
        cells = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
        parts.append(f"<tr>{cells}</tr>")
    return "".join(parts) + "</table>"
