"""Second pass: rows go to their blocks, one file per piece with one batch for each block.

A block reads its own batch of every file and sorts the rows by their rank, so that neither the
order of the files nor that of an engine matters; it trains, and leaves its model beside them. Such
files need no appending, which object stores do not have, and a piece that was routed is never
routed again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context

from replearn.execution.context import no_autologging
from replearn.execution.fitting import Block, fit_one_block
from replearn.execution.plugins import fit_functions
from replearn.outofcore.ordering import CELL_BITS, Order, Ranks, kept_indices, ranks_of_piece
from replearn.outofcore.table import CODE, LabelledRows, Table
from replearn.persistence.block_folder import block_file, save_block

RANK = "__rank__"
MODELS = "training"
"""Folder of the fitted blocks."""


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
    import pyarrow.compute as pc

    if cut.file(piece) in table.folder:
        return  # another worker was faster
    kept = kept_indices(table, cut.order, piece)
    ranks = ranks_of_piece(table.folder, cut.order, piece, table.n_pieces)
    blocks = blocks_of(ranks, cut)
    by_block = np.argsort(blocks, kind="stable")
    ends = np.cumsum(np.bincount(blocks, minlength=cut.n_blocks + 1))
    by_block = by_block[: ends[cut.n_blocks - 1]]  # the rest is surplus
    indices = by_block if kept is None else kept[by_block]
    # Short indices that surely exist: a third less time than plain ones, which are checked. One
    # column after another: each is read into the memory of the one before.
    at = pa.array(indices.astype(np.uint32))
    columns = {
        name: pc.take(table.read_column(piece, name), at, boundscheck=False)
        for name in table.features
    }
    codes = table.read_codes(piece)[indices].astype(np.int32)
    taken = pa.table(columns | {RANK: pa.array(ranks[by_block]), CODE: pa.array(codes)})
    starts = np.append(0, ends[: cut.n_blocks])
    with (
        table.folder.writing(cut.file(piece)) as stream,
        pa.ipc.new_file(stream, taken.schema) as writer,
    ):
        for start, stop in pairwise(starts):
            _write_block(writer, taken.slice(start, stop - start))


def blocks_of(ranks: Ranks, cut: Cut) -> NDArray[Any]:
    """Return the block of each row; the number of blocks is that of the surplus.

    Ranks are uniform: their first bits tell the block of nearly all rows, and a search is left for
    those that lie near a cut.

    >>> from replearn import SharedKey
    >>> cut = Cut(Order("a", SharedKey(0)), 2, np.array([5, 1 << 60], dtype=np.uint64))
    >>> blocks_of(np.array([4, 5, 1 << 59, 1 << 60, 1 << 63], dtype=np.uint64), cut)
    array([0, 1, 1, 2, 2], dtype=uint8)
    """
    cells = (ranks >> np.uint64(64 - CELL_BITS)).astype(np.uint16)
    starts = np.arange(1 << CELL_BITS, dtype=np.uint64) << np.uint64(64 - CELL_BITS)
    # Short integers are sorted in one sweep or two.
    short = np.min_scalar_type(cut.n_blocks)
    first = np.searchsorted(cut.cuts, starts, side="right").astype(short)
    has_cut = np.zeros(1 << CELL_BITS, dtype=bool)
    has_cut[(cut.cuts >> np.uint64(64 - CELL_BITS)).astype(np.intp)] = True
    blocks: NDArray[Any] = first[cells]
    near = np.flatnonzero(has_cut[cells])
    blocks[near] = np.searchsorted(cut.cuts, ranks[near], side="right")
    return blocks


def _write_block(writer: Any, rows: Any) -> None:
    """Write exactly one batch, also where a block has no row of this piece."""
    import pyarrow as pa

    batches = rows.to_batches()
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
    for piece in range(table.n_pieces):
        table.folder.forget(cut.file(piece))
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


# -- training -------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Training:
    """What the blocks of one partition share; blocks are numbered over all partitions."""

    table: Table
    cut: Cut
    estimator: Any
    seeds: tuple[dict[str, int], ...]  # of each block of the partition; keys stay at home
    names: tuple[str, ...]
    first: int  # number of the first block
    trusted_types: tuple[str, ...] = ()

    @property
    def numbers(self) -> range:
        """Numbers of the blocks."""
        return range(self.first, self.first + self.cut.n_blocks)


def counts_file(number: int) -> str:
    """Name of the file with the counts of the labels of a block."""
    return f"counts/{number:06d}"


def train_block(training: Training, index: int) -> None:
    """Train one block of the partition and write its model, unless another worker has done so."""
    number = training.first + index
    folder = training.table.folder
    if block_file(number) in folder.child(MODELS):
        return
    rows = read_block(training.table, training.cut, index)
    faster = fit_functions(training.estimator)
    block = Block(rows.X, rows.codes, training.seeds[index], training.names[index], faster=faster)
    # Every block has the same parameters: scikit-learn checks them on the first one only.
    with no_autologging(), config_context(skip_parameter_validation=number > 0):
        model = fit_one_block(training.estimator, block)
    counts = np.bincount(rows.codes, minlength=max(2, len(training.table.classes)))
    folder.write_json(counts_file(number), counts.tolist())
    save_block(folder.child(MODELS), block_file(number), training.trusted_types, model)
