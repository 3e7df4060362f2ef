"""Files that are larger than memory: cells get their kinds chunk by chunk."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from replearn.cli import say
from replearn.cli._inputs import (
    check_classes,
    clean_labels,
    split_columns,
    wanted_kinds,
)
from replearn.outofcore import Folder, draw_rows, open_rows
from replearn.randomness import SharedKey
from replearn.records import differences, other_work
from replearn.tables import Table, TableFileError, is_number, is_text_file, read_chunks, table_of

RECORD = "cells.json"
CELLS = "cells"
WORK = "work"
MAX_REMARKS = 5

SAMPLE_CELLS = 24_000_000
"""Cells that are drawn of a large file: enough for 20 pairs of trainings (`audit.MAX_CELLS` each)
that have no row in common."""


@dataclass(frozen=True)
class LargeSample:
    """The training data that the options describe, in files of the work folder."""

    cells: str
    work: str
    n: int
    n_classes: int
    columns: dict[str, str]  # kinds of the features
    target_kind: str
    remarks: tuple[str, ...]
    ids: tuple[str, ...]
    groups: None = None

    def tell(self, *, quiet: bool = False) -> None:
        """Say what was noticed, before anything long starts."""
        say(*self.remarks, quiet=quiet)


def _refuse_options(args: argparse.Namespace, *, by_scores: bool) -> None:
    """Refuse options that need the sample in memory."""
    if args.folder is None:
        raise ValueError("--scheduler needs --folder: storage that all workers see.")
    given = {"--group-by": args.group_by, "--incumbent": args.incumbent, "--resume": args.resume}
    refused = [name for name, value in given.items() if value is not None]
    refused += ["--learner score"] if by_scores else []
    if refused:
        raise ValueError(f"{refused[0]} needs the file in memory: leave out --folder.")


def read_in_pieces(args: argparse.Namespace, *, by_scores: bool) -> LargeSample:
    """Read a file chunk by chunk, and write its cells with their kinds to the folder."""
    _refuse_options(args, by_scores=by_scores)
    folder = Folder(args.folder)
    path = Path(args.data)
    info = path.stat()
    options = [args.target, args.id, args.drop, args.clean_labels, args.encoding, args.columns]
    wanted = {"file": [str(path.absolute()), info.st_size, info.st_mtime_ns], "options": options}
    if RECORD not in folder:
        folder.remove(CELLS)
        folder.write_json(RECORD, wanted | {"found": _write_cells(args, path, folder)})
    record = folder.read_json(RECORD)
    found = record.pop("found")
    different = differences(record, wanted)
    if different:
        raise ValueError(other_work(folder.address, "fit", different))
    found |= {"remarks": tuple(found["remarks"]), "ids": tuple(found["ids"])}
    return LargeSample(f"{folder.address}/{CELLS}", f"{folder.address}/{WORK}", **found)


def draw_sample(args: argparse.Namespace, key: SharedKey) -> tuple[Table, list[str]]:
    """Return some rows of a file that is too large to be read whole, and what to say of it."""
    import polars as pl

    path = Path(args.data)
    with tempfile.TemporaryDirectory() as folder:
        read = partial(chunks_of, path, args.encoding, Folder(folder))
        n = max(args.rows or 0, SAMPLE_CELLS // next(read()).width)
        parts, ranks, n_rows = draw_rows(read, n, key, lambda rows, at: rows[at])
    remark = f"{len(ranks):,} of {n_rows:,} rows were drawn by the key, since the file is large"
    together = pl.concat(parts)[np.argsort(ranks, kind="stable")]
    return table_of(together, wanted_kinds(args), path), [remark] if len(ranks) < n_rows else []


def chunks_of(path: Path, encoding: str | None, folder: Folder | None = None) -> Iterator[Any]:
    """Yield polars frames of a file, with texts as they are written where it is a text file."""
    import polars as pl

    if is_text_file(path):
        yield from read_chunks(path, encoding)
        return
    rows = open_rows(path, folder)
    for piece in rows.pieces:
        yield pl.from_arrow(piece.read(rows.names))


def _write_cells(args: argparse.Namespace, path: Path, folder: Folder) -> dict[str, Any]:
    import polars as pl

    kinds: dict[str, str] = wanted_kinds(args) or {}
    columns: dict[str, str] = {}
    ids: tuple[str, ...] = ()
    remarks: list[str] = []
    labels: list[Any] = []
    n = n_unlabelled = 0
    for number, chunk in enumerate(chunks_of(path, args.encoding)):
        if number == 0:
            say(f"reading {path} in pieces; work is kept in {args.folder}", quiet=args.quiet)
        table = table_of(chunk, kinds or None, path)
        if number == 0:
            columns, ids = split_columns(table, args)
            if not kinds:
                remarks.append(f"kinds of columns are guessed from the first {chunk.height} rows")
            kinds = kinds or table.columns
        remarks += [text for text in table.remarks if text not in remarks]
        column = _labels(table.frame[args.target], kinds[args.target], args.clean_labels)
        known = ~column.is_null()
        cells = table.frame.select(list(columns)).with_columns(column).filter(known)
        folder.write_arrow(f"{CELLS}/{number:06d}.arrow", cells.to_arrow())
        labels.append(column.filter(known).unique())
        n = n + cells.height
        n_unlabelled = n_unlabelled + chunk.height - cells.height
    if not labels or not n:
        raise TableFileError(f"{path} has no rows with a {args.target!r}.")
    present = pl.concat(labels).unique()
    check_classes(present, kinds[args.target], args.target, str(path))
    if n_unlabelled:
        remarks.append(f"{n_unlabelled} rows without {args.target!r} are left out")
    return {
        "n": n,
        "n_classes": max(2, len(present)),
        "columns": columns,
        "target_kind": kinds[args.target],
        "remarks": remarks[:MAX_REMARKS],
        "ids": ids,
    }


def _labels(column: Any, kind: str, clean: bool) -> Any:
    """Return labels as whole numbers or texts; what is no whole number stays as it is."""
    import polars as pl

    if is_number(kind):
        whole = (column.drop_nulls() == column.drop_nulls().floor()).all()
        return column.cast(pl.Int64) if whole else column
    return clean_labels(column) if clean and kind == "text" else column
