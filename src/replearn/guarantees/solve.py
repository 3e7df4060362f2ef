"""From a wish to a design: solve what was left open.

Every search returns the passing side of a monotone predicate, and the certificate's own
derivation has the last word.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

from replearn.guarantees.design import Design, Request
from replearn.guarantees.heavy_stage import labels_guaranteed
from replearn.guarantees.law_search import Promise
from replearn.guarantees.votes import block_size_needed, error_slack
from replearn.guarantees.wish import MIN_BLOCK, Wish
from replearn.randomness import ENCODING_VERSION
from replearn.records.search import bisect, smallest_integer

DEFAULT_BLOCKS = 88
"""Blocks used when the sample allows it, for rho = 0.1 or more; for less they grow as 1 / rho^2.

So the arcsine law keeps a half-width of about 0.57. Flips become rarer with every block, and easier
to foresee. On Adult logistic regression loses 0.05 points from 75 to 96 blocks and as much again
to 120, forests 0.2 from 75 to 100; trees and small files gain accuracy with every block, boosting
loses beyond 32."""

CLASS_BLOCKS = 4 * DEFAULT_BLOCKS
"""The same for more than two classes: sharper draws are worth more than larger blocks.

20,000 rows, rho = 0.1, logistic regression and trees: accuracy grows up to about 350 blocks on all
of five files with three and four classes, by up to 5 points from 160 blocks, and hardly beyond."""

MAX_FITS = 8 * DEFAULT_BLOCKS
"""Base learners trained by default, over all partitions: 8 partitions at rho = 0.1, 2 at 0.05.

