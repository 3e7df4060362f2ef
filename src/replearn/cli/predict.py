"""``replearn predict``: predict class labels for the rows of a file."""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replearn.cli import (
    DONE,
    Action,
    argument,
    flag,
    number,
    option,
    put_data,
    put_json,
    say,
)
from replearn.cli._inputs import MemoryOptions, jobs_within, reading_of, wanted_columns
from replearn.cli._large import chunks_of
from replearn.cli._predictions import (
    ModelOptions,
    load_model,
    points_of,
    read_carried,
    read_points,
)
from replearn.records.checks import check_fraction
from replearn.records.json import write_atomically

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet runs as a formula."""


@dataclass(frozen=True, kw_only=True)
class PredictOptions(ModelOptions, MemoryOptions):
    """Options of the command."""

    COMMON = (
        *("key_file", "out", "id", "max_flip", "explain", "max_memory", "jobs"),
        *("json", "quiet"),
    )
    EXAMPLES = (
        "replearn predict m.replearn new.csv --key-file key.txt --out predictions.csv",
        "replearn predict m.replearn new.csv --key-file key.txt --explain",
    )

    model: str = argument("model file")
    data: str = argument("file with the rows to predict")
    max_flip: float | None = number("abstain where the flip probability is larger", float)
    explain: bool = flag(
        "add an explanation: vote share, threshold and flip probability; what an incumbent kept"
    )
    id: str | None = option(
        "column that identifies the rows in the output (default: an id that was found in "
        "training, else the number of the row)",
        "COLUMN",
    )
    out: str | None = option("write CSV to a file", "FILE")
    escape_formulas: bool = flag(
        "put ' before texts that a spreadsheet would run as formulas (=, +, -, @)"
    )
    jobs: int | None = number("number of workers")


def run(options: PredictOptions) -> int:
    """Predict, explain on request, print."""
    model, notes = load_model(options.model, options.key_file, options)
    reading = reading_of(options.data, options.max_memory)
    model.n_jobs = jobs_within(options.jobs, options.max_memory)
    if options.json:
        reading.require_whole("--json")
    elif not reading.fits:
        reading.require_pieces(None, len(notes["columns"]))
        say(f"{reading.why}: it is read in pieces", quiet=options.quiet)
        return _run_in_pieces(options, model, notes)
    X, ids, remarks = read_points(options.data, notes, options.encoding)
    say(*remarks, *_about_columns(model, X), quiet=options.quiet)
    names = _names(options, notes, ids, len(X))
    columns = {**names, **_columns(model, X, ids, options)}
    if options.max_flip is not None and not options.quiet:
        predictions = columns["prediction"]
        abstained = sum(label is None for label in predictions)
        say(
            f"abstained on {abstained} of {len(predictions)} rows: their flip probability is larger"
        )
    if options.out:
        write_atomically(options.out, _as_csv(columns, options.escape_formulas))
    if options.json:
        lines = zip(*columns.values(), strict=True)
        rows = [dict(zip(columns, line, strict=True)) for line in lines]
        put_json({"model": options.model, "rows": len(rows), "predictions": rows})
    elif not options.out:
        put_data(_as_csv(columns, options.escape_formulas))
    return DONE


def _about_columns(model: Any, X: Any) -> list[str]:
    """Say which columns are empty, and of which no category occurred in training."""
    from replearn.tables.encoder import texts_of

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
    from replearn.tables.encoder import TableEncoder

    levels: dict[str, set[str]] = {}
    for estimator in getattr(getattr(model, "estimator_", model), "estimators_", ()):
        encoder = estimator.steps[0][1] if hasattr(estimator, "steps") else None
        if isinstance(encoder, TableEncoder):
            for fitted in encoder.fitted_columns_:
                if "levels" in fitted:
                    levels.setdefault(fitted["name"], set()).update(fitted["levels"])
    return levels


def _run_in_pieces(options: PredictOptions, model: Any, notes: Any) -> int:
    """Read, predict and write a file that is larger than memory, a chunk at a time."""
    if options.out is None:
        for text in _predicted(options, model, notes):
            put_data(text)
        return DONE
    from replearn.outofcore.folders import Folder

    target = Path(options.out).absolute()
    with Folder(target.parent).writing(target.name) as stream:
        for text in _predicted(options, model, notes):
            stream.write(text.encode())
    say(f"predictions written to {options.out}", quiet=options.quiet)
    return DONE


def _predicted(options: PredictOptions, model: Any, notes: Any) -> Iterator[str]:
    """Yield CSV, chunk by chunk."""
    from replearn.tables.files import table_of

    path = Path(options.data)
    done = 0
    for chunk in chunks_of(path, options.encoding):
        X, ids, _ = points_of(table_of(chunk, wanted_columns(notes), path), notes, options.data)
        known = [options.id] if options.id else notes.get("ids", ())
        carried = [name for name in known if name in chunk.columns]
        names: dict[str, Any] = {} if ids is None else {notes["id"]: ids}
        if ids is None or options.id is not None:
            names |= {name: chunk[name].to_list() for name in carried[:1]}
        numbers = {"row": list(range(done + 1, done + len(X) + 1))}
        columns = {**(names or numbers), **_columns(model, X, ids, options)}
        text = _as_csv(columns, options.escape_formulas)
        yield text.partition("\n")[2] if done else text
        done += len(X)


def _names(options: PredictOptions, notes: Any, ids: Any, n_rows: int) -> dict[str, list[Any]]:
    """Return the columns that say which row is which."""
    names = {} if ids is None else {notes["id"]: ids}
    if ids is None or options.id is not None:
        carried = read_carried(options.data, notes, options.id, options.encoding)
        names |= {} if carried is None else dict([carried])
    return names or {"row": list(range(1, n_rows + 1))}


def _columns(model: Any, X: Any, ids: Any, options: PredictOptions) -> dict[str, list[Any]]:
    explained = model.explain(X, ids=ids) if options.explain else None
    labels = model.predict(X, ids=ids) if explained is None else explained.prediction
    if options.max_flip is not None:
        check_fraction("max_flip", options.max_flip, zero=True)
        labels = labels.astype(object)
        labels[model.flip_probability(X, ids=ids) > options.max_flip] = None
    columns = {"prediction": labels.tolist()}
    if explained is not None:
        for item, values in explained.columns().items():
            if item not in ("prediction", "stage"):
                columns[item] = [_json_number(value) for value in values.tolist()]
        columns["why"] = [
            sentence
            if label is not None
            else f"Abstained, because the flip probability is too large. Otherwise: {sentence}"
            for sentence, label in zip(explained.sentences(), columns["prediction"], strict=True)
        ]
    return columns


def _json_number(value: Any) -> Any:
    """Round a number; the NaN of a single block, which cannot estimate flips, becomes None."""
    if not isinstance(value, float):
        return value
    return round(value, 6) if math.isfinite(value) else None


def _as_csv(columns: dict[str, list[Any]], escape_formulas: bool) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    rows: Iterable[tuple[Any, ...]] = itertools.chain(
        [tuple(columns)], zip(*columns.values(), strict=True)
    )
    if escape_formulas:
        rows = (tuple(map(_as_text, row)) for row in rows)
    writer.writerows(rows)
    return stream.getvalue()


def _as_text(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula; numbers stay what they are.

    >>> _as_text("=1+1"), _as_text("no"), _as_text(-1)
    ("'=1+1", 'no', -1)
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell


COMMAND = Action(PredictOptions, run, "predict class labels for a file")
