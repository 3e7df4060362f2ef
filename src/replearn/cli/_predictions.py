"""Fitted models, the rows they predict, and predictions that are matched by ids of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.cli import ENCODING_HELP, CommandOptions, flag, number, option, repeated, say
from replearn.cli._inputs import (
    POS_LABEL_HELP,
    as_labels,
    clean_labels,
    notes_of_model,
    read_key,
    wanted_columns,
)
from replearn.tables.files import (
    JSON_LINES,
    TEXT_SUFFIXES,
    TYPED_SUFFIXES,
    Table,
    TableFileError,
    read_frame,
    read_table,
    table_of,
)
from replearn.tables.kinds import ID, TEXT
from replearn.tables.rows import to_pandas

PREDICTION = "prediction"
ROW = "row"
"""What `replearn predict` calls the number of a row that has no id."""

NO_PREDICTION = ""
LOG_NAMES = {
    "id": ("id", "sample_id", "doc_id", "sample.id"),
    "run": ("run", "epoch", "repeat"),
    "prediction": ("prediction", "answer", "output", "score", "score.value"),
}
"""Columns of evaluation logs in JSON Lines, by the option that names them otherwise."""

_ORDER = "number of the row"
_WHOLE = r"^(-?\d+)\.0+$"
_TABLES = (*TEXT_SUFFIXES, *TYPED_SUFFIXES, *JSON_LINES, ".xlsx", ".gz")


@dataclass(frozen=True, kw_only=True)
class TrustOptions(CommandOptions):
    """Options for what may be loaded: types of other packages, and how much memory."""

    trust: tuple[str, ...] = repeated("type that may be loaded, as the error names it", "TYPE")
    max_bytes: int | None = number(
        "bytes that loading a model may take (default: 512 MiB and 64 times its file)"
    )
    any_version: bool = flag("load models that another version of scikit-learn wrote")

    @property
    def trusted_types(self) -> tuple[str, ...]:
        """Types that may be loaded: those of ``--trust``, and what ``--model`` offers by name."""
        from replearn.persistence._native_types import NATIVE_TYPES

        return (*NATIVE_TYPES, *self.trust)


@dataclass(frozen=True, kw_only=True)
class ModelOptions(TrustOptions):
    """Options of commands that load models and read a file for them."""

    key_file: str | None = option("the shared key, if not in the model", "FILE")
    encoding: str | None = option(ENCODING_HELP, "NAME")
    json: bool = flag("print JSON")
    quiet: bool = flag("print no remarks")


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
    score: str | None = option(
        "the scores in tables: probabilities of the positive label", "COLUMN"
    )
    pos_label: str | None = option(POS_LABEL_HELP, "LABEL")


def load_model(
    path: str, key_file: str | None, options: TrustOptions
) -> tuple[Any, Mapping[str, Any]]:
    """Load a model that ``replearn fit`` has written, and its notes about the table."""
    from replearn.persistence.model_file import describe, load

    about = describe(path)
    if key_file is None and not about.includes_key:
        raise ValueError(
            f"{path} needs its shared key (fingerprint {about.key_fingerprint}): --key-file FILE."
        )
    notes = notes_of_model(path)
    model = load(
        path,
        read_key(key_file),
        trusted_types=options.trusted_types,
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


def read_truth(options: ModelOptions, path: str, notes: Mapping[str, Any]) -> NDArray[Any] | None:
    """Read the target of a file; None if it is missing, or (with a remark) in some row."""
    target = notes["target"]
    kind = notes["target_kind"]
    try:
        column = read_table(path, {target: kind}, encoding=options.encoding).frame[target]
    except TableFileError:
        return None
    if column.null_count():
        say(
            f"{path}: {column.null_count()} of {len(column)} rows have no {target!r} that can be "
            f"read ({kind}), so no true label is used and nothing is counted as right or wrong",
            quiet=options.quiet,
        )
        return None
    return as_labels(clean_labels(column) if notes.get("clean_labels") else column, kind)


@dataclass(frozen=True, eq=False)
class Predictions:
    """A label for each named row, and its score where there is one: of a file, or of a model."""

    path: str
    id_column: str
    frame: Any  # of polars: id, label and, where it is known, score


class TableFiles:
    """Files of one command, each read once."""

    def __init__(self, encoding: str | None) -> None:
        self._encoding = encoding
        self._frames: dict[str, Any] = {}

    def frame(self, path: str) -> Any:
        """Read a file: a text file as texts, others with their types."""
        if path not in self._frames:
            self._frames[path] = read_frame(Path(path), self._encoding)
        return self._frames[path]

    def has(self, path: str) -> bool:
        """Whether a file, or one run of it, has been read."""
        return path in self._frames

    def split(self, path: str, name: str) -> list[str]:
        """Cut a file into its runs; each is then read as a file of its own."""
        runs = self.frame(path).partition_by(name, as_dict=True, include_key=False)
        found = {f"{path} ({name} {run[0]})": frame for run, frame in sorted(runs.items(), key=str)}
        self._frames |= found
        return list(found)

    def columns(self, path: str) -> list[str]:
        """Return the names of the columns."""
        return list(self.frame(path).columns)

    def texts(self, path: str, name: str) -> Any:
        """Return a column as labels: a number and a text that looks like it are the same."""
        return as_labels_column(table_of(self.frame(path), {name: TEXT}, Path(path)).frame[name])

    def numbers(self, path: str, name: str) -> Any:
        """Return a column as numbers; every row must have one."""
        column = table_of(self.frame(path), {name: "number"}, Path(path)).frame[name]
        if column.null_count():
            row = int(column.is_null().arg_true()[0]) + 1
            raise TableFileError(f"{path}: row {row} has no number in {name!r}.")
        return column

    def ids(self, path: str, id_column: str) -> Any:
        """Return the names of the rows, all different."""
        if id_column == ROW and ROW not in self.columns(path):
            import polars as pl

            return pl.Series(ROW, range(1, self.frame(path).height + 1)).cast(pl.String)
        ids = table_of(self.frame(path), {id_column: ID}, Path(path)).frame[id_column]
        return check_names(as_labels_column(ids), path, id_column)


def is_predictions(path: str) -> bool:
    """Tell by its ending whether a file is a table of predictions (otherwise it is a model)."""
    return Path(path).suffix.lower() in _TABLES


def is_json_lines(path: str) -> bool:
    """Tell by its ending whether a file has one JSON object per line."""
    return path.lower().removesuffix(".gz").endswith(JSON_LINES)


def read_predictions(options: TableOptions, path: str, files: TableFiles) -> list[Predictions]:
    """Read the runs of a file: a column that names the rows, one of labels, one of scores."""
    run = getattr(options, "run", None)
    if run is not None and run not in files.columns(path):
        raise TableFileError(f"{path} has no column {run!r}, which names the run (--run).")
    return [_read_run(options, part, files) for part in (files.split(path, run) if run else [path])]


def _read_run(options: TableOptions, path: str, files: TableFiles) -> Predictions:
    import polars as pl

    name = options.id or _first_column(path, options, files)
    columns = {"id": files.ids(path, name), "label": files.texts(path, options.prediction)}
    if options.score is not None:
        columns["score"] = files.numbers(path, options.score)
    return Predictions(path, name, pl.DataFrame(columns))


def predictions_of_model(
    options: TableOptions, path: str, key_file: str | None, ids: Any, data: str
) -> Predictions:
    """Let a model predict the rows of the data, and name them as the other side does."""
    import polars as pl

    model, notes = load_model(path, key_file, options)
    X, own_ids, _ = read_points(data, notes, options.encoding)
    labels = pl.Series("label", [str(label) for label in model.predict(X, ids=own_ids).tolist()])
    columns = {"id": ids, "label": as_labels_column(labels)}
    if options.score is not None:
        if not hasattr(model, "predict_proba") or len(model.classes_) != 2:
            raise ValueError(f"--score: {path} has no probabilities of two classes.")
        label = label_of(options, model)
        code = 1 if label is None else model.classes_.tolist().index(label)
        columns["score"] = pl.Series("score", model.predict_proba(X)[:, code])
    return Predictions(path, ids.name, pl.DataFrame(columns))


def label_of(options: TableOptions, model: Any) -> Any:
    """Return the positive label as the model writes it; None if no option names it."""
    if options.pos_label is None:
        return None
    known = {str(label): label for label in getattr(model, "classes_", np.empty(0)).tolist()}
    if options.pos_label not in known:
        raise ValueError(f"--pos-label {options.pos_label}: the labels are {', '.join(known)}.")
    return known[options.pos_label]


def _first_column(path: str, options: TableOptions, files: TableFiles) -> str:
    names = files.columns(path)
    others = [name for name in names if name != options.prediction]
    if len(others) == len(names) or not others:
        raise TableFileError(
            f"{path} has the columns {', '.join(names[:20])}; expected are one that names the rows "
            f"and {options.prediction!r}. Name them with --id and --prediction."
        )
    return others[0]


def check_names(ids: Any, path: str, id_column: str) -> Any:
    """Return the names of rows; refuse missing ones, and one that occurs twice."""
    missing = (ids == NO_PREDICTION).arg_true()
    if len(missing):
        row = int(missing[0]) + 1
        raise TableFileError(f"{path}: row {row} has no {id_column!r}; every row needs its own.")
    if ids.n_unique() < len(ids):
        commonest, count = ids.value_counts(sort=True).row(0)
        raise TableFileError(
            f"{path}: {id_column!r} {commonest!r} occurs {count} times; ids must be different. "
            "Another column: --id COLUMN."
        )
    return ids.alias(id_column)


def as_labels_column(column: Any) -> Any:
    """Write labels as text, equal whether they were numbers or texts that look like them.

    >>> import polars as pl
    >>> as_labels_column(pl.Series(["1.0", "1", "01", None])).to_list()
    ['1', '1', '01', '']
    """
    import polars as pl

    return column.cast(pl.String).str.replace(_WHOLE, "$1").fill_null(NO_PREDICTION)


def aligned_predictions(sides: Sequence[Predictions]) -> list[Any]:
    """Return all frames in the order of the first; their rows must be the same."""
    first, *others = sides
    for other in others:
        for mine, theirs in ((first, other), (other, first)):
            known = in_order_of(mine.frame["id"], theirs.frame)["label"]
            missing = mine.frame["id"].filter(known.is_null())
            if len(missing):
                raise TableFileError(
                    f"{len(missing)} of {mine.frame.height} rows of {mine.path} are not in "
                    f"{theirs.path} (the first: {missing[0]!r}, by the column "
                    f"{mine.id_column!r}). Compare the same rows."
                )
    return [first.frame, *(in_order_of(first.frame["id"], side.frame) for side in others)]


def in_order_of(ids: Any, frame: Any) -> Any:
    """Return the rows of a frame with these ids, in their order; missing ones have nulls."""
    import polars as pl

    numbered = pl.DataFrame({"id": ids}).with_row_index(_ORDER)
    return numbered.join(frame, on="id", how="left").sort(_ORDER).drop(_ORDER)


def column_by_id(
    name: str, indices: Sequence[tuple[str, str]], ids: Any, files: TableFiles
) -> NDArray[np.str_]:
    """Find a column in the first of some files (path and its column of ids) that has it."""
    import polars as pl

    path, id_column = next((p for p in indices if name in files.columns(p[0])), indices[0])
    cells = pl.DataFrame({"id": files.ids(path, id_column), "cell": files.texts(path, name)})
    found = in_order_of(ids, cells)["cell"]
    if found.null_count():
        missing = ids[int(found.is_null().arg_true()[0])]
        raise TableFileError(f"{path} lacks the row {missing!r}, which is compared.")
    return found.to_numpy()
