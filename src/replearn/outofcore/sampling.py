"""Draw rows from files larger than memory, for an audit or a first look.

Rows are drawn by the keyed hash of their cells, as blocks are cut: the same rows in another order,
or in another kind of file, give the same sample. Memory holds eight bytes for each row, one piece
of the file, and what is drawn; the file is read twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.outofcore.folders import Folder
from replearn.outofcore.pieces import container_of
from replearn.outofcore.sources import open_rows
from replearn.randomness.key import SharedKey
from replearn.randomness.points import as_points
from replearn.records.checks import check_count


def sample_files(
    source: Any,
    n: int,
    *,
    key: SharedKey | str | bytes | int = 0,
    columns: Sequence[str] | None = None,
    folder: Any = None,
    container: str = "polars",
) -> Any:
    """Draw rows without replacement, with one piece of the file in memory at a time.

    An audit of a sample can be repeated: the same key draws the same rows of the same table.

    Parameters
    ----------
    source : path, address, list of them, pyarrow dataset, polars or Dask frame
        The rows, as for `fit_files`.
    n : int
        Number of rows; all rows if there are fewer.
    key : SharedKey, str, bytes or int, default=0
        Another key draws other rows.
    columns : sequence of str, default=None
        The columns, whose values decide which rows are drawn. If None, all columns.
    folder : path, default=None
        Folder for rows that cannot be read in pieces (text files, lazy frames).
    container : {"polars", "pandas", "numpy"}, default="polars"
        What is returned.

    Returns
    -------
    frame or ndarray
        The rows, in keyed order.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from replearn.outofcore import sample_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.DataFrame({"a": range(1000)}).write_parquet(f"{folder}/rows.parquet")
    ...     rows = sample_files(f"{folder}/rows.parquet", 10, key="audit")
    >>> rows.shape, rows["a"].n_unique()
    ((10, 1), 10)
    """
    import pyarrow as pa

    check_count("n", n)
    rows = open_rows(source, None if folder is None else Folder(folder))
    wanted = list(rows.names if columns is None else columns)

    def tables() -> Iterable[Any]:
        return (piece.read(wanted) for piece in rows.pieces)

    parts, ranks, _ = draw_rows(tables, n, SharedKey(key), lambda table, at: table.take(at))
    table = pa.concat_tables(parts).unify_dictionaries().combine_chunks()
    return container_of(table.take(np.argsort(ranks, kind="stable")), container)


def draw_rows(
    tables: Callable[[], Iterable[Any]], n: int, key: SharedKey, take: Callable[[Any, Any], Any]
) -> tuple[list[Any], NDArray[np.uint64], int]:
    """Draw rows from tables that come one after another, the same ones each time.

    ``tables`` starts to read them, ``take`` returns the rows of one at some positions. Returns the
    drawn rows of each table, the rank of each row in the keyed order, and how many rows there are.

    >>> import polars as pl
    >>> halves = [pl.DataFrame({"a": [1, 1]}), pl.DataFrame({"a": [1, 2]})]
    >>> parts, ranks, n = draw_rows(lambda: halves, 3, SharedKey(0), lambda rows, at: rows[at])
    >>> sum(part.height for part in parts), len(set(ranks.tolist())), n
    (3, 3, 4)
    """
    own = key.child("sample of rows")
    hashes = [own.row_hashes(as_points(table)) for table in tables()]
    # theorem: content-keyed-partition (equal rows are numbered, and drawn one by one)
    ranks = own.ranks(np.concatenate(hashes))
    limit = np.partition(ranks, n - 1)[n - 1] if n < len(ranks) else ranks.max()
    parts = []
    kept = []
    start = 0
    for table, hashed in zip(tables(), hashes, strict=True):
        own_ranks = ranks[start : start + len(hashed)]
        at = np.flatnonzero(own_ranks <= limit)
        parts.append(take(table, at))
        kept.append(own_ranks[at])
        start += len(hashed)
    return parts, np.concatenate(kept), len(ranks)
