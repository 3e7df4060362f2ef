"""A table in files as the rows of a fit: a `Sample` whose rows are read piece by piece.

Every step works on pieces, buckets or blocks that fit in memory and leaves its results in the
folder, so that an interrupted fit continues there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from replearn.checks.blocks import PROBES, block_to_check
from replearn.checks.point_masses import refuted_by_pairs
from replearn.checks.sample import EQUAL_ROWS
from replearn.execution.fitting import keyed_seeds, random_state_names
from replearn.guarantees.design import VoteDesign
from replearn.learners.training import Blocks
from replearn.learners.usefulness import N_ROWS
from replearn.outofcore.counting import (
    count_bucket,
    equal_pairs,
    hash_points_of_piece,
)
from replearn.outofcore.job import Job
from replearn.outofcore.look import Look
from replearn.outofcore.ordering import Order, bucket_bits
from replearn.outofcore.routing import (
    MODELS,
    Training,
    counts_file,
    read_block,
    read_first_rows,
)
from replearn.outofcore.table import LabelledRows, read_kept, write_kept
from replearn.persistence.block_folder import TrainingFolder
from replearn.randomness.key import SharedKey

FIRST = "kept/first"
KEPT = "kept/block"


@dataclass(frozen=True, eq=False)
class FileSample:
    """The rows of a table in files."""

    job: Job
    look: Look
    n: int
    trusted_types: tuple[str, ...] = ()
    earlier: Order | None = None  # in which order the rows come, where that matters
    unit: str = "rows"
    groups: None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.n

    @property
    def n_columns(self) -> int:
        """Number of features."""
        return len(self.job.table.features)

    def failed_conditions(self) -> tuple[str, ...]:
        """Return what the rows refute of the conditions of a certificate, and warn about it."""
        return replace(self.look, table=self.job.table).failed_conditions()

    def planned(self, key: SharedKey, plan: VoteDesign) -> FileSample:
        """Leave out by key what there is beyond the plan's n."""
        return replace(self, n=plan.n, earlier=self.job.earlier_order(key, self.n, plan))

    def cut(self, design: VoteDesign, key: SharedKey) -> BlocksOfFiles:
        """Cut the rows into disjoint blocks of equal size, partition by partition."""
        return BlocksOfFiles(self, design, key, [])

    def count_equal(self, name: str, key: SharedKey, decimals: int | None) -> Order:
        """Count pairs of equal points by their hashes."""
        table = self.job.table
        order = Order(name, key, bucket_bits(self.n), decimals, self.earlier)
        hashed = partial(hash_points_of_piece, table, order)
        self.job.each_piece(hashed, order.hash_file, "pieces hashed")
        counted = partial(count_bucket, table.folder, order, table.n_pieces)
        self.job.each_bucket(counted, order, "buckets counted")
        return order


class BlocksOfFiles(Blocks):
    """Blocks of a table in files: the rows of one partition after another are written to them."""

    @property
    def job(self) -> Job:
        """The steps of the fit."""
        job: Job = self.sample.job
        return job

    @cached_property
    def label_counts(self) -> NDArray[np.int64]:
        """How often each label occurs in each block, (blocks, classes)."""
        folder = self.job.folder
        return np.array([folder.read_json(counts_file(n)) for n in range(len(self.indices))])

    def train(self, estimator: Any, **run: Any) -> None:
        """Fit one clone of the estimator on each block; how to run is known to the engine."""
        keys = self.keys
        names = self.names
        orders = [self._order(number) for number in range(self.design.n_partitions)]
        left = [order for order in orders if f"done/{order.name}" not in self.job.folder]
        if left:
            self.job.rank(left)
        estimator = clone(estimator)
        seed_names = random_state_names(estimator)
        seeds = [keyed_seeds(seed_names, key) for key in keys]
        kept = block_to_check(keys[0], len(keys))
        trusted_types = self.sample.trusted_types
        for order in left:
            first = orders.index(order) * self.design.n_blocks
            own = slice(first, first + self.design.n_blocks)
            cut = self.job.cut(order, self.design)
            described = (tuple(seeds[own]), tuple(names[own]), first, trusted_types)
            self._train_partition(Training(self.job.table, cut, estimator, *described), kept)
        folder = self.job.folder.child(MODELS)
        models = TrainingFolder(folder, len(keys), trusted_types).done()
        damaged = [number for number in range(len(keys)) if number not in models]
        if damaged:
            raise OSError(
                f"{folder.address} contains no complete model of {names[damaged[0]]}: remove the "
                f"folder {self.job.folder.address}, and fit again."
            )
        self.estimators = [models[number] for number in range(len(keys))]

    def _order(self, number: int) -> Order:
        own = self.key.child("partition", number).allow_pickle()
        earlier = self.sample.earlier
        bits = bucket_bits(self.design.n)
        return Order(f"partition-{number}", own, bits, self.design.decimals, earlier)

    def _train_partition(self, training: Training, kept: int) -> None:
        """Route and train one partition, and keep the rows that are looked at afterwards."""
        job = self.job
        cut = training.cut
        job.route(cut)
        if training.first == 0 and FIRST not in job.folder:
            count = max(PROBES, N_ROWS)
            write_kept(job.table, FIRST, read_first_rows(job.table, cut, count))
        if kept in training.numbers and KEPT not in job.folder:
            write_kept(job.table, KEPT, read_block(job.table, cut, kept - training.first))
        job.train(training)
        job.folder.write(f"done/{cut.order.name}", b"")
        for step in ("blocks", "hash", "rank", "cut"):
            job.folder.remove(f"{step}/{cut.order.name}")

    @cached_property
    def _first(self) -> LabelledRows:
        return read_kept(self.job.table, FIRST)

    def first_rows(self, count: int) -> tuple[Any, NDArray[Any], NDArray[np.intp]]:
        """Return the first rows of the first partition in keyed order, with labels and blocks."""
        first = self._first.take(np.arange(min(count, len(self._first))))
        return first.X, first.codes, np.arange(len(first)) // self.design.block_size

    def block(self, index: int) -> tuple[Any, NDArray[np.intp]]:
        """Return the rows of a block that is fitted again, and the codes of their labels."""
        rows = read_kept(self.job.table, KEPT)
        return rows.X, rows.codes

    def refuted_point_mass(self, assumed: float) -> str | None:
        """Say in words that equal rows refute a bound on point masses; None if they do not."""
        n = self.sample.n
        order = self.sample.count_equal("equal", EQUAL_ROWS, self.design.decimals)
        return refuted_by_pairs(n, equal_pairs(self.job.folder, order), assumed)
