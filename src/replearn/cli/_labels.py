"""The target of a file as class labels, and what was read: checked, counted, mended on request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.records.text import aligned
from replearn.tables.files import Table, TableFileError
from replearn.tables.kinds import TEXT, is_date, is_number

MOST_CLASSES = 50


def read_labels_of(
    table: Table, target: str, path: str, *, clean: bool, numbers: bool = False
) -> tuple[NDArray[Any], Any, list[str]]:
    """Return the labels or the numbers of the target, which rows have one, and remarks."""
    column = table.frame[target]
    known = ~column.is_null()
    column, kind = column.filter(known), table.columns[target]
    remarks = []
    if len(column) < len(known):
        remarks.append(f"{len(known) - len(column)} rows without {target!r} are left out")
    if numbers:
        if not is_number(kind) or column.n_unique() < 2:
            raise TableFileError(
                f"{path}: target {target!r} is no quantity ({kind}); leave --resolution out."
            )
        return column.to_numpy().astype(np.float64), known, remarks
    if kind == TEXT:
        remarks += _about_spellings(column.to_list(), target, clean)
        column = clean_labels(column) if clean else column
    check_classes(column, kind, target, path)
    return as_labels(column, kind), known, remarks


def as_labels(column: Any, kind: str) -> NDArray[Any]:
    """Return a column without missing cells as an array of labels."""
    values = column.to_numpy()
    return values.astype(np.int64) if is_number(kind) else np.array(values.tolist())


def clean_labels(column: Any) -> Any:
    """Write labels in small letters with single blanks, each by itself: all labs get the same.

    The most frequent spelling would look nicer, but is another one in another sample.

    Examples
    --------
    >>> import polars as pl
    >>> clean_labels(pl.Series(["Yes", " YES ", "not  yet"])).to_list()
    ['yes', 'yes', 'not yet']
    """
    return column.str.strip_chars().str.replace_all(r"\s+", " ").str.to_lowercase()


def _about_spellings(labels: list[str], target: str, clean: bool) -> list[str]:
    """Tell which labels differ in case or blanks only, with counts."""
    spellings: dict[str, Counter[str]] = {}
    for label, count in Counter(labels).items():
        spellings.setdefault(" ".join(label.split()).lower(), Counter())[label] = count
    remarks = []
    for cleaned, found in spellings.items():
        if len(found) > 1:
            counted = ", ".join(f"{label!r} ({count})" for label, count in found.most_common())
            what = (
                f"are one class now, {cleaned!r}"
                if clean
                else f"differ in case or blanks only and are {len(found)} classes; --clean-labels "
                f"makes them one, {cleaned!r}"
            )
            remarks.append(f"{target!r}: {counted} {what}")
    return remarks


def check_classes(column: Any, kind: str, target: str, path: str) -> None:
    """Refuse a target whose values are no classes."""
    n_values = column.n_unique()
    if n_values == 0:
        problem = "has no known value"
    elif is_date(kind):
        problem = "holds dates, which are no classes"
    elif n_values == 1:
        problem = f"has one class only ({column[0]!r}); there is nothing to predict"
    elif is_number(kind) and not bool((column == column.floor()).all()):
        problem = (
            "holds numbers that are not whole: a quantity, not classes; cut it into classes "
            "(replearn audit --resolution takes it as it is)"
        )
    elif n_values > MOST_CLASSES:
        problem = (
            f"has {n_values} different values; a classifier needs few (at most {MOST_CLASSES}). "
            "Is it a quantity, or an id?"
        )
    else:
        return
    raise TableFileError(f"{path}: target {target!r} {problem}.")


MOST_COLUMNS = 30
MOST_CLASSES_SHOWN = 12


def overview(table: Table, labels: NDArray[Any], target: str, used_as: Mapping[str, str]) -> str:
    """Return a table of the columns and a line of the classes.

    Examples
    --------
    >>> import polars as pl
    >>> table = Table(pl.DataFrame({"age": [3.0, None, 3.0]}), {"age": "number"})
    >>> print(overview(table, np.array(["a", "b", "a"]), "y", {}))
    3 rows, 1 columns:
      column  kind    missing  distinct
      ------  ------  -------  --------
      age     number  1        1
    target 'y': 'a' 2 (66.7 %), 'b' 1 (33.3 %)
    """
    frame = table.frame
    rows: list[tuple[str, ...]] = [("column", "kind", "missing", "distinct")]
    for name, kind in list(table.columns.items())[:MOST_COLUMNS]:
        cells = frame[name]
        counts = cells.null_count(), cells.drop_nulls().n_unique()
        rows.append((name, used_as.get(name, kind), *(f"{count:,}" for count in counts)))
    lines = [f"  {line}" for line in aligned(rows).splitlines()]
    if len(table.columns) > MOST_COLUMNS:
        lines.append(f"  ... and {len(table.columns) - MOST_COLUMNS} more columns")
    head = f"{frame.height:,} rows, {len(table.columns)} columns:"
    return "\n".join([head, *lines, f"target {target!r}: {_classes(labels)}"])


def _classes(labels: NDArray[Any]) -> str:
    """Count the classes, the most frequent first; of numbers say where they lie."""
    if labels.dtype.kind == "f":
        low, middle, high = np.quantile(labels, (0.0, 0.5, 1.0))
        return f"{low:g} to {high:g}, median {middle:g}"
    ranked = Counter(np.asarray(labels).tolist()).most_common()
    total = len(labels)
    shown = [
        f"{label!r} {count:,} ({count / total:.1%})".replace("%", " %")
        for label, count in ranked[:MOST_CLASSES_SHOWN]
    ]
    left = len(ranked) - len(shown)
    return ", ".join(shown) + (f" and {left} more classes" if left else "")
