"""Equal rows and values of files larger than memory: how often they occur.

Hashes bring equal rows together in a bucket, as in memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from replearn.outofcore.folders import Folder
from replearn.outofcore.ordering import Order, gather, kept_rows, write_by_bucket
from replearn.outofcore.table import Table
from replearn.randomness import as_points


def hash_points_of_piece(table: Table, order: Order, piece: int) -> None:
    """Hash the features of a piece, by which equal points meet in one bucket."""
    rows, _ = kept_rows(table, order, piece)
    hashes = order.key.hashes(as_points(rows.X, decimals=order.decimals))
    write_by_bucket(table.folder, order, piece, hashes, None)


def count_bucket(folder: Folder, order: Order, n_pieces: int, bucket: int) -> None:
    """Write how many pairs of a bucket are equal."""
    hashes = np.sort(gather(folder, order, n_pieces, bucket, False)[0])
    is_first = np.append(len(hashes) > 0, hashes[1:] != hashes[:-1])[: len(hashes)]
    starts = np.flatnonzero(is_first)
    counts = np.diff(np.append(starts, len(hashes)))
    pairs = np.array([(counts * (counts - 1) // 2).sum()], dtype=np.int64)
    folder.write(order.rank_file(bucket), pairs.tobytes())


def equal_pairs(folder: Folder, order: Order) -> int:
    """Add up the equal pairs of all buckets."""
    firsts = (folder.read(order.rank_file(b), 0, 8) for b in range(order.n_buckets))
    return sum(int(np.frombuffer(first, dtype=np.int64)[0]) for first in firsts)


# -- how often the values of a column occur --------------------------------------------------------
MAX_HALVED = 63
HASHES = np.uint64(2**64 - 1)


class ValueCounts:
    """How often the values of a column occur, by hashes of its cells, piece by piece.

    Of more than ``most`` different values those are counted whose hash lies below a limit, which is
    halved as often as necessary: their counts are exact (theorem: repeated-rows, section "A part of
    the rows").

    >>> values = ValueCounts(most=100)
    >>> for _ in range(3):
    ...     values.add(np.arange(1000, dtype=np.uint64) * np.uint64(2**54))
    >>> values.n_rows, values.n_values, values.n_halved, np.unique(values.counts).tolist()
    (3000, 1024, 4, [3])
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.n_rows = 0
        self.n_halved = 0
        self.hashes = np.empty(0, dtype=np.uint64)
        self.counts = np.empty(0, dtype=np.int64)

    def add(self, hashes: NDArray[np.uint64]) -> None:
        """Count the cells of another piece."""
        # If all differ, about so many halves are necessary: fewer hashes are sorted.
        n_halved = max(self.n_halved, int(np.log2(1 + len(hashes) // self.most)))
        found, counts = np.unique(hashes[hashes <= _limit(n_halved)], return_counts=True)
        while len(found) <= self.most and n_halved > self.n_halved:
            n_halved -= 1
            found, counts = np.unique(hashes[hashes <= _limit(n_halved)], return_counts=True)
        own = ValueCounts(self.most)
        own.n_rows = len(hashes)
        own.n_halved = n_halved
        own.hashes = found
        own.counts = counts
        self.merge([own])

    def merge(self, others: Sequence[ValueCounts]) -> None:
        """Count what others have counted."""
        parts = [self, *others]
        n_halved = max(part.n_halved for part in parts)
        hashes = np.concatenate([part.hashes for part in parts])
        found, indices = np.unique(hashes, return_inverse=True)
        counts = np.zeros(len(found), dtype=np.int64)
        np.add.at(counts, indices, np.concatenate([part.counts for part in parts]))
        kept = found <= _limit(n_halved)
        while np.count_nonzero(kept) > self.most and n_halved < MAX_HALVED:
            n_halved += 1
            kept = found <= _limit(n_halved)
        self.n_rows = sum(part.n_rows for part in parts)
        self.n_halved = n_halved
        self.hashes = found[kept]
        self.counts = counts[kept]

    @property
    def n_values(self) -> int:
        """How many different values there are: exact if none was left out."""
        return len(self.hashes) << self.n_halved


def n_views(n_halved: int) -> int:
    """Return by what the false alarms of a part are divided, so that all parts share them.

    >>> sum(1 / n_views(n_halved) for n_halved in range(MAX_HALVED + 1)) <= 1
    True
    """
    return 2 if n_halved == 0 else 2 * MAX_HALVED


def _limit(n_halved: int) -> np.uint64:
    return HASHES >> np.uint64(n_halved)
