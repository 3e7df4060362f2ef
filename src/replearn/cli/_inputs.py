"""From options to what a command works with: tables, keys, base learners, models."""

from __future__ import annotations

import argparse
import difflib
import importlib
import json
import sys
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.cli import add_options, say, say_all
from replearn.cli._frames import to_pandas
from replearn.cli._labels import as_labels, clean_labels, overview, read_labels_of
from replearn.randomness import SharedKey
from replearn.tables.files import Table, TableFileError, read_table
from replearn.tables.kinds import ID

NAMED: dict[str, tuple[str, str, dict[str, Any], bool]] = {
    "logreg": ("sklearn.linear_model", "LogisticRegression", {"max_iter": 1000}, False),
    "hgb": ("sklearn.ensemble", "HistGradientBoostingClassifier", {}, True),
    "forest": ("sklearn.ensemble", "RandomForestClassifier", {}, True),
    "tree": ("sklearn.tree", "DecisionTreeClassifier", {"min_samples_leaf": 5}, True),
}
"""Base learners by name: module, class, parameters, and whether it is made of trees."""

ROWS_PER_LEAF_ROW = 8
"""Blocks are at least so many times as large as a leaf of boosted trees."""

_ENCODING = "of text files, such as latin-1 (default: utf-8)"
MODEL_HELP = (
    "logreg, hgb, forest, tree, or module:object for your own: a Pipeline gets the columns of the "
    "file as they are, any other classifier gets them encoded (default: logreg)"
)


@dataclass(frozen=True, eq=False)
class Sample:
    """The training data that the options describe."""

    X: Any  # a polars frame of the features
    y: NDArray[Any]
    columns: dict[str, str]  # kinds of the features
    target_kind: str
    groups: NDArray[Any] | None
    remarks: tuple[str, ...]  # for standard error
    ids: tuple[str, ...]  # columns that look like ids of the rows, and are not learned from
    overview: str  # columns and classes, for standard error

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_classes(self) -> int:
        """Number of classes, at least two."""
        return max(2, len(set(self.y.tolist())))

    def features_for(self, model: Any) -> Any:
        """Return the features as a base learner expects them."""
        return to_pandas(self.X) if takes_columns_itself(model) else self.X

    def tell(self, *, quiet: bool = False) -> None:
        """Say what was read, before anything long starts."""
        if not quiet:
            say(self.overview)
        say_all(self.remarks, quiet=quiet)


def add_sample_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe the training data."""
    parser.add_argument("data", help="file: csv, tsv, txt (also .gz), parquet, feather, xlsx")
    parser.add_argument(
        "--target", required=True, metavar="COLUMN", help="column with the labels to predict"
    )
    add_options(
        parser,
        "COLUMN",
        id="identifies a row: not a feature; its threshold is derived from it",
        group_by="rows with the same value stay in one block",
    )
    parser.add_argument(
        "--drop", action="append", default=[], metavar="COLUMN", help="leave out (may be repeated)"
    )
    columns = "take the kinds of the columns from this file: fit --save-columns, or a model file"
    add_options(parser, "FILE", columns=columns)
    clean = "make labels that differ in case or blanks only one class, in small letters"
    add_options(parser, bool, clean_labels=clean)
    add_options(parser, "NAME", encoding=_ENCODING, model=MODEL_HELP)
    parser.set_defaults(model="logreg")


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that load models and read a file for them."""
    add_options(parser, "FILE", key_file="the shared key, if not in the model")
    add_trust(parser)
    add_options(parser, "NAME", encoding=_ENCODING)
    add_options(parser, bool, json="print JSON", quiet="no remarks")


def add_trust(parser: argparse.ArgumentParser) -> None:
    """Add the option for types of other packages inside a model file."""
    text = "type outside scikit-learn that may be loaded (may be repeated)"
    parser.add_argument("--trust", action="append", default=[], metavar="TYPE", help=text)


