"""Few large blocks with thresholds in standard errors: an estimate, never a certificate."""

from typing import Any

from replearn.bounds.scores import (
    any_score_flip_bound,
    normal_flip_bound,
    score_half_width,
    worst_score_flip_bound,
)
from replearn.guarantees.promise import (
    BLOCK_ASSUMPTIONS,
    Ledger,
    Promise,
    Task,
    above_budget,
    rounded_up,
)
from replearn.records.checks import check_count

MAX_FITS = 24
"""Base estimators that are trained unless more are requested."""

MIN_BLOCKS = 3
"""A row has at least two blocks that do not know it: their spread is known."""

DEFAULT_BLOCKS = (24, 12, 8, 6, 4)
DEFAULT_ROWS = 80
"""Blocks by default, the first number with this many rows in each; all divide 24."""

LOOSE_RHO = 0.2
LOOSE_BLOCKS = 8
LOOSE_ROWS = 1250
"""From this rho on thresholds are cheap, and blocks are larger: 8, if each has this many rows."""

_ESTIMATED = (
    "the standard error of the scores was estimated from the data, and nothing bounds how far a "
    "single point's may be from it"
)


def _derive(
    ledger: Ledger,
    rho: float,
    n_blocks: int,
    n_classes: int,
    least_error: float | None,
    reach: float | None,
    **shared: Any,
) -> Promise:
    width = ledger.add(score_half_width, rho=rho, reach=reach)
    normal = ledger.add(normal_flip_bound, half_width=width)
    largest = ledger.add(any_score_flip_bound, half_width=width)
    promises = [
        "If the standard error that was estimated for a point's score is right, two runs predict "
        f"the point differently with probability at most {rounded_up(normal)} where scores vary "
        f"normally, {rounded_up(largest)} whatever their distribution; k times that where the "
        "point's standard error is k times the estimate.",
    ]
    if n_classes > 2:
        promises.append(
            "This is for a point with two classes in reach of each other; with more, the "
            "probabilities of all pairs in reach are added."
        )
    # A plan does not know the standard error: the worst case is that of the widest thresholds.
    least_error = 0.5 / width if least_error is None else least_error
    worst = ledger.add(
        worst_score_flip_bound,
        n_blocks=n_blocks,
        half_width=width,
        standard_error=least_error,
        n_classes=n_classes,
    )
    promises.append(
        "Whatever the estimator's scores do, the same blocks with thresholds of this width, fixed "
        f"beforehand, differ with probability at most {rounded_up(worst)}."
    )
    reasons = (_ESTIMATED, *above_budget("rho", normal, rho * (1 + 1e-9)))
    assumed = ("standard-error", *BLOCK_ASSUMPTIONS)
    return Promise(promises=tuple(promises), rho=normal, reasons=reasons, assumptions=assumed)


def default_blocks(n: int, rho: float = 0.1, rows_of_block: int = DEFAULT_ROWS) -> int:
    """Return the number of blocks for this many rows: 24 of at least 80 rows, or fewer.

    Settled on three files (see the theory page). What thresholds cost falls with rho squared, what
    blocks cost does not depend on rho: from rho = 0.2 and 10,000 rows on there are 8 blocks. A base
    estimator may need more than 80 rows (``rows_of_block``); fewer than 4 blocks are not made.

    >>> default_blocks(300), default_blocks(1000), default_blocks(20_000)
    (4, 12, 24)
    >>> default_blocks(20_000, rho=0.2), default_blocks(1000, rows_of_block=200)
    (8, 4)
    """
    loose = rho >= LOOSE_RHO and n // LOOSE_BLOCKS >= LOOSE_ROWS
    most = LOOSE_BLOCKS if loose else DEFAULT_BLOCKS[0]
    rows = max(rows_of_block, DEFAULT_ROWS)
    return next((k for k in DEFAULT_BLOCKS if k <= most and n // k >= rows), DEFAULT_BLOCKS[-1])


def blocks_and_partitions(
    n: int,
    rho: float,
    n_blocks: int | None = None,
    n_partitions: int | None = None,
    rows_of_block: int = DEFAULT_ROWS,
) -> tuple[int, int]:
    """Return how n rows are cut, as far as it is not given: what all runs share.

    >>> blocks_and_partitions(20_000, 0.1), blocks_and_partitions(20_000, 0.1, n_blocks=4)
    ((24, 1), (4, 6))
    """
    blocks = default_blocks(n, rho, rows_of_block) if n_blocks is None else int(n_blocks)
    ways = max(1, MAX_FITS // blocks) if n_partitions is None else int(n_partitions)
    return blocks, ways


def _solve(
    n: int,
    rho: float = 0.1,
    n_classes: int = 2,
    standard_error: float | None = None,
    n_blocks: int | None = None,
    n_partitions: int | None = None,
) -> dict[str, Any]:
    blocks, ways = blocks_and_partitions(n, rho, n_blocks, n_partitions)
    return {
        "n": n,
        "n_blocks": check_count("n_blocks", blocks, least=MIN_BLOCKS),
        "n_partitions": ways,
        "n_classes": n_classes,
        "rho": rho,
        "standard_error": standard_error,
        "least_error": standard_error,
        "reach": None,
    }


TASKS = (
    Task(
        "score",
        _derive,
        _solve,
        learners=("ScoreReplicableClassifier",),
        theorem="score-thresholds",
        estimates=("standard_error", "least_error", "reach"),
    ),
)
