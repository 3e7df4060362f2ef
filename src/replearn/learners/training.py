"""The one training path: cut the sample by key and content, fit one estimator on each block.

Every estimator that trains on blocks uses it: check, plan, **train**, rule, certify. Where the rows
come from is the sample's affair: they are in memory here, and in files in `replearn.outofcore`.
Both kinds of sample have the same methods, those of `RowSource`, and so have their blocks
(`BlockRows`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from replearn.binding import (
    PROBES,
    Fingerprint,
    block_condition,
    copy_conditions,
    has_distinct_column,
    refuted_point_mass,
    sample_conditions,
    warn_if_constant,
)
from replearn.execution import RunContext, fit_blocks, make_blocks
from replearn.guarantees import HeavyStage
from replearn.heavy import HeavyPoints, fit_heavy
from replearn.randomness import Points, SharedKey, as_points
from replearn.tables import is_sparse, take_rows


class BlockDesign(Protocol):
    """How a sample is cut; a plan, or the cut of an estimator that plans by itself."""

    @property
    def n_blocks(self) -> int:
        """Blocks of one partition."""

    @property
    def block_size(self) -> int:
        """Rows (or groups) of a block."""

    @property
    def n_partitions(self) -> int:
        """In how many ways the same rows are cut."""

    @property
    def decimals(self) -> int | None:
        """Decimals to which features are rounded before they are hashed."""


class OnePartition(NamedTuple):
    """A cut in one way."""

    n_blocks: int
    block_size: int
    n_partitions: int = 1
    decimals: int | None = None


# -- what a fit uses of its rows -------------------------------------------------------------------
class FirstRows(NamedTuple):
    """The first rows of the first partition in keyed order, each with its label and its block."""

    X: Any
    codes: NDArray[Any]
    blocks: NDArray[np.intp]


class RowSource(Protocol):
    """The rows of a fit: `Sample`, or a table in files."""

    @property
    def n(self) -> int:
        """Rows, or groups where there are groups."""

    @property
    def unit(self) -> str:
        """What `n` counts."""

    @property
    def n_columns(self) -> int | None:
        """Columns of a dense table; None for texts and sparse rows."""

    @property
    def class_counts(self) -> NDArray[np.int64]:
        """How often each class occurs."""

    @property
    def groups(self) -> Any:
        """One group id per row, or None."""

    def failed_conditions(self) -> tuple[str, ...]:
        """Return what the rows refute of the conditions of a certificate, and warn about it."""

    def planned(self, key: SharedKey, plan: Any) -> Any:
        """Leave out by key what there is beyond the plan's n."""

    def cut(self, design: Any, key: SharedKey) -> Any:
        """Cut the rows into blocks."""

    def heavy_points(
        self, classes: NDArray[Any], stage: HeavyStage, key: SharedKey, decimals: int | None
    ) -> HeavyPoints:
        """Find and label the points that occur often."""


class BlockRows(Protocol):
    """Rows that are cut into blocks, partition by partition."""

    @property
    def label_counts(self) -> NDArray[np.int64]:
        """How often each label occurs in each block, (blocks, classes)."""

    def fit(self, estimator: Any, keys: list[SharedKey], names: list[str], **run: Any) -> list[Any]:
        """Fit one clone of the estimator on each block."""

    def first_rows(self, count: int, *, independent: bool = False) -> FirstRows:
        """Return some rows; if they must be independent, one of each group."""

    def block(self, index: int) -> tuple[Any, NDArray[Any]]:
        """Return the rows of a block and the codes of their labels."""

    def refuted_point_mass(self, assumed: float) -> str | None:
        """Say in words that equal rows refute a bound on point masses; None if they do not."""


