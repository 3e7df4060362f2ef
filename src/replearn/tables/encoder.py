"""Kinds of columns (numbers, dates, texts, ids), and mixed tables as one matrix for any classifier.

The kind decides how a cell is written canonically, and so which threshold a row gets. It is
therefore written down (in the model file, in a columns file, in the estimator's digest) and applied
to other files as it stands, never guessed again. Numbers are read as people write them: with
thousands separators, as money, in percent.

`TableEncoder` is meant to stand inside a base estimator, where it is fitted on one block at a time,
because everything learned from data belongs there. Each row is treated on its own.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from replearn.tables.rows import is_nan, n_rows

# -- numbers as people write them ------------------------------------------------------------------
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
KINDS = (NUMBER, *DATE_FORMATS, TEXT, ID, *MARKS)

MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?")
"""Cells that count as missing in text files, blanks around them apart."""

MOSTLY = 0.95
"""From this share of readable cells on, a column is taken for numbers (dates) with mistakes."""

MIN_MARKED = 0.5
"""From this share of cells with a mark ($) on, a column is taken for amounts of that kind."""

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
    >>> guess_kind(pl.Series(["$ 1,200", "$3"])), guess_kind(pl.Series(["12.3%", "5%"]))
    ('number $', 'number %')
    """
    known = texts.drop_nulls()
    if not len(known):
        return TEXT
    for kind in (NUMBER, *MARKS, *DATE_FORMATS):
        for cells in (known.head(LOOKED_AT_FIRST), known):
            if marked_share(cells, kind) < MIN_MARKED:  # before reading, which is dear
                break
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

    if is_number(kind):
        return read_numbers(texts, MARKS.get(kind))
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
    if is_number(kind) and own_kind == NUMBER:  # a table with types has parts of one, not percent
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


# -- tables as numbers -----------------------------------------------------------------------------
Fitted = dict[str, Any]
"""What was learned about one column, in plain values: a model file needs no other types."""


@dataclass(frozen=True)
class Texts:
    """The cells of a column of texts; None where one is missing."""

    texts: list[str | None]


Cells = Texts | list[NDArray[np.float64]]
"""A column as it was read: texts, or numbers (several for a date)."""

WORDS_OF_FREE_TEXT = 3.0
"""From this many words per cell on, a text is read by its words instead of as a category."""

WORD_BUCKETS = 64

