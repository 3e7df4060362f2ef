"""The defaults of the planner: pure functions of sizes and budgets, never of data.

The constants come from measurement (benchmarks/): small blocks cost accuracy, few blocks cost
width of the law, several partitions buy stability for compute.
"""

import math

MIN_BLOCK = 25
"""Below about this many rows most learners are useless: fewer blocks are used instead.

Down to this size more blocks beat larger ones: the narrower law gains more accuracy than small
blocks lose (COMPAS and Spambase, logistic regression and trees; see docs/benchmarks.md)."""

DEFAULT_BLOCKS = 88
"""Blocks used when the sample allows it, for rho = 0.1 or more; for less they grow as 1 / rho^2.

So the arcsine law keeps a half-width of about 0.57. Flips become rarer with every block, and easier
to foresee. On Adult logistic regression loses 0.05 points from 75 to 96 blocks and as much again
to 120, forests 0.2 from 75 to 100; trees and small files gain accuracy with every block, boosting
loses beyond 32."""

MAX_FITS = 8 * DEFAULT_BLOCKS
"""Base learners trained by default, over all partitions: 8 partitions at rho = 0.1, 2 at 0.05.

Partitions change no expected accuracy, they only make flips rarer, and easier to foresee: with 64
blocks on Adult, logistic regression, 0.91, 0.75, 0.73, 0.70 of the single fit's for 1, 4, 6, 12 of
them, with 96 blocks 0.592, 0.586, 0.582, 0.580 for 8, 10, 12, 16."""

MAX_BLOCKS_UNASKED = 4_000
"""Blocks used at most when no target is given or none is reached: nobody asked for more."""

MAX_PARTITIONS = 16
"""More partitions than this no longer change the answers noticeably."""


def preferred_blocks(n: int, rho: float, max_fits: int | None) -> int:
    """Return how many blocks to try first: as many as wanted while blocks stay large.

    Parameters
    ----------
    n : int
        Rows of the sample.
    rho : float
        Probability that two runs differ.
    max_fits : int or None
        Compute budget.

    Returns
    -------
    int
        May be too few for rho: then the smallest sufficient number is used.

    Examples
    --------
    >>> preferred_blocks(30_000, 0.1, None), preferred_blocks(30_000, 0.05, None)
    (88, 352)
    >>> preferred_blocks(3_000, 0.1, None), preferred_blocks(30_000, 0.1, 40)
    (88, 40)
    """
    wanted = max(DEFAULT_BLOCKS, math.ceil(DEFAULT_BLOCKS * (0.1 / rho) ** 2 * (1 - 1e-12)))
    budget = MAX_FITS if max_fits is None else max_fits
    return max(1, min(wanted, budget, n // MIN_BLOCK))


def partitions_for(n_blocks: int, max_fits: int | None) -> int:
    """Return how many partitions the compute budget allows.

    Examples
    --------
    >>> partitions_for(88, None), partitions_for(88, 150), partitions_for(3183, None)
    (8, 1, 1)
    """
    if n_blocks == 1:
        return 1  # every partition would be the same
    budget = MAX_FITS if max_fits is None else max_fits
    return max(1, min(MAX_PARTITIONS, budget // n_blocks))
