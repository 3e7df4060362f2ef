"""The keyed order of rows that do not fit in memory: exactly `SharedKey.order`, cut into blocks.

Every row is hashed where it is read. Hashes go into buckets by their first bits, so that equal rows
meet in one bucket and are numbered there; a bucket fits in memory. The ranks that follow are
uniform: a histogram of their first bits tells where a cut lies, and the few ranks of its cell tell
exactly where.

Files of one order: ``hash/<order>/<piece>`` (hashes by bucket; the bucket of each row) and
``rank/<order>/<bucket>`` (ranks by piece; the histogram).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.outofcore.folders import Folder
from replearn.outofcore.table import Table
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points

Ranks = NDArray[np.uint64]

ROWS_PER_BUCKET = 1 << 23
"""Rows that are sorted at once: about 400 MB."""

CELL_BITS = 16
_WORD = 8


@dataclass(frozen=True)
class Order:
    """One keyed order of the rows."""

    name: str  # of its files
    key: SharedKey  # whose `order` it is
    bucket_bits: int = 0  # there are 2**bucket_bits buckets
    decimals: int | None = None  # rounding of the points
    after: Order | None = None  # in which the rows came before: which of equal ones is the first
    limit: int | None = None  # only rows of smaller rank go on; None: all

    @property
    def n_buckets(self) -> int:
        """Number of buckets."""
        return 1 << self.bucket_bits

    def hash_file(self, piece: int) -> str:
        """Name of the file with the hashes of a piece."""
        return f"hash/{self.name}/{piece:06d}"

    def rank_file(self, bucket: int) -> str:
        """Name of the file with the ranks of a bucket."""
        return f"rank/{self.name}/{bucket:06d}"

    def cut_file(self, bucket: int) -> str:
        """Name of the file with the ranks of a bucket that lie near a cut."""
        return f"cut/{self.name}/{bucket:06d}"


def bucket_bits(n: int) -> int:
    """Return how many bits tell the bucket of a row, so that a bucket fits in memory.

    >>> bucket_bits(10**6), bucket_bits(10**8)
    (0, 4)
    """
    return max(0, int(np.ceil(np.log2(max(1, n) / ROWS_PER_BUCKET))))


def kept_indices(table: Table, order: Order, piece: int) -> NDArray[np.intp] | None:
    """Return which rows of a piece are left after the order before this one; None for all."""
    if order.after is None or order.after.limit is None:
        return None
    ranks = ranks_of_piece(table.folder, order.after, piece, table.n_pieces)
    return np.flatnonzero(ranks < np.uint64(order.after.limit))


# -- first pass: hashes ----------------------------------------------------------------------------
def kept_rows(table: Table, order: Order, piece: int) -> tuple[Any, Ranks | None]:
    """Return the rows of a piece that are left after the order before this one, and its ranks."""
    rows = table.read(piece)
    if order.after is None:
        return rows, None
    ranks = ranks_of_piece(table.folder, order.after, piece, table.n_pieces)
    limit = order.after.limit
    if limit is None:
        return rows, ranks
    kept = np.flatnonzero(ranks < np.uint64(limit))
    return rows.take(kept), ranks[kept]


def hash_piece(table: Table, orders: Sequence[Order], piece: int) -> None:
    """Hash the rows of a piece for several orders, which all come after the same one."""
    rows, before = kept_rows(table, orders[0], piece)
    points = as_points(rows.X, decimals=orders[0].decimals)
    if len(orders) > 1:
        points = points.encoded_once()
    for order in orders:
        # theorem: content-keyed-partition
        hashes = order.key.row_hashes(points, rows.codes)
        write_by_bucket(table.folder, order, piece, hashes, before)


def write_by_bucket(
    folder: Folder, order: Order, piece: int, hashes: Ranks, before: Ranks | None
) -> None:
    """Write hashes sorted by bucket: where buckets begin, hashes, ranks before, bucket of rows."""
    buckets = np.zeros(len(hashes), dtype=np.uint16)
    if order.bucket_bits:
        buckets = (hashes >> np.uint64(64 - order.bucket_bits)).astype(np.uint16)
    by_bucket = np.argsort(buckets, kind="stable")
    starts = np.zeros(order.n_buckets + 1, dtype=np.int64)
    np.cumsum(np.bincount(buckets, minlength=order.n_buckets), out=starts[1:])
    parts: list[NDArray[Any]] = [starts, hashes[by_bucket]]
    parts += [buckets] if before is None else [before[by_bucket], buckets]
    folder.write(order.hash_file(piece), *[part.tobytes() for part in parts])


# -- ranks: equal rows are numbered in their bucket ------------------------------------------------
def rank_bucket(folder: Folder, order: Order, n_pieces: int, bucket: int) -> None:
    """Rank the rows of one bucket, piece by piece in the order of the file."""
    has_before = order.after is not None
    together, before, starts = gather(folder, order, n_pieces, bucket, has_before)
    if before is None:
        ranks = order.key.ranks(together)
    else:
        sequence = np.argsort(before, kind="stable")
        ranks = np.empty_like(together)
        ranks[sequence] = order.key.ranks(together[sequence])
    cells = np.bincount(_cells(ranks), minlength=1 << CELL_BITS).astype(np.int64)
    parts = (starts, cells, ranks)
    folder.write(order.rank_file(bucket), *[part.tobytes() for part in parts])


def gather(
    folder: Folder, order: Order, n_pieces: int, bucket: int, has_before: bool
) -> tuple[Ranks, Ranks | None, NDArray[np.int64]]:
    """Collect a bucket: hashes, ranks of the order before, and where each piece begins."""
    hashes = []
    before = []
    starts = np.zeros(n_pieces + 1, dtype=np.int64)
    head = (order.n_buckets + 1) * _WORD
    for piece in range(n_pieces):
        with folder.open(order.hash_file(piece)) as stream:
            start, stop = _read(stream, np.int64, bucket * _WORD, 2)
            hashes.append(_read(stream, np.uint64, head + start * _WORD, stop - start))
            if has_before:
                n = int(_read(stream, np.int64, order.n_buckets * _WORD, 1)[0])
                index = head + (n + start) * _WORD
                before.append(_read(stream, np.uint64, index, stop - start))
        starts[piece + 1] = starts[piece] + stop - start
    return np.concatenate(hashes), np.concatenate(before) if before else None, starts


def ranks_of_piece(folder: Folder, order: Order, piece: int, n_pieces: int) -> Ranks:
    """Collect the ranks of a piece from all buckets, in the order of its rows."""
    with folder.open(order.hash_file(piece)) as stream:
        n = int(_read(stream, np.int64, order.n_buckets * _WORD, 1)[0])
        n_columns = 1 if order.after is None else 2
        index = (order.n_buckets + 1 + n_columns * n) * _WORD
        buckets = _read(stream, np.uint16, index, n)
    head = _rank_head(n_pieces)
    parts = []
    for bucket in range(order.n_buckets):
        with folder.open(order.rank_file(bucket)) as stream:
            start, stop = _read(stream, np.int64, piece * _WORD, 2)
            parts.append(_read(stream, np.uint64, head + start * _WORD, stop - start))
    ranks = np.empty(n, dtype=np.uint64)
    ranks[np.argsort(buckets, kind="stable")] = np.concatenate(parts)
    return ranks


# -- exact cuts ------------------------------------------------------------------------------------
def cells_of(folder: Folder, order: Order, n_pieces: int) -> NDArray[np.int64]:
    """Add up the histograms of all buckets."""
    total = np.zeros(1 << CELL_BITS, dtype=np.int64)
    for bucket in range(order.n_buckets):
        with folder.open(order.rank_file(bucket)) as stream:
            total += _read(stream, np.int64, (n_pieces + 1) * _WORD, 1 << CELL_BITS)
    return total


def write_ranks_in_cells(
    folder: Folder, order: Order, n_pieces: int, cells: NDArray[np.intp], bucket: int
) -> None:
    """Write the ranks of a bucket that lie in some cells of the histogram: few of them."""
    with folder.open(order.rank_file(bucket)) as stream:
        n = int(_read(stream, np.int64, n_pieces * _WORD, 1)[0])
        ranks = _read(stream, np.uint64, _rank_head(n_pieces), n)
    wanted = np.zeros(1 << CELL_BITS, dtype=bool)
    wanted[cells] = True
    folder.write(order.cut_file(bucket), ranks[wanted[_cells(ranks)]].tobytes())


def find_cuts(
    folder: Folder,
    order: Order,
    n_pieces: int,
    indices: Sequence[int],
    each_bucket: Callable[[Callable[[int], None]], None],
) -> Ranks:
    """Return the ranks at some indices of the sorted order, counted from 0.

    ``each_bucket`` does a piece of work on every bucket.

    Raises
    ------
    RuntimeError
        If two rows share the rank at a cut, which has a probability of n / 2**64 for each cut.
    """
    ends = np.cumsum(cells_of(folder, order, n_pieces))
    cells = np.searchsorted(ends, indices, side="right")
    each_bucket(partial(write_ranks_in_cells, folder, order, n_pieces, cells))
    found = [folder.read(order.cut_file(bucket)) for bucket in range(order.n_buckets)]
    ranks = np.sort(np.concatenate([np.frombuffer(part, dtype=np.uint64) for part in found]))
    first = np.searchsorted(ranks, cells.astype(np.uint64) << np.uint64(64 - CELL_BITS))
    before = np.where(cells > 0, ends[cells - 1], 0)
    at = first + np.asarray(indices) - before
    cuts = ranks[at]
    if (ranks[at[at > 0] - 1] == cuts[at > 0]).any():
        raise RuntimeError("two rows have the same 64-bit rank at a cut: use another key.")
    return cuts


def _cells(ranks: Ranks) -> NDArray[np.intp]:
    """Return the cells of the histogram that ranks lie in."""
    return (ranks >> np.uint64(64 - CELL_BITS)).astype(np.intp)


def _rank_head(n_pieces: int) -> int:
    return (n_pieces + 1 + (1 << CELL_BITS)) * _WORD


def _read(stream: Any, dtype: Any, start: int, count: int) -> Any:
    size = int(count) * np.dtype(dtype).itemsize
    return np.frombuffer(stream.read_at(size, int(start)), dtype=dtype)
