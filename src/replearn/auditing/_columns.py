"""Columns of any container, their values in words, and subgroups of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.tables import is_frame, is_sparse, n_rows, take_rows

MOST_COLUMNS = 200
"""Wider tables are looked at by their first columns only."""

MOST_LEVELS = 12
MOST_SUBGROUP_COLUMNS = 6
LONGEST_TEXT = 200


def columns(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield name and values of the columns of a frame or of a dense array.

    Examples
    --------
    >>> [name for name, _ in columns(np.zeros((2, 3)))]
    ['column 0', 'column 1', 'column 2']
    """
    if is_frame(X):
        for name in list(X.columns)[:MOST_COLUMNS]:
            yield str(name), np.asarray(X[name])
    elif not is_sparse(X) and getattr(np.asarray(X), "ndim", 1) == 2:
        values = np.asarray(X)
        for place in range(min(values.shape[1], MOST_COLUMNS)):
            yield f"column {place}", values[:, place]


def is_numeric(values: NDArray[Any]) -> bool:
    """Tell whether a column holds numbers (not booleans)."""
    return values.dtype.kind in "iuf"


def levels(values: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the distinct values in words, and the place of each row's value among them.

    Examples
    --------
    >>> names, places = levels(np.array(["b", None, "b"], dtype=object))
    >>> names, places.tolist()
    (['None', 'b'], [1, 0, 1])
    """
    names, places = np.unique(np.array([in_words(v) for v in values.tolist()]), return_inverse=True)
    return names.tolist(), places


def in_words(value: Any) -> str:
    """Write one cell: short numbers, shortened texts.

    Examples
    --------
    >>> in_words(0.123456789), in_words("x" * 300)[-3:]
    ('0.123457', 'xx…')
    """
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value)
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def cells(X: Any, rows: NDArray[np.intp]) -> tuple[list[str], list[list[str]]]:
    """Return column names and the cells of some rows in words.

    Examples
    --------
    >>> cells(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1]))
    (['column 0', 'column 1'], [['3', '4']])
    """
    some = take_rows(X, rows)
    found = list(columns(some))
    if not found:
        if is_sparse(X):
            return [], [[] for _ in rows]
        return ["text"], [[in_words(value)] for value in some]
    names = [name for name, _ in found]
    values = [column.tolist() for _, column in found]
    return names, [[in_words(v[i]) for v in values] for i in range(len(rows))]


Subgroups = dict[str, tuple[list[str], NDArray[np.intp]]]


def make_subgroups(X: Any, wanted: Any, test: NDArray[np.intp]) -> Subgroups:
    """Find the subgroups of the test rows.

    Parameters
    ----------
    X : container of rows
        The whole file.
    wanted : "auto", None, list of column names, or dict of name to one label per row
        "auto" takes columns of texts or booleans with at most 12 values.
    test : ndarray of int
        Positions of the test rows.

    Returns
    -------
    dict
        Name to (names of the levels, level of each test row).

    Examples
    --------
    >>> found = make_subgroups(np.zeros((3, 1)), {"town": ["a", "b", "a"]}, np.array([0, 1]))
    >>> found["town"][0]
    ['a', 'b']
    """
    if wanted is None:
        return {}
    if isinstance(wanted, Mapping):
        return {str(name): levels(_column(v, n_rows(X), name)[test]) for name, v in wanted.items()}
    if isinstance(wanted, str) and wanted == "auto":
        return _automatic(X, test)
    if isinstance(wanted, str) or not isinstance(wanted, Sequence):
        raise ValueError(
            f"subgroups={wanted!r} must be 'auto', None, a list of column names, or a dict of "
            "name to one label per row."
        )
    known = dict(columns(X))
    missing = [name for name in wanted if str(name) not in known]
    if missing:
        raise ValueError(f"subgroups: X has no columns {missing}; it has {list(known)[:20]}.")
    return {str(name): levels(known[str(name)][test]) for name in wanted}


def _column(values: Any, n: int, name: Any) -> NDArray[Any]:
    column = np.asarray(values)
    if column.shape != (n,):
        raise ValueError(f"subgroups[{name!r}] has shape {column.shape}, but X has {n} rows.")
    return column


def _automatic(X: Any, test: NDArray[np.intp]) -> Subgroups:
    found: Subgroups = {}
    for name, values in columns(X):
        if is_numeric(values) or len(found) == MOST_SUBGROUP_COLUMNS:
            continue
        names, places = levels(values[test])
        if 2 <= len(names) <= MOST_LEVELS:
            found[name] = names, places
    return found
