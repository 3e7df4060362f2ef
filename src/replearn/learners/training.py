"""The one training path: cut the sample by key and content, fit one estimator on each block.

Every estimator that trains on blocks uses it: check, plan, **train**, rule, certify.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from replearn.binding import PROBES, Fingerprint, block_condition, warn_if_constant
from replearn.execution import RunContext, fit_blocks, make_blocks
from replearn.randomness import Points, SharedKey, as_points
from replearn.tables import take_rows


class Sample(NamedTuple):
    """A labelled sample; rows of one group stay together."""

    X: Any
    codes: NDArray[Any]  # labels as codes, or numbers
    groups: NDArray[Any] | None = None
    params: Mapping[str, NDArray[Any]] = MappingProxyType({})  # of fit, one value per row

    @property
    def n(self) -> int:
        """Rows, or groups where there are groups."""
        return len(self.codes) if self.groups is None else len(np.unique(self.groups))

    @property
    def unit(self) -> str:
        """What `n` counts."""
        return "rows" if self.groups is None else "groups"

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


@dataclass(frozen=True, eq=False)
class TrainedBlocks:
    """The blocks of one fit, partition by partition: rows, keys of the seeds, fitted estimators."""

    sample: Sample
    design: BlockDesign
    points: Points
    rows: list[NDArray[np.intp]]
    keys: list[SharedKey]
    names: list[str]
    estimators: list[Any]

    @property
    def first_partition(self) -> list[NDArray[np.intp]]:
        """Rows of the blocks of the first partition, in keyed order."""
        return self.rows[: self.design.n_blocks]

    @property
    def positive_shares(self) -> list[float]:
        """Share of the second class among the rows of each block."""
        return [float(np.mean(self.sample.codes[rows] == 1)) for rows in self.rows]

    @property
    def probe_rows(self) -> Any:
        """Some training rows, by key: what fitted estimators are tried on."""
        return take_rows(self.sample.X, np.concatenate(self.first_partition)[:PROBES])

    def warn_if_constant(self, estimator: Any) -> bool:
        """Warn if most block estimators are constant, and return whether this was said."""
        design = self.design
        return warn_if_constant(
            self.estimators,
            estimator,
            self.sample,
            self.first_partition,
            design.block_size,
            self.sample.unit,
        )

    def failed_conditions(self, estimator: Any, fingerprint: Fingerprint) -> tuple[str, ...]:
        """Fit a few blocks again and say if other predictions come out."""
        return block_condition(
            estimator,
            self.sample.X,
            self.sample.codes,
            self.rows,
            self.keys,
            self.estimators,
            self.names,
            fingerprint,
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
    sample: Sample,
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
    sample : Sample
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
    points = sample.with_params(as_points(sample.X, decimals=design.decimals))
    # theorem: content-keyed-partition
    rows = make_blocks(
        key,
        points,
        sample.codes,
        design.n_blocks,
        design.block_size,
        partition=range(design.n_partitions),
        groups=sample.groups,
    )
    keys = block_keys(key, design)
    names = block_names(design)
    estimators = fit_blocks(
        estimator,
        sample.X,
        sample.codes,
        rows,
        keys,
        names=names,
        params=sample.params,
        n_jobs=n_jobs,
        verbose=verbose,
        context=context,
    )
    return TrainedBlocks(sample, design, points, rows, keys, names, estimators)
