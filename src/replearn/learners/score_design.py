"""What a learner with thresholds in standard errors fixes before it trains: blocks, threshold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from replearn.learners.planning import Sample

MOST_FITS = 24
"""Base learners that are trained unless more are asked for."""

FEWEST_BLOCKS = 3
"""A row has at least two blocks that do not know it: their spread is known."""

FEWEST_DEFAULT, MOST_DEFAULT = 4, 8
"""Blocks by default."""


class Cut(NamedTuple):
    """How the rows are cut: the same in all runs that are compared."""

    n: int
    n_blocks: int
    n_partitions: int
    decimals: int | None

    @property
    def block_size(self) -> int:
        """Rows (or groups) of a block."""
        return self.n // self.n_blocks


def cut_for(sample: Sample, learner: Any) -> Cut:
    """Return how a learner cuts a sample; sizes that do not fit are refused."""
    n = sample.n if learner.sample_size is None else int(learner.sample_size)
    if sample.n < n:
        raise ValueError(
            f"sample_size={n} {sample.unit}, but the sample has {sample.n}: use the smallest "
            "number among the labs."
        )
    n_blocks = default_blocks(n) if learner.n_blocks is None else int(learner.n_blocks)
    if n < n_blocks:
        raise ValueError(
            f"n_blocks={n_blocks} blocks need as many {sample.unit}, but n_samples={n}."
        )
    ways = max(1, MOST_FITS // n_blocks) if learner.n_partitions is None else learner.n_partitions
    return Cut(n, n_blocks, int(ways), learner.decimals)


def default_blocks(n: int) -> int:
    """Return the number of blocks for so many rows: 8, fewer below 2,000, at least 4.

    Settled on three files: with 4 blocks boosting keeps a little more accuracy on one, and varies
    more on the two others.

    >>> default_blocks(400), default_blocks(1600), default_blocks(20_000)
    (4, 6, 8)
    """
    return min(max(n // 250, FEWEST_DEFAULT), MOST_DEFAULT)


def decision_threshold(
    threshold: Any, codes: NDArray[np.intp], classes: NDArray[Any]
) -> tuple[float, float]:
    """Return the probability from which the second class is the answer, and its standard error.

    >>> decision_threshold((1, 4), np.array([0, 1]), np.array([0, 1]))
    (0.2, 0.0)
    """
    if len(classes) > 2 and threshold != 0.5:
        raise ValueError(
            f"threshold={threshold!r} needs two classes, but there are {len(classes)}: leave it "
            "out, and weigh the classes inside the base learner (class_weight)."
        )
    if threshold == "prevalence":
        share = float(np.clip(np.mean(codes == 1), 1e-3, 1.0 - 1e-3))
        return share, float(np.sqrt(share * (1.0 - share) / len(codes)))
    if not isinstance(threshold, tuple):
        return float(threshold), 0.0
    costs = [float(cost) for cost in threshold if isinstance(cost, int | float)]
    if len(threshold) != 2 or len(costs) != 2 or not 0.0 < min(costs) <= max(costs) < np.inf:
        raise ValueError(
            f"threshold={threshold!r} must be a number in (0, 1), 'prevalence', or the costs of a "
            "false positive and of a false negative, two positive numbers."
        )
    return costs[0] / sum(costs), 0.0
