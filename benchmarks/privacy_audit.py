"""How near does the auditor of privacy come? Claimed epsilon beside what many runs prove.

An auditor that never comes close to a claim proves little. For each setting and each hard pair of
neighbouring lists the script prints the claim, the exact loss of that pair (from the law of the
noise) and the lower limit that the runs prove, too high with probability 1e-6. The auditor sees all
that `select_privately` tells: the item and its noisy count. Returns 1 if a claim is refuted.

The auditor knows nothing about the mechanism. From the results of one half of the runs it chooses
the set of results that distinguishes the samples best, and from the other half it computes an exact
lower limit of the epsilon for which the claimed delta could be true. A limit above the claim
refutes it; a limit below it proves nothing.

Run ``python benchmarks/privacy_audit.py [--runs 100000] [--only WORD]``.
"""

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from replearn.bounds.numeric import binomial_limits
from replearn.paper.semi_private import noise_ratio, release_counts, release_threshold
from replearn.records.checks import check_count, check_fraction

SHIPPED = ((0.5, 0.02), (1.0, 1e-6), (2.0, 1e-6), (4.0, 1e-3))
"""Pairs of epsilon and delta that are audited."""

FAR = 60.0
"""Noise beyond so many scales is left out of exact laws: less than 1e-26."""


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


def released(per_run: list[Any], epsilon: float, threshold: int) -> list[Hashable]:
    """Select for many runs at once: the noise of OpenDP is independent for each key of a map."""
    counts = {f"{run} {item}": c for run, items in enumerate(per_run) for item, c in items.items()}
    best: list[tuple[str, int]] = [("", 0)] * len(per_run)
    for name, noisy in release_counts(counts, epsilon, threshold).items():
        run, item = name.split(" ")
        best[int(run)] = max(best[int(run)], (item, noisy), key=lambda pair: pair[::-1])
    return list(best)


def selecting(epsilon: float, threshold: int) -> Callable[[list[str], int], list[Hashable]]:
    """Return `select_privately` on a list of items, many times."""
    return lambda items, runs: released([Counter(items)] * runs, epsilon, threshold)


def neighbours(epsilon: float, delta: float) -> dict[str, tuple[list[str], list[str]]]:
    """Return pairs of lists that are hard: at the threshold, a tie that is broken, a new item."""
    level = release_threshold(epsilon, delta)
    tie = ["a"] * level + ["b"] * level
    return {
        "at the threshold": (["a"] * level, ["a"] * (level - 1) + ["b"]),
        "a tie": (tie, ["b", *tie[1:]]),
        "a new item": (["a"] * (level // 2), ["a"] * (level // 2 - 1) + ["c"]),
    }


# -- the exact loss --------------------------------------------------------------------------------
def law_of_answers(items: Iterable[str], epsilon: float, threshold: int) -> dict[Hashable, float]:
    """Return the probability of every answer, from the law of the noise."""
    counts, ratio = Counter(items), noise_ratio(epsilon)
    far = math.ceil(FAR * 2.0 / epsilon)
    top = max(counts.values()) + far
    levels = np.arange(threshold, top + 1)
    exact = {
        item: (1.0 - ratio) / (1.0 + ratio) * ratio ** np.abs(levels - count)
        for item, count in counts.items()
    }
    # Beyond the threshold: the probability that an item stays below each level.
    below = {item: 1.0 - np.cumsum(p[::-1])[::-1] for item, p in exact.items()}
    law: dict[Hashable, float] = {("", 0): math.prod(float(b[0]) for b in below.values())}
    for item, p in exact.items():
        for place, level in enumerate(levels.tolist()):
            # A tie goes to the later name, as in `released`.
            others = [
                float(b[min(place + (other < item), len(levels) - 1)])
                for other, b in below.items()
                if other != item
            ]
            law[item, level] = float(p[place]) * math.prod(others)
    return law


def exact_loss(one: dict[Hashable, float], two: dict[Hashable, float], delta: float) -> float:
    """Return the smallest epsilon for which these two laws keep the claim with this delta."""
    return max(_one_sided(one, two, delta), _one_sided(two, one, delta))


def _one_sided(one: dict[Hashable, float], two: dict[Hashable, float], delta: float) -> float:
    low, high = 0.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2.0
        excess = sum(max(0.0, p - math.exp(middle) * two.get(a, 0.0)) for a, p in one.items())
        low, high = (middle, high) if excess > delta else (low, middle)
    return high


def main() -> int:
    """Print the table; 1 if a claim is refuted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000, help="runs on each sample")
    parser.add_argument("--only", default="", help="pairs whose name contains this")
    options = parser.parse_args()
    print(f"{'claim':>6} {'delta':>7}  {'neighbours':18} {'exact':>6} {'limit':>6}")
    refuted = 0
    for epsilon, delta in SHIPPED:
        level = release_threshold(epsilon, delta)
        for name, (one, two) in neighbours(epsilon, delta).items():
            if options.only not in name:
                continue
            laws = [law_of_answers(items, epsilon, level) for items in (one, two)]
            loss = exact_loss(*laws, delta)
            mechanism = selecting(epsilon, level)
            found = audit_privacy(mechanism, one, two, delta=delta, runs=options.runs)
            refuted += found.refutes(epsilon)
            said = "REFUTED" * found.refutes(epsilon)
            row = f"{epsilon:6.2f} {delta:7.0e}  {name:18} {loss:6.3f} {found.epsilon:6.3f}"
            print(f"{row}  {said}", flush=True)
    return int(refuted > 0)


if __name__ == "__main__":
    sys.exit(main())
