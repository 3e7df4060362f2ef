"""``replearn predict``: predict class labels for the rows of a file."""

from __future__ import annotations

import argparse
import csv
import io
import math
from typing import Any

from replearn.cli import DONE, add_options, put, put_json, say, say_all
from replearn.cli._inputs import add_model_arguments, load_model, read_points
from replearn.records.files import write_atomically


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", help="model file")
    parser.add_argument("data", help="file with the rows to predict")
    add_options(parser, float, max_flip="abstain where the flip probability is larger")
    add_options(parser, bool, explain="add vote share, threshold, flip probability and a sentence")
    add_options(parser, "FILE", out="write CSV to a file")
    add_options(parser, int, jobs="number of workers")
    add_model_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Predict, explain on request, print."""
    model, notes = load_model(args.model, args.key_file, args.trust)
    model.n_jobs = args.jobs
    X, ids, remarks = read_points(args.data, notes, args.encoding)
    say_all(remarks, quiet=args.quiet)
    columns = _columns(model, X, ids, args, notes)
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
        put(_as_csv(columns))
    return DONE


def _columns(model: Any, X: Any, ids: Any, args: Any, notes: Any) -> dict[str, list[Any]]:
    explained = model.explain(X, points=ids) if args.explain else None
    if args.max_flip is not None:
        labels = model.predict_or_abstain(X, args.max_flip, points=ids)
    else:
        labels = model.predict(X, points=ids) if explained is None else explained.answer
    columns = {"row": list(range(1, len(labels) + 1))} if ids is None else {notes["id"]: ids}
    columns["prediction"] = labels.tolist()
    if explained is not None:
        for item, values in explained.columns().items():
            if item not in ("answer", "stage"):
                columns[item] = [_json_number(value) for value in values.tolist()]
        columns["why"] = [
            sentence if label is not None else f"Abstained, it flips too often; else: {sentence}"
            for sentence, label in zip(explained.sentences(), columns["prediction"], strict=True)
        ]
    return columns


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
