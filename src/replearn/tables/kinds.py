"""What kind of column it is (numbers, dates, texts, ids), from its cells and its name.

The kind decides how a cell is written canonically, and so which threshold a row gets. It is
therefore written down (in the model file, in a columns file, in the estimator's digest) and applied
to other files as it stands, never guessed again.
"""

from __future__ import annotations

import re
from typing import Any

# -- numbers, possibly in groups of three digits ---------------------------------------------------
_GROUPS = r"^[+-]?[1-9]\d{0,2}(?:%s\d{3})+(?:\.\d+)?$"
_POINT_GROUPS = r"^[+-]?[1-9]\d{0,2}(?:\.\d{3})+,\d+$|^[+-]?[1-9]\d{0,2}(?:\.\d{3}){2,}$"


def read_numbers(texts: Any) -> Any:
    """Read cells as numbers, possibly in groups of three digits; null where that is not possible.

    >>> import polars as pl
    >>> read_numbers(pl.Series(["1,234.5", "7", "1.234.567", "1,23"])).to_list()
    [1234.5, 7.0, 1234567.0, None]
    """
    import polars as pl

    numbers = texts.cast(pl.Float64, strict=False)
    if numbers.null_count() > texts.null_count():
        grouped = _without_groups(texts).cast(pl.Float64, strict=False)
        numbers = numbers.zip_with(~numbers.is_null(), grouped)
    return numbers.set(~numbers.is_finite(), None)


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


# -- kinds of columns ------------------------------------------------------------------------------
NUMBER = "number"
TEXT = "text"
ID = "id"
DATE = "date"
DATE_FORMATS = {
    DATE: (
        "%Y-%m-%d",
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%dT%H:%M:%S%.fZ",
        "%Y-%m-%d %H:%M",
        "%Y/%m/%d",
    ),
    "date d.m.y": ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S"),
    "date m/d/y": ("%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S"),
    "date d/m/y": ("%d/%m/%Y", "%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S"),
}
KINDS = (NUMBER, *DATE_FORMATS, TEXT, ID)

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?")
"""Cells that count as missing in text files, blanks around them apart."""

MOSTLY = 0.95
"""From this share of readable cells on, a column is taken for numbers (dates) with mistakes."""

LOOKED_AT_FIRST = 200
MIN_ROWS_FOR_IDS = 50
MIN_LEVELS_FOR_NAMED_IDS = 50

_LARGEST_EXACT = float(1 << 53)


def is_date(kind: str) -> bool:
    """Tell whether a kind is one of the dates."""
    return kind in DATE_FORMATS


def guess_kind(texts: Any) -> str:
    """Guess the kind of a column of texts (not whether it is an id).

    >>> import polars as pl
    >>> guess_kind(pl.Series(["1.5", None, "2"])), guess_kind(pl.Series(["01234", "99999"]))
    ('number', 'text')
    """
    known = texts.drop_nulls()
    if not len(known):
        return TEXT
    for kind in (NUMBER, *DATE_FORMATS):
        for cells in (known.head(LOOKED_AT_FIRST), known):
            if 1 - cells_as(cells, kind).null_count() / len(cells) < MOSTLY:
                break
        else:
            return TEXT if kind == NUMBER and _are_codes(known) else kind
    return TEXT


def _are_codes(cells: Any) -> bool:
    """Digits that are no quantity: leading zeros (postcodes), or too long for a number."""
    if cells.str.contains(r"^0\d").any():
        return True
    numbers = cells_as(cells, NUMBER)
    return bool((numbers.abs() >= _LARGEST_EXACT).any()) and not cells.str.contains(r"[.eE]").any()


def cells_as(texts: Any, kind: str) -> Any:
    """Read cells as a kind; what cannot be read is null.

    >>> import polars as pl
    >>> cells_as(pl.Series(["1", "x", "inf"]), "number").to_list()
    [1.0, None, None]
    """
    import polars as pl

    if kind == NUMBER:
        return read_numbers(texts)
    if kind not in DATE_FORMATS:
        return texts
    dates = pl.Series(texts.name, [None] * len(texts), dtype=pl.Datetime("us"))
    for form in DATE_FORMATS[kind]:
        if not dates.null_count():
            break
        read = texts.str.to_datetime(form, strict=False, time_unit="us")
        dates = read if dates.null_count() == len(dates) else dates.zip_with(~dates.is_null(), read)
    return dates


def typed_kind(column: Any) -> str | None:
    """Return the kind of a column that has a type already; None if it is no cell's type.

    >>> import polars as pl
    >>> typed_kind(pl.Series([1, 2])), typed_kind(pl.Series([True])), typed_kind(pl.Series([[1]]))
    ('number', 'text', None)
    """
    kind = column.dtype
    if kind.is_integer() and len(column) and _is_large(column):
        return TEXT
    if kind.is_numeric() or str(kind).startswith("Duration"):
        return NUMBER
    if str(kind).startswith("Date"):
        return DATE
    simple = ("String", "Boolean", "Categorical", "Enum", "Time", "Null")
    return TEXT if str(kind).startswith(simple) else None


