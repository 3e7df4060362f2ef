"""The defaults of the planner: pure functions of sizes and budgets, never of data.

The constants come from measurement (benchmarks/): small blocks cost accuracy, few blocks cost
width of the law, several partitions buy stability for compute.
"""

MIN_BLOCK = 25
"""Below about this many rows most learners are useless: fewer blocks are used instead."""

PREFERRED_BLOCK = 100
"""More blocks than the promise needs are used only while blocks keep at least this many rows."""

DEFAULT_BLOCKS = 64
"""Blocks used when the sample allows it: at rho = 0.1 the arcsine law has half-width 0.65."""

BLOCKS_OVER_SMALLEST = 32 / 9
"""For smaller rho: blocks used per smallest possible number of blocks (64 for 18)."""

MAX_FITS = 384
"""Base learners trained by default, over all partitions."""

MAX_PARTITIONS = 16
"""More partitions than this no longer change the answers noticeably."""


def preferred_blocks(smallest: int, max_fits: int | None, *, has_width: bool = True) -> int:
    """Return how many blocks to use when the sample is large enough.

    Parameters
    ----------
    smallest : int
        The smallest number of blocks that reaches the promise.
    max_fits : int or None
        Compute budget; None: the default one, which the promise may exceed.
    has_width : bool
        Whether more blocks allow a narrower law (two classes).

    Returns
    -------
    int
        At least ``smallest`` unless the budget forbids it.

    Examples
    --------
    >>> preferred_blocks(18, None), preferred_blocks(72, None), preferred_blocks(18, 40)
    (64, 256, 40)
    """
    wanted = smallest
    if has_width:
        wanted = max(DEFAULT_BLOCKS, round(BLOCKS_OVER_SMALLEST * smallest))
    if max_fits is None:
        return max(smallest, min(wanted, MAX_FITS))
    return max(1, min(wanted, max_fits))


def blocks_for(n: int, smallest: int, preferred: int) -> int:
    """Return how many blocks to use for n rows: large blocks first, then more of them.

    Examples
    --------
    >>> blocks_for(20_000, 18, 64), blocks_for(3_000, 18, 64), blocks_for(500, 18, 64)
    (64, 30, 18)
    """
    return max(min(smallest, preferred), min(preferred, n // PREFERRED_BLOCK))


def partitions_for(n_blocks: int, max_fits: int | None) -> int:
    """Return how many partitions the compute budget allows.

    Examples
    --------
    >>> partitions_for(64, None), partitions_for(64, 100), partitions_for(3183, None)
    (6, 1, 1)
    """
    budget = MAX_FITS if max_fits is None else max_fits
    return max(1, min(MAX_PARTITIONS, budget // n_blocks))
