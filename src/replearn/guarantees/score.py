"""Few large blocks with thresholds in standard errors: an estimate, never a certificate."""

from typing import Any

from replearn.bounds import (
    any_score_flip_bound,
    normal_flip_bound,
    score_half_width,
    worst_score_flip_bound,
)
from replearn.guarantees.guarantee import (
    BLOCK_ASSUMPTIONS,
    Conclusion,
    Guarantee,
    Ledger,
    Needed,
    above_budget,
    rounded_up,
)
from replearn.records import check_count

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
_PLANNED = "the standard error of a score is estimated in fit or assumed here, and not proved"


def _derive(
    ledger: Ledger,
    rho: float,
    n_blocks: int,
    n_classes: int,
    least_error: float,
    reach: float | None,
    **shared: Any,
) -> Conclusion:
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
    return Conclusion(tuple(promises), rho=normal, reasons=reasons, assumptions=assumed)


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


def _needed(
    n: int,
    rho: float,
    n_classes: int,
    standard_error: float | None,
    n_blocks: int | None,
    n_partitions: int | None,
) -> Needed:
    """Return the design of n rows, what follows if a standard error is right, and the worst case.

    Without a standard error the worst case is that of thresholds over all scores, the widest.
    """
    blocks, ways = blocks_and_partitions(n, rho, n_blocks, n_partitions)
    check_count("n_blocks", blocks, least=MIN_BLOCKS)
    width = score_half_width(rho)
    error = 0.5 / width if standard_error is None else standard_error
    reach = "estimated by fit" if standard_error is None else width * error
    largest = any_score_flip_bound(width)
    worst = worst_score_flip_bound(blocks, width, error, n_classes)
    details = {
        "blocks": blocks,
        "rows of a block": n // blocks,
        "partitions": ways,
        "base estimators": blocks * ways,
        "half-width in standard errors": width,
        "half-width in probability": reach,
        "rho of any distribution": largest,
        "worst case of the design": worst,
    }
    settings = {"n_blocks": blocks, "n_partitions": ways, "standard_error": standard_error}
    promise = (
        "If the standard error of a point's score is right, two runs predict the point differently "
        f"with probability at most {{rho:g}} where scores vary normally, {rounded_up(largest)} "
        f"whatever their distribution; {rounded_up(worst)} in the worst case of thresholds "
        f"{'over all scores' if standard_error is None else 'of this width, fixed beforehand'}."
    )
    return Needed(blocks, details, settings, 0.0, promise=promise, reasons=(_PLANNED,))


GUARANTEES = (
    Guarantee(
        "score",
        _derive,
        learners=("ScoreReplicableClassifier",),
        theorem="score-thresholds",
        needed=_needed,
        required=("n",),
        optional={
            "rho": 0.1,
            "n_classes": 2,
            "standard_error": None,
            "n_blocks": None,
            "n_partitions": None,
        },
        estimates=("standard_error", "least_error", "reach"),
    ),
)
