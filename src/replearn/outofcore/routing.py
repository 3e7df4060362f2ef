"""Second pass: rows go to their blocks. One file per piece, with one batch of rows for each block.

A block reads its own batch of every file and sorts the rows by their rank, so that neither the
order of the files nor that of an engine matters. Such files need no appending, which object stores
do not have, and a piece that was routed is never routed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from replearn.outofcore.ordering import Order, Ranks, kept_rows, ranks_of_piece
from replearn.outofcore.table import CODE, LabelledRows, Table

RANK = "__rank__"


@dataclass(frozen=True, eq=False)
class Cut:
    """One partition of the rows: its order, and the ranks at which blocks end."""

    order: Order
    n_blocks: int
    cuts: Ranks  # first rank beyond each block; none beyond the last one if no row is left out

    def file(self, piece: int) -> str:
        """Name of the file with the routed rows of a piece."""
        return f"blocks/{self.order.name}/{piece:06d}"


def route_piece(table: Table, cut: Cut, piece: int) -> None:
    """Write the rows of a piece block by block."""
    import pyarrow as pa

    if cut.file(piece) in table.folder:
        return  # another worker was faster
    rows = kept_rows(table, cut.order, piece)[0]
    ranks = ranks_of_piece(table.folder, cut.order, piece, table.n_pieces)
    blocks = np.searchsorted(cut.cuts, ranks, side="right").astype(_small(cut.n_blocks))
    by_block = np.argsort(blocks, kind="stable")
    ends = np.cumsum(np.bincount(blocks, minlength=cut.n_blocks + 1))
    by_block = by_block[: ends[cut.n_blocks - 1]]  # the rest is surplus
    taken = rows.arrow.combine_chunks().take(pa.array(by_block))
    taken = taken.append_column(RANK, pa.array(ranks[by_block]))
    taken = taken.append_column(CODE, pa.array(rows.codes[by_block].astype(np.int32)))
    starts = np.append(0, ends[: cut.n_blocks])
    with (
        table.folder.writing(cut.file(piece)) as stream,
        pa.ipc.new_file(stream, taken.schema) as writer,
    ):
        for start, stop in pairwise(starts):
            _write_block(writer, taken.slice(start, stop - start))


def _write_block(writer: Any, rows: Any) -> None:
    """Write exactly one batch, also where a block has no row of this piece."""
    import pyarrow as pa

    batches = rows.combine_chunks().to_batches()
    empty = pa.RecordBatch.from_pylist([], schema=rows.schema)
    writer.write_batch(batches[0] if batches else empty)


def read_block(table: Table, cut: Cut, block: int) -> LabelledRows:
    """Read the rows of one block, in keyed order."""
    import pyarrow as pa

    parts = []
    for piece in range(table.n_pieces):
        with table.folder.open(cut.file(piece)) as stream:
            parts.append(pa.ipc.open_file(stream).get_batch(block))
    rows = pa.Table.from_batches(parts).unify_dictionaries().combine_chunks()
    del parts
    order = np.argsort(rows.column(RANK).to_numpy(), kind="stable")
    codes = rows.column(CODE).to_numpy()[order].astype(np.intp)
    kept = rows.select(list(table.features))
    del rows
    return LabelledRows(kept.take(pa.array(order)), codes, table.container)


def read_first_rows(table: Table, cut: Cut, count: int) -> LabelledRows:
    """Read the first rows of a partition, in keyed order."""
    import pyarrow as pa

    parts: list[LabelledRows] = []
    for block in range(cut.n_blocks):
        missing = count - sum(map(len, parts))
        if missing <= 0:
            break
        rows = read_block(table, cut, block)
        parts.append(rows.take(np.arange(min(missing, len(rows)))))
    arrow = pa.concat_tables([part.arrow for part in parts]).unify_dictionaries()
    codes = np.concatenate([part.codes for part in parts])
    return LabelledRows(arrow.combine_chunks(), codes, table.container)


def _small(n_blocks: int) -> Any:
    """Short integers are sorted in one sweep."""
    return np.uint16 if n_blocks < 1 << 16 else np.uint32