_ROUNDING = 1e-12
_LARGEST = float(np.finfo(np.float32).max)
_DAY = np.timedelta64(1, "D")
_EPOCH = np.datetime64("1970-01-01", "us")


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a frame of mixed columns into numbers.

    Parameters
    ----------
    columns : mapping of str to str, default=None
        Kind of each column: "number", "date", "text" or "id" (left out). If None, the kinds follow
        from the types of the frame.
    for_trees : bool, default=False
        If False, for linear models: numbers are centred and scaled, missing ones are marked, and
        categories become indicators. If True, numbers stay as they are, missing ones are NaN, and
        categories become codes.
    most_levels : int, default=40
        Categories of a column with a code of their own, the most frequent ones (six times as many
        for trees); all others share one code.

    Attributes
    ----------
    fitted_columns_ : list of dict
        What was learned about each column.

    >>> import pandas as pd
    >>> from replearn.tables.encoder import TableEncoder
    >>> people = pd.DataFrame({"age": [30.0, 50.0, None], "town": ["Ulm", "Rom", "Ulm"]})
    >>> TableEncoder().fit_transform(people)
    array([[-1.,  0.,  0.,  1.],
           [ 1.,  0.,  1.,  0.],
           [ 0.,  1.,  0.,  1.]])
    >>> TableEncoder(for_trees=True).fit_transform(people)
    array([[30.,  1.],
           [50.,  0.],
           [nan,  1.]])
    """

    def __init__(
        self,
        columns: Mapping[str, str] | None = None,
        *,
        for_trees: bool = False,
        most_levels: int = 40,
    ):
        self.columns = columns
        self.for_trees = for_trees
        self.most_levels = most_levels

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Learn scales and categories from the rows of one block, a pandas or polars frame."""
        self._learn_all(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.float64]:
        """Do what `fit` and `transform` do, and read every column once."""
        return self._encode_all(X, self._learn_all(X))

    def _learn_all(self, X: Any) -> dict[str, Cells]:
        """Learn all columns; return the cells of each as they were read."""
        kinds = dict(self.columns) if self.columns is not None else _kinds_of(X)
        read = {
            n: _read(X[n], kind == TEXT, is_date(kind)) for n, kind in kinds.items() if kind != ID
        }
        learned = [
            (name, *self._learn(cells, is_date(kinds[name]))) for name, cells in read.items()
        ]
        self.fitted_columns_: list[Fitted] = [
            {"name": name, **fitted}
            for name, fitted, known in learned
            # histogram boosting cannot be trained on a column of which nothing is known
            if known or not self.for_trees
        ]
        if not self.fitted_columns_:
            raise ValueError(
                "the table has no column that can be learned from (only ids, or nothing is known)."
            )
        self.n_features_in_ = len(X.columns)
        return read

    def _learn(self, cells: Cells, is_a_date: bool) -> tuple[Fitted, bool]:
        """Return what is to be known of a column, and whether any cell of it is."""
        if isinstance(cells, Texts):
            counted = Counter(cells.texts)
            del counted[None]
            return self._learn_texts(counted), bool(counted)
        fitted: Fitted = {"date": True} if is_a_date else {}
        fitted["scales"] = [_learn_scale(part) for part in cells]
        return fitted, any(not np.isnan(part).all() for part in cells)

    def _learn_texts(self, counted: Counter[Any]) -> Fitted:
        """Learn from how often each text occurs."""
        n_words = sum(count * len(text.split()) for text, count in counted.items())
        if counted and n_words / counted.total() >= WORDS_OF_FREE_TEXT:
            return {"words": True}
        most = self.most_levels * 6 if self.for_trees else self.most_levels
        # Ties are broken by the text itself: the order of the rows must not matter.
        ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
        return {"levels": sorted(level for level, _ in ranked[:most])}

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Turn the rows of a frame into rows of numbers."""
        return self._encode_all(X, {})

    def _encode_all(self, X: Any, read: dict[str, Cells]) -> NDArray[np.float64]:
        """Encode all columns; those that have not been read yet are read."""
        parts: list[NDArray[np.float64]] = []
        for fitted in self.fitted_columns_:
            name = fitted["name"]
            cells = read.get(name)
            if cells is None:
                cells = _read(X[name], "scales" not in fitted, "date" in fitted)
            parts += self._encode(cells, fitted)
        return np.column_stack(parts) if parts else np.zeros((n_rows(X), 0))

    def _encode(self, cells: Cells, fitted: Fitted) -> Iterable[NDArray[np.float64]]:
        if isinstance(cells, Texts):
            if "words" in fitted:
                return [count_words(cells.texts)]
            encode = _codes if self.for_trees else _indicators
            return [encode(cells.texts, fitted["levels"])]
        if self.for_trees:
            return [clip_for_trees(part) for part in cells]
        return chain.from_iterable(map(_scaled, cells, fitted["scales"]))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the numbers that `transform` makes.

        >>> import pandas as pd
        >>> people = pd.DataFrame({"age": [30.0, 50.0, None], "town": ["Ulm", "Rom", "Ulm"]})
        >>> TableEncoder().fit(people).get_feature_names_out().tolist()
        ['age', 'age missing', 'town=Rom', 'town=Ulm']
        """
        return np.array([n for fitted in self.fitted_columns_ for n in self._names(fitted)], object)

    def _names(self, fitted: Fitted) -> list[str]:
        name = fitted["name"]
        if "words" in fitted:
            return [f"{name} word {bucket}" for bucket in range(WORD_BUCKETS)]
        if "levels" in fitted:
            return [name] if self.for_trees else [f"{name}={level}" for level in fitted["levels"]]
        scales = fitted["scales"]
        names = [name] if len(scales) == 1 else [f"{name} {part}" for part in range(len(scales))]
        if self.for_trees:
            return names
        pairs = zip(names, scales, strict=True)
        return [part for n, scale in pairs for part in (n, *[f"{n} missing"] * bool(scale[2]))]

    def __getstate__(self) -> dict[str, Any]:
        """Write what was learned as one text: model files hold hundreds of encoders."""
        state: dict[str, Any] = super().__getstate__()
        if "fitted_columns_" in state:
            state = {**state, "fitted_columns_": json.dumps(state["fitted_columns_"])}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(state.get("fitted_columns_"), str):
            state = {**state, "fitted_columns_": json.loads(state["fitted_columns_"])}
        super().__setstate__(state)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _read(column: Any, as_texts: bool, as_dates: bool) -> Cells:
    if as_texts:
        return Texts(texts_of(column))
    return parts_of_dates(column) if as_dates else [numbers_of(column)]


def _kinds_of(X: Any) -> dict[str, str]:
    kinds = {"b": NUMBER, "i": NUMBER, "u": NUMBER, "f": NUMBER, "M": DATE}
    return {name: kinds.get(np.asarray(X[name]).dtype.kind, TEXT) for name in X.columns}


def _learn_scale(values: NDArray[np.float64]) -> list[float]:
    """Return mean, standard deviation, and whether some are missing."""
    known = values[~np.isnan(values)]
    if not len(known):
        return [0.0, 1.0, float(len(values) > 0)]
    with np.errstate(over="ignore"):
        mean = float(known.mean())
        spread = float(known.std())
    if not (np.isfinite(mean) and np.isfinite(spread)):
        mean = 0.0
        spread = 1.0
    # A constant has the spread of its rounding: dividing by that would make noise of it.
    if spread <= _ROUNDING * abs(mean) or spread == 0.0:
        spread = 1.0
    return [mean, spread, float(len(known) < len(values))]


