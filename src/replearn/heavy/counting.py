"""Exact counts of the distinct points of a table, and an index to look points up.

Rows are grouped by their true columns where polars can do so (arrays of numbers, polars frames),
otherwise by a 64-bit hash of their canonical encoding. Nothing rests on a hash being free of
collisions: hashes only bring candidates together, and candidates are compared word by word.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from replearn.randomness import Points, SharedKey, as_points
from replearn.tables import n_rows, row_chunks, take_rows

INDEX_KEY = SharedKey("replearn point index")
_CELLS_AT_A_TIME = 1 << 22


class Counts(NamedTuple):
    """Distinct points of a sample with their numbers of occurrences, most frequent first."""

    values: Any  # one row for each point, in the sample's own kind of container
    points: Points  # the same in canonical encoding
    counts: NDArray[np.int64]
    n: int  # rows of the sample


def count_points(X: Any, *, at_least: int = 1, decimals: int | None = None) -> Counts:
    """Count the distinct points of a sample.

    Parameters
    ----------
    X : container of rows
        The sample.
    at_least : int, default=1
        Leave out points with fewer occurrences.
    decimals : int, optional
        Number of decimals to which numbers are rounded first.

    Returns
    -------
    Counts
        In an order that does not depend on that of the rows.

    Examples
    --------
    >>> counted = count_points([["a", 1], ["b", 2], ["a", 1.0]], at_least=2)
    >>> counted.values, counted.counts.tolist(), counted.n
    ([['a', 1]], [2], 3)
    """
    frame = None if decimals is not None else _plain_frame(X)
    if frame is not None:
        values, counts = _group_frame(frame, at_least)
        values = values.to_numpy().astype(X.dtype) if isinstance(X, np.ndarray) else values
    else:
        rows, counts = _group_points(as_points(X, decimals=decimals))
        kept = counts >= at_least
        values = take_rows(X, rows[kept])
        counts = counts[kept]
    points = as_points(values, decimals=decimals)
    order = by_frequency(points, counts)
    return Counts(take_rows(values, order), points.take(order), counts[order], n_rows(X))


def by_frequency(points: Points, counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the order of distinct points: most frequent first, ties by their hashes."""
    if not len(counts):
        return np.zeros(0, dtype=np.intp)
    return np.lexsort((INDEX_KEY.hashes(points), -counts))


def _plain_frame(X: Any) -> Any:
    """See numbers and polars columns as a frame whose own equality is that of the points."""
    if n_rows(X) == 0:
        return None
    try:
        import polars as pl
    except ImportError:
        return None
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub":
        if X.dtype.itemsize > 8 or X.shape[1] == 0:
            return None
        X = pl.from_numpy(X, schema=[f"c{i}" for i in range(X.shape[1])])
    if not isinstance(X, pl.DataFrame) or not all(_is_plain(pl, kind) for kind in X.dtypes):
        return None
    floats = [name for name, kind in X.schema.items() if kind.is_float()]
    # One missing value, one zero; an infinite number has no canonical encoding and is refused.
    if floats and X.select(pl.col(floats).is_infinite().any()).unpivot()["value"].any():
        as_points(X).encoded()
    if floats and X.select(pl.col(floats).is_nan().any()).unpivot()["value"].any():
        X = X.with_columns(pl.col(floats).fill_nan(None))
    return X


def _is_plain(pl: Any, kind: Any) -> bool:
    return (kind.is_numeric() and not kind.is_decimal()) or kind in (pl.Boolean, pl.String)


def _group_frame(frame: Any, at_least: int) -> tuple[Any, NDArray[np.int64]]:
    import polars as pl

    names = frame.columns
    count = "__count__"
    groups = frame.group_by(names).agg(pl.len().alias(count)).filter(pl.col(count) >= at_least)
    return groups.select(names), groups[count].to_numpy().astype(np.int64)


def _group_points(points: Points) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Sort by a hash; rows that share one but differ are separated by all their words."""
    n = len(points)
    if n == 0:
        return np.zeros(0, np.intp), np.zeros(0, np.int64)
    hashes = INDEX_KEY.hashes(points)
    order = np.argsort(hashes, kind="stable")
    same = hashes[order][1:] == hashes[order][:-1]
    if not _all_equal(points, order[1:][same], order[:-1][same]):
        return _group_words(*points.encoded())
    starts = np.flatnonzero(np.concatenate([[True], ~same]))
    counts = np.diff(np.append(starts, n)).astype(np.int64)
    return order[starts].astype(np.intp), counts


def _all_equal(points: Points, rows: NDArray[np.intp], others: NDArray[np.intp]) -> bool:
    """Compare pairs of rows word by word, a few at a time."""
    size = max(1, _CELLS_AT_A_TIME // max(1, points.n_columns))
    for start, stop in row_chunks(len(rows), size):
        first = points.take(rows[start:stop]).encoded()
        second = points.take(others[start:stop]).encoded()
        if not np.array_equal(first[0], second[0]) or not np.array_equal(first[1], second[1]):
            return False
    return True


def _group_words(
    words: NDArray[np.uint64], kinds: NDArray[np.uint8]
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Group by all words: what is left when hashes collide."""
    rows = np.column_stack([words, kinds.astype(np.uint64)])
    _, firsts, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    return firsts.astype(np.intp), counts.astype(np.int64)


class PointIndex:
    """A short list of distinct points that other points are looked up in, exactly.

    >>> index = PointIndex(as_points([["a", 1], ["b", 2]]))
    >>> index.locate(as_points([["b", 2.0], ["c", 1], ["a", True]])).tolist()
    [1, -1, 0]
    """

    def __init__(self, points: Points) -> None:
        self._words, self._kinds = points.encoded()
        self._hashes = INDEX_KEY.hashes(points) if len(points) else np.zeros(0, np.uint64)
        self._order = np.argsort(self._hashes, kind="stable")

    def __len__(self) -> int:
        return len(self._hashes)

    def locate(self, points: Points) -> NDArray[np.intp]:
        """Return each point's number in the list, or -1."""
        numbers = np.full(len(points), -1, dtype=np.intp)
        if not len(self) or not len(points):
            return numbers
        hashes = INDEX_KEY.hashes(points)
        known = self._hashes[self._order]
        index = np.searchsorted(known, hashes)
        # As many listed points may share one hash: 1 unless hashes collide.
        for step in range(np.unique(self._hashes, return_counts=True)[1].max()):
            at = np.minimum(index + step, len(known) - 1)
            candidates = np.flatnonzero((known[at] == hashes) & (numbers < 0))
            if not len(candidates):
                continue
            words, kinds = points.take(candidates).encoded()
            listed = self._order[at[candidates]]
            same = (words == self._words[listed]).all(axis=1)
            same &= (kinds == self._kinds[listed]).all(axis=1)
            numbers[candidates[same]] = listed[same]
        return numbers
