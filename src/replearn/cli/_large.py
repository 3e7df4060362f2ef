"""Tables that are not read whole: training data in pieces, and rows that are drawn."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from replearn.cli import say
from replearn.cli._inputs import (
    MIN_MEMORY,
    SampleOptions,
    check_classes,
    clean_labels,
    columns_aside,
    split_columns,
    wanted_kinds,
)
from replearn.randomness.key import SharedKey
from replearn.tables.files import Table, TableFileError, is_text_file, read_chunks, table_of
from replearn.tables.kinds import NUMBER, names_persons

if TYPE_CHECKING:
    from replearn.outofcore.counting import DistinctValues

RECORD = "cells.json"
CELLS = "cells"
WORK = "work"
MAX_REMARKS = 5
MAX_VALUES = 1 << 16
"""Different values of an id that are counted; of more, a part that a hash chooses."""

SAMPLE_CELLS = 24_000_000
"""Cells that are drawn of a large file: enough for 20 pairs of trainings (`audit.MAX_CELLS` each)
that have no row in common."""

BYTES_PER_SAMPLED_CELL = 300
"""A cell that is drawn as text, held three times while rows are put in order."""


@contextmanager
def work_folder(kept: str | None, beside: str) -> Iterator[str]:
    """Return the folder of the user, or a temporary one beside a file, which is removed.

    Not the system's folder for temporary files: it may be in memory.
    """
    if kept is not None:
        yield kept
        return
    home = Path(beside).absolute().parent
    with tempfile.TemporaryDirectory(prefix=".replearn-", dir=home) as folder:
        yield folder


# -- training data in pieces -----------------------------------------------------------------------
@dataclass(frozen=True)
class LargeSample:
    """The training data that the options describe, in files of the work folder."""

    cells: str
    work: str
    n: int
    label_counts: Counter[Any]
    columns: dict[str, str]  # kinds of the features
    target_kind: str
    remarks: tuple[str, ...]
    ids: tuple[str, ...]
    aside: tuple[tuple[str, int, int], ...] = ()  # columns that name persons, rows, persons
    groups: None = None

    def dependence(self) -> tuple[str, str] | None:
        """Say by which column beside the features rows belong together, and what to do."""
        from replearn.checks.sample import repeated_persons

        found = (repeated_persons(f"column {n!r}", f"X[{n!r}]", *sizes) for n, *sizes in self.aside)
        return next(filter(None, found), None)

    def tell(self, *, quiet: bool = False) -> None:
        """Say what was noticed, before anything long starts."""
        say(*self.remarks, quiet=quiet)


def read_in_pieces(options: SampleOptions, home: str) -> LargeSample:
    """Read a file chunk by chunk, and write its cells with their kinds to the folder."""
    from replearn.outofcore.folders import Folder

    folder = Folder(home)
    path = Path(options.data)
    info = path.stat()
    settings = [options.target, options.id, list(options.drop), options.clean_labels]
    settings += [options.encoding, options.columns]
    files = [str(path.absolute()), info.st_size, info.st_mtime_ns]
    folder.claim("fit", {"file": files, "options": settings})
    if RECORD not in folder or "aside" not in folder.read_json(RECORD):
        folder.remove(CELLS)
        folder.write_json(RECORD, _write_cells(options, path, folder))
    found = folder.read_json(RECORD)
    counts = Counter(dict(map(tuple, found.pop("label_counts"))))
    found |= {"remarks": tuple(found["remarks"]), "ids": tuple(found["ids"])}
    found["aside"] = tuple(map(tuple, found["aside"]))
    cells = f"{folder.address}/{CELLS}"
    return LargeSample(cells, f"{folder.address}/{WORK}", label_counts=counts, **found)


def holds_pieces(folder: str | None) -> bool:
    """Whether a folder belongs to a fit that was begun in pieces."""
    return folder is not None and Path(folder, CELLS).is_dir()


def draw_sample(
    options: SampleOptions, key: SharedKey, n_rows: int, max_memory: int | None
) -> tuple[Table, list[str]]:
    """Return some rows of a file that is too large to be read whole, and what to say of it."""
    import polars as pl

    from replearn.outofcore.folders import Folder
    from replearn.outofcore.sampling import draw_rows

    path = Path(options.data)
    n_cells = SAMPLE_CELLS
    if max_memory is not None:
        n_cells = min(n_cells, (max_memory - MIN_MEMORY // 2) // BYTES_PER_SAMPLED_CELL)
    with tempfile.TemporaryDirectory() as folder:
        read = partial(chunks_of, path, options.encoding, Folder(folder))
        n = max(n_rows, n_cells // next(read()).width)
        parts, ranks, n_all = draw_rows(read, n, key, lambda rows, at: rows[at])
    remark = f"{len(ranks):,} of {n_all:,} rows were drawn by the key, since the file is large"
    together = pl.concat(parts)[np.argsort(ranks, kind="stable")]
    return table_of(together, wanted_kinds(options), path), [remark] if len(ranks) < n_all else []


def chunks_of(path: Path, encoding: str | None, folder: Any = None) -> Iterator[Any]:
    """Yield polars frames of a file, with texts as they are written where it is a text file."""
    import polars as pl

    from replearn.outofcore.sources import open_rows

    if is_text_file(path):
        yield from read_chunks(path, encoding)
        return
    rows = open_rows(path, folder)
    for piece in rows.pieces:
        yield pl.from_arrow(piece.read(rows.names))


def _write_cells(options: SampleOptions, path: Path, folder: Any) -> dict[str, Any]:
    from replearn.outofcore.counting import DistinctValues

    kinds: dict[str, str] = wanted_kinds(options) or {}
    columns: dict[str, str] = {}
    ids: tuple[str, ...] = ()
    remarks: list[str] = []
    counts: Counter[Any] = Counter()
    aside: dict[str, DistinctValues] = {}
    n_rows = 0
    for index, chunk in enumerate(chunks_of(path, options.encoding)):
        table = table_of(chunk, kinds or None, path)
        if index == 0:
            columns, ids = split_columns(table, options)
            if not kinds:
                remarks.append(f"kinds of columns are guessed from the first {chunk.height} rows")
            kinds = kinds or table.columns
        remarks += [text for text in table.remarks if text not in remarks]
        target = table.frame[options.target]
        column = _labels(target, kinds[options.target], options.clean_labels)
        known = ~column.is_null()
        cells = table.frame.select(list(columns)).with_columns(column).filter(known)
        folder.write_arrow(f"{CELLS}/{index:06d}.arrow", cells.to_arrow())
        counts.update(dict(column.filter(known).value_counts().iter_rows()))
        for one in columns_aside(table, options, ids):
            if names_persons(one.name):
                hashes = one.filter(known).drop_nulls().hash(0).to_numpy()
                aside.setdefault(one.name, DistinctValues(MAX_VALUES)).add(hashes)
        n_rows += chunk.height
    n = counts.total()
    if not n:
        raise TableFileError(f"{path} has no rows with a {options.target!r}.")
    _check_counts(counts, kinds[options.target], options)
    if n < n_rows:
        remarks.append(f"{n_rows - n} rows without {options.target!r} are left out")
    return {
        "n": n,
        "label_counts": [list(item) for item in counts.items()],
        "columns": columns,
        "target_kind": kinds[options.target],
        "remarks": remarks[:MAX_REMARKS],
        "ids": ids,
        "aside": [[name, values.n_rows, values.n_values] for name, values in aside.items()],
    }


def _check_counts(counts: Counter[Any], kind: str, options: SampleOptions) -> None:
    import polars as pl

    check_classes(pl.Series(list(counts)), kind, options.target, options.data)


def _labels(column: Any, kind: str, clean: bool) -> Any:
    """Return labels as whole numbers or texts; what is no whole number stays as it is."""
    import polars as pl

    if kind == NUMBER:
        whole = (column.drop_nulls() == column.drop_nulls().floor()).all()
        return column.cast(pl.Int64) if whole else column
    return clean_labels(column) if clean and kind == "text" else column
