"""A look at a table before it is planned: its labels, and what its rows refute.

A table of at most `MAX_CELLS` cells is looked at whole, as in memory. Of a larger one each piece
leaves its labels, its moments, how often the values of each column occur, and two parts of its
rows. The first consists of rows that a hash of their content chooses: all copies of a row, or none
of them. The second of rows in cells of a grid that a hash chooses: all copies with small changes,
or none (theorem: repeated-rows, section "A part of the rows").
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.binding import (
    EQUAL_ROWS,
    GRID_BITS,
    GRID_COLUMNS,
    MIN_ROWS,
    copied_rows,
    copy_conditions,
    grid_cells,
    grid_exponents,
    jittered_rows,
    mark_of_bins,
    mixed_bits,
    repeated_values,
    rows_sketched,
    sample_conditions,
    say_conditions,
    say_copies,
    say_mark,
)
from replearn.outofcore.counting import MAX_HALVED, ValueCounts, n_views
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

MAX_CELLS = 1 << 22
"""Cells that are looked at in memory."""

MAX_CROWD = 8
"""Where so many times as many rows are chosen as expected, fewer are: a few points are heavy."""

MAX_VALUES = 1 << 11
"""Different values of a column that are counted."""

MIN_GRID_CELLS = 64
"""Cells of the coarsest grid for each row in so many that is looked at."""

GRID = "look/grid"
COPIES = "look/part"
NEAR = "look/near"


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

    def prepare(self) -> None:
        """Choose the grid on which rows are nearly equal, from rows of the first piece."""
        folder = self.table.folder
        if self.share == 1.0 or GRID in folder:
            return
        rows = self.table.pieces[0].read(self.table.features)
        names = _grid_columns(rows, self.table.container)
        exponents = grid_exponents([_doubles(rows, name) for name in names])
        wide = [(n, e) for n, e in zip(names, exponents, strict=True) if e is not None]
        cells = MIN_GRID_CELLS / self.share
        few = [bits for bits in GRID_BITS if 2.0 ** ((bits + 1) * len(wide)) >= cells]
        folder.write_json(GRID, {"columns": wide, "bits": min(few, default=max(GRID_BITS))})

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
            seen["values"] = self._count_values(features, piece)
            seen["halved"] = [self._keep_part(read, name, piece) for name in (COPIES, NEAR)]
            # Rows that an imputer has filled in are equal: they lie in the part, or none of them.
            count = rows_sketched(len(names)) * len(read) // self.n + MIN_ROWS
            at = np.linspace(0, len(read) - 1, min(count, len(read))).astype(np.intp)
            table.folder.write_arrow(_file("look/some", piece), features.take(at))
        table.folder.write_json(look_file(piece), seen)

    def _count_values(self, features: Any, piece: int) -> list[tuple[int, int]]:
        """Write how often values occur; return known cells and halved limits of the columns."""
        import pyarrow as pa

        counted = []
        for column in features.columns:
            values = ValueCounts(MAX_VALUES)
            values.add(_value_hashes(column))
            counted.append(values)
        sizes = [len(values.hashes) for values in counted]
        cells = {
            "column": np.repeat(np.arange(len(sizes)), sizes),
            "hash": np.concatenate([values.hashes for values in counted]),
            "count": np.concatenate([values.counts for values in counted]),
        }
        self.table.folder.write_arrow(_file("look/values", piece), pa.table(cells))
        return [(values.n_rows, values.n_halved) for values in counted]

    def _keep_part(self, rows: Any, part: str, piece: int) -> int:
        """Write the rows that a hash chooses; return how often their share was halved."""
        hashes = self._part_hashes(rows, part)
        most = int(MAX_CROWD * self.share * len(rows)) + 1000
        n_halved = 0
        while n_halved < MAX_HALVED and self._chosen(hashes, n_halved).size > most:
            n_halved += 1
        chosen = self._chosen(hashes, n_halved)[:most]
        self.table.folder.write_arrow(_file(part, piece), rows.take(chosen))
        return n_halved

    def _chosen(self, hashes: NDArray[np.uint64], n_halved: int) -> NDArray[np.intp]:
        limit = np.uint64(self.share * 2.0**64) >> np.uint64(n_halved)
        return np.flatnonzero(hashes < limit)

    def _part_hashes(self, rows: Any, part: str) -> NDArray[np.uint64]:
        """Return the hashes that choose rows: of their content, or of their cell of the grid."""
        features = rows.select(list(self.table.features))
        if part == COPIES:
            return _content_hashes(features)
        grid = self.table.folder.read_json(GRID)
        wide = [(_doubles(features, name), exponent) for name, exponent in grid["columns"]]
        if not wide:
            return np.full(len(rows), 2**64 - 1, dtype=np.uint64)
        return _mixed_again(grid_cells(wide, grid["bits"]))

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
        some_rows = self._read_all("look/some")
        counted = self._counted_values()
        whole = {column.name for column in columns if column.whole}
        bins = [c.counts for name, c in counted.items() if name in whole and not c.n_halved]
        mark = mark_of_bins(bins) or mark_of(columns, products, some_rows)
        failed = say_conditions(say_mark(mark), numbered)
        found = copied_rows(X, codes, n_views(self._n_halved(COPIES)))
        return failed + say_copies(found or self._repeated_column(counted) or self._near_rows())

    def _counted_values(self) -> dict[str | int, ValueCounts]:
        """Add up how often the values of each column occur."""
        features = self.table.features
        counted = [ValueCounts(MAX_VALUES) for _ in features]
        for piece, seen in enumerate(self._seen()):
            cells = self.table.folder.read_arrow(_file("look/values", piece))
            ends = np.searchsorted(cells.column("column").to_numpy(), np.arange(len(features) + 1))
            for index, (n_rows, n_halved) in enumerate(seen["values"]):
                own = ValueCounts(MAX_VALUES)
                own.n_rows = n_rows
                own.n_halved = n_halved
                part = cells.slice(ends[index], ends[index + 1] - ends[index])
                own.hashes = part.column("hash").to_numpy()
                own.counts = part.column("count").to_numpy()
                counted[index].merge([own])
        names = range(len(features)) if self.table.container == "numpy" else features
        return dict(zip(names, counted, strict=True))

    def _repeated_column(self, counted: dict[str | int, ValueCounts]) -> tuple[str, str] | None:
        """Find a column in which values occur as often as persons in a panel do."""
        for name, values in counted.items():
            views = n_views(values.n_halved) * max(self.n, len(counted))
            found = repeated_values(name, values.counts, values.n_rows, values.n_values, views)
            if found is not None:
                return found
        return None

    def _near_rows(self) -> tuple[str, str] | None:
        """Find copies with small changes, in the rows of some cells of the grid."""
        grid = self.table.folder.read_json(GRID)
        if not grid["columns"]:
            return None
        rows = self._part(NEAR)
        codes = codes_of(rows.column(self.table.target), self.table.classes)
        return jittered_rows(
            [_doubles(rows, name) for name, _ in grid["columns"]],
            codes,
            [exponent for _, exponent in grid["columns"]],
            range(grid["bits"], max(GRID_BITS) + 1, 2),
            n_views(self._n_halved(NEAR)),
        )

    def _seen(self) -> list[dict[str, Any]]:
        folder = self.table.folder
        return [folder.read_json(look_file(piece)) for piece in range(self.table.n_pieces)]

    def _part(self, part: str = COPIES) -> Any:
        """Return a part of the rows that is looked at in memory, as a pyarrow table."""
        if self.share < 1.0:
            rows = self._read_all(part)
            hashes = self._part_hashes(rows, part)
            return rows.take(self._chosen(hashes, self._n_halved(part)))
        names = [*self.table.features, self.table.target]
        return _concatenated([piece.read(names) for piece in self.table.pieces])

    def _n_halved(self, part: str) -> int:
        return max(seen["halved"][(COPIES, NEAR).index(part)] for seen in self._seen())

    def _read_all(self, name: str) -> Any:
        pieces = range(self.table.n_pieces)
        return _concatenated([self.table.folder.read_arrow(_file(name, piece)) for piece in pieces])


def _concatenated(parts: list[Any]) -> Any:
    import pyarrow as pa

    return pa.concat_tables(parts).unify_dictionaries().combine_chunks()


def _file(name: str, piece: int) -> str:
    return f"{name}/{piece:06d}"


def _content_hashes(rows: Any) -> NDArray[np.uint64]:
    """Hash rows by their numbers, else by all cells: copies of a row have the same hash."""
    numbers = [column_array(c) for c in rows.columns if _is_float(c)]
    if not numbers:
        return EQUAL_ROWS.hashes(as_points(container_of(rows, "polars")))
    return _mixed_again(mixed_bits(numbers, len(rows)))


def _value_hashes(column: Any) -> NDArray[np.uint64]:
    """Hash the cells of a column that are not missing: numbers by their bits, which is faster."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.drop_null()
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type):
        cells = column_array(column)
        if cells.dtype.kind == "f":
            cells = cells[~np.isnan(cells)] + 0.0
        return _mixed_again(mixed_bits([cells], len(cells)))
    coded = column.combine_chunks()
    coded = coded if pa.types.is_dictionary(coded.type) else pc.dictionary_encode(coded)
    values = pa.table({"value": coded.dictionary})
    hashes = EQUAL_ROWS.hashes(as_points(container_of(values, "polars")))
    return hashes[coded.indices.to_numpy(zero_copy_only=False)]


def _mixed_again(hashes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    return mixed_bits((hashes, hashes >> np.uint64(32)), len(hashes))


def _grid_columns(rows: Any, container: str) -> list[str]:
    """Return the columns of the grid: as in memory the first ones of floats."""
    floats = [n for n, c in zip(rows.column_names, rows.columns, strict=True) if _is_float(c)]
    names = rows.column_names if container == "numpy" and floats else floats
    return list(names[:GRID_COLUMNS])


def _doubles(rows: Any, name: str) -> NDArray[np.float64]:
    return np.asarray(column_array(rows.column(name)), dtype=np.float64)


def _is_float(column: Any) -> bool:
    return str(column.type) in ("double", "float")
