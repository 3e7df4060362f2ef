"""Fit on files that are larger than memory: the models, bits and plan of `fit` in memory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from replearn.checks.fingerprint import fingerprint
from replearn.learners.inputs import all_or_nothing, check_features
from replearn.learners.pointwise import PointwiseReplicableClassifier
from replearn.learners.training import requested_classes
from replearn.outofcore.engines import engine_for
from replearn.outofcore.folders import Folder
from replearn.outofcore.job import Job, open_table
from replearn.outofcore.sample import FileSample
from replearn.outofcore.sources import open_rows
from replearn.records.json import digest_of
from replearn.tables.rows import slice_rows


def fit_files(
    estimator: PointwiseReplicableClassifier,
    source: Any,
    target: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    features: Sequence[str] | None = None,
    container: str = "polars",
    client: Any = None,
    trusted_types: Sequence[str] = (),
) -> PointwiseReplicableClassifier:
    """Fit an estimator on files that may be larger than memory.

    With the same key and the same rows, the models, their predictions and the plan are those of
    ``fit`` in memory, bit for bit, whatever the engine and the order of the files.

    Parameters
    ----------
    estimator : PointwiseReplicableClassifier
        The estimator to fit; ``n_jobs`` and ``verbose`` are parameters of it.
    source : path, address, list of them, pyarrow dataset, polars or Dask frame
        The rows. Paths may contain ``*`` or name a folder; files end in .parquet, .pq, .arrow,
        .feather, .ipc, .csv or .tsv. Text files and lazy frames are written to ``folder`` first.
    target : str
        The column of labels.
    folder : path or address, default=None
        Where the work is kept, and where a fit that was interrupted continues. It needs as much
        space as the rows take in memory, and can be removed afterwards. If None, a temporary
        folder. On a cluster, storage that all workers can access, such as ``s3://bucket/work``.
    features : sequence of str, default=None
        The columns to learn from, in this order. If None, all columns but the target.
    container : {"polars", "pandas", "numpy"}, default="polars"
        The kind of table that is passed to the base estimator, as if the whole file had been read.
    client : dask.distributed.Client or str, default=None
        A Dask cluster, or the address of its scheduler. If None, this machine.
    trusted_types : sequence of str, default=()
        Types outside scikit-learn that models may consist of, as for `replearn.load`: finished
        blocks are kept in files.

    Returns
    -------
    PointwiseReplicableClassifier
        The estimator, fitted.

    Notes
    -----
    Features from a fitted RobustScaler are not detected, since that requires exact quartiles (see
    `replearn.outofcore.moments`). Groups are not supported.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, polars as pl
    >>> from replearn import PointwiseReplicableClassifier
    >>> from replearn.outofcore import fit_files
    >>> X = np.random.default_rng(0).normal(size=(4000, 2))
    >>> rows = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": X[:, 0] > X[:, 1]})
    >>> estimator = PointwiseReplicableClassifier(n_blocks=20, rho=0.5, max_fits=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows.write_parquet(f"{folder}/rows.parquet")
    ...     _ = fit_files(estimator, f"{folder}/rows.parquet", "y")
    >>> X = rows.drop("y")
    >>> votes = estimator.predict_proba(X)
    >>> bool((votes == estimator.fit(X, rows["y"]).predict_proba(X)).all())
    True
    """
    if type(estimator) is not PointwiseReplicableClassifier:
        raise TypeError(
            f"estimator={estimator!r} must be a PointwiseReplicableClassifier: other estimators "
            "need their sample in memory."
        )
    if client is not None and folder is None:
        raise ValueError("client= needs folder=: storage that all workers see.")
    estimator._validate_params()
    with nullcontext(folder) if folder is not None else tempfile.TemporaryDirectory() as home:
        work = Folder(home)
        rows = open_rows(source, work)
        with (
            engine_for(client, estimator.n_jobs, estimator.verbose) as engine,
            all_or_nothing(estimator),
        ):
            table = open_table(rows, work, target, features, container, _describe(estimator))
            job = Job(table, engine)
            look = job.look(rows.n)
            classes = job.list_classes(look, requested_classes(estimator))
            job.table = replace(table, classes=tuple(classes.tolist()))
            check_features(estimator, slice_rows(job.table.read(0).X, 0, 1), reset=True)
            sample = FileSample(job, look, rows.n, tuple(trusted_types))
            estimator._fit_rows(sample, classes)
    return estimator


def _describe(estimator: PointwiseReplicableClassifier) -> dict[str, str]:
    """Say what is fitted, for the manifest of the folder; how it is run does not matter."""
    run = {"n_jobs": None, "verbose": 0, "shared_key": None, "plan": None}
    plan = estimator.plan
    return {
        "key": estimator._key_for_fit().fingerprint,
        "learner": fingerprint(clone(estimator).set_params(**run)).digest,
        "plan": "" if plan is None else digest_of(plan.to_json()),
    }
