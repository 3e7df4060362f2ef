"""A look at a table before it is planned: its labels, and what its rows refute.

A table of at most `MAX_CELLS` cells is looked at whole, as in memory. Of a larger one each piece
leaves its labels, the moments of its columns, the persons it names, and rows that a hash of their
content chooses: all copies of a row, or none of them (theorem: repeated-rows, section "A part of
the rows").
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.checks.sample import (
    EQUAL_ROWS,
    Moments,
    added,
    copied_rows,
    failed_by_sample,
    moments,
    preprocessing_conditions,
    repeated_persons,
    say_copies,
)
from replearn.outofcore.counting import DistinctValues
from replearn.outofcore.pieces import container_of
from replearn.outofcore.table import Table, codes_of
from replearn.randomness.points import as_points
from replearn.records.json import digest_of
from replearn.tables.kinds import names_persons

MAX_CELLS = 1 << 22
"""Cells that are looked at in memory."""

MAX_CROWD = 8
"""Where so many times as many rows are chosen as expected, fewer are: a few points are heavy."""

MAX_PERSONS = 1 << 16
"""Hashes of persons that are kept."""

MAX_HALVED = 63
N_VIEWS = 2 * (MAX_HALVED + 1)
"""By what the false alarms of a part are divided: its share may have been halved so often."""

PART = "look/part"


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

    @property
    def _persons(self) -> list[str]:
        return [name for name in self.table.features if names_persons(name)]

    def at_piece(self, piece: int) -> None:
        """Write down what is seen of a piece; of small tables the labels only."""
        table = self.table
        names = [] if self.share == 1.0 else list(table.features)
        read = table.pieces[piece].read([*names, table.target])
        counted = read.column(table.target).value_counts().to_pylist()
        seen: dict[str, Any] = {"labels": [[one["values"], one["counts"]] for one in counted]}
        if names:
            features = read.select(names)
            # Not as the estimator takes them: an array of numbers and texts holds objects.
            seen["moments"] = moments(container_of(features, "polars"))
            seen["halved"] = self._keep_part(read, piece)
            for name in self._persons:
                cells = as_points(container_of(features.select([name]), "polars"))
                table.folder.write(_persons_file(name, piece), EQUAL_ROWS.hashes(cells).tobytes())
        table.folder.write_json(look_file(piece), seen)

    def _keep_part(self, rows: Any, piece: int) -> int:
        """Write the rows that a hash chooses; return how often their share was halved."""
        hashes = self._hashes(rows)
        most = int(MAX_CROWD * self.share * len(rows)) + 1000
        n_halved = 0
        while n_halved < MAX_HALVED and self._chosen(hashes, n_halved).size > most:
            n_halved += 1
        chosen = self._chosen(hashes, n_halved)[:most]
        self.table.folder.write_arrow(_file(PART, piece), rows.take(chosen))
        return n_halved

    def _hashes(self, rows: Any) -> NDArray[np.uint64]:
        features = container_of(rows.select(list(self.table.features)), "polars")
        return EQUAL_ROWS.hashes(as_points(features))

    def _chosen(self, hashes: NDArray[np.uint64], n_halved: int) -> NDArray[np.intp]:
        limit = np.uint64(self.share * 2.0**64) >> np.uint64(n_halved)
        return np.flatnonzero(hashes < limit)

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
            return failed_by_sample(X, codes)
        pieces = [[Moments(*column) for column in seen["moments"]] for seen in self._seen()]
        failed = preprocessing_conditions(added(pieces), self.n)
        return failed + say_copies(copied_rows(X, codes, N_VIEWS) or self._repeated_persons())

    def _repeated_persons(self) -> tuple[str, str] | None:
        """Find a column that is named after persons and has several rows of each."""
        for name in self._persons:
            values = DistinctValues(MAX_PERSONS)
            for piece in range(self.table.n_pieces):
                hashes = self.table.folder.read(_persons_file(name, piece))
                values.add(np.frombuffer(hashes, dtype=np.uint64))
            found = repeated_persons(
                f"column {name!r}", f"X[{name!r}]", values.n_rows, values.n_values
            )
            if found is not None:
                return found
        return None

    def _seen(self) -> list[dict[str, Any]]:
        folder = self.table.folder
        return [folder.read_json(look_file(piece)) for piece in range(self.table.n_pieces)]

    def _part(self) -> Any:
        """Return the rows that are looked at in memory, as a pyarrow table."""
        import pyarrow as pa

        pieces = range(self.table.n_pieces)
        if self.share == 1.0:
            names = [*self.table.features, self.table.target]
            parts = [piece.read(names) for piece in self.table.pieces]
        else:
            parts = [self.table.folder.read_arrow(_file(PART, piece)) for piece in pieces]
        rows = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
        if self.share == 1.0:
            return rows
        n_halved = max(seen["halved"] for seen in self._seen())
        return rows.take(self._chosen(self._hashes(rows), n_halved))


def _persons_file(name: str, piece: int) -> str:
    return _file(f"look/persons-{digest_of(name)[:8]}", piece)


def _file(name: str, piece: int) -> str:
    return f"{name}/{piece:06d}"
