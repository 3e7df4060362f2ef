"""A table as a matrix of terms: simple functions of single columns that many models share.

A *term* is the number in a column (zero where it is missing), or one if the cell is missing, or
one if it is a certain level. What a scaler, an imputer and a one-hot encoder make of a row is a
weighted sum of terms; only the weights differ from block to block.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from enum import Enum
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from replearn.randomness import pandas_columns, pandas_names
from replearn.tables import (
    clip_for_trees,
    count_words,
    is_frame,
    is_nan,
    is_sparse,
    n_rows,
    numbers_of,
    parts_of_dates,
    texts_of,
)


class Of(Enum):
    """What a term says of a cell, if it is not about a level."""

    NUMBER = "number"
    MISSING = "missing"


What = Of | float | str | None
"""What a term says of a cell: a level stands for itself (None is one, as in scikit-learn)."""


class Channel(NamedTuple):
    """A column and the way it is read; dates and words give several channels."""

    column: Hashable  # name or position
    reader: str
    part: int = 0


class Term(NamedTuple):
    """A function of one column: its number, whether it is missing, or whether it is a level."""

    channel: Channel
    what: What


@dataclass(frozen=True)
class Sum:
    """A constant plus weighted terms; ``open`` names a channel whose missing cells stay missing."""

    terms: dict[Term, float]
    constant: float = 0.0
    open: Channel | None = None


def _numbers(column: Any) -> list[NDArray[np.float64]]:
    if isinstance(column, np.ndarray):
        return [column.astype(np.float64)]
    return [numbers_of(column)]


def _cells(column: Any) -> list[list[Any]]:
    return [column.tolist() if hasattr(column, "tolist") else column.to_list()]


READERS: dict[str, Callable[[Any], list[Any]]] = {
    "numbers": _numbers,
    "cells": _cells,
    "clipped": lambda column: [clip_for_trees(numbers_of(column))],
    "texts": lambda column: [[np.nan if text is None else text for text in texts_of(column)]],
    "dates": parts_of_dates,
    "words": lambda column: list(count_words(texts_of(column)).T),
}
"""How the cells of a column are read: arrays of float64 (NaN: missing), or lists of cells."""

CELL_READERS = frozenset({"cells", "texts"})
"""Those that return lists."""


Indices = dict[Any, int]
"""Where the terms of one channel stand in the matrix, by what they say (see `What`)."""


class Basis:
    """The terms that some models share, each once; ``names`` are for tables without names.

    >>> age = Channel(0, "numbers")
    >>> basis = Basis([Term(age, Of.NUMBER), Term(age, Of.MISSING)])
    >>> basis.matrix(np.array([[30.0], [np.nan]]))
    array([[30.,  0.],
           [ 0.,  1.]])
    """

    def __init__(self, terms: Iterable[Term], names: Iterable[str] = ()) -> None:
        self.indices = {term: index for index, term in enumerate(dict.fromkeys(terms))}
        self._positions = {name: position for position, name in enumerate(names)}
        channels: dict[Channel, Indices] = {}
        for term, index in self.indices.items():
            channels.setdefault(term.channel, {})[term.what] = index
        # A slot holds one term of a channel in each row: its number, whether it is
        # missing, its level. Sums go through the slots in this order.
        self._cells: list[tuple[Channel, Indices, int]] = []
        self._levels: list[tuple[int, NDArray[np.float64], NDArray[np.intp], int]] = []
        self._numeric: list[Channel] = []
        number: list[tuple[int, int, int]] = []
        missing: list[tuple[int, int, int]] = []
        self._n_slots = 0
        for channel, indices in channels.items():
            if channel.reader in CELL_READERS:
                self._cells.append((channel, indices, self._n_slots))
                self._n_slots += 2
                continue
            column = len(self._numeric)
            slot = self._n_slots
            self._numeric.append(channel)
            if Of.NUMBER in indices:
                number.append((column, slot, indices[Of.NUMBER]))
            if Of.MISSING in indices:
                missing.append((column, slot + 1, indices[Of.MISSING]))
            listed = sorted(what for what in indices if not isinstance(what, Of))
            if listed:
                at = np.array([indices[what] for what in listed])
                self._levels.append((column, np.array(listed, dtype=np.float64), at, slot + 2))
            self._n_slots += 3
        self._number = _triples(number)
        self._missing = _triples(missing)
        self._never_missing = np.setdiff1d(self._number[0], self._missing[0])
        self._has_levels = any(not isinstance(term.what, Of) for term in self.indices)

    def matrix(self, X: Any) -> Any:
        """Evaluate all terms; a row of the result depends on that row of the table alone."""
        if is_sparse(X) and all(
            term.channel.reader == "numbers" and term.what is Of.NUMBER for term in self.indices
        ):
            chosen: Any = [term.channel.column for term in self.indices]
            return _finite(sparse.csr_array(X, dtype=np.float64)[:, chosen])
        read = self._reader(X)
        numbers = self._numbers(X, read)
        gone = np.isnan(numbers)
        if gone[:, self._never_missing].any():
            raise ValueError("a missing number in a column where the blocks expect none")
        of_number, number_slots, number_indices = self._number
        of_missing, missing_slots, missing_indices = self._missing
        known = _finite(np.where(gone, 0.0, numbers)[:, of_number])
        if not self._has_levels:
            dense = np.zeros((n_rows(X), len(self.indices)))
            dense[:, number_indices] = known
            dense[:, missing_indices] = gone[:, of_missing]
            return dense
        indices = np.full((n_rows(X), self._n_slots), -1, dtype=np.intp)
        values = np.ones(indices.shape)
        indices[:, number_slots] = number_indices
        values[:, number_slots] = known
        indices[:, missing_slots] = np.where(gone[:, of_missing], missing_indices, -1)
        for column, levels, at, slot in self._levels:
            nearest = np.minimum(np.searchsorted(levels, numbers[:, column]), len(levels) - 1)
            indices[:, slot] = np.where(levels[nearest] == numbers[:, column], at[nearest], -1)
        for channel, indices_of, slot in self._cells:
            _index_cells(read(channel), indices_of, indices[:, slot : slot + 2])
        return _sparse_rows(indices, values, len(self.indices))

    def _reader(self, X: Any) -> Callable[[Channel], Any]:
        """Return what reads a channel; each column of the table is read once in each way."""
        known: dict[tuple[Hashable, str], list[Any]] = {}
        columns = _named_columns(X)

        def read(channel: Channel) -> Any:
            key = channel.column, channel.reader
            if key not in known:
                named = channel.column in columns
                column = columns[channel.column] if named else self._column(X, channel.column)
                known[key] = READERS[channel.reader](column)
            return known[key][channel.part]

        return read

    def _numbers(self, X: Any, read: Callable[[Channel], Any]) -> NDArray[np.float64]:
        """Read the channels of numbers, one column for each."""
        if type(X) is np.ndarray and all(one.reader == "numbers" for one in self._numeric):
            columns = [self._position(channel.column) for channel in self._numeric]
            return X[:, columns].astype(np.float64)
        numbers = np.empty((n_rows(X), len(self._numeric)))
        for index, channel in enumerate(self._numeric):
            numbers[:, index] = read(channel)
        return numbers

    def _position(self, column: Any) -> int:
        return column if isinstance(column, int) else self._positions[column]

    def _column(self, X: Any, column: Any) -> Any:
        if is_frame(X):
            return X[X.columns[column]] if isinstance(column, int) else X[column]
        position = self._position(column)
        return X[:, [position]].toarray()[:, 0] if is_sparse(X) else np.asarray(X)[:, position]


def _named_columns(X: Any) -> dict[Hashable, Any]:
    """Return the columns of a pandas frame: one by one they cost more than their cells."""
    if not hasattr(X, "iloc"):
        return {}
    names = pandas_names(X)
    if len(set(names)) < len(names):
        return {}
    named = zip(names, pandas_columns(X), strict=True)
    return {name: column for name, column in named if isinstance(name, str)}


def _triples(entries: list[tuple[int, int, int]]) -> NDArray[np.intp]:
    """Return columns, slots and indices as three arrays."""
    return np.array(entries, dtype=np.intp).reshape(-1, 3).T


def _index_cells(cells: list[Any], indices_of: Indices, indices: NDArray[np.intp]) -> None:
    """Write the indices of a column of cells into its slots: missing, and levels."""
    if Of.MISSING in indices_of:
        missing = np.fromiter(map(_is_missing, cells), dtype=bool, count=len(cells))
        indices[missing, 0] = indices_of[Of.MISSING]
    at = map(indices_of.get, cells, repeat(-1))
    indices[:, 1] = np.fromiter(at, dtype=np.intp, count=len(cells))


def _is_missing(cell: Any) -> bool:
    """Tell whether imputers and encoders call a cell missing; where they disagree, refuse it."""
    if is_nan(cell):
        return True
    if type(cell) is not str and cell != cell:  # NaT: imputers fill it in, to encoders it is new
        raise ValueError(f"{cell!r} among the cells of a column with missing values")
    return False


def _finite(values: Any) -> Any:
    if not np.isfinite(values.data if is_sparse(values) else values).all():
        raise ValueError("a number is infinite or missing")
    return values


def _sparse_rows(
    indices: NDArray[np.intp], values: NDArray[np.float64], n_terms: int
) -> sparse.csr_array:
    """Put the terms of each row one after another; zeros add nothing and are left out."""
    there = (indices >= 0) & (values != 0.0)
    ends = np.concatenate([[0], there.sum(axis=1).cumsum()])
    return sparse.csr_array((values[there], indices[there], ends), shape=(len(indices), n_terms))
