"""Draw rows from files larger than memory, for an audit or a first look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from replearn.outofcore.folders import Folder
from replearn.outofcore.pieces import container_of
from replearn.outofcore.sources import open_rows
from replearn.randomness import SharedKey
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
    """Draw rows without replacement; memory holds one piece of the file and what is drawn.

    The same key draws the same rows of the same files: an audit of a sample can be repeated.

    Parameters
    ----------
    source : path, address, list of them, pyarrow dataset, polars or Dask frame
        The rows, as for `fit_files`.
    n : int
        How many rows; all if there are fewer.
    key : SharedKey, str, bytes or int, default=0
        Another key draws other rows.
    columns : sequence of str, default=None
        Which columns; None: all.
    folder : path, default=None
        Where rows are written that cannot be read in pieces (text files, lazy frames).
    container : {"polars", "pandas", "numpy"}, default="polars"
        What is returned.

    Returns
    -------
    frame or ndarray
        The rows, in the order of the files.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> from replearn.outofcore import sample_files
    >>> with tempfile.TemporaryDirectory() as place:
    ...     pl.DataFrame({"a": range(1000)}).write_parquet(f"{place}/rows.parquet")
    ...     rows = sample_files(f"{place}/rows.parquet", 10, key="audit")
    >>> rows.shape, rows["a"].n_unique()
    ((10, 1), 10)
    """
    import pyarrow as pa

    check_count("n", n)
    rows = open_rows(source, None if folder is None else Folder(folder))
    generator = np.random.default_rng(SharedKey(key).seed_for("sample of rows"))
    chosen = np.sort(generator.choice(rows.n, min(n, rows.n), replace=False, shuffle=False))
    ends = np.cumsum([piece.rows for piece in rows.pieces])
    parts = []
    for piece, start, stop in zip(rows.pieces, np.append(0, ends), ends, strict=False):
        inside = chosen[(chosen >= start) & (chosen < stop)] - start
        if len(inside):
            read = piece.read(rows.names if columns is None else columns)
            parts.append(read.take(pa.array(inside)))
    table = pa.concat_tables(parts).unify_dictionaries()
    return container_of(table.combine_chunks(), container)
