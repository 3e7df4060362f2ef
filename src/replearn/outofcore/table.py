"""The table that is being learned from: pieces of files, features and labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.outofcore.folders import Folder
from replearn.outofcore.pieces import Piece, column_array, container_of

PIECES = "pieces.json"
CODE = "__code__"


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Some rows as a pyarrow table, with the codes of their labels."""

    arrow: Any
    codes: NDArray[np.intp]
    container: str

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def X(self) -> Any:
        """The rows as the estimator sees them."""
        return container_of(self.arrow, self.container)

    def take(self, rows: NDArray[np.intp]) -> LabelledRows:
        """Return some of the rows, in this order."""
        return LabelledRows(self.arrow.take(rows), self.codes[rows], self.container)


@dataclass(frozen=True)
class Table:
    """Features and labels of a file, piece by piece.

    Small enough to be sent to a worker: the list of pieces stands in the folder.
    """

    folder: Folder
    features: tuple[str, ...]
    target: str
    container: str
    n_pieces: int
    classes: tuple[Any, ...] = ()

    @property
    def pieces(self) -> list[Piece]:
        """Where the rows are."""
        return _pieces(self.folder.address, self.n_pieces)

    def read(self, piece: int) -> LabelledRows:
        """Read one piece."""
        read = self.pieces[piece].read((*self.features, self.target))
        codes = codes_of(read.column(self.target), self.classes)
        return LabelledRows(read.select(list(self.features)), codes, self.container)

    def read_column(self, piece: int, name: str) -> Any:
        """Read one column of a piece, as one pyarrow array."""
        return self.pieces[piece].read([name]).column(name).combine_chunks()

    def read_codes(self, piece: int) -> NDArray[np.intp]:
        """Read the codes of the labels of a piece."""
        return codes_of(self.pieces[piece].read([self.target]).column(self.target), self.classes)


@lru_cache(maxsize=8)
def _pieces(address: str, n_pieces: int) -> list[Piece]:
    listed = Folder(address).read_json(PIECES)
    return [Piece(**{**values, "groups": tuple(values["groups"])}) for values in listed]


def codes_of(labels: Any, classes: tuple[Any, ...]) -> NDArray[np.intp]:
    """Return the index of each label in the sorted list of classes.

    >>> import pyarrow as pa
    >>> codes_of(pa.chunked_array([["b", "a"]]), ("a", "b"))
    array([1, 0])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(labels.type):
        labels = labels.cast(labels.type.value_type)
    indices = pc.index_in(labels, value_set=pa.array(list(classes), type=labels.type))
    if indices.null_count:
        other = labels.filter(pc.is_null(indices))[0].as_py()
        raise ValueError(f"the label {other!r} is not in classes={list(classes)}.")
    return column_array(indices).astype(np.intp)


def write_kept(table: Table, name: str, rows: LabelledRows) -> None:
    """Keep some rows in a file of their own."""
    import pyarrow as pa

    kept = rows.arrow.append_column(CODE, pa.array(rows.codes.astype(np.int32)))
    table.folder.write_arrow(name, kept)


def read_kept(table: Table, name: str) -> LabelledRows:
    """Read back what `write_kept` has written."""
    rows = table.folder.read_arrow(name)
    codes = rows.column(CODE).to_numpy().astype(np.intp)
    return LabelledRows(rows.select(list(table.features)), codes, table.container)
