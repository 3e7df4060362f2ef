"""Pieces of Parquet and Arrow files: some rows that fit in memory, read again in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.outofcore.folders import open_storage
from replearn.records.checks import check_choice

PIECE_BYTES = 1 << 26
"""A piece holds about this many bytes of cells; it is copied two or three times while it is cut."""

CONTAINERS = ("polars", "pandas", "numpy")
PARQUET = "parquet"
ARROW = "arrow"
TEXT = "text"
_KINDS = {
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": ARROW,
    ".feather": ARROW,
    ".ipc": ARROW,
    ".csv": TEXT,
    ".tsv": TEXT,
}


@dataclass(frozen=True)
class Piece:
    """Some rows of one file, always in the same order."""

    address: str
    kind: str
    groups: tuple[int, ...]
    rows: int

    def read(self, columns: Sequence[str]) -> Any:
        """Read the rows as a pyarrow table."""
        storage, path = open_storage(self.address)
        with storage.open_input_file(path) as stream:
            read = self._parquet if self.kind == PARQUET else self._arrow
            return _without_views(read(stream, columns))

    def _parquet(self, stream: Any, columns: Sequence[str]) -> Any:
        from pyarrow import parquet

        file = parquet.ParquetFile(stream, pre_buffer=False)
        groups = list(self.groups)
        names = list(columns)
        return file.read_row_groups(groups, columns=names, use_threads=False).select(names)

    def _arrow(self, stream: Any, columns: Sequence[str]) -> Any:
        import pyarrow as pa

        names = pa.ipc.open_file(stream).schema.names
        wanted = sorted(names.index(name) for name in columns)
        options = pa.ipc.IpcReadOptions(included_fields=wanted, use_threads=False)
        reader = pa.ipc.open_file(stream, options=options)
        batches = [reader.get_batch(group) for group in self.groups]
        return pa.Table.from_batches(batches, reader.schema).select(list(columns))


def _without_views(table: Any) -> Any:
    """Write texts out: few functions of pyarrow take views of them, which polars writes."""
    import pyarrow as pa

    for index, field in enumerate(table.schema):
        if str(field.type) == "string_view":
            column = table.column(index).cast(pa.large_string())
            table = table.set_column(index, field.name, column)
    return table


def kind_of(file: str) -> str:
    """Return the kind of a file by its name.

    >>> kind_of("rows.parquet"), kind_of("rows.csv.gz")
    ('parquet', 'text')
    """
    name = file.lower()
    if name.endswith((".csv.gz", ".tsv.gz")):
        name = name.removesuffix(".gz")
    kind = _KINDS.get(Path(name).suffix)
    if kind is None:
        raise ValueError(
            f"{file}: files of this kind are not supported. Supported: {', '.join(_KINDS)}."
        )
    return kind


def pieces_of(file: str) -> tuple[tuple[str, ...], list[Piece], int]:
    """Return the columns of a file, its pieces, and the bytes of its largest row group."""
    kind = kind_of(file)
    storage, path = open_storage(file)
    with storage.open_input_file(path) as stream:
        names, sizes = (_parquet_groups if kind == PARQUET else _arrow_groups)(stream)
    pieces: list[Piece] = []
    groups: list[int] = []
    held = rows = 0
    for group, (n_rows, n_bytes) in enumerate(sizes):
        groups.append(group)
        held = held + n_bytes
        rows = rows + n_rows
        if held + n_bytes > PIECE_BYTES or group == len(sizes) - 1:
            pieces.append(Piece(file, kind, tuple(groups), rows))
            groups = []
            held = 0
            rows = 0
    kept = [piece for piece in pieces if piece.rows]
    return names, kept, max((n_bytes for _, n_bytes in sizes), default=0)


def _parquet_groups(stream: Any) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    from pyarrow import parquet

    file = parquet.ParquetFile(stream)
    groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
    return tuple(file.schema_arrow.names), [(g.num_rows, g.total_byte_size) for g in groups]


def _arrow_groups(stream: Any) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Count the rows by the first column; the bytes follow from the size of the file."""
    import pyarrow as pa

    names = pa.ipc.open_file(stream).schema.names
    reader = pa.ipc.open_file(stream, options=pa.ipc.IpcReadOptions(included_fields=[0]))
    rows = [reader.get_batch(index).num_rows for index in range(reader.num_record_batches)]
    width = stream.size() / max(1, sum(rows))
    return tuple(names), [(n, int(n * width)) for n in rows]


# -- tables as estimators take them
# ------------------------------------------------------------------
def container_of(table: Any, container: str) -> Any:
    """Turn a pyarrow table into what the estimator sees.

    >>> import pyarrow as pa
    >>> container_of(pa.table({"a": [1.0, None], "b": [3.0, 4.0]}), "numpy")
    array([[ 1.,  3.],
           [nan,  4.]])
    """
    check_choice("container", container, CONTAINERS)
    if container == "pandas":
        return table.to_pandas()
    if container == "polars":
        import polars as pl

        return pl.from_arrow(table)
    return np.column_stack([column_array(table.column(name)) for name in table.column_names])


def column_array(column: Any) -> NDArray[Any]:
    """Return a pyarrow column as an array of numbers, or of objects."""
    return np.asarray(column.combine_chunks().to_numpy(zero_copy_only=False))
