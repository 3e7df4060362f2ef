"""Small tables for terminal and notebook."""

import html
import re
import textwrap
from collections.abc import Sequence

Row = Sequence[str]
WIDTH = 100

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but for line breaks and tabs
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # change the direction of a text
    "\u2028\u2029\ufeff]"  # separate lines, mark the order of bytes
)


def visible(text: str) -> str:
    r"""Write control characters as escapes: text from data must not steer a terminal or a page.

    What comes out of JSON is JSON of the same value.

    >>> print(visible("\x1b[2J blue\u202e, green"))
    \u001b[2J blue\u202e, green
    """
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def html_text(text: str) -> str:
    r"""Write text for an HTML page: markup is escaped, control characters are visible.

    >>> html_text("<b>\x1b")
    '&lt;b&gt;\\u001b'
    """
    return html.escape(visible(text))


def aligned(rows: Sequence[Row]) -> str:
    """Write rows as text with aligned columns; the first row is the header.

    >>> print(aligned([("", "ours"), ("blocks", "64")]))
            ours
    ------  ----
    blocks  64
    """
    rows = [[visible(cell) for cell in row] for row in rows]
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
    rows = [[visible(cell) for cell in row] for row in rows]
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


CELL_STYLE = "text-align: left; vertical-align: top"
"""Notebooks align cells to the right, which makes sentences hard to read."""

WIDE_CELL_STYLE = f"{CELL_STYLE}; overflow-wrap: anywhere"


def html_table(title: str, rows: Sequence[Row], *, header: bool = False) -> str:
    """Write rows as an HTML table; every text is escaped.

    >>> re.sub(' style="[^"]*"', "", html_table("T", [("a", "<b>")]))
    '<table><caption>T</caption><tr><td>a</td><td>&lt;b&gt;</td></tr></table>'
    """
    parts = [f"<table><caption>{html_text(title)}</caption>"]
    for index, row in enumerate(rows):
        tag = "th" if header and index == 0 else "td"
        styles = [CELL_STYLE, *[WIDE_CELL_STYLE] * (len(row) - 1)]
        cells = "".join(
            f'<{tag} style="{style}">{html_text(cell)}</{tag}>'
            for style, cell in zip(styles, row, strict=True)
        )
        parts.append(f"<tr>{cells}</tr>")
    return "".join(parts) + "</table>"
