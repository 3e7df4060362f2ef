"""How likely a fresh training sample answers differently, judged from one fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from replearn.bounds import ThresholdLaw, flip_estimate, flip_limits, flip_rate_limit
from replearn.bounds.foreseen import average_flip_estimate
from replearn.bounds.fresh import block_disagreement
from replearn.heavy import HeavyView

__all__ = ["FlipRate", "average_flip_estimate", "flip_estimate", "flip_limits", "flip_rate"]


@dataclass(frozen=True)
class FlipRate:
    """Share of points that two fresh training samples would answer differently.

    Parameters
    ----------
    estimate : float
        Estimate from one fit, averaged over thresholds.
    upper : float
        Upper confidence limit.
    delta : float
        The limit fails with probability at most delta.
    """

    estimate: float
    upper: float
    delta: float

    def __str__(self) -> str:
        return f"flip rate {self.estimate:.2%} (at most {self.upper:.2%}, {1 - self.delta:.0%})"


def flip_rate(
    law: ThresholdLaw,
    votes: NDArray[np.integer],
    delta: float,
    heavy: HeavyView | None = None,
    *,
    joint: float | None = None,
) -> FlipRate:
    """Estimate the flip rate over points from their votes.

    Parameters
    ----------
    law : ThresholdLaw
        The law of the thresholds.
    votes : ndarray of int, shape (points, partitions)
        Votes for class 1.
    delta : float
        Failure probability of the upper limit.
    heavy : HeavyView, default=None
        What the heavy stage says of the points.
    joint : float, default=None
        How alike the partitions vote (``joint_variance``); None: found from these votes.

    Returns
    -------
    FlipRate
        Estimate and limit.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.bounds import uniform_law
    >>> print(flip_rate(uniform_law(32), np.full((100, 1), 31), 0.05))
    flip rate 3.62% (at most 7.80%, 95%)
    """
    if law.n_blocks < 2:
        return FlipRate(float("nan"), 1.0, delta)
    part = delta if heavy is None else delta / 2
    upper = flip_rate_limit(law, block_disagreement(votes, law.n_blocks), delta=part)
    flips = average_flip_estimate(law, votes, joint=joint)
    if heavy is not None:
        # theorem: fresh-sample-rate (section "heavy stage"): votes of all points, heavy or not
        upper, flips = min(1.0, upper + heavy.rate_limit(part)), heavy.average_flips(flips)
    return FlipRate(float(flips.mean()), upper, delta)
