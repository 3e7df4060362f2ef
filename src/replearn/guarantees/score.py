"""Few large blocks with thresholds in standard errors: an estimate, never a certificate."""

from typing import Any

from replearn.bounds.score import (
    any_score_flip_bound,
    normal_flip_bound,
    score_half_width,
    worst_score_flip_bound,
)
from replearn.guarantees.guarantee import Guarantee, above_budget
from replearn.guarantees.steps import Conclusion, Ledger, rounded_up

ASSUMED = (
    "standard-error",
    "equal-design",
    "learned-inside-blocks",
    "key-before-data",
    "point-not-in-sample",
    "same-point",
    "no-drift",
    "independent-samples",
    "random-function",
)
_ESTIMATED = (
    "the standard error of the scores was estimated from the data, and nothing bounds how far a "
    "single point's may be from it"
)


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
        "If the standard error that was estimated for a point's score is right, two runs answer "
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
        "Whatever the learner's scores do, the same blocks with thresholds of this width, fixed "
        f"beforehand, differ with probability at most {rounded_up(worst)}."
    )
    reasons = (_ESTIMATED, *above_budget("rho", normal, rho * (1 + 1e-9)))
    return Conclusion(tuple(promises), rho=normal, reasons=reasons, assumptions=ASSUMED)


GUARANTEES = (
    Guarantee(
        "score",
        _derive,
        learners=("ScoreReplicableClassifier",),
        theorem="score-thresholds",
        estimates=("standard_error", "least_error", "reach"),
    ),
)