def read_sample(
    args: argparse.Namespace, thin: Any = None, *, drawn: Table | None = None, numbers: bool = False
) -> Sample:
    """Read the file, or wanted rows of it; features, labels (or numbers) and groups apart."""
    kinds = wanted_kinds(args)
    table = drawn or read_table(args.data, kinds, encoding=args.encoding, thin=thin)
    for option in (args.target, args.id, args.group_by, *args.drop):
        if option is not None:
            check_column(option, table.columns, args.data)
    how = {"clean": args.clean_labels, "numbers": numbers}
    labels, kept, remarks = read_labels_of(table, args.target, args.data, **how)
    aside = {args.target, args.id, args.group_by, *args.drop}
    columns = {n: k for n, k in table.columns.items() if n not in aside and k != ID}
    if not columns:
        raise TableFileError(f"{args.data} has no column to learn from besides {args.target!r}.")
    frame = table.frame.filter(kept)
    groups = None if args.group_by is None else _groups(frame[args.group_by], args)
    about = [r for r in table.remarks if not any(f"column {n!r}" in r for n in aside if n)]
    return Sample(
        X=frame.select(list(columns)),
        y=labels,
        columns=columns,
        target_kind=table.columns[args.target],
        groups=groups,
        remarks=(*about, *remarks),
        ids=tuple(n for n, k in table.columns.items() if n not in aside and k == ID),
        overview=overview(table, labels, args.target, _used_as(args)),
    )


def wanted_kinds(args: argparse.Namespace) -> dict[str, str] | None:
    """Return the kinds of the columns if they are given; None: they are guessed."""
    if args.columns is None:
        return None
    named = {name: ID for name in (args.id, args.group_by) if name is not None}
    return {**named, **read_columns(args.columns)}


def _used_as(args: argparse.Namespace) -> dict[str, str]:
    """Return what columns are there for that are not features."""
    named = dict.fromkeys(args.drop, "dropped")
    named |= {args.id: "id", args.group_by: "group", args.target: "target"}
    return named


def check_column(name: str, columns: Iterable[str], path: str) -> None:
    """Refuse the name of a column that is not there."""
    if name in columns:
        return
    close = difflib.get_close_matches(name.lower(), [n.lower() for n in columns], n=1)
    meant = [f" Did you mean {n!r}?" for n in columns if close and n.lower() == close[0]]
    known = ", ".join(list(columns)[:20])
    raise TableFileError(f"{path} has no column {name!r}.{''.join(meant)} It has {known}.")


def _groups(column: Any, args: argparse.Namespace) -> NDArray[Any]:
    if column.null_count():
        raise TableFileError(f"{args.data}: column {args.group_by!r} has rows without a value.")
    return np.array([str(value) for value in column.to_list()])