class Sample(NamedTuple):
    """A labelled sample in memory; rows of one group stay together."""

    X: Any
    codes: NDArray[Any]  # labels as codes, or numbers
    groups: NDArray[Any] | None = None
    params: Mapping[str, NDArray[Any]] = MappingProxyType({})  # of fit, one value per row
    label_index: Any = None  # pandas index of the labels as they were passed

    @property
    def n(self) -> int:
        """Rows, or groups where there are groups."""
        return len(self.codes) if self.groups is None else len(np.unique(self.groups))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def unit(self) -> str:
        """What `n` counts."""
        return "rows" if self.groups is None else "groups"

    @property
    def n_columns(self) -> int | None:
        """Columns of a dense table; None for texts and sparse rows, whose columns cost nothing."""
        shape: tuple[int, ...] = getattr(self.X, "shape", ())
        return int(shape[1]) if len(shape) == 2 and not is_sparse(self.X) else None

    @property
    def class_counts(self) -> NDArray[np.int64]:
        """How often each class occurs."""
        return np.bincount(self.codes)

    @property
    def points(self) -> Points:
        """The rows as points, each beside its group where there are groups."""
        points = self.with_params(as_points(self.X))
        return points if self.groups is None else points.beside(as_points(self.groups))

    def with_params(self, points: Points) -> Points:
        """Return points beside the arguments of fit: a row of another weight is another row."""
        for values in self.params.values():
            points = points.beside(as_points(values))
        return points

    def take(self, rows: NDArray[np.intp]) -> Sample:
        """Return some of the rows, in this order."""
        groups = None if self.groups is None else self.groups[rows]
        params = {name: values[rows] for name, values in self.params.items()}
        return Sample(take_rows(self.X, rows), self.codes[rows], groups, params)

    def failed_conditions(self) -> tuple[str, ...]:
        """Return what the rows refute of the conditions of a certificate, and warn about it."""
        failed = sample_conditions(self.X)
        return failed + copy_conditions(self.X, self.codes, self.groups, self.label_index)

    def planned(self, key: SharedKey, plan: Any) -> Sample:
        """Forget the order of the file, and leave out by key what a lab has beyond the plan's n.

        Labs with different surplus choose independently, labs with the same surplus alike; in both
        cases the flip bound holds (theorem: content-keyed-partition, section "surplus").
        """
        available = self.n
        sample = self._without_file_order(key, plan)
        if available == plan.n:
            return sample
        surplus = key.child("surplus", available)
        if sample.groups is None:
            points = as_points(sample.X, decimals=plan.decimals)
            return sample.take(surplus.order(points, sample.codes)[: plan.n])
        names, group_of_row = np.unique(sample.groups, return_inverse=True)
        kept = np.zeros(len(names), dtype=bool)
        kept[surplus.order(names)[: plan.n]] = True
        return sample.take(np.flatnonzero(kept[group_of_row]))

    def _without_file_order(self, key: SharedKey, plan: Any) -> Sample:
        """Forget the order of the file where rows that count as equal are not interchangeable.

        Of equal rows, the one that came first counts first. Rows that are equal once rounded still
        train differently, and in different groups they go into different blocks.
        """
        if plan.decimals is None and self.groups is None and not self.params:
            return self
        return self.take(key.child("file").order(self.points, self.codes))

    def cut(self, design: BlockDesign, key: SharedKey) -> BlocksInMemory:
        """Cut the rows into disjoint blocks of equal size, partition by partition."""
        points = self.with_params(as_points(self.X, decimals=design.decimals))
        # theorem: content-keyed-partition
        rows = make_blocks(
            key,
            points,
            self.codes,
            design.n_blocks,
            design.block_size,
            partition=range(design.n_partitions),
            groups=self.groups,
        )
        return BlocksInMemory(self, design, points, rows)

    def heavy_points(
        self, classes: NDArray[Any], stage: HeavyStage, key: SharedKey, decimals: int | None
    ) -> HeavyPoints:
        """Find and label the points that occur often."""
        return fit_heavy(self.X, self.codes, classes, stage, key, decimals)


