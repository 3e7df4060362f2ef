"""Approvals at a threshold: how many, and who is swapped in and out, with what outcomes."""

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
    kind : {"same threshold", "same rate"}
        Whether the new model is used at the old threshold, or at the one that keeps the rate.
    approved : {"above", "below"}
        Which side of the threshold is approved; a score at the threshold lies above it.
    threshold_a, threshold_b : float
        The thresholds.
    rate_a, rate_b : Estimate
        Shares of rows that are approved.
    both : Estimate or None
        Outcome of the rows that both approve; None without the truth.
    swap_in, swap_out : SwapSet
        Rows that only the new model approves, and that only the old one did.
    """

    kind: str
    approved: str
    threshold_a: float
    threshold_b: float
    rate_a: Estimate
    rate_b: Estimate
    both: Estimate | None
    swap_in: SwapSet
    swap_out: SwapSet


def approvals(
    scores: tuple[Floats, Floats],
    threshold: float,
    approved: str,
    events: Mask | None,
    limits: RowLimits,
) -> tuple[Approvals, ...]:
    """Compare approvals at the old threshold, and at the one that keeps their rate.

    >>> old = np.array([0.2, 0.4, 0.6, 0.8])
    >>> found = approvals((old, old / 2), 0.5, "above", None, RowLimits(0.05))
    >>> [(kind.threshold_b, kind.swap_out.rows) for kind in found]
    [(0.5, 2), (0.3, 0)]
    """
    old, new = scores
    kept = matching_threshold(new, _passes(old, threshold, approved), approved)
    return tuple(
        _approvals(kind, (threshold, other), scores, approved, events, limits)
        for kind, other in (("same threshold", threshold), ("same rate", kept))
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
    thresholds: tuple[float, float],
    scores: tuple[Floats, Floats],
    approved: str,
    events: Mask | None,
    limits: RowLimits,
) -> Approvals:
    before, after = (
        _passes(side, threshold, approved)
        for side, threshold in zip(scores, thresholds, strict=True)
    )
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
