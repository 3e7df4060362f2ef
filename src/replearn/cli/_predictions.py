"""Fitted models, the rows they predict, and predictions that are matched by ids of the rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.cli import ENCODING_HELP, CommandOptions, flag, number, option, repeated
from replearn.cli._inputs import (
    as_labels,
    clean_labels,
    notes_of_model,
    read_key,
    wanted_columns,
)
from replearn.tables import (
    ID,
    TEXT,
    TEXT_SUFFIXES,
    TYPED_SUFFIXES,
    Table,
    TableFileError,
    read_table,
    to_pandas,
)

PREDICTION = "prediction"
ROW = "row"
"""What `replearn predict` calls the number of a row that has no id."""

NO_PREDICTION = ""
_WHOLE = re.compile(r"(-?\d+)\.0+")
_TABLES = (*TEXT_SUFFIXES, *TYPED_SUFFIXES, ".xlsx", ".gz")


@dataclass(frozen=True, kw_only=True)
class TrustOptions(CommandOptions):
    """Options for what may be loaded: types of other packages, and how much memory."""

    trust: tuple[str, ...] = repeated("type outside scikit-learn that may be loaded", "TYPE")
    max_bytes: int | None = number(
        "bytes that loading a model may take (default: 512 MiB and 64 times its file)"
    )
    any_version: bool = flag("load although another scikit-learn wrote the model")


@dataclass(frozen=True, kw_only=True)
class ModelOptions(TrustOptions):
    """Options of commands that load models and read a file for them."""

    key_file: str | None = option("the shared key, if not in the model", "FILE")
    encoding: str | None = option(ENCODING_HELP, "NAME")
    json: bool = flag("print JSON")
    quiet: bool = flag("no remarks")


@dataclass(frozen=True, kw_only=True)
class TableOptions(ModelOptions):
    """Options of commands that read tables of predictions beside models."""

    id: str | None = option(
        "names the rows in tables of predictions, and in the data (default: their first column)",
        "COLUMN",
    )
    prediction: str = option(
        f"the labels in tables of predictions (default: {PREDICTION})", "COLUMN", PREDICTION
    )


def load_model(
    path: str, key_file: str | None, options: TrustOptions
) -> tuple[Any, Mapping[str, Any]]:
    """Load a model that ``replearn fit`` has written, and its notes about the table."""
    from replearn.persistence import describe, load

    about = describe(path)
    if key_file is None and not about.includes_key:
        raise ValueError(
            f"{path} needs its shared key (fingerprint {about.key_fingerprint}): --key-file FILE."
        )
    notes = notes_of_model(path)
    model = load(
        path,
        read_key(key_file),
        trusted_types=options.trust,
        any_version=options.any_version,
        max_bytes=options.max_bytes,
    )
    return model, notes


def read_carried(
    path: str, notes: Mapping[str, Any], wanted: str | None, encoding: str | None
) -> tuple[str, list[Any]] | None:
    """Return the column that names the rows in the output: that of the option, or of training."""
    for name in notes.get("ids", ()) if wanted is None else [wanted]:
        try:
            return name, read_table(path, {name: ID}, encoding=encoding).frame[name].to_list()
        except TableFileError:
            if wanted is not None:
                raise
    return None


def read_points(
    path: str, notes: Mapping[str, Any], encoding: str | None
) -> tuple[Any, list[str] | None, tuple[str, ...]]:
    """Read the rows to predict, as a model's notes say: features, ids, remarks."""
    return points_of(read_table(path, wanted_columns(notes), encoding=encoding), notes, path)


def points_of(
    table: Table, notes: Mapping[str, Any], path: str
) -> tuple[Any, list[str] | None, tuple[str, ...]]:
    """Return the rows to predict of a table that was read as a model's notes say."""
    frame = table.frame.select(list(notes["columns"]))
    X = to_pandas(frame) if notes.get("frame") == "pandas" else frame
    name = notes.get("id")
    if name is None:
        return X, None, table.remarks
    ids = table.frame[name]
    if ids.null_count():
        row = int(ids.is_null().arg_true()[0]) + 1
        raise TableFileError(
            f"{path}: row {row} has no {name!r}, from which its threshold is derived."
        )
    return X, ids.to_list(), table.remarks