@dataclass(frozen=True, eq=False)
class BlocksInMemory:
    """Blocks of a sample in memory: the positions of their rows, in keyed order."""

    sample: Sample
    design: BlockDesign
    points: Points
    rows: list[NDArray[np.intp]]

    @property
    def label_counts(self) -> NDArray[np.int64]:
        """How often each label occurs in each block, (blocks, classes)."""
        codes = self.sample.codes
        n_classes = max(2, int(codes.max()) + 1)
        return np.array([np.bincount(codes[rows], minlength=n_classes) for rows in self.rows])

    def fit(self, estimator: Any, keys: list[SharedKey], names: list[str], **run: Any) -> list[Any]:
        """Fit one clone of the estimator on each block."""
        sample = self.sample
        return fit_blocks(
            estimator,
            sample.X,
            sample.codes,
            self.rows,
            keys,
            names=names,
            params=sample.params,
            **run,
        )

    def first_rows(self, count: int, *, independent: bool = False) -> FirstRows:
        """Return some rows; if they must be independent, one of each group."""
        first = self.rows[: self.design.n_blocks]
        groups = self.sample.groups if independent else None
        if groups is None:
            ends = np.cumsum([len(block) for block in first])
            first = first[: 1 + int(np.searchsorted(ends, count))]
        rows = np.concatenate(first)
        blocks = np.repeat(np.arange(len(first)), [len(block) for block in first])
        if groups is not None:
            kept = np.sort(np.unique(groups[rows], return_index=True)[1])
            rows = rows[kept]
            blocks = blocks[kept]
        chosen = rows[:count]
        return FirstRows(
            take_rows(self.sample.X, chosen), self.sample.codes[chosen], blocks[:count]
        )

    def block(self, index: int) -> tuple[Any, NDArray[Any]]:
        """Return the rows of a block and the codes of their labels."""
        rows = self.rows[index]
        return take_rows(self.sample.X, rows), self.sample.codes[rows]

    def refuted_point_mass(self, assumed: float) -> str | None:
        """Say in words that equal rows refute a bound on point masses; None if they do not."""
        if self.design.decimals is None and has_distinct_column(self.sample.X):
            return None
        return refuted_point_mass(self.points, assumed, self.sample.groups)


@dataclass(frozen=True, eq=False)
class TrainedBlocks:
    """The blocks of one fit, partition by partition: rows, keys of the seeds, fitted estimators."""

    sample: Any
    design: BlockDesign
    cut: Any  # BlockRows
    keys: list[SharedKey]
    names: list[str]
    estimators: list[Any]

    @property
    def positive_shares(self) -> list[float]:
        """Share of the second class among the rows of each block."""
        return [float(counts[1] / counts.sum()) for counts in self.cut.label_counts]

    @property
    def probe_rows(self) -> Any:
        """Some training rows, by key: what fitted estimators are tried on."""
        return self.cut.first_rows(PROBES).X

    def warn_if_constant(self, estimator: Any) -> bool:
        """Warn if most block estimators are constant, and return whether this was said."""
        n_blocks = self.design.n_blocks
        return warn_if_constant(
            self.estimators[:n_blocks],
            estimator,
            self.probe_rows,
            self.cut.label_counts[:n_blocks].sum(axis=0),
            self.design.block_size,
            self.sample.unit,
        )

    def failed_conditions(self, estimator: Any, fingerprint: Fingerprint) -> tuple[str, ...]:
        """Fit a few blocks again and say if other predictions come out."""
        return block_condition(
            estimator,
            self.cut.block,
            self.keys,
            self.estimators,
            self.names,
            fingerprint,
            self.probe_rows,
        )


def block_indices(design: BlockDesign) -> list[tuple[int, int]]:
    """Return (partition, block) of all blocks, in the order in which they are trained."""
    return [(j, t) for j in range(design.n_partitions) for t in range(design.n_blocks)]


def block_keys(key: SharedKey, design: BlockDesign) -> list[SharedKey]:
    """Return the key of the seeds of each block."""
    return [key.child("seed", *index) for index in block_indices(design)]


def block_names(design: BlockDesign) -> list[str]:
    """Return how errors name each block."""
    return [f"block {t} of partition {j}" for j, t in block_indices(design)]


def train_blocks(
    sample: Any,
    design: BlockDesign,
    key: SharedKey,
    estimator: Any,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
    context: RunContext | None = None,
) -> TrainedBlocks:
    """Cut the sample into disjoint blocks of equal size and fit an estimator on each of them.

    Parameters
    ----------
    sample : RowSource
        The rows that the design counts.
    design : BlockDesign
        Number and size of blocks, number of partitions; never from the data.
    key : SharedKey
        Cuts the rows and seeds the estimators.
    estimator : estimator
        The base estimator; it is cloned.
    n_jobs, verbose, context
        How to run; the fitted estimators do not depend on it.
    """
    cut = sample.cut(design, key)
    keys = block_keys(key, design)
    names = block_names(design)
    run = {"n_jobs": n_jobs, "verbose": verbose, "context": context}
    return TrainedBlocks(sample, design, cut, keys, names, cut.fit(estimator, keys, names, **run))
