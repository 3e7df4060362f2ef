"""Fit on files that are larger than memory: the models, bits and plan of `fit` in memory.

The steps are those of `PointwiseReplicableClassifier.fit`, each over pieces, buckets or blocks that
fit in memory, with their results in a folder. A fit that was interrupted continues there.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from replearn.binding import (
    EQUAL_ROWS,
    PROBES,
    Fingerprint,
    bind_estimator,
    blocks_to_check,
    constant_models,
    describe_points,
    refit_condition,
    refuted_by_pairs,
    rows_sketched,
    say_conditions,
    say_mark,
    warn_of_constant,
    without_masses,
)
from replearn.execution import keyed_seeds, random_state_names
from replearn.guarantees import Certificate, Identity, Plan
from replearn.heavy import INDEX_KEY, HeavyPoints, fewest_remembered, heavy_from_counts
from replearn.learners import (
    PointwiseReplicableClassifier,
    all_or_nothing,
    base_estimator,
    base_for_blocks,
    block_thresholds,
    check_base,
    check_features,
    float_precision,
    identity_of,
    known_threshold,
    plan_in_force,
    plan_request,
    requested_classes,
    split_threshold,
    warn_if_blocks_cannot_learn,
    with_threshold,
)
from replearn.outofcore.counting import (
    count_bucket,
    equal_pairs,
    frequent_points,
    hash_points_of_piece,
    tally_file,
    tally_piece,
)
from replearn.outofcore.engines import engine_for
from replearn.outofcore.folders import Folder
from replearn.outofcore.job import Job, claim, open_table
from replearn.outofcore.moments import add_records, mark_of, numbered_column
from replearn.outofcore.ordering import Order, bucket_bits
from replearn.outofcore.routing import Cut, Training, read_block, read_first_rows
from replearn.outofcore.sources import open_rows
from replearn.outofcore.table import LabelledRows, read_kept, write_kept
from replearn.persistence import library_versions
from replearn.randomness import SharedKey
from replearn.tables import slice_rows

FIRST = "kept/first"


class Counted(NamedTuple):
    """How many rows a sample has: all that a plan needs."""

    n: int
    unit: str = "rows"
    groups: None = None


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

    Same key, same rows: the models, their predictions and the plan are those of ``fit`` in
    memory, bit for bit, whatever the engine and the order of the files.

    Parameters
    ----------
    estimator : PointwiseReplicableClassifier
        This object is fitted; ``n_jobs`` and ``verbose`` are its own.
    source : path, address, list of them, pyarrow dataset, polars or Dask frame
        The rows. Paths may hold ``*`` or name a folder; files end in .parquet, .pq, .arrow,
        .feather, .ipc, .csv or .tsv. Text files and lazy frames are written to ``folder`` first.
    target : str
        The column of labels.
    folder : path or address, default=None
        Where the work is kept, and where a fit that was interrupted continues. It needs as much
        space as the rows take in memory, and can be removed afterwards. None: a temporary one. On a
        cluster: storage that all workers see, as ``s3://bucket/work``.
    features : sequence of str, default=None
        The columns to learn from, in this order; None: all others.
    container : {"polars", "pandas", "numpy"}, default="polars"
        What the base estimator sees, as if the whole file had been read into it.
    client : dask.distributed.Client or str, default=None
        A Dask cluster, or the address of its scheduler. None: this machine.
    trusted_types : sequence of str, default=()
        Types outside scikit-learn that models may consist of, as for `replearn.load`: finished
        blocks are kept in files.

    Returns
    -------
    PointwiseReplicableClassifier
        The estimator, fitted.

    Notes
    -----
    Of the marks that a transformer in front leaves, a RobustScaler's is not looked for, as it needs
    exact quartiles (see `replearn.outofcore.moments`). Groups are not supported.

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
            f"need "
            "their sample in memory."
        )
    if estimator.check_price:
        raise ValueError(
            "check_price=True is not supported for a fit from files: the single fit would need all "
            "rows in memory."
        )
    if client is not None and folder is None:
        raise ValueError("client= needs folder=: storage that all workers see.")
    estimator._validate_params()
    with nullcontext(folder) if folder is not None else tempfile.TemporaryDirectory() as home:
        work = Folder(home)
        rows = open_rows(source, Folder(home))
        with (
            engine_for(client, estimator.n_jobs, estimator.verbose) as engine,
            all_or_nothing(estimator),
        ):
            job = Job(open_table(rows, work, target, features, container), engine)
            _Fit(estimator, job, rows.n, tuple(trusted_types)).run()
    return estimator


@dataclass
class _Fit:
    """One fit; the steps are in `run`."""

    estimator: PointwiseReplicableClassifier
    job: Job
    n: int
    trusted_types: tuple[str, ...]

    def run(self) -> None:
        """Plan, cut, train, vote, certify: as in memory."""
        estimator = self.estimator
        job = self.job
        key = estimator._key_for_fit()
        request = plan_request(estimator)

        # Plan: from the parameters and the number of rows, never from the data.
        classes = job.list_classes(requested_classes(estimator))
        base, threshold = split_threshold(
            base_estimator(estimator.estimator), estimator.threshold, classes, estimator.pos_label
        )
        is_known = threshold in (None, "prevalence") or known_threshold(threshold) is not None
        if not is_known:
            raise ValueError(
                f"threshold={threshold!r} is not supported for a fit from files: use a number, "
                "costs such as (1, 5), or 'prevalence'."
            )
        check_base(base, request.vote)
        job.table = replace(job.table, classes=tuple(classes.tolist()))
        check_features(estimator, slice_rows(job.table.read(0).X, 0, 1), reset=True)
        plan = plan_in_force(estimator, request, Counted(self.n), classes)
        base = base_for_blocks(base, plan)
        named = with_threshold(base, threshold)
        fingerprint = bind_estimator(named)
        self._claim(key, plan, fingerprint)
        warned = warn_if_blocks_cannot_learn(plan, base)

        # Cut and train: the rows of one partition after another are written block by block.
        earlier = job.earlier_order(key, self.n, plan)
        models, shares = self._partitions(plan, key, clone(base), fingerprint, earlier)
        first = read_kept(job.table, FIRST)
        probes = slice_rows(first.X, 0, PROBES)
        label_counts, failed = self._seen(plan, earlier, first)
        if not warned:
            constant = constant_models(models[: plan.n_blocks], base, probes, label_counts)
            if constant is not None:
                warn_of_constant(constant, base, plan.n_blocks, plan.block_size)

        # Vote, and certify.
        models, thresholds = block_thresholds(models, threshold, shares)
        estimator._set_ensemble(plan, classes, models, thresholds, probes)
        estimator.heavy_ = self._heavy(plan, key, classes, earlier)
        if plan.certified:
            failed += self._refit(plan, key, base, models, fingerprint, probes)
        schema = describe_points(
            first.X, first.codes, rows=np.arange(len(first)), base=base, decimals=plan.decimals
        )
        run = identity_of(key, named, fingerprint, classes, self.n, failed, schema)
        estimator.certificate_ = self._certify(plan, run, earlier)
        estimator._dtype = float_precision(first.X)

    def _claim(self, key: SharedKey, plan: Plan, fingerprint: Fingerprint) -> None:
        """Refuse the folder of another fit."""
        described = library_versions() | {"key": key.fingerprint, "learner": fingerprint.digest}
        claim(self.job.folder, "fit.json", described | {"plan": plan.to_json()})

    def _order(self, plan: Plan, key: SharedKey, number: int, earlier: Order | None) -> Order:
        own = key.child("partition", number).allow_pickle()
        return Order(f"partition-{number}", own, bucket_bits(plan.n), plan.decimals, earlier)

    def _partitions(
        self, plan: Plan, key: SharedKey, base: Any, fingerprint: Fingerprint, earlier: Order | None
    ) -> tuple[list[Any], list[float]]:
        """Train the blocks of all partitions; the rows of each are removed when it is done.

        Returns the models, and the share of the second class among the rows of each.
        """
        orders = [self._order(plan, key, j, earlier) for j in range(plan.n_partitions)]
        done = [f"done/{order.name}" in self.job.folder for order in orders]
        left = [order for order, is_done in zip(orders, done, strict=True) if not is_done]
        if left:
            self.job.rank(left)
        checked = blocks_to_check(
            key.child("seed", 0, 0), plan.n_partitions * plan.n_blocks, fingerprint
        )
        models: list[Any] = []
        shares: list[float] = []
        for number, order in enumerate(orders):
            training = self._training(plan, key, base, number, order, done[number])
            if not done[number]:
                self._train(training, [p for p in checked if p // plan.n_blocks == number])
            models += [training.model(block) for block in range(plan.n_blocks)]
            shares += [training.positive_share(block) for block in range(plan.n_blocks)]
        return models, shares

    def _training(
        self, plan: Plan, key: SharedKey, base: Any, number: int, order: Order, done: bool
    ) -> Training:
        none = Cut(order, plan.n_blocks, np.zeros(0, dtype=np.uint64))
        cut = none if done else self.job.cut(order, plan)
        names = random_state_names(base)
        keys = [key.child("seed", number, block) for block in range(plan.n_blocks)]
        seeds = tuple(keyed_seeds(names, own) for own in keys)
        return Training(self.job.table, cut, base, seeds, number, self.trusted_types)

    def _train(self, training: Training, checked: list[int]) -> None:
        """Route and train one partition, and keep the rows that are looked at afterwards."""
        job = self.job
        cut = training.cut
        job.route(cut)
        if training.partition == 0 and FIRST not in job.folder:
            count = rows_sketched(len(job.table.features))
            write_kept(job.table, FIRST, read_first_rows(job.table, cut, max(PROBES, count)))
        for index in checked:
            if _kept_block(index) not in job.folder:
                rows = read_block(job.table, cut, index % cut.n_blocks)
                write_kept(job.table, _kept_block(index), rows)
        job.train(training)
        job.folder.write(f"done/{cut.order.name}", b"")
        for step in ("blocks", "hash", "rank", "cut"):
            job.folder.remove(f"{step}/{cut.order.name}")

    def _seen(
        self, plan: Plan, earlier: Order | None, some: LabelledRows
    ) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Return how often each class occurs, and what the features refute."""
        folder = self.job.folder
        pieces = range(self.job.table.n_pieces)
        last = f"partition-{plan.n_partitions - 1}"
        first = earlier
        while first is not None and first.after is not None:
            first = first.after
        names = [last, last if first is None else first.name]
        both = [add_records([folder.read_json(f"seen/{n}/{p:06d}") for p in pieces]) for n in names]
        numbered = numbered_column(both[1].moments, self.job.table.container)
        return both[0].codes, say_conditions(say_mark(mark_of(both[1], some.arrow)), numbered)

    def _count(
        self, name: str, key: SharedKey, plan: Plan, earlier: Order | None, least: int
    ) -> Order:
        """Count equal points by their hashes."""
        order = Order(name, key, bucket_bits(plan.n), plan.decimals, earlier)
        hashed = partial(hash_points_of_piece, self.job.table, order)
        self.job.each_piece(hashed, order.hash_file, "pieces hashed")
        counted = partial(count_bucket, self.job.folder, order, self.job.table.n_pieces, least)
        self.job.each_bucket(counted, order, "buckets counted")
        return order

    def _heavy(
        self, plan: Plan, key: SharedKey, classes: NDArray[Any], earlier: Order | None
    ) -> HeavyPoints | None:
        """Find and label the points that occur often, if the plan treats them apart."""
        stage = plan.vote_design.heavy
        table = self.job.table
        if stage is None:
            return None
        least = fewest_remembered(plan.n, stage)
        order = self._count("points", INDEX_KEY, plan, earlier, least)
        self.job.each_piece(partial(tally_piece, table, order), tally_file, "pieces tallied")
        counted = frequent_points(table, order, least)
        return heavy_from_counts(*counted, plan.n, classes, stage, key, plan.decimals)

    def _refit(
        self,
        plan: Plan,
        key: SharedKey,
        base: Any,
        models: Any,
        fingerprint: Fingerprint,
        probes: Any,
    ):
        """Fit a few blocks again."""
        every = [(j, t) for j in range(plan.n_partitions) for t in range(plan.n_blocks)]
        checked = blocks_to_check(key.child("seed", 0, 0), len(every), fingerprint)
        names = [f"block {t} of partition {j}" for j, t in every]

        def load(index: int) -> tuple[Any, NDArray[np.intp], SharedKey]:
            rows = read_kept(self.job.table, _kept_block(index))
            return rows.X, rows.codes, key.child("seed", *every[index])

        return refit_condition(base, checked, load, models, names, fingerprint, probes)

    def _certify(self, plan: Plan, run: Identity, earlier: Order | None) -> Certificate:
        """Certify what the plan promises; less if equal rows refute what it assumes of masses."""
        design = plan.vote_design
        if design.assumes_point_masses:
            order = self._count("equal", EQUAL_ROWS, plan, earlier, plan.n + 1)
            pairs = equal_pairs(self.job.folder, order)
            refuted = refuted_by_pairs(plan.n, pairs, design.max_point_mass)
            if refuted is not None:
                return without_masses(plan, refuted, run, unit="rows")
        return plan.certificate(run, unit="rows")


def _kept_block(index: int) -> str:
    return f"kept/block-{index:06d}"