def read_truth(path: str, notes: Mapping[str, Any], encoding: str | None) -> NDArray[Any] | None:
    """Read the target of a file; None if it is missing, or missing in some row."""
    target = notes["target"]
    kind = notes["target_kind"]
    try:
        column = read_table(path, {target: kind}, encoding=encoding).frame[target]
    except TableFileError:
        return None
    if column.null_count():
        return None
    return as_labels(clean_labels(column) if notes.get("clean_labels") else column, kind)


@dataclass(frozen=True, eq=False)
class Predictions:
    """A label for each named row: what a file says, or a model."""

    path: str
    id_column: str
    labels: Mapping[str, str]  # of each id


def is_predictions(path: str) -> bool:
    """Tell by its ending whether a file is a table of predictions (otherwise it is a model)."""
    return Path(path).suffix.lower() in _TABLES


def read_predictions(options: TableOptions, path: str) -> Predictions:
    """Read a file of predictions: a column that names the rows, and one of labels."""
    name = options.id or _first_column(path, options)
    labels = _texts_by_id(path, name, options.prediction, options.encoding)
    return Predictions(path, name, labels)


def predictions_of_model(
    options: TableOptions, path: str, key_file: str | None, id_column: str, data: str
) -> Predictions:
    """Let a model predict the rows of the data, and name them as the other side does."""
    model, notes = load_model(path, key_file, options)
    X, own_ids, _ = read_points(data, notes, options.encoding)
    labels = [as_label(label) for label in model.predict(X, ids=own_ids).tolist()]
    ids = _ids_of(data, id_column, len(labels), options.encoding)
    return Predictions(path, id_column, dict(zip(ids, labels, strict=True)))


def _first_column(path: str, options: TableOptions) -> str:
    names = list(read_table(path, encoding=options.encoding).columns)
    others = [name for name in names if name != options.prediction]
    if len(others) == len(names) or not others:
        raise TableFileError(
            f"{path} has the columns {', '.join(names[:20])}; expected are one that names the rows "
            f"and {options.prediction!r}. Name them with --id and --prediction."
        )
    return others[0]


def _texts_by_id(path: str, id_column: str, name: str, encoding: str | None) -> dict[str, str]:
    """Read a column as text: a mapping from the ids of the rows."""
    texts = read_table(path, {name: TEXT}, encoding=encoding).frame[name].to_list()
    ids = _ids_of(path, id_column, len(texts), encoding)
    return dict(zip(ids, map(as_label, texts), strict=True))


def _ids_of(path: str, id_column: str, n_rows: int, encoding: str | None) -> list[str]:
    try:
        column = read_table(path, {id_column: ID}, encoding=encoding).frame[id_column]
    except TableFileError:
        if id_column != ROW:
            raise
        return [str(number) for number in range(1, n_rows + 1)]
    ids = [as_label(cell) for cell in column.to_list()]
    if NO_PREDICTION in ids:
        row = ids.index(NO_PREDICTION) + 1
        raise TableFileError(f"{path}: row {row} has no {id_column!r}; every row needs its own.")
    ((commonest, count),) = Counter(ids).most_common(1)
    if count > 1:
        raise TableFileError(
            f"{path}: {id_column!r} {commonest!r} occurs {count} times; ids must be different. "
            "Another column: --id COLUMN."
        )
    return ids


def as_label(value: Any) -> str:
    """Write a label as text, alike whether it was a number or a text that looks like it.

    >>> as_label(1.0), as_label("1.0"), as_label(1), as_label("01"), as_label(None)
    ('1', '1', '1', '01', '')
    """
    text = NO_PREDICTION if value is None else str(value)
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
    name: str, indices: Sequence[tuple[str, str]], ids: Sequence[str], encoding: str | None
) -> NDArray[np.str_]:
    """Find a column in the first of some files (path and its column of ids) that has it."""
    known = [path for path, _ in indices if name in read_table(path, encoding=encoding).columns]
    path, id_column = next((p for p in indices if p[0] in known), indices[0])
    cells = _texts_by_id(path, id_column, name, encoding)
    missing = next((row for row in ids if row not in cells), None)
    if missing is not None:
        raise TableFileError(f"{path} lacks the row {missing!r}, which is compared.")
    return np.array([cells[row] for row in ids])
