"""Probe rows: a small file of cells of a raw table in new combinations, for two labs to encode.

Every cell stands in the raw table, as it is written there, but no row does. The first row has the
lowest cell of each column, the second the highest, the third a missing one where there are any:
what clips, imputes or scales by a lab's own sample shows there first. All others are drawn by hash,
so that one table always gives one probe, whatever the order of its rows.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from replearn.randomness.key import SharedKey
from replearn.records.json import write_atomically
from replearn.tables.files import (
    TEXT_SUFFIXES,
    TableFileError,
    read_frame,
    read_lines,
    suffix_of_file,
)
from replearn.tables.kinds import MISSING

ROWS = 64
_KEY = SharedKey("replearn probe rows")
_MOSTLY_NAMES = 0.5


def make_probe(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    n_rows: int = ROWS,
    drop: Collection[str] = (),
    encoding: str | None = None,
) -> tuple[str, ...]:
    r"""Write probe rows of a raw table to a file of the same kind; return remarks.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     raw, probe = pathlib.Path(folder) / "raw.csv", pathlib.Path(folder) / "probe.csv"
    ...     _ = raw.write_text("age;town\n41,5;Ulm\n7;\n99;Rom\n")
    ...     _ = make_probe(raw, probe, n_rows=4)
    ...     lines = probe.read_text().splitlines()
    >>> lines[:3], len(lines)
    (['age;town', '7;Rom', '99;Ulm'], 5)
    """
    path = Path(source)
    out = Path(target)
    columns, frame, separator = _read_raw(path, encoding)
    missing = [name for name in drop if name not in columns]
    if missing:
        raise TableFileError(f"{path} has no column {missing[0]!r}, which is to be left out.")
    cells = {name: column for name, column in columns.items() if name not in set(drop)}
    chosen = {name: _chosen(name, column, n_rows) for name, column in cells.items()}
    if frame is not None:
        _write_typed(type(frame)([frame[name].gather(rows) for name, rows in chosen.items()]), out)
    else:
        picked = ([cells[name][row] for row in rows] for name, rows in chosen.items())
        write_atomically(out, _as_text([list(cells), *zip(*picked, strict=True)], separator))
    return tuple(
        f"column {name!r} names rows or persons, and {n_rows} of its cells are in the probe; leave "
        "it out (--drop) unless the pipelines need it"
        for name, column in cells.items()
        if _names_rows(column)
    )


def _read_raw(path: Path, encoding: str | None) -> tuple[dict[str, list[Any]], Any, str]:
    """Return columns of cells as they are written; the frame of typed ones, or the separator."""
    last = suffix_of_file(path)
    if last not in TEXT_SUFFIXES:
        frame = read_frame(path, encoding)
        return {column.name: column.to_list() for column in frame}, frame, ""
    names, rows, separator = read_lines(path, separator=TEXT_SUFFIXES[last], encoding=encoding)
    if not rows:
        raise TableFileError(f"{path} has column names but no rows.")
    indices = enumerate(names)
    columns = {name: [row[i] if i < len(row) else "" for row in rows] for i, name in indices}
    return columns, None, separator


def _chosen(name: str, cells: Sequence[Any], n_rows: int) -> list[int]:
    """Return the rows of one column whose cells make the probe."""
    order = sorted(range(len(cells)), key=lambda row: _sort_key(cells[row]))
    known = [row for row in order if not _is_missing(cells[row])] or order
    unknown = [row for row in order if _is_missing(cells[row])] or known[:1]
    uniforms = _KEY.uniforms([[name, index] for index in range(n_rows)])
    drawn = [order[int(index)] for index in np.floor(uniforms * len(order))]
    return [known[0], known[-1], unknown[0], *drawn[3:]][:n_rows]


def _sort_key(cell: Any) -> tuple[bool, bool, float, str]:
    number = _number(cell)
    is_number = math.isfinite(number)
    return _is_missing(cell), not is_number, number if is_number else 0.0, str(cell)


def _is_missing(cell: Any) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and cell.strip() in MISSING)


def _number(cell: Any) -> float:
    try:
        return float(cell.replace(",", ".") if isinstance(cell, str) else cell)
    except (TypeError, ValueError):
        return math.nan


def _names_rows(cells: Sequence[Any]) -> bool:
    texts = [cell for cell in cells if isinstance(cell, str) and not math.isfinite(_number(cell))]
    return len(set(texts)) > _MOSTLY_NAMES * len(cells)


def _as_text(lines: Sequence[Sequence[str]], separator: str) -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(lines)
    return stream.getvalue()


def _write_typed(frame: Any, path: Path) -> None:
    writers = {".parquet": "write_parquet", ".pq": "write_parquet"}
    getattr(frame, writers.get(path.suffix.lower(), "write_ipc"))(path)
