"""Rows from files, datasets and frames: found, and cut into pieces.

Parquet and Arrow files are read where they are, a few row groups at a time. What cannot be read in
pieces (text files, lazy frames, files of huge row groups) is written once to the work folder.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from replearn.outofcore.folders import Folder, is_address, open_storage
from replearn.outofcore.pieces import PARQUET, PIECE_BYTES, TEXT, Piece, kind_of, pieces_of

LARGEST_GROUP = 4 * PIECE_BYTES
"""Files with larger row groups are written anew, in smaller ones."""

STAGED = "staged"
_ROWS_AT_A_TIME = 1 << 16


@dataclass(frozen=True)
class Rows:
    """A source of rows: its pieces, its columns, and what tells it from another one."""

    pieces: tuple[Piece, ...]
    names: tuple[str, ...]
    mark: tuple[list[Any], ...]  # name, size and time of each file

    @property
    def n(self) -> int:
        """Number of rows."""
        return sum(piece.rows for piece in self.pieces)

    def require(self, wanted: Iterable[str]) -> None:
        """Raise if there is no column of one of these names."""
        missing = [name for name in wanted if name not in self.names]
        if missing:
            names = ", ".join(self.names[:20])
            raise ValueError(f"the rows have no column {missing[0]!r}. They have {names}.")


def open_rows(source: Any, folder: Folder | None = None) -> Rows:
    """Find the pieces of a source, as `fit_files` takes it.

    What cannot be read in pieces is written to the folder.
    """
    files = _files_of(source)
    if files is None:
        return _staged(source, folder, mark=(["frame"],))
    kinds = {kind_of(file) for file in files}
    if len(kinds) > 1:
        raise ValueError(f"the files are of different kinds ({', '.join(sorted(kinds))}).")
    mark = tuple(_mark_of(file) for file in files)
    if kinds == {TEXT}:
        return _staged(_scan_text(files), folder, mark=mark)
    rows, largest = _rows_of_files(files, mark)
    if largest > LARGEST_GROUP:
        return _staged(_batches(files), folder, mark=mark)
    return rows


def _rows_of_files(files: list[str], mark: tuple[list[Any], ...]) -> tuple[Rows, int]:
    """Return the rows of Parquet or Arrow files, and the bytes of the largest row group."""
    pieces: list[Piece] = []
    names = pieces_of(files[0])[0]
    largest = 0
    for file in files:
        columns, found, n_bytes = pieces_of(file)
        other = sorted(set(columns) ^ set(names))
        if other:
            raise ValueError(f"{file} has other columns than {files[0]}: {', '.join(other[:5])}.")
        pieces = pieces + found
        largest = max(largest, n_bytes)
    if not pieces:
        raise ValueError(f"{files[0]} has no rows.")
    return Rows(tuple(pieces), names, mark), largest


def _files_of(source: Any) -> list[str] | None:
    """Return the files that a source names; None if it is no list of files."""
    if isinstance(source, str | os.PathLike):
        return _found(os.fspath(source))
    if isinstance(source, list | tuple) and source:
        return [file for item in source for file in _found(os.fspath(item))]
    storage = getattr(source, "filesystem", None)
    files = getattr(source, "files", None)
    if files and getattr(storage, "type_name", "") == "local" and _has_all_columns(source):
        return list(files)
    return None


def _has_all_columns(dataset: Any) -> bool:
    """Whether all columns of a dataset stand in its files, and none in the names of folders."""
    first = next(iter(dataset.get_fragments()))
    return set(first.physical_schema.names) == set(dataset.schema.names)


def _found(path: str) -> list[str]:
    if is_address(path):
        return _found_on_storage(path)
    if os.path.isdir(path):
        found = [str(p) for p in Path(path).rglob("*") if p.is_file() and p.name[0] not in "._"]
    else:
        found = glob.glob(path) if glob.has_magic(path) else [path]
    missing = [file for file in found if not os.path.isfile(file)]
    if missing or not found:
        raise ValueError(f"{missing[0] if missing else path} does not exist, or is not a file.")
    return sorted(os.path.abspath(file) for file in found)


def _found_on_storage(address: str) -> list[str]:
    from pyarrow import fs

    storage, path = open_storage(address)
    if storage.get_file_info(path).is_file:
        return [address]
    listed = storage.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
    found = [info.path for info in listed if info.is_file and info.base_name[0] not in "._"]
    if not found:
        raise ValueError(f"{address} does not exist, or contains no files.")
    return sorted(address.rstrip("/") + file[file.index(path) + len(path) :] for file in found)


def _mark_of(file: str) -> list[Any]:
    storage, path = open_storage(file)
    info = storage.get_file_info(path)
    return [file, info.size, info.mtime_ns]


# -- what is written to the work folder first ------------------------------------------------------
def _staged(source: Any, folder: Folder | None, mark: tuple[list[Any], ...]) -> Rows:
    """Write rows to the folder, in pieces, unless they are there already."""
    if folder is None:
        raise ValueError("these rows cannot be read in pieces: give folder=, where they are kept.")
    record = f"{STAGED}/done.json"
    if record not in folder:
        folder.remove(STAGED)
        _stage(source, folder)
        folder.write_json(record, list(mark))
    elif folder.read_json(record) != list(mark):
        raise ValueError(f"{folder.address} contains rows of other files: use another folder.")
    names = sorted(name for name in folder.names(STAGED) if not name.endswith(".json"))
    return _rows_of_files([f"{folder.address}/{STAGED}/{name}" for name in names], mark)[0]


def _stage(source: Any, folder: Folder) -> None:
    package = type(source).__module__.partition(".")[0]
    if package == "polars":
        _write_polars(source.lazy(), folder)
    elif package.startswith("dask") and _is_dask(source):
        folder.make(STAGED)
        source.to_parquet(f"{folder.address}/{STAGED}", write_index=False)
        folder.hide_files(STAGED)
    elif hasattr(source, "to_batches"):
        _write_batches(source.to_batches(), folder)
    elif hasattr(source, "__next__"):
        _write_batches(source, folder)
    else:
        raise TypeError(
            "rows must come as paths, a pyarrow dataset or table, a polars frame (lazy or not), or "
            f"a Dask DataFrame, got {type(source).__name__}."
        )


def _is_dask(source: Any) -> bool:
    import dask

    return dask.is_dask_collection(source) and hasattr(source, "to_parquet")


def _scan_text(files: list[str]) -> Any:
    import polars as pl

    separator = "\t" if ".tsv" in Path(files[0]).name.lower() else ","
    return pl.scan_csv(files, separator=separator, infer_schema_length=None)


def _write_polars(lazy: Any, folder: Folder) -> None:
    if not folder.is_local:
        raise ValueError("text files and polars frames need a folder on this machine.")
    name = f"{STAGED}/rows.parquet"
    folder.make_file(name)
    width = 8 * len(lazy.collect_schema().names())
    size = min(1 << 17, max(1 << 10, PIECE_BYTES // width))
    lazy.sink_parquet(folder.path(name), row_group_size=size)


def _batches(files: list[str]) -> Iterator[Any]:
    """Read files of huge row groups a few rows at a time."""
    import pyarrow as pa
    from pyarrow import parquet

    for file in files:
        storage, path = open_storage(file)
        with storage.open_input_file(path) as stream:
            if kind_of(file) == PARQUET:
                reader = parquet.ParquetFile(stream, pre_buffer=False)
                yield from reader.iter_batches(batch_size=_ROWS_AT_A_TIME, use_threads=False)
                continue
            arrow = pa.ipc.open_file(stream)
            for index in range(arrow.num_record_batches):
                table = pa.Table.from_batches([arrow.get_batch(index)])
                yield from table.to_batches(max_chunksize=_ROWS_AT_A_TIME)


def _write_batches(batches: Iterable[Any], folder: Folder) -> None:
    """Write record batches as files of about one piece each."""
    import pyarrow as pa

    held: list[Any] = []
    n_bytes = 0
    number = 0
    for batch in batches:
        held.append(batch)
        n_bytes += batch.nbytes
        if n_bytes >= PIECE_BYTES:
            folder.write_arrow(f"{STAGED}/{number:06d}.arrow", pa.Table.from_batches(held))
            held = []
            n_bytes = 0
            number = number + 1
    if held:
        folder.write_arrow(f"{STAGED}/{number:06d}.arrow", pa.Table.from_batches(held))
