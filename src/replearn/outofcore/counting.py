"""Equal rows of files larger than memory, and how many values a column has.

Hashes bring equal rows together in a bucket, as in memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from replearn.outofcore.folders import Folder
from replearn.outofcore.ordering import Order, gather, kept_rows, write_by_bucket
from replearn.outofcore.table import Table
from replearn.randomness.points import as_points


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


# -- how many different values a column has --------------------------------------------------------
class DistinctValues:
    """How many values a column has, by hashes of its cells, piece by piece.

    Of more than ``most`` values those are kept whose hash lies below a limit, which is halved as
    often as necessary.

    >>> values = DistinctValues(most=100)
    >>> for _ in range(3):
    ...     values.add(np.arange(1000, dtype=np.uint64) * np.uint64(2**54))
    >>> values.n_rows, values.n_values
    (3000, 1024)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.n_rows = 0
        self.n_halved = 0
        self.hashes = np.empty(0, dtype=np.uint64)

    def add(self, hashes: NDArray[np.uint64]) -> None:
        """Count the cells of another piece."""
        self.n_rows += len(hashes)
        self.hashes = np.unique(np.concatenate([self.hashes, hashes[hashes <= self._limit]]))
        while len(self.hashes) > self.most:
            self.n_halved += 1
            self.hashes = self.hashes[self.hashes <= self._limit]

    @property
    def n_values(self) -> int:
        """How many different values there are: exact if none was left out."""
        return len(self.hashes) << self.n_halved

    @property
    def _limit(self) -> np.uint64:
        return np.uint64(2**64 - 1) >> np.uint64(self.n_halved)
