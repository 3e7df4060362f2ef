"""``replearn predict``: answer the rows of a file."""

from __future__ import annotations

import argparse
import csv
import io
import math
from typing import Any

from replearn.cli._console import DONE, put, put_json, say, say_all
from replearn.cli._data import add_encoding, read_key, read_points
from replearn.persistence import describe, load
from replearn.records.files import write_atomically


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", help="model file")
    parser.add_argument("data", help="file with the rows to answer")
    parser.add_argument("--key-file", metavar="FILE", help="the shared key, if not in the model")
    parser.add_argument("--explain", action="store_true", help="add why, and how far from flipping")
    parser.add_argument(
        "--max-flip", type=float, metavar="P", help="no answer where it would flip more often"
    )
    parser.add_argument("--out", metavar="FILE", help="write CSV to a file")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--trust", action="append", default=[], metavar="TYPE", help="see the page on model files"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="workers")
    parser.add_argument("--quiet", action="store_true", help="no remarks")
    add_encoding(parser)


def run(args: argparse.Namespace) -> int:
    """Answer, explain if asked, print."""
    model, notes = load_with_notes(args.model, args.key_file, args.trust)
    model.n_jobs = args.jobs
    X, ids, remarks = read_points(args.data, notes, args.encoding)
    say_all(remarks, quiet=args.quiet)
    columns = _columns(model, X, ids, args, notes)
    if args.max_flip is not None and not args.quiet:
        silent = sum(answer is None for answer in columns["answer"])
        say(f"{silent} of {len(columns['answer'])} rows would flip more often and get no answer")
    if args.out:
        write_atomically(args.out, _as_csv(columns))
    if args.json:
        names = list(columns)
        rows = [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        put_json({"model": args.model, "rows": len(rows), "predictions": rows})
    elif not args.out:
        put(_as_csv(columns))
    return DONE


def load_with_notes(path: str, key_file: str | None, trust: list[str]) -> tuple[Any, Any]:
    """Load a model that ``replearn fit`` has written, and what it knows about its table."""
    notes = describe(path).notes
    if "columns" not in notes:
        raise ValueError(f"{path} was not written by replearn fit: it knows no columns of a file.")
    return load(path, read_key(key_file), trusted=trust), notes


def _columns(model: Any, X: Any, ids: Any, args: Any, notes: Any) -> dict[str, list[Any]]:
    explained = model.explain(X, points=ids) if args.explain else None
    if args.max_flip is not None:
        answers = model.predict_or_abstain(X, args.max_flip, points=ids)
    else:
        answers = model.predict(X, points=ids) if explained is None else explained.answer
    columns = {"row": list(range(1, len(answers) + 1))} if ids is None else {notes["id"]: ids}
    columns["answer"] = answers.tolist()
    if explained is not None:
        for item, values in explained.columns().items():
            if item not in ("answer", "stage"):
                columns[item] = [_plain(value) for value in values.tolist()]
        columns["why"] = [
            sentence if answer is not None else f"No answer, it flips too often; else: {sentence}"
            for sentence, answer in zip(explained.sentences(), columns["answer"], strict=True)
        ]
    return columns


def _plain(value: Any) -> Any:
    """Round a number; one block alone says nothing about flips, and its NaN is no JSON."""
    if not isinstance(value, float):
        return value
    return round(value, 6) if math.isfinite(value) else None


def _as_csv(columns: dict[str, list[Any]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue()
