"""Approvals: how many, and who is swapped in and out, with what outcomes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._row_limits import Mask, RowLimits
from replearn.auditing._statistics import Estimate

Floats = NDArray[np.float64]
ABOVE = "above"
BELOW = "below"
SIDES = (ABOVE, BELOW)
PREDICTIONS = "predictions"
SAME_THRESHOLD = "same threshold"
SAME_RATE = "same rate"


@dataclass(frozen=True)
class SwapSet:
    """Rows that only one of two models approves.

    Parameters
    ----------
    rows : int
        Number of these rows.
    share : Estimate
        Share of all rows.
    outcome : Estimate or None
        Share of these rows that have the positive label; None without the truth or without rows.
    """

    rows: int
    share: Estimate
    outcome: Estimate | None


@dataclass(frozen=True)
class Approvals:
    """Approvals of both models.

    Parameters
    ----------
    kind : {"predictions", "same threshold", "same rate"}
        Whether both models decide as they predict, or by their scores at one given threshold; or
        the new one at the threshold that keeps the rate.
    approved : {"above", "below"}
        Which side is approved: "above" the rows with the positive label, or with a score at the
        threshold or above it.
    threshold_a, threshold_b : float or None
        The thresholds; None for decisions that are predictions.
    rate_a, rate_b : Estimate
        Shares of rows that are approved.
    both : Estimate or None
        Outcome of the rows that both approve; None without the truth.
    swap_in, swap_out : SwapSet
        Rows that only the new model approves, and that only the old one did.
    """

    kind: str
    approved: str
    threshold_a: float | None
    threshold_b: float | None
    rate_a: Estimate
    rate_b: Estimate
    both: Estimate | None
    swap_in: SwapSet
    swap_out: SwapSet


@dataclass(frozen=True, eq=False)
class Decisions:
    """What decides: a threshold on the scores of both models, or their predictions.

    Parameters
    ----------
    scores : pair of ndarray of shape (n,)
        Probability of the positive label by both models.
    positive : pair of ndarray of bool, shape (n,)
        Whether they predict the positive label.
    threshold : float or None
        Threshold on the scores. If None, the predictions decide: a model may have a threshold of
        its own, or keep earlier predictions where its score is near it.
    approved : {"above", "below"}
        Which side is approved.
    """

    scores: tuple[Floats, Floats]
    positive: tuple[Mask, Mask]
    threshold: float | None
    approved: str

    @property
    def kind(self) -> str:
        """What decides, in words."""
        return PREDICTIONS if self.threshold is None else SAME_THRESHOLD

    @property
    def both(self) -> tuple[Mask, Mask]:
        """The rows that each model approves."""
        if self.threshold is None:
            before, after = self.positive
            return (~before, ~after) if self.approved == BELOW else (before, after)
        before, after = (_passes(side, self.threshold, self.approved) for side in self.scores)
        return before, after


def approvals(
    decisions: Decisions, events: Mask | None, limits: RowLimits
) -> tuple[Approvals, ...]:
    """Compare approvals as they are, and at the threshold that keeps their rate.

    >>> old = np.array([0.2, 0.4, 0.6, 0.8])
    >>> decisions = Decisions((old, old / 2), (old > 0.5, old > 0.5), 0.5, "above")
    >>> found = approvals(decisions, None, RowLimits(0.05))
    >>> [(kind.threshold_b, kind.swap_out.rows) for kind in found]
    [(0.5, 2), (0.3, 0)]
    """
    before, after = decisions.both
    approved = decisions.approved
    threshold = decisions.threshold
    kept = matching_threshold(decisions.scores[1], before, approved)
    at_rate = _passes(decisions.scores[1], kept, approved)
    shown = (
        (decisions.kind, (threshold, threshold), after),
        (SAME_RATE, (threshold, kept), at_rate),
    )
    return tuple(
        _approvals(kind, thresholds, (before, rows), approved, events, limits)
        for kind, thresholds, rows in shown
    )


def matching_threshold(scores: Floats, passed: Mask, approved: str) -> float:
    """Return the threshold at which as many rows are approved (as near as ties allow).

    >>> matching_threshold(np.array([0.1, 0.3, 0.9]), np.array([True, True, False]), "above")
    0.3
    """
    wanted = int(np.count_nonzero(passed))
    ordered = np.unique(scores)
    candidates = np.append(ordered, np.nextafter(ordered[-1], np.inf))
    below = np.searchsorted(np.sort(scores), candidates, side="left")
    counts = below if approved == BELOW else len(scores) - below
    return float(candidates[np.abs(counts - wanted).argmin()])


def _passes(scores: Floats, threshold: float, approved: str) -> Mask:
    return scores < threshold if approved == BELOW else scores >= threshold


def _approvals(
    kind: str,
    thresholds: tuple[float | None, float | None],
    both: tuple[Mask, Mask],
    approved: str,
    events: Mask | None,
    limits: RowLimits,
) -> Approvals:
    before, after = both
    rates = [limits.share(side) for side in (before, after)]
    assert rates[0] is not None, "there are rows"
    assert rates[1] is not None, "there are rows"
    return Approvals(
        kind=kind,
        approved=approved,
        threshold_a=thresholds[0],
        threshold_b=thresholds[1],
        rate_a=rates[0],
        rate_b=rates[1],
        both=None if events is None else limits.share(events, before & after),
        swap_in=_swap_set(after & ~before, events, limits),
        swap_out=_swap_set(before & ~after, events, limits),
    )


def _swap_set(rows: Mask, events: Mask | None, limits: RowLimits) -> SwapSet:
    share = limits.share(rows)
    assert share is not None, "there are rows"
    outcome = None if events is None else limits.share(events, rows)
    return SwapSet(int(np.count_nonzero(rows)), share, outcome)