def _is_large(column: Any) -> bool:
    top = column.max()
    bottom = column.min()
    return top is not None and max(abs(top), abs(bottom)) >= _LARGEST_EXACT


def typed_cells_as(column: Any, kind: str) -> Any:
    """Read the cells of a column that has a type as a kind; None where the two do not go together.

    >>> import polars as pl
    >>> typed_cells_as(pl.Series([True, None]), "text").to_list()
    ['True', None]
    >>> typed_cells_as(pl.Series(["2020-01-31"]), "number") is None
    True
    """
    import polars as pl

    own_kind = typed_kind(column)
    dtype = str(column.dtype)
    if own_kind is None:
        return None
    if kind in (TEXT, ID):  # truth values as Python and pandas write them
        texts = column.cast(pl.String)
        return texts.str.to_titlecase() if dtype == "Boolean" else texts
    if dtype == "String":
        read = cells_as(column, kind)
        return read if column.is_null().all() or not read.is_null().all() else None
    if kind == NUMBER and own_kind == NUMBER:
        seconds = dtype.startswith("Duration")
        numbers = column.dt.total_microseconds() / 1e6 if seconds else column
        numbers = numbers.cast(pl.Float64, strict=False)
        return numbers.set(~numbers.is_finite(), None)
    if is_date(kind) and own_kind == DATE:
        zone = getattr(column.dtype, "time_zone", None)
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None) if zone else column
        return column.cast(pl.Datetime("us"))
    return None


def looks_like_id(name: str, cells: Any, kind: str) -> bool:
    """Tell whether a column numbers or names the rows instead of describing them.

    >>> import polars as pl
    >>> looks_like_id("row", pl.Series(range(100)).cast(pl.Float64), "number")
    True
    >>> looks_like_id("income", pl.Series(range(0, 10_000, 100)).cast(pl.Float64), "number")
    False
    """
    known = cells.drop_nulls()
    if kind not in (NUMBER, TEXT) or len(known) < MIN_ROWS_FOR_IDS:
        return False
    levels = known.n_unique()
    named = names_ids(name)
    if kind == NUMBER:
        whole = bool((known == known.floor()).all())
        counted = levels == len(known) == known.max() - known.min() + 1
        return whole and (counted or (named and levels > MIN_LEVELS_FOR_NAMED_IDS))
    if named:
        return levels > MIN_LEVELS_FOR_NAMED_IDS
    single_words = not known.head(LOOKED_AT_FIRST).str.contains(r"\s").any()
    return levels == len(known) == len(cells) and single_words


# -- names of columns that are ids -----------------------------------------------------------------
_PERSONS = (
    *("patient", "person", "customer", "client", "subject", "participant", "respondent"),
    *("user", "member", "student", "employee", "household"),
)
_SITES = ("account", "hospital", "clinic", "school", "store", "device", "session")
_IDS = ("id", "ids", "uid", "uuid", "guid", "key", "index", "idx")
_NUMBERS = ("id", "ids", "uid", "uuid", "guid", "nr", "no", "num", "number", "key", "code")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def names_persons(name: Any) -> bool:
    """Tell whether a column is named after persons, or after their ids.

    One word is enough ("patient"), or the id of such a word after any others ("left.patient_no").
    Other names that end in it ("age_of_patient", "customers") count or describe them.

    >>> names_persons("patient"), names_persons("customerID"), names_persons("age_of_patient")
    (True, True, False)
    """
    *before, last = _words_of(name) or [""]
    if last in _PERSONS:
        return not before
    return _owner_of_id(before, last) in (*_PERSONS, "family")


def names_sites(name: Any) -> bool:
    """Tell whether a column is named after things that have several rows: accounts, devices.

    >>> names_sites("store"), names_sites("store_id"), names_sites("stored")
    (True, True, False)
    """
    *before, last = _words_of(name) or [""]
    return last in _SITES or _owner_of_id(before, last) in _SITES


def names_ids(name: Any) -> bool:
    """Tell whether a column is named as an id of whatever it may be.

    >>> names_ids("order_id"), names_ids("orderId"), names_ids("paid"), names_ids("id_type")
    (True, True, False, False)
    """
    words = _words_of(name)
    return bool(words) and words[-1] in _IDS


def _words_of(name: Any) -> list[str]:
    """Return the words of a name in lower case: "PatientID 2" has three."""
    return [word.lower() for word in _WORD.findall(name)] if isinstance(name, str) else []


def _owner_of_id(before: list[str], last: str) -> str:
    """Return what an id belongs to: of "patient no" and of "patientid" it is the patient."""
    if last in _NUMBERS:
        return before[-1].removesuffix("s") if before else ""
    end = max((end for end in _NUMBERS if last.endswith(end)), key=len, default="")
    return last.removesuffix(end).removesuffix("s") if end else ""
