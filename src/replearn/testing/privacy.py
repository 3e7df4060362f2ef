"""An auditor of differential privacy: what many runs on two neighbouring samples reveal.

It knows nothing about the mechanism. From the results of one half of the runs it chooses the set
of results that distinguishes the samples best, and from the other half it computes an exact lower
limit of the epsilon for which the claimed delta could be true. A limit above the claim refutes it;
a limit below it proves nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from replearn.bounds import binomial_limits
from replearn.records import check_count, check_fraction


@dataclass(frozen=True)
class PrivacyAudit:
    """What an audit of privacy found.

    Parameters
    ----------
    epsilon : float
        Lower limit: except with probability ``alarm``, no smaller epsilon holds with this delta.
    delta : float
        The claimed delta.
    event : frozenset
        The results that distinguish the samples.
    runs : int
        Runs on each sample.
    alarm : float
        Probability that the limit is too high.
    """

    epsilon: float
    delta: float
    event: frozenset[Hashable]
    runs: int
    alarm: float

    def refutes(self, epsilon: float) -> bool:
        """Whether this claim is refuted."""
        return self.epsilon > epsilon


def audit_privacy(
    mechanism: Callable[[Any, int], Sequence[Hashable]],
    sample: Any,
    neighbour: Any,
    *,
    delta: float,
    runs: int = 100_000,
    alarm: float = 1e-6,
) -> PrivacyAudit:
    """Run a mechanism many times on two neighbouring samples, and bound its epsilon from below.

    Parameters
    ----------
    mechanism : callable
        Maps a sample and a number of runs to one hashable result for each run.
    sample, neighbour : object
        Two samples that differ in one row.
    delta : float
        The delta that is claimed, in [0, 1).
    runs : int, default=100_000
        Runs on each sample; half of them choose the event, the other half judge it.
    alarm : float, default=1e-6
        Probability of a limit above the true epsilon.

    Returns
    -------
    PrivacyAudit
        With the limit and the event.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> def randomised_response(bit, runs):  # tells the truth with probability 3/4
    ...     return np.where(rng.random(runs) < 0.75, bit, 1 - bit).tolist()
    >>> found = audit_privacy(randomised_response, 0, 1, delta=0.0, runs=20_000)
    >>> 0.9 < found.epsilon < math.log(3), found.refutes(0.5), found.refutes(1.1)
    (True, True, False)
    """
    check_count("runs", runs, least=4)
    check_fraction("delta", delta, zero=True, one=False)
    check_fraction("alarm", alarm, one=False)
    one, two = (list(mechanism(data, runs)) for data in (sample, neighbour))
    half = runs // 2
    found = PrivacyAudit(0.0, delta, frozenset(), runs, alarm)
    for first, second in ((one, two), (two, one)):
        event = _best_event(Counter(first[:half]), Counter(second[:half]), half, delta)
        hits = [sum(result in event for result in part[half:]) for part in (first, second)]
        limit = _limit(hits[0], hits[1], runs - half, delta, alarm / 2)
        if limit > found.epsilon:
            found = PrivacyAudit(limit, delta, event, runs, alarm)
    return found


def _best_event(one: Counter[Any], two: Counter[Any], runs: int, delta: float) -> frozenset[Any]:
    """Return the set of results with the largest limit among those with the largest ratios."""
    ranked = sorted(one, key=lambda result: (one[result] + 1) / (two[result] + 1), reverse=True)
    best = -math.inf
    chosen = 0
    hits = 0
    others = 0
    for count, result in enumerate(ranked, start=1):
        hits = hits + one[result]
        others = others + two[result]
        limit = _limit(hits, others, runs, delta, 0.05)
        if limit > best:
            best = limit
            chosen = count
    return frozenset(ranked[:chosen])


def _limit(hits: int, others: int, runs: int, delta: float, alarm: float) -> float:
    """Lower limit of epsilon from two binomial counts: ln((p - delta) / q)."""
    lowest, _ = binomial_limits(hits, runs, alarm)
    _, highest = binomial_limits(others, runs, alarm)
    excess = float(lowest) - delta
    return math.log(excess / float(highest)) if excess > 0.0 else -math.inf
