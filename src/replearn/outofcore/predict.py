"""Predict for files, piece by piece: memory does not grow with the file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from replearn.outofcore.engines import progress_of
from replearn.outofcore.folders import Folder
from replearn.outofcore.pieces import container_of
from replearn.outofcore.sources import open_rows

METHODS = ("predict", "predict_proba", "flip_probability")
_FORMATS = (".parquet", ".csv")


def predict_files(
    model: Any,
    source: Any,
    output: str | os.PathLike[str],
    *,
    methods: Sequence[str] = ("predict",),
    keep: Sequence[str] = (),
    container: str = "polars",
    verbose: int = 0,
) -> int:
    """Predict for all rows of some files and write the predictions to another file.

    Parameters
    ----------
    model : fitted estimator
        Any estimator of this library, or of scikit-learn.
    source : path, address, list of them, pyarrow dataset, polars or Dask frame
        The rows, as for `fit_files`. Columns that the model does not know are left out.
    output : path
        A new .parquet or .csv file with one row for each row of the source, in the same order. If
        prediction fails, no file is written.
    methods : sequence of {"predict", "predict_proba", "flip_probability"}, default=("predict",)
        What is written: the columns ``prediction``, ``proba_<class>`` and ``flip_probability``.
    keep : sequence of str, default=()
        Columns of the source that are copied to the output, such as an id.
    container : {"polars", "pandas", "numpy"}, default="polars"
        The kind of table that is passed to the model.
    verbose : int, default=0
        Progress, as for estimators.

    Returns
    -------
    int
        Number of rows.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, polars as pl
    >>> from replearn import PointwiseReplicableClassifier
    >>> from replearn.outofcore import predict_files
    >>> X = pl.DataFrame(np.random.default_rng(0).normal(size=(2000, 2)), schema=["a", "b"])
    >>> model = PointwiseReplicableClassifier(n_blocks=20, max_fits=20, rho=1).fit(X, X["a"] > 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     X.write_parquet(f"{folder}/new.parquet")
    ...     rows = predict_files(model, f"{folder}/new.parquet", f"{folder}/predictions.parquet")
    ...     written = pl.read_parquet(f"{folder}/predictions.parquet")
    >>> rows, bool((written["prediction"].to_numpy() == model.predict(X)).all())
    (2000, True)
    """
    unknown = [name for name in methods if name not in METHODS]
    if unknown or not methods:
        raise ValueError(f"methods={list(methods)!r} must be some of {', '.join(METHODS)}.")
    target = Path(output)
    if target.suffix not in _FORMATS:
        raise ValueError(f"output={str(output)!r} must end in {' or '.join(_FORMATS)}.")
    with tempfile.TemporaryDirectory() as folder:
        rows = open_rows(source, Folder(folder))
        features = list(getattr(model, "feature_names_in_", rows.names))
        rows.require([*features, *keep])
        with progress_of(len(rows.pieces), "pieces predicted", verbose) as progress:
            _write(target, _predicted(model, rows, features, methods, keep, container, progress))
    return rows.n


def _predicted(
    model: Any,
    rows: Any,
    features: list[str],
    methods: Sequence[str],
    keep: Sequence[str],
    container: str,
    progress: Any,
) -> Any:
    for piece in rows.pieces:
        read = piece.read(list(dict.fromkeys([*features, *keep])))
        X = container_of(read.select(features), container)
        table = read.select(list(keep))
        for name in methods:
            table = _with_columns(table, model, name, getattr(model, name)(X))
        progress.advance()
        yield table


def _with_columns(table: Any, model: Any, name: str, values: Any) -> Any:
    import pyarrow as pa

    if name == "predict_proba":
        for index, label in enumerate(model.classes_):
            column = pa.array(np.ascontiguousarray(values[:, index]))
            table = table.append_column(f"proba_{label}", column)
        return table
    return table.append_column("prediction" if name == "predict" else name, pa.array(values))


def _write(target: Path, tables: Any) -> None:
    """Write tables to a file one after another; the file is there when it is whole."""
    from pyarrow import csv, parquet

    folder = Folder(target.parent)
    with folder.writing(target.name, private=False) as stream:
        writer = None
        for table in tables:
            if writer is None:
                make = parquet.ParquetWriter if target.suffix == ".parquet" else csv.CSVWriter
                writer = make(stream, table.schema)
            writer.write_table(table)
        if writer is not None:
            writer.close()