Partitions change no expected accuracy, they only make flips rarer, and easier to foresee: with 64
blocks on Adult, logistic regression, 0.91, 0.75, 0.73, 0.70 of the single fit's for 1, 4, 6, 12 of
them, with 96 blocks 0.592, 0.586, 0.582, 0.580 for 8, 10, 12, 16."""

MAX_BLOCKS_UNASKED = 4_000
"""Blocks used at most when no target is given or none is reached: nobody asked for more."""

MAX_PARTITIONS = 16
"""More partitions than this no longer change the answers noticeably."""

LARGEST_SAMPLE = 10**13
ACCURACY_ITEMS = ("alpha", "beta", "d")


def solve(wish: Wish) -> tuple[Design, tuple[str, ...]]:
    """Solve what was left open and fix the design; name the items that were solved."""
    _check_enough_given(wish)
    n = needed_sample(wish) if wish.n is None else wish.n
    if n is None:
        raise ValueError("no number of rows reaches these targets: weaken one of them")
    design = design_for(wish, n)
    request = _solve_accuracy(design)
    return dataclasses.replace(design, request=request), _solved_items(wish)


def _check_enough_given(wish: Wish) -> None:
    request = wish.request
    open_accuracy = _open_accuracy(request)
    if len(open_accuracy) == 2:
        raise ValueError(
            f"{' and '.join(open_accuracy)} are both open: give two of alpha, beta and d"
        )
    if request.notion == "approximate" and request.rho is None and request.gamma is None:
        raise ValueError("the approximate notion needs rho or gamma (or both)")
    if wish.n is not None:
        return
    if len(open_accuracy) == 1:
        raise ValueError(f"{open_accuracy[0]} and n are both open: give one of them")
    targets = (request.rho,) if request.notion == "pointwise" else (request.rho, request.gamma)
    if None in targets and wish.n_blocks is None:
        raise ValueError("n and a target are both open: give n, or all of rho (and gamma)")


def _open_accuracy(request: Request) -> list[str]:
    """List the open ones of alpha, beta, d, when some of them are given."""
    missing = [name for name in ACCURACY_ITEMS if getattr(request, name) is None]
    return [] if len(missing) == 3 else missing


def _solved_items(wish: Wish) -> tuple[str, ...]:
    request = wish.request
    found = [name for name in ("n", "n_blocks") if getattr(wish, name) is None]
    if wish.width is None and wish.binary and isinstance(wish.law, str):
        found.append("width")
    if request.rho is None:
        found.append("rho")
    if request.gamma is None and request.notion == "approximate":
        found.append("gamma")
    return tuple(found + _open_accuracy(request))


# -- sample size -----------------------------------------------------------------------------------
def needed_sample(wish: Wish) -> int | None:
    """Return the smallest n that meets all targets; None if no n does."""
    stage = wish.heavy
    if stage is None:
        return _rows_for(wish, Promise(wish))
    start = math.ceil((stage.n_labels - 1) / stage.low) + 1
    while start > 1 and labels_guaranteed(start - 1, stage.low) >= stage.n_labels:
        start -= 1
    return smallest_integer(lambda n: _enough(wish, n), start=start, limit=LARGEST_SAMPLE)


def _rows_for(wish: Wish, promise: Promise) -> int | None:
    blocks = wish.n_blocks if wish.n_blocks is not None else promise.smallest_blocks()
    if blocks is None:
        return None
    size = block_needed(wish, blocks)
    return None if size is None else blocks * size


def _enough(wish: Wish, n: int) -> bool:
    rows = _rows_for(wish, Promise(wish, n))
    return rows is not None and rows <= n


def block_needed(wish: Wish, n_blocks: int) -> int | None:
    """Return how many rows a block needs at least; None if no number is enough."""
    request = wish.request
    if not request.asks_accuracy:
        return wish.smallest_block
    size = _accurate_block(request, n_blocks, _partitions(wish, n_blocks), wish.max_point_mass)
    return None if size is None else max(size, wish.smallest_block)


def _partitions(wish: Wish, n_blocks: int) -> int:
    if wish.n_partitions is not None:
        return wish.n_partitions
    return partitions_for(n_blocks, wish.max_fits)


def _accurate_block(
    request: Request, n_blocks: int, n_partitions: int, max_point_mass: float
) -> int | None:
    alpha, beta, d = request.alpha, request.beta, request.d
    assert alpha is not None and beta is not None and d is not None  # noqa: PT018
    slack = error_slack(beta, max_point_mass) if max_point_mass > 0 else 0.0
    return block_size_needed(d, alpha, beta, n_blocks, n_partitions, request.realizable, slack)


# -- design ----------------------------------------------------------------------------------------
def design_for(wish: Wish, n: int) -> Design:
    """Fix blocks, law and partitions for a sample of n rows."""
    promise = Promise(wish, n)
    n_blocks = wish.n_blocks if wish.n_blocks is not None else choose_blocks(wish, n, promise)
    return wish.design(
        n=n,
        n_blocks=n_blocks,
        law=promise.law_for(n_blocks),
        n_partitions=_partitions(wish, n_blocks),
        encoding=str(ENCODING_VERSION),
        sharpness=promise.sharpness_for(n_blocks),
    )


def choose_blocks(wish: Wish, n: int, promise: Promise) -> int:
    """Choose the number of blocks from n and the targets, never from data."""
    if not isinstance(wish.law, str):
        return wish.law.n_blocks
    largest = largest_blocks(wish, n)
    budget = wish.affordable_blocks
    affordable = largest if budget is None else min(largest, budget)
    unasked = min(affordable, MAX_BLOCKS_UNASKED)
    if promise.target is None:
        return unasked
    if wish.request.notion == "pointwise":
        usual = DEFAULT_BLOCKS if wish.binary else CLASS_BLOCKS
        preferred = min(affordable, preferred_blocks(n, promise.target, budget, usual))
        if promise.some_law_meets(preferred):
            return preferred
    smallest = promise.smallest_blocks()
    return unasked if smallest is None or smallest > affordable else smallest


def largest_blocks(wish: Wish, n: int) -> int:
    """Return the largest number of blocks that leaves each block large enough; at least 1."""
    if not wish.request.asks_accuracy:
        return max(1, n // wish.smallest_block)
    # the first number of blocks that is too large; a block needs more rows as blocks get more
    first = smallest_integer(lambda count: not _fits(wish, n, count), limit=n + 1)
    return max(1, (n + 1 if first is None else first) - 1)


def _fits(wish: Wish, n: int, n_blocks: int) -> bool:
    size = block_needed(wish, n_blocks)
    return size is not None and n // n_blocks >= size


# -- accuracy --------------------------------------------------------------------------------------
def _solve_accuracy(design: Design) -> Request:
    """Fill the one open item of alpha, beta and d with the best value the blocks allow."""
    request = design.request
    missing = _open_accuracy(request)
    if not missing:
        return request
    name = missing[0]

    def fits(value: Any) -> bool:
        tried = dataclasses.replace(request, **{name: value})
        size = _accurate_block(tried, design.n_blocks, design.n_partitions, design.max_point_mass)
        return size is not None and size <= design.block_size

    if name == "d":
        first = smallest_integer(lambda d: not fits(d), limit=LARGEST_SAMPLE)
        best: Any = None if first in (1, None) else int(first or 0) - 1
    else:
        best = _smallest_fraction(fits)
    if best is None:
        raise ValueError(
            f"no {name} can be promised with {design.block_size} {design.unit} per block: "
            "use more rows or fewer blocks"
        )
    return dataclasses.replace(request, **{name: best})


def _smallest_fraction(fits: Callable[[float], bool]) -> float | None:
    """Return the smallest fraction that fits, to nine digits, on the fitting side."""
    largest = 1.0 - 1e-12
    if not fits(largest):
        return None
    return bisect(fits, largest, 0.0, tolerance=1e-9, least_gap=1e-300, mean=_between)


def _between(passing: float, failing: float) -> float:
    """Bisect the logarithm while the two are far apart: beta may be tiny."""
    if passing < 2 * failing:
        return (passing + failing) / 2
    return (passing * failing) ** 0.5 if failing > 0 else passing / 4


# -- defaults: pure functions of sizes and budgets, never of data; constants from measurement ------
def preferred_blocks(n: int, rho: float, max_fits: int | None, usual: int = DEFAULT_BLOCKS) -> int:
    """Return how many blocks to try first: as many as wanted while blocks stay large.

    >>> preferred_blocks(30_000, 0.1, None), preferred_blocks(30_000, 0.05, None)
    (88, 352)
    >>> preferred_blocks(3_000, 0.1, None), preferred_blocks(30_000, 0.1, 40)
    (88, 40)
    """
    wanted = max(usual, math.ceil(usual * (0.1 / rho) ** 2 * (1 - 1e-12)))
    budget = MAX_FITS if max_fits is None else max_fits
    return max(1, min(wanted, budget, n // MIN_BLOCK))


def partitions_for(n_blocks: int, max_fits: int | None) -> int:
    """Return how many partitions the compute budget allows.

    >>> partitions_for(88, None), partitions_for(88, 150), partitions_for(3183, None)
    (8, 1, 1)
    """
    if n_blocks == 1:
        return 1  # every partition would be the same
    budget = MAX_FITS if max_fits is None else max_fits
    return max(1, min(MAX_PARTITIONS, budget // n_blocks))
