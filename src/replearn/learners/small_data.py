"""What a small sample can do: a warning before the training, from the plan and counts of labels.

It decides nothing: the plan stands.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from replearn.binding import says_it_is_poor
from replearn.exceptions import SmallSampleWarning, warn_user
from replearn.guarantees import MIN_EVENTS, Plan, needed_for_events
from replearn.learners.training import Sample

MIN_SCORE_EVENTS = 20
"""Rows of the rarest class that a block should have on average, for scores to be averaged.

With 12 to 15 of them mean scores at rho = 0.1 lose 3 to 8 points of balanced accuracy, with 45 two
(benchmarks/small_data.py; docs/first-hour.md)."""


class Rarest(NamedTuple):
    """The rarest class of a sample."""

    label: Any
    share: float
    n_rows: int

    def in_blocks(self, n_blocks: int) -> str:
        """Say how many of its rows a block has."""
        return (
            f"{self.n_rows / n_blocks:.1f} rows of the rarest class ({self.label!r}, "
            f"{self.share:.1%} of the rows) on average"
        )


def rarest_class(counts: NDArray[np.int64], classes: NDArray[Any]) -> Rarest:
    """Return the rarest class that occurs, by the number of rows of each class.

    >>> rarest_class(np.array([3, 1]), np.array(["no", "yes"]))
    Rarest(label='yes', share=0.25, n_rows=1)
    """
    n_all = int(counts.sum())
    rarest = int(np.argmin(np.where(counts > 0, counts, n_all + 1)))
    n_rows = int(counts[rarest])
    return Rarest(classes.tolist()[rarest], n_rows / n_all, n_rows)


def warn_if_votes_are_few(
    plan: Plan, class_counts: NDArray[np.int64], classes: NDArray[Any], base: Any
) -> None:
    """Warn that blocks which vote have hardly any rows of the rarest class."""
    rarest = rarest_class(class_counts, classes)
    if rarest.n_rows / plan.n_blocks >= MIN_EVENTS or len(classes) < 2 or says_it_is_poor(base):
        return
    warn_user(
        f"{plan.n} {plan.unit} are few: {plan.n_blocks} blocks of {plan.block_size} {plan.unit} "
        f"have {rarest.in_blocks(plan.n_blocks)}, and below {MIN_EVENTS} votes lose accuracy, "
        f"though not the promise. {_fewer_blocks(plan, rarest)}A larger rho requires fewer "
        "blocks; ScoreReplicableClassifier has few large blocks and an estimated promise. "
        "check_price=True measures what is lost.",
        SmallSampleWarning,
    )


def _fewer_blocks(plan: Plan, rarest: Rarest) -> str:
    """Say what the fewest blocks with the same promise would do."""
    needed = needed_for_events(plan, rarest.share)
    if needed is None or needed.n_blocks > plan.n_blocks:
        return ""
    events = rarest.n_rows / needed.n_blocks
    promise = f"n_blocks={needed.n_blocks}, the fewest for rho={needed.vote_design.request.rho:g}"
    if events >= MIN_EVENTS:
        return f"{promise}, gives {events:.1f} in each. "
    return f"With {promise}, {needed.n} {plan.unit} are enough. "


def warn_if_scores_are_few(
    n_blocks: int, rho: float, sample: Sample, classes: NDArray[Any], base: Any
) -> None:
    """Warn that blocks whose scores are averaged have few rows of the rarest class."""
    rarest = rarest_class(sample.class_counts, classes)
    if rarest.n_rows / n_blocks >= MIN_SCORE_EVENTS or len(classes) < 2 or says_it_is_poor(base):
        return
    n_rows = n_blocks * math.ceil(MIN_SCORE_EVENTS / rarest.share)
    warn_user(
        f"{sample.n} {sample.unit} are few: {n_blocks} blocks have "
        f"{rarest.in_blocks(n_blocks)}, and below {MIN_SCORE_EVENTS} scores vary so much that "
        f"thresholds for rho={rho:g} cost accuracy. About {n_rows} rows are enough for "
        f"n_blocks={n_blocks}. rho={min(2 * rho, 1.0):g} halves the thresholds; "
        "IncumbentClassifier keeps predictions of a model in use. check_price=True measures what "
        "is lost.",
        SmallSampleWarning,
    )