def _scaled(values: NDArray[np.float64], scale: list[float]) -> list[NDArray[np.float64]]:
    mean, spread, with_missing = scale
    missing = np.isnan(values)
    centred = np.where(missing, 0.0, (values - mean) / spread)
    return [centred, missing.astype(np.float64)] if with_missing else [centred]


def _indicators(texts: list[str | None], levels: list[str]) -> NDArray[np.float64]:
    indices = _indices(texts, levels)
    result = np.zeros((len(texts), len(levels) + 1))
    result[np.arange(len(texts)), indices] = 1.0
    return result[:, : len(levels)]


def _codes(texts: list[str | None], levels: list[str]) -> NDArray[np.float64]:
    codes = _indices(texts, levels).astype(np.float64)
    codes[codes == len(levels)] = -1.0
    codes[[text is None for text in texts]] = np.nan
    return codes


def _indices(texts: list[str | None], levels: list[str]) -> NDArray[np.intp]:
    """Return the index of each text among the levels; their number if it is none of them."""
    index = {level: number for number, level in enumerate(levels)}
    other = len(levels)
    return np.fromiter(map(index.get, texts, repeat(other)), np.intp, len(texts))  # type: ignore[arg-type]


# -- the cells of one column: pandas and polars columns are read alike, without importing either ---
def numbers_of(column: Any) -> NDArray[np.float64]:
    """Read a column of a frame as numbers; NaN where a cell is missing."""
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if values.dtype != object:
        return np.asarray(values, dtype=np.float64)
    known = [np.nan if gone else cell for cell, gone in _cells(column)]
    return np.array(known, dtype=np.float64)


def clip_for_trees(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring numbers into the range of single precision: trees refuse larger ones."""
    return np.clip(values, -_LARGEST, _LARGEST)


def texts_of(column: Any) -> list[str | None]:
    """Read a column of a frame as texts; None where a cell is missing.

    >>> import pandas as pd
    >>> texts_of(pd.Series(["Ulm", None, 7]))
    ['Ulm', None, '7']
    """
    if not isinstance(column, np.ndarray) and str(column.dtype) == "String":  # polars
        return list(column.to_list())
    cells = _listed(column)
    if all(type(cell) is str for cell in cells):  # nothing is missing, nothing to convert
        return list(cells)
    return [None if gone else str(cell) for cell, gone in _cells(column)]


def parts_of_dates(column: Any) -> list[NDArray[np.float64]]:
    """Return days since 1970, month, weekday and hour; NaN where a date is missing.

    >>> import pandas as pd
    >>> parts_of_dates(pd.Series(pd.to_datetime(["1970-01-02 06:00"])))
    [array([1.25]), array([1.]), array([4.]), array([6.])]
    """
    instants = np.asarray(column).astype("datetime64[us]")
    missing = np.isnat(instants)
    days = instants.astype("datetime64[D]")
    whole = (days - _EPOCH.astype("datetime64[D]")) / _DAY
    parts = [
        (instants - _EPOCH) / _DAY,
        (instants.astype("datetime64[M]").astype(np.int64) % 12 + 1).astype(np.float64),
        (whole + 3) % 7,
        (instants - days) / np.timedelta64(1, "h"),
    ]
    return [np.where(missing, np.nan, part) for part in parts]


def count_words(texts: list[str | None]) -> NDArray[np.float64]:
    """Count hashed words, damped; the last column is the number of words."""
    counts = np.zeros((len(texts), WORD_BUCKETS + 1))
    for row, text in enumerate(texts):
        for bucket in _word_buckets(text or ""):
            counts[row, bucket] += 1.0
    counts[:, -1] = counts[:, :-1].sum(axis=1)
    return np.log1p(counts)


@lru_cache(maxsize=1 << 16)
def _word_buckets(text: str) -> tuple[int, ...]:
    return tuple(zlib.crc32(word.encode()) % WORD_BUCKETS for word in text.lower().split())


def _cells(column: Any) -> Iterable[tuple[Any, bool]]:
    """Yield each cell of a pandas or polars column, and whether it is missing."""
    if isinstance(column, np.ndarray):  # of a pandas column
        missing = [cell is None or is_nan(cell) for cell in column.tolist()]
    else:
        missing = _listed(column.isna() if hasattr(column, "isna") else column.is_null())
    return zip(_listed(column), missing, strict=True)


def _listed(column: Any) -> list[Any]:
    """Return the cells of a column: those of an array or of a series."""
    return list(column.to_list() if hasattr(column, "to_list") else column.tolist())
