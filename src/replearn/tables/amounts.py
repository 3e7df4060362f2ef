"""Numbers as people write them: thousands separators, money, percent.

Each cell is read by a rule of its own, whatever stands in the other cells, so that two labs read
the same cell as the same number. The mark (``$``, ``%``) is part of the column's kind and so of the
learner's digest: a column in dollars never meets one in euros unnoticed.
"""

from __future__ import annotations

import re
from typing import Any

PERCENT = "%"
CURRENCIES = (
    *("$", "€", "£", "¥", "₹"),
    *("USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "CAD", "AUD", "SEK", "NOK", "DKK", "PLN"),
)
MARKS = {f"number {mark}": mark for mark in (PERCENT, *CURRENCIES)}
"""Kinds of columns whose numbers carry a mark."""

_GROUPS = r"^[+-]?[1-9]\d{0,2}(?:%s\d{3})+(?:\.\d+)?$"
_POINT_GROUPS = r"^[+-]?[1-9]\d{0,2}(?:\.\d{3})+,\d+$|^[+-]?[1-9]\d{0,2}(?:\.\d{3}){2,}$"
_DECIMAL_COMMA = r"^([+-]?\d+),(\d{1,2})$"


def is_number(kind: str) -> bool:
    """Tell whether a kind is numbers, with or without a mark.

    >>> is_number("number"), is_number("number $"), is_number("text")
    (True, True, False)
    """
    return kind == "number" or kind in MARKS


def read_numbers(texts: Any, mark: str | None = None) -> Any:
    """Read cells as numbers; null where that is not possible.

    Without a mark: digits, possibly in groups of three. With a currency: the same, with or without
    the mark, brackets for negative ones, cents after a comma. With percent: only cells that carry
    the mark, as a part of one.

    >>> import polars as pl
    >>> read_numbers(pl.Series(["1,234.5", "7", "1.234.567", "1,23"])).to_list()
    [1234.5, 7.0, 1234567.0, None]
    >>> read_numbers(pl.Series(["$ 12,345.67", "-$5", "($5)", "€5"]), "$").to_list()
    [12345.67, -5.0, -5.0, None]
    >>> read_numbers(pl.Series(["12.3%", "5 %", "5"]), "%").to_list()
    [0.123, 0.05, None]
    """
    import polars as pl

    if mark is None:
        numbers = texts.cast(pl.Float64, strict=False)
        if numbers.null_count() > texts.null_count():
            grouped = _without_groups(texts).cast(pl.Float64, strict=False)
            numbers = numbers.zip_with(~numbers.is_null(), grouped)
        return numbers.set(~numbers.is_finite(), None)
    cells = texts.str.replace_all(r"[\u00a0\u202f\u2009]", " ")
    if mark == PERCENT:
        marked = cells.str.contains(r"%$")
        bare = _plain(cells.str.replace(r"\s*%$", "")).str.replace(r"^([^eE]+)$", "${1}e-2")
        numbers = bare.cast(pl.Float64, strict=False)
        return numbers.set(~marked.fill_null(False) | ~numbers.is_finite(), None)
    sign = re.escape(mark)
    cells = cells.str.replace(r"^\((.+)\)$", "-$1")
    cells = cells.str.replace(rf"^([+-]?)\s*{sign}\s*([+-]?)", "$1$2")
    cells = cells.str.replace(rf"\s*{sign}$", "")
    return read_numbers(_plain(cells))


def _plain(cells: Any) -> Any:
    """Without groups, and with a decimal point where a comma stands before one or two digits."""
    return _without_groups(cells).str.replace(_DECIMAL_COMMA, "$1.$2")


def _without_groups(cells: Any) -> Any:
    """Remove separators between groups of three digits, where there is no other way to read it."""
    for separator in (",", "'", " ", "\u00a0", "\u202f"):
        grouped = cells.str.contains(_GROUPS % separator).fill_null(False)
        if grouped.any():
            cells = cells.str.replace_all(separator, "", literal=True).zip_with(grouped, cells)
    grouped = cells.str.contains(_POINT_GROUPS).fill_null(False)
    if grouped.any():
        plain = cells.str.replace_all(".", "", literal=True).str.replace(",", ".", literal=True)
        cells = plain.zip_with(grouped, cells)
    return cells


def marked_share(texts: Any, kind: str) -> float:
    """Return the share of cells that carry the mark of a kind; 1 for kinds without a mark.

    >>> import polars as pl
    >>> marked_share(pl.Series(["$ 5", "6"]), "number $")
    0.5
    """
    if kind not in MARKS:
        return 1.0
    return float(texts.str.contains(MARKS[kind], literal=True).mean())


def how_written(texts: Any, kind: str) -> str | None:
    """Say how the numbers of a column were written, if not plainly; None if they were.

    >>> import polars as pl
    >>> how_written(pl.Series(["$ 1,200", "$ 3"]), "number $")
    "is read as numbers in $ ('$ 1,200' is 1200)"
    >>> how_written(pl.Series(["1,200", "3"]), "number")
    "has thousands separators ('1,200' is 1200)"
    """
    import polars as pl

    if not is_number(kind):
        return None
    mark = MARKS.get(kind)
    read = read_numbers(texts, mark)
    decorated = (texts.cast(pl.Float64, strict=False).is_null() & ~read.is_null()).arg_true()
    if not len(decorated):
        return None
    first = f"({texts[decorated[0]]!r} is {read[decorated[0]]:.12g})"
    if mark is None:
        return f"has thousands separators {first}"
    return f"is read as {'parts of one' if mark == PERCENT else f'numbers in {mark}'} {first}"


def looks_like_amounts(texts: Any) -> str | None:
    """Return the first cell of a column of texts that are amounts in more than one way of writing.

    >>> import polars as pl
    >>> looks_like_amounts(pl.Series(["$ 5", "€ 5"])), looks_like_amounts(pl.Series(["a", "b"]))
    ('$ 5', None)
    """
    known = texts.drop_nulls()
    amounts = known.str.contains(r"^\(?[+-]?[$€£¥₹]?\s*[+-]?[\d.,' ]*\d[\d.,' ]*\s*[$€£¥₹%]?\)?$")
    if not len(known) or not amounts.all():
        return None
    marked = known.filter(known.str.contains(r"[$€£¥₹%]"))
    return str(marked[0]) if len(marked) else None
