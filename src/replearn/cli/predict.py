"""``replearn predict``: predict class labels for the rows of a file."""

from __future__ import annotations

import argparse
import csv
import inspect
import io
import math
from pathlib import Path
from typing import Any

from replearn.cli import DONE, add_options, put_data, put_json, say
from replearn.cli._inputs import wanted_columns
from replearn.cli._predictions import (
    add_model_arguments,
    load_model,
    points_of,
    read_carried,
    read_points,
)
from replearn.records import write_atomically


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", help="model file")
    parser.add_argument("data", help="file with the rows to predict")
    add_options(parser, float, max_flip="abstain where the flip probability is larger")
    parser.add_argument(
        "--explain",
        nargs="?",
        const="full",
        choices=("full", "plain"),
        help="add a sentence and what it rests on: full (default) with vote share, threshold and "
        "flip probability; plain for the person who gets the prediction",
    )
    changes = "of a model with an incumbent: add since when the prediction stands, and why it does"
    add_options(parser, bool, changes=changes)
    add_options(
        parser,
        "COLUMN",
        id="column that names the rows in the output (default: an id "
        "that was found in training, else the number of the row)",
    )
    add_options(parser, "FILE", out="write CSV to a file")
    pieces = "for files larger than memory: read, predict and write a part at a time; needs --out"
    add_options(parser, bool, in_pieces=pieces)
    add_options(parser, int, jobs="number of workers")
    add_model_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Predict, explain on request, print."""
    model, notes = load_model(args.model, args.key_file, args)
    model.n_jobs = args.jobs
    if args.in_pieces:
        return _run_in_pieces(args, model, notes)
    X, ids, remarks = read_points(args.data, notes, args.encoding)
    say(*remarks, *_about_columns(model, X), quiet=args.quiet)
    columns = {**_names(args, notes, ids, len(X)), **_columns(model, X, ids, args)}
    if args.max_flip is not None and not args.quiet:
        predictions = columns["prediction"]
        abstained = sum(label is None for label in predictions)
        say(f"abstained on {abstained} of {len(predictions)} rows: they would flip more often")
    if args.out:
        write_atomically(args.out, _as_csv(columns))
    if args.json:
        lines = zip(*columns.values(), strict=True)
        rows = [dict(zip(columns, line, strict=True)) for line in lines]
        put_json({"model": args.model, "rows": len(rows), "predictions": rows})
    elif not args.out:
        put_data(_as_csv(columns))
    return DONE


def _about_columns(model: Any, X: Any) -> list[str]:
    """Say which columns are empty, and of which no category occurred in training."""
    from replearn.tables import texts_of

    remarks = [
        f"column {name!r} is empty in all {len(X)} rows"
        for name in X.columns
        if len(X) and _is_empty(X[name])
    ]
    for name, levels in _known_levels(model).items():
        found = {text for text in texts_of(X[name]) if text is not None}
        if found and not found & levels:
            shown = ", ".join(map(repr, sorted(found)[:3]))
            remarks.append(
                f"column {name!r}: none of its {len(found)} categories ({shown}) occurred in "
                f"training, where they were {', '.join(map(repr, sorted(levels)[:3]))}"
            )
    return [f"warning: {remark}; predictions do not use it" for remark in remarks]


def _is_empty(column: Any) -> bool:
    """Whether all cells of a pandas or polars column are missing."""
    n_missing = column.null_count() if hasattr(column, "null_count") else column.isna().sum()
    return bool(n_missing == len(column))


def _known_levels(model: Any) -> dict[str, set[str]]:
    """Return the categories that block estimators have learned of each column of texts."""
    from replearn.tables import TableEncoder

    levels: dict[str, set[str]] = {}
    for estimator in getattr(getattr(model, "estimator_", model), "estimators_", ()):
        encoder = estimator.steps[0][1] if hasattr(estimator, "steps") else None
        if isinstance(encoder, TableEncoder):
            for fitted in encoder.fitted_columns_:
                if "levels" in fitted:
                    levels.setdefault(fitted["name"], set()).update(fitted["levels"])
    return levels


def _run_in_pieces(args: argparse.Namespace, model: Any, notes: Any) -> int:
    """Read, predict and write a file that is larger than memory, a chunk at a time."""
    from replearn.cli._large import chunks_of
    from replearn.outofcore import Folder
    from replearn.tables import table_of

    if not args.out or args.json:
        raise ValueError("--in-pieces writes to a file: give --out FILE, and leave --json out.")
    path = Path(args.data)
    target = Path(args.out).absolute()
    done = 0
    with Folder(target.parent).writing(target.name) as stream:
        for chunk in chunks_of(path, args.encoding):
            X, ids, _ = points_of(table_of(chunk, wanted_columns(notes), path), notes, args.data)
            known = [args.id] if args.id else notes.get("ids", ())
            carried = [name for name in known if name in chunk.columns]
            names: dict[str, Any] = {} if ids is None else {notes["id"]: ids}
            if ids is None or args.id is not None:
                names |= {name: chunk[name].to_list() for name in carried[:1]}
            numbers = {"row": list(range(done + 1, done + len(X) + 1))}
            text = _as_csv({**(names or numbers), **_columns(model, X, ids, args)})
            stream.write((text.partition("\n")[2] if done else text).encode())
            done += len(X)
    say(f"{done} predictions written to {args.out}", quiet=args.quiet)
    return DONE


def _names(args: Any, notes: Any, ids: Any, n_rows: int) -> dict[str, list[Any]]:
    """Return the columns that say which row is which."""
    names = {} if ids is None else {notes["id"]: ids}
    if ids is None or args.id is not None:
        carried = read_carried(args.data, notes, args.id, args.encoding)
        names |= {} if carried is None else dict([carried])
    return names or {"row": list(range(1, n_rows + 1))}


def _explained(model: Any, X: Any, ids: Any, how: str) -> Any:
    if how != "plain":
        return model.explain(X, ids=ids)
    if "style" not in inspect.signature(model.explain).parameters:
        raise ValueError(f"a {type(model).__name__} has no plain explanations; use --explain.")
    return model.explain(X, ids=ids, style="plain")


def _columns(model: Any, X: Any, ids: Any, args: Any) -> dict[str, list[Any]]:
    explained = _explained(model, X, ids, args.explain) if args.explain else None
    if args.max_flip is not None:
        labels = model.predict_or_abstain(X, args.max_flip, ids=ids)
    else:
        labels = model.predict(X, ids=ids) if explained is None else explained.prediction
    columns = {"prediction": labels.tolist()}
    if args.changes:
        columns |= _changes(model, X, ids)
    if explained is not None:
        for item, values in explained.columns().items():
            if item not in ("prediction", "stage"):
                columns[item] = [_json_number(value) for value in values.tolist()]
        columns["why"] = [
            sentence if label is not None else f"Abstained, it flips too often; else: {sentence}"
            for sentence, label in zip(explained.sentences(), columns["prediction"], strict=True)
        ]
    return columns


def _changes(model: Any, X: Any, ids: Any) -> dict[str, list[Any]]:
    """Return the date of the last change of each prediction, and why it was kept since."""
    history = getattr(model, "history_", None)
    if history is None:
        raise ValueError(f"--changes requires an incumbent, which {type(model).__name__} has not.")
    explained = model.explain(X, ids=ids)
    n_recent = len(model.chain_.recent)
    return {
        # Empty where it has not changed as far as the chain goes back.
        "changed_since": [
            history[-1 - age]["date"] if age < n_recent else ""
            for age in explained.unchanged_for.tolist()
        ],
        "kept_because": explained.kept_because.tolist(),
    }


def _json_number(value: Any) -> Any:
    """Round a number; the NaN of a single block, which cannot estimate flips, becomes None."""
    if not isinstance(value, float):
        return value
    return round(value, 6) if math.isfinite(value) else None


def _as_csv(columns: dict[str, list[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue()
