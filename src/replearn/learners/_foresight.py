"""How alike the partitions vote: learned in fit, so that no estimate depends on other points."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.bounds.foreseen import joint_variance
from replearn.execution import Panel
from replearn.guarantees import Plan

UNKNOWN = 1.0
"""Partitions that vote alike: flips are overstated rather than understated."""


def foreseen_variance(panel: Panel, probes: Any, made: Plan, n_jobs: int | None) -> float:
    """Estimate the variance of the mean vote share, as a part of one partition's.

    Parameters
    ----------
    panel : Panel
        The models of all blocks.
    probes : container of rows
        Some training rows. Their own blocks know them, one in each partition: that shifts shares
        by 1 / n_blocks at most, alike in all partitions.
    made : Plan
        The plan.
    n_jobs : int or None
        Workers.

    Returns
    -------
    float
        1 if it is unknown, or not needed (one partition, more than two classes).
    """
    if made.n_partitions == 1 or panel.n_classes > 2:
        return UNKNOWN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever predicts hears them
        try:
            votes = _votes(panel, probes, made, n_jobs)
        except Exception:
            return UNKNOWN  # a fit does not fail over a question nobody asked
    return joint_variance(votes, made.n_blocks)


def whole_votes(shares: NDArray[np.float64], n_blocks: int) -> NDArray[np.intp]:
    """Read mean scores as if they were shares of votes.

    A score is steadier than the coin of the same mean: flips are overstated.
    """
    return np.rint(shares * n_blocks).astype(np.intp)


def _votes(panel: Panel, probes: Any, made: Plan, n_jobs: int | None) -> NDArray[np.integer]:
    if made.vote == "soft":
        return whole_votes(panel.soft_scores(probes, n_jobs=n_jobs), made.n_blocks)
    return panel.vote_counts(probes, n_jobs=n_jobs)
