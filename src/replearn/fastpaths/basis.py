"""A table as a matrix of terms: simple functions of single columns that many models share.

A *term* is the number in a column (zero where it is missing), or one if the cell is missing, or
one if it is a certain level. What a scaler, an imputer and a one-hot encoder make of a row is a
weighted sum of terms; only the weights differ from block to block.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from replearn.tables import is_frame, is_sparse, n_rows
from replearn.tables.columns import (
    clip_for_trees,
    count_words,
    is_nan,
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


Places = dict[Any, int]
"""Where the terms of one channel stand in the matrix, by what they say (see `What`)."""

Slot = tuple[NDArray[np.intp], NDArray[np.float64]]
"""For each row, the place of one term (negative: none) and its value."""


class Basis:
    """The terms that some models share, each once; ``names`` are for tables without names.

    Examples
    --------
    >>> age = Channel(0, "numbers")
    >>> basis = Basis([Term(age, Of.NUMBER), Term(age, Of.MISSING)])
    >>> basis.matrix(np.array([[30.0], [np.nan]]))
    array([[30.,  0.],
           [ 0.,  1.]])
    """

    def __init__(self, terms: Iterable[Term], names: Iterable[str] = ()) -> None:
        self.places = {term: place for place, term in enumerate(dict.fromkeys(terms))}
        self._positions = {name: position for position, name in enumerate(names)}
        self._channels: dict[Channel, Places] = {}
        for term, place in self.places.items():
            self._channels.setdefault(term.channel, {})[term.what] = place
        self._has_levels = any(not isinstance(term.what, Of) for term in self.places)

    def matrix(self, X: Any) -> Any:
        """Evaluate all terms; a row of the result depends on that row of the table alone."""
        if is_sparse(X) and all(
            term.channel.reader == "numbers" and term.what is Of.NUMBER for term in self.places
        ):
            chosen: Any = [term.channel.column for term in self.places]
            return _finite(sparse.csr_array(X, dtype=np.float64)[:, chosen])
        slots = list(self._slots(X))
        if self._has_levels:
            return _sparse_rows(slots, len(self.places))
        dense = np.zeros((n_rows(X), len(self.places)))
        for place, values in slots:
            rows = np.flatnonzero(place >= 0)
            dense[rows, place[rows]] = values[rows]
        return dense

    def _slots(self, X: Any) -> Iterator[Slot]:
        read: dict[tuple[Hashable, str], list[Any]] = {}
        for channel, places in self._channels.items():
            key = channel.column, channel.reader
            if key not in read:
                read[key] = READERS[channel.reader](self._column(X, channel.column))
            values = read[key][channel.part]
            if isinstance(values, list):
                yield from _slots_of_cells(values, places)
            else:
                yield from _slots_of_numbers(values, places)

    def _column(self, X: Any, column: Any) -> Any:
        if is_frame(X):
            return X[X.columns[column]] if isinstance(column, int) else X[column]
        position = column if isinstance(column, int) else self._positions[column]
        return X[:, [position]].toarray()[:, 0] if is_sparse(X) else np.asarray(X)[:, position]


def _slots_of_numbers(values: NDArray[np.float64], places: Places) -> Iterator[Slot]:
    missing = np.isnan(values)
    everywhere = np.ones(len(values))
    if Of.NUMBER in places:
        if missing.any() and Of.MISSING not in places:
            raise ValueError("a missing number in a column where the blocks expect none")
        known = _finite(np.where(missing, 0.0, values))
        yield np.full(len(values), places[Of.NUMBER], dtype=np.intp), known
    if Of.MISSING in places:
        yield np.where(missing, places[Of.MISSING], -1), everywhere
    listed = sorted(what for what in places if not isinstance(what, Of))
    if listed:
        levels, where = np.array(listed, dtype=np.float64), np.array([places[at] for at in listed])
        nearest = np.minimum(np.searchsorted(levels, values), len(levels) - 1)
        yield np.where(levels[nearest] == values, where[nearest], -1), everywhere


def _slots_of_cells(cells: list[Any], places: Places) -> Iterator[Slot]:
    everywhere = np.ones(len(cells))
    if Of.MISSING in places:
        missing = np.fromiter(map(_is_missing, cells), dtype=bool, count=len(cells))
        yield np.where(missing, places[Of.MISSING], -1), everywhere
    at = map(places.get, cells, repeat(-1))
    yield np.fromiter(at, dtype=np.intp, count=len(cells)), everywhere


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


def _sparse_rows(slots: list[Slot], n_terms: int) -> sparse.csr_array:
    """Put the terms of each row one after another; zeros add nothing and are left out."""
    places = np.column_stack([place for place, _ in slots])
    values = np.column_stack([value for _, value in slots])
    there = (places >= 0) & (values != 0.0)
    ends = np.concatenate([[0], there.sum(axis=1).cumsum()])
    return sparse.csr_array((values[there], places[there], ends), shape=(len(places), n_terms))
