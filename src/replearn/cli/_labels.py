"""The target of a file as class labels: checked, counted, and mended on request."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.tables.amounts import is_number
from replearn.tables.files import Table, TableFileError
from replearn.tables.kinds import TEXT, is_date

MOST_CLASSES = 50


def read_labels_of(
    table: Table, target: str, path: str, *, clean: bool
) -> tuple[NDArray[Any], Any, list[str]]:
    """Return the labels, which rows have one, and remarks."""
    column = table.frame[target]
    known = ~column.is_null()
    column, kind = column.filter(known), table.columns[target]
    remarks = []
    if len(column) < len(known):
        remarks.append(f"{len(known) - len(column)} rows without {target!r} are left out")
    if kind == TEXT:
        remarks += _about_spellings(column.to_list(), target, clean)
        column = clean_labels(column) if clean else column
    _check_classes(column, kind, target, path)
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


def _check_classes(column: Any, kind: str, target: str, path: str) -> None:
    n_values = column.n_unique()
    if n_values == 0:
        problem = "has no known value"
    elif is_date(kind):
        problem = "holds dates, which are no classes"
    elif n_values == 1:
        problem = f"has one class only ({column[0]!r}); there is nothing to predict"
    elif is_number(kind) and not bool((column == column.floor()).all()):
        problem = "holds numbers that are not whole: a quantity, not classes; cut it into classes"
    elif n_values > MOST_CLASSES:
        problem = (
            f"has {n_values} different values; a classifier needs few (at most {MOST_CLASSES}). "
            "Is it a quantity, or an id?"
        )
    else:
        return
    raise TableFileError(f"{path}: target {target!r} {problem}.")
