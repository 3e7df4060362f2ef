"""Flips against the truth: for the worse, for the better, and what users could rely on before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from replearn.auditing._row_limits import Mask, RowLimits
from replearn.auditing._statistics import Estimate


@dataclass(frozen=True)
class FlipRates:
    """What an update does to right and to wrong predictions.

    Parameters
    ----------
    negative, positive : Estimate
        Share of rows that were right and become wrong, and that were wrong and become right.
    ratio : Estimate or None
        Number of negative flips per positive one; None if there is no positive flip.
    trust_compatibility : Estimate or None
        Of the rows that were right before, the share that still is.
    error_compatibility : Estimate or None
        Of the rows that were wrong before, the share that still is.
    """

    negative: Estimate
    positive: Estimate
    ratio: Estimate | None
    trust_compatibility: Estimate | None
    error_compatibility: Estimate | None


def flip_rates(right_a: Mask, right_b: Mask, limits: RowLimits) -> FlipRates:
    """Count negative and positive flips; limits of their ratio are those of McNemar's test.

    >>> right_a = np.arange(100) < 60
    >>> right_b = np.arange(100) < 50
    >>> right_b[60:70] = True
    >>> rates = flip_rates(right_a, right_b, RowLimits(0.05))
    >>> rates.negative.value, rates.ratio.value, round(rates.trust_compatibility.value, 4)
    (0.1, 1.0, 0.8333)
    """
    worse = right_a & ~right_b
    better = ~right_a & right_b
    negative = limits.share(worse)
    positive = limits.share(better)
    assert negative is not None, "there are rows"
    assert positive is not None, "there are rows"
    return FlipRates(
        negative=negative,
        positive=positive,
        ratio=_odds(limits.share(worse, worse | better)),
        trust_compatibility=limits.share(right_b, right_a),
        error_compatibility=limits.share(~right_b, ~right_a),
    )


def _odds(share: Estimate | None) -> Estimate | None:
    """Turn the share of negative flips among both kinds into negative for each positive one."""
    if share is None or share.value == 1.0:
        return None
    value, lower, upper = (
        p / (1.0 - p) if p < 1.0 else np.inf for p in (share.value, share.lower, share.upper)
    )
    return Estimate(value, lower, upper)