def read_columns(path: str) -> dict[str, str]:
    """Read the kinds of columns that ``fit --save-columns`` has written, or a model's."""
    if zipfile.is_zipfile(path):
        return _columns_of_model(path)
    try:
        kinds = json.loads(Path(path).read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise TableFileError(f"{path} is not a columns file: {error}.") from None
    texts = isinstance(kinds, dict) and all(isinstance(kind, str) for kind in kinds.values())
    if not texts or not kinds:
        raise TableFileError(f'{path} is not a columns file: {{"name": "kind", ...}} is expected.')
    return kinds


def _columns_of_model(path: str) -> dict[str, str]:
    notes = _notes_of_model(path)
    return {**wanted_columns(notes), notes["target"]: notes["target_kind"]}


def wanted_columns(notes: Mapping[str, Any]) -> dict[str, str]:
    """Return the kinds of the columns that a model needs for predicting."""
    named = {} if notes.get("id") is None else {notes["id"]: ID}
    return {**notes["columns"], **named}


def _notes_of_model(path: str) -> Mapping[str, Any]:
    from replearn.persistence import describe

    notes = describe(path).notes
    if "columns" not in notes:
        raise TableFileError(f"{path} was not written by replearn fit: it knows no columns.")
    return notes


def load_model(path: str, key_file: str | None, trust: list[str]) -> tuple[Any, Mapping[str, Any]]:
    """Load a model that ``replearn fit`` has written, and its notes about the table."""
    from replearn.persistence import describe, load

    about = describe(path)
    if key_file is None and not about.includes_key:
        raise ValueError(
            f"{path} needs its shared key (fingerprint {about.key_fingerprint}): --key-file FILE."
        )
    notes = _notes_of_model(path)
    return load(path, read_key(key_file), trusted=trust), notes


def read_key(path: str | None) -> SharedKey | None:
    """Read a key file: one line of text, or what ``replearn key new`` wrote."""
    if path is None:
        return None
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a key file: it is not text.") from None
    if not text or len(text.splitlines()) > 1:
        raise ValueError(f"{path} is not a key file: one line of text is expected.")
    return SharedKey(text)


def read_carried(
    path: str, notes: Mapping[str, Any], wanted: str | None, encoding: str | None
) -> tuple[str, list[Any]] | None:
    """Return the column that names the rows in the output: as asked, or as found in training."""
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
    target, kind = notes["target"], notes["target_kind"]
    try:
        column = read_table(path, {target: kind}, encoding=encoding).frame[target]
    except TableFileError:
        return None
    if column.null_count():
        return None
    return as_labels(clean_labels(column) if notes.get("clean_labels") else column, kind)


def base_model(name: str, columns: Mapping[str, str], rows_per_block: int | None = None) -> Any:
    """Return the base learner by name, with everything that learns from data inside.

    Boosting in blocks gets leaves that suit their size, a parameter that all labs of a plan share.

    Examples
    --------
    >>> [type(step).__name__ for _, step in base_model("tree", {"age": "number"}).steps]
    ['TableEncoder', 'DecisionTreeClassifier']
    """
    from sklearn.pipeline import Pipeline, make_pipeline

    from replearn.auditing import is_replicable
    from replearn.tables.encoder import TableEncoder

    if name in NAMED:
        module, kind, params, for_trees = NAMED[name]
        if name == "hgb" and rows_per_block is not None:
            params = {"min_samples_leaf": leaf_for(rows_per_block)}
        model = getattr(importlib.import_module(module), kind)(**params)
        return make_pipeline(TableEncoder(dict(columns), for_trees=for_trees), model)
    model = imported_model(name, NAMED)
    if isinstance(model, Pipeline) or is_replicable(model):
        return model
    return make_pipeline(TableEncoder(dict(columns)), model)


def leaf_for(rows_per_block: int) -> int:
    """Rows of a leaf for boosting in small blocks: scikit-learn's 20 from 160 rows on.

    >>> leaf_for(25), leaf_for(80), leaf_for(1000)
    (3, 10, 20)
    """
    return max(2, min(20, rows_per_block // ROWS_PER_LEAF_ROW))


def takes_columns_itself(model: Any) -> bool:
    """Tell whether a base learner is a user's own pipeline, which may expect pandas."""
    from replearn.tables.encoder import TableEncoder

    steps = getattr(model, "steps", None)
    return steps is None or not isinstance(steps[0][1], TableEncoder)


def imported_model(name: str, known: Iterable[str]) -> Any:
    """Import a model that is named module:object; ``known`` are the names it might have been."""
    module_name, colon, path = name.partition(":")
    if not colon or not module_name or not path:
        raise ValueError(f"model {name!r} is not one of {', '.join(known)}, nor module:object.")
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        model: Any = importlib.import_module(module_name)
        for part in path.split("."):
            model = getattr(model, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"model {name!r} cannot be imported: {error}") from None
    finally:
        sys.path.remove(here)
    if isinstance(model, type) or (callable(model) and not hasattr(model, "fit")):
        model = model()
    if not (hasattr(model, "fit") and hasattr(model, "predict")):
        raise ValueError(f"model {name!r} is {model!r:.80}, which has no fit and predict.")
    return model
