"""Containers of rows, seen as columns of cells: lists, sparse matrices and frames.

Nothing is converted as a whole: a source hands over the cells of a few thousand rows at a time.
Frames and sparse matrices are recognised by where their class comes from; this room imports
neither pandas nor polars, pyarrow or scipy. Arrays are read in `points`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from replearn.randomness.columns import Encoded, Kinds, Nullable, Values
from replearn.randomness.kinds import BadRowError

Rows = slice | NDArray[np.intp]
"""Which rows: a slice, or positions."""


class Source(Protocol):
    """Rows of cells in some container."""

    names: Sequence[Hashable]
    """Names of the columns (positions where there are none), in canonical order."""

    def __len__(self) -> int: ...

    def columns(self, rows: Rows) -> Iterator[Values]:
        """Yield the cells of the chosen rows, column by column in canonical order."""
        ...


def split_mask(cells: np.ma.MaskedArray[Any, Any]) -> Values:
    """Turn a masked column into one whose masked cells are missing.

    Examples
    --------
    >>> import numpy as np
    >>> split_mask(np.ma.masked_array([1.0, 2.0], mask=[False, True])).missing
    array([False,  True])
    """
    missing = np.ma.getmaskarray(cells)
    if cells.dtype.kind in "biufmM":
        return Nullable(cells.data, missing)
    return [None if gone else cell for cell, gone in zip(cells.data.tolist(), missing, strict=True)]


class SparseSource:
    """A scipy sparse matrix or array; only the chosen rows are ever made dense, column by column.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> source = SparseSource(csr_array([[0.0, 2.0], [0.0, 0.0]]))
    >>> [cells.tolist() for cells in source.columns(slice(0, 2))]
    [[0.0, 0.0], [2.0, 0.0]]
    """

    def __init__(self, matrix: Any) -> None:
        if matrix.ndim != 2:
            raise ValueError(
                f"must have two dimensions, got a sparse array of shape {matrix.shape}"
            )
        self._matrix = matrix.tocsr()
        self.names: Sequence[Hashable] = range(matrix.shape[1])

    def __len__(self) -> int:
        return int(self._matrix.shape[0])

    def columns(self, rows: Rows) -> Iterator[Values]:
        """Yield the cells of the chosen rows, column by column."""
        block = self._matrix[rows].tocsc()
        block.sum_duplicates()
        for position in range(block.shape[1]):
            stored = slice(block.indptr[position], block.indptr[position + 1])
            cells = np.zeros(block.shape[0], dtype=block.dtype)
            cells[block.indices[stored]] = block.data[stored]
            yield cells


class SequenceSource:
    """A list of values: one column.

    Examples
    --------
    >>> list(SequenceSource(["ann", "bob"]).columns(slice(0, 2)))
    [['ann', 'bob']]
    """

    names: Sequence[Hashable] = (0,)

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def columns(self, rows: Rows) -> Iterator[Values]:
        """Yield the cells of the chosen rows, column by column."""
        yield pick(self._values, rows)


class RowsSource:
    """A list of rows, each a list, tuple or array of the same length.

    Examples
    --------
    >>> list(RowsSource([[1, "a"], [2, "b"]]).columns(slice(0, 2)))
    [(1, 2), ('a', 'b')]
    """

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = rows
        self.names: Sequence[Hashable] = range(len(rows[0]))

    def __len__(self) -> int:
        return len(self._rows)

    def columns(self, rows: Rows) -> Iterator[Values]:
        """Yield the cells of the chosen rows, column by column."""
        chosen = pick(self._rows, rows)
        for position, row in enumerate(chosen):
            if not is_row(row) or len(row) != len(self.names):
                raise BadRowError(
                    f"rows must be lists of equal length, but row 0 has {len(self.names)} cells "
                    f"and row {row_number(rows, position)} is {row!r:.60}"
                )
        yield from zip(*chosen, strict=True)


class ColumnSource:
    """Named columns, each a function from rows to cells.

    Examples
    --------
    >>> source = ColumnSource(["b", "a"], [lambda rows: [1.0], lambda rows: [2.0]], 1)
    >>> source.names, [cells for cells in source.columns(slice(0, 1))]
    (['a', 'b'], [[2.0], [1.0]])
    """

    def __init__(
        self, names: Sequence[Hashable], readers: Sequence[Callable[[Rows], Values]], n_rows: int
    ) -> None:
        order = canonical_order(names)
        self.names: Sequence[Hashable] = [names[i] for i in order]
        self._readers = [readers[i] for i in order]
        self._n_rows = n_rows

    def __len__(self) -> int:
        return self._n_rows

    def columns(self, rows: Rows) -> Iterator[Values]:
        """Yield the cells of the chosen rows, column by column."""
        for reader in self._readers:
            yield reader(rows)


class EncodedSource:
    """Cells that were encoded before: a row per column, and kinds where not all are numbers.

    Examples
    --------
    >>> import numpy as np
    >>> source = EncodedSource(["a"], np.zeros((1, 3), dtype=np.uint64), [None])
    >>> len(source), [column.kinds for column in source.columns(slice(0, 2))]
    (3, [None])
    """

    def __init__(
        self, names: Sequence[Hashable], words: NDArray[np.uint64], kinds: Sequence[Kinds | None]
    ) -> None:
        self.names, self._words, self._kinds = names, words, kinds

    def __len__(self) -> int:
        return int(self._words.shape[1])

    def columns(self, rows: Rows) -> Iterator[Values]:
        """Yield the words and kinds of the chosen rows, column by column."""
        for words, kinds in zip(self._words, self._kinds, strict=True):
            yield Encoded(words[rows], None if kinds is None else kinds[rows])


def is_row(value: object) -> bool:
    """Tell a row of cells from a single cell."""
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


def pick(values: Sequence[Any], rows: Rows) -> Sequence[Any]:
    """Return the chosen elements of a sequence.

    Examples
    --------
    >>> import numpy as np
    >>> pick("abc", np.array([2, 0]))
    ['c', 'a']
    """
    return values[rows] if isinstance(rows, slice) else [values[i] for i in rows.tolist()]


def row_number(rows: Rows, position: int) -> int:
    """Return which row of the container stands at a position among the chosen ones.

    Examples
    --------
    >>> row_number(slice(100, 200), 3)
    103
    """
    return int(rows.start + position if isinstance(rows, slice) else rows[position])


def canonical_order(names: Sequence[Hashable]) -> list[int]:
    """Return the positions of columns ordered by name.

    Names are compared as text; those made of digits only come first, as numbers, so that a frame
    made from an array keeps the array's order, also after a trip through a text file.

    Parameters
    ----------
    names : sequence
        Names, not necessarily text.

    Examples
    --------
    >>> canonical_order(["b", 10, "a", 9])
    [3, 1, 2, 0]
    """
    texts = [str(name) for name in names]
    repeated = (
        sorted({text for text in texts if texts.count(text) > 1})
        if len(set(texts)) < len(texts)
        else []
    )
    if repeated:
        raise ValueError(
            f"columns are ordered by name, but these names occur more than once: {repeated}; "
            "rename them"
        )

    def rank(position: int) -> tuple[int, int, str]:
        text = texts[position]
        is_number = text.isascii() and text.isdigit()
        return (0, int(text), text) if is_number else (1, 0, text)

    return sorted(range(len(texts)), key=rank)
