"""A look at a table before it is planned: its labels, and what its rows refute.

A table of at most `MAX_CELLS` cells is looked at whole, as in memory. Of a larger one each piece
leaves its labels, its moments, and the rows that a hash of their content chooses: all copies of a
row are chosen, or none of them (theorem: repeated-rows, section "A part of the rows").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.binding import (
    EQUAL_ROWS,
    MIN_ROWS,
    copy_conditions,
    mixed_bits,
    rows_sketched,
    sample_conditions,
    say_conditions,
    say_mark,
)
from replearn.outofcore.moments import (
    Moments,
    add_columns,
    mark_of,
    moments_of,
    numbered_column,
    products_of,
)
from replearn.outofcore.pieces import column_array, container_of
from replearn.outofcore.table import Table, codes_of
from replearn.randomness import as_points
from replearn.tables import names_persons

MAX_CELLS = 1 << 22
"""Cells that are looked at in memory."""

MAX_CROWD = 8
"""Where so many times as many rows are chosen as expected, a few points are most of the table."""


def look_file(piece: int) -> str:
    """Name of the file with what was seen of a piece."""
    return f"look/{piece:06d}"


@dataclass(frozen=True)
class Look:
    """What is looked at of a table."""

    table: Table
    n: int

    @property
    def share(self) -> float:
        """Share of the rows that are looked at in memory."""
        return min(1.0, MAX_CELLS / (self.n * max(1, len(self.table.features))))

    def at_piece(self, piece: int) -> None:
        """Write down what is seen of a piece; of small tables the labels only."""
        table = self.table
        names = [] if self.share == 1.0 else list(table.features)
        read = table.pieces[piece].read([*names, table.target])
        counted = read.column(table.target).value_counts().to_pylist()
        seen: dict[str, Any] = {"labels": [[one["values"], one["counts"]] for one in counted]}
        if self.share < 1.0:
            features = read.select(names)
            seen["columns"] = [asdict(column) for column in moments_of(features, table.container)]
            seen["products"] = products_of(features).tolist()
            seen["crowded"] = self._keep_part(read, piece)
            # Rows that an imputer has filled in are equal: they lie in the part, or none of them.
            count = rows_sketched(len(names)) * len(read) // self.n + MIN_ROWS
            at = np.linspace(0, len(read) - 1, min(count, len(read))).astype(np.intp)
            table.folder.write_arrow(_some_rows_file(piece), features.take(at))
        table.folder.write_json(look_file(piece), seen)

    def _keep_part(self, rows: Any, piece: int) -> bool:
        """Write the rows that the hash of their content chooses; return whether they are many."""
        features = rows.select(list(self.table.features))
        limit = np.uint64(self.share * 2.0**64)
        chosen = np.flatnonzero(_content_hashes(features) < limit)
        most = int(MAX_CROWD * self.share * len(rows)) + 1000
        self.table.folder.write_arrow(_part_file(piece), rows.take(chosen[:most]))
        return len(chosen) > most

    def label_counts(self) -> Counter[Any]:
        """Return how often each label occurs."""
        counts: Counter[Any] = Counter()
        for seen in self._seen():
            counts.update(dict(seen["labels"]))
        return counts

    def failed_conditions(self) -> tuple[str, ...]:
        """Return what the rows refute of the conditions of a certificate, and warn about it."""
        rows = self._part()
        codes = codes_of(rows.column(self.table.target), self.table.classes)
        X = container_of(rows.select(list(self.table.features)), self.table.container)
        if self.share == 1.0:
            return sample_conditions(X) + copy_conditions(X, codes)
        seen = self._seen()
        columns = add_columns([[Moments(**column) for column in one["columns"]] for one in seen])
        products: NDArray[np.float64] = np.sum([one["products"] for one in seen], axis=0)
        numbered = numbered_column(columns, self.table.container)
        some_rows = self._read_all(_some_rows_file)
        failed = say_conditions(say_mark(mark_of(columns, products, some_rows)), numbered)
        return failed if any(one["crowded"] for one in seen) else failed + copy_conditions(X, codes)

    def _seen(self) -> list[dict[str, Any]]:
        folder = self.table.folder
        return [folder.read_json(look_file(piece)) for piece in range(self.table.n_pieces)]

    def _part(self) -> Any:
        """Return the part of the rows that is looked at in memory, as a pyarrow table."""
        if self.share < 1.0:
            return self._read_all(_part_file)
        names = [*self.table.features, self.table.target]
        return _concatenated([piece.read(names) for piece in self.table.pieces])

    def _read_all(self, file: Callable[[int], str]) -> Any:
        pieces = range(self.table.n_pieces)
        return _concatenated([self.table.folder.read_arrow(file(piece)) for piece in pieces])


def _concatenated(parts: list[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_tables(parts).unify_dictionaries().combine_chunks()


def _part_file(piece: int) -> str:
    return f"look/part/{piece:06d}"


def _some_rows_file(piece: int) -> str:
    return f"look/some/{piece:06d}"


def _content_hashes(rows: Any) -> NDArray[np.uint64]:
    """Hash rows by the column that names persons, else by their numbers, else by all cells.

    Whichever it is, copies of a row have the same hash; so have the rows of one person.
    """
    persons = [name for name in rows.column_names if names_persons(name)]
    numbers = [] if persons else [column_array(c) for c in rows.columns if _is_float(c)]
    if not numbers:
        some = rows.select(persons[:1]) if persons else rows
        return EQUAL_ROWS.hashes(as_points(container_of(some, "polars")))
    hashes = mixed_bits(numbers, len(rows))
    return mixed_bits((hashes, hashes >> np.uint64(32)), len(rows))


def _is_float(column: Any) -> bool:
    return str(column.type) in ("double", "float")
