"""Predictions from files, or from a model and rows, matched by the ids of the rows."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.cli._inputs import load_model, read_points
from replearn.tables.files import TEXT_SUFFIXES, TYPED_SUFFIXES, TableFileError, read_table
from replearn.tables.kinds import ID, TEXT

PREDICTION = "prediction"
ROW = "row"
"""What `replearn predict` calls the number of a row that has no id."""

NO_ANSWER = ""
_WHOLE = re.compile(r"(-?\d+)\.0+")
_TABLES = (*TEXT_SUFFIXES, *TYPED_SUFFIXES, ".xlsx", ".gz")


@dataclass(frozen=True, eq=False)
class Predictions:
    """A label for each named row: what a file says, or a model."""

    path: str
    id_column: str
    labels: Mapping[str, str]  # of each id

    def of(self, ids: Sequence[str]) -> NDArray[np.str_]:
        """Return the labels of some rows, in their order."""
        return np.array([self.labels[name] for name in ids])

    @property
    def without_answer(self) -> int:
        """Number of rows whose prediction is missing."""
        return sum(label == NO_ANSWER for label in self.labels.values())


def is_predictions(path: str) -> bool:
    """Tell by its ending whether a file is a table of predictions (otherwise it is a model)."""
    return Path(path).suffix.lower() in _TABLES


def read_predictions(args: argparse.Namespace, path: str) -> Predictions:
    """Read a file of predictions: a column that names the rows, and one of labels."""
    name = args.id or _first_column(path, args)
    labels = read_columns_by_id(path, name, [args.prediction], args.encoding)[args.prediction]
    return Predictions(path, name, labels)


def predictions_of_model(
    args: argparse.Namespace, path: str, key_file: str | None, id_column: str
) -> Predictions:
    """Let a model predict the rows of the data, and name them as the other side does."""
    model, notes = load_model(path, key_file, args.trust)
    X, own_ids, _ = read_points(args.data, notes, args.encoding)
    labels = [as_label(label) for label in model.predict(X, points=own_ids).tolist()]
    ids = _ids_of(args.data, id_column, len(labels), args.encoding)
    return Predictions(path, id_column, dict(zip(ids, labels, strict=True)))


def _first_column(path: str, args: argparse.Namespace) -> str:
    names = list(read_table(path, encoding=args.encoding).columns)
    others = [name for name in names if name != args.prediction]
    if len(others) == len(names) or not others:
        raise TableFileError(
            f"{path} has the columns {', '.join(names[:20])}; expected are one that names the rows "
            f"and {args.prediction!r}. Name them with --id and --prediction."
        )
    return others[0]


def read_columns_by_id(
    path: str, id_column: str, wanted: Sequence[str], encoding: str | None
) -> dict[str, dict[str, str]]:
    """Read columns as text; each is a mapping from the ids of the rows."""
    frame = read_table(path, dict.fromkeys(wanted, TEXT), encoding=encoding).frame
    ids = _ids_of(path, id_column, frame.height, encoding)
    return {
        name: dict(zip(ids, map(as_label, frame[name].to_list()), strict=True)) for name in wanted
    }


def _ids_of(path: str, id_column: str, n_rows: int, encoding: str | None) -> list[str]:
    try:
        column = read_table(path, {id_column: ID}, encoding=encoding).frame[id_column]
    except TableFileError:
        if id_column != ROW:
            raise
        return [str(number) for number in range(1, n_rows + 1)]
    return _checked_ids(path, id_column, column.to_list())


def _checked_ids(path: str, column: str, cells: list[Any]) -> list[str]:
    ids = [as_label(cell) for cell in cells]
    if NO_ANSWER in ids:
        row = ids.index(NO_ANSWER) + 1
        raise TableFileError(f"{path}: row {row} has no {column!r}; every row needs its own.")
    ((commonest, count),) = Counter(ids).most_common(1)
    if count > 1:
        raise TableFileError(
            f"{path}: {column!r} {commonest!r} occurs {count} times; ids must be different. "
            "Another column: --id COLUMN."
        )
    return ids


def as_label(value: Any) -> str:
    """Write a label as text, alike whether it was a number or a text that looks like it.

    Examples
    --------
    >>> as_label(1.0), as_label("1.0"), as_label(1), as_label("01"), as_label(None)
    ('1', '1', '1', '01', '')
    """
    text = NO_ANSWER if value is None else str(value)
    whole = _WHOLE.fullmatch(text)
    return text if whole is None else whole[1]


def shared_ids(one: Predictions, two: Predictions) -> list[str]:
    """Return the ids of the rows, which must be the same on both sides."""
    for mine, others in ((one, two), (two, one)):
        missing = [name for name in mine.labels if name not in others.labels]
        if missing:
            raise TableFileError(
                f"{len(missing)} of {len(mine.labels)} rows of {mine.path} are not in "
                f"{others.path} (the first: {missing[0]!r}, by the column {mine.id_column!r}). "
                "Compare the same rows."
            )
    return list(one.labels)


def column_by_id(
    name: str, places: Sequence[tuple[str, str]], ids: Sequence[str], encoding: str | None
) -> NDArray[np.str_]:
    """Find a column in the first of some files (path and its column of ids) that has it."""
    known = [path for path, _ in places if name in read_table(path, encoding=encoding).columns]
    path, id_column = next((p for p in places if p[0] in known), places[0])
    cells = read_columns_by_id(path, id_column, [name], encoding)[name]
    missing = next((row for row in ids if row not in cells), None)
    if missing is not None:
        raise TableFileError(f"{path} lacks the row {missing!r}, which is compared.")
    return np.array([cells[row] for row in ids])
