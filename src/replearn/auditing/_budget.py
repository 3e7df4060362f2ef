"""What fits into a time budget, judged from small fits of each contender.

Times depend on the machine, so an audit with a time budget may choose other sizes elsewhere; the
report says which. Without a budget nothing here is used.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from replearn.auditing._clock import TimeIsUp
from replearn.auditing._runs import Task, run_pair

FIRST_ROWS, GROWTH = 500, 4
"""Sizes of the small fits."""

PROBE_SHARE = 0.04
"""A small fit is not tried if it would take more than this share of the time that is left."""

WANTED_PAIRS = 5
"""Fewer rows are learned from rather than fewer pairs run."""

ENOUGH_ROWS, LEAST_ROWS = 10_000, 1000
"""Contenders are given up before so many rows are; whoever is left learns from the least."""

USED_SHARE = 0.8
"""The rest is for what was judged too low."""

START_SECONDS = 4.0
"""Starting worker processes costs about this much."""

STEEPEST, FLATTEST = 1.3, 0.5
"""Exponents of the time of a fit in its number of rows, as far as they are believed."""


@dataclass(frozen=True)
class Affordable:
    """Sizes that fit into the time that is left."""

    train_size: int
    contenders: tuple[int, ...]  # places of those that are kept


@dataclass(frozen=True)
class Cost:
    """Seconds of one pair as a power of the rows it learns from, through what was measured."""

    rows: int
    seconds: float
    exponent: float

    def at(self, rows: int) -> float:
        """Extrapolate to another number of rows."""
        return float(self.seconds * (rows / self.rows) ** self.exponent)


def afford(task: Task, deadline: float, n_jobs: int) -> Affordable:
    """Choose rows and contenders for at least a few pairs before the deadline."""
    size, least = task.design.train_size, min(LEAST_ROWS, task.design.train_size)
    costs = [_measure(task, place, deadline) for place in range(len(task.contenders))]
    left = deadline - time.monotonic() - (START_SECONDS if n_jobs > 1 else 0.0)
    seconds = USED_SHARE * n_jobs * max(left, 0.0)

    def rows_for(places: tuple[int, ...]) -> int | None:
        def pairs(rows: int) -> float:
            return seconds / max(sum(costs[place].at(rows) for place in places), 1e-9)

        return largest(pairs, least, size)

    places = tuple(p for p, cost in enumerate(costs) if p == 0 or cost.seconds < math.inf)
    enough = min(ENOUGH_ROWS, size)
    while (rows_for(places) or 0) < enough and len(places) > 2:
        # What lies between the first and the last can be missed most easily: bagging, usually.
        dearest = max(places[1:-1], key=lambda place: costs[place].at(enough))
        places = tuple(place for place in places if place != dearest)
    return Affordable(rows_for(places) or least, places)


def largest(pairs: Callable[[int], float], least: int, most: int) -> int | None:
    """Return the largest number of rows with enough pairs; None if even the least has too few.

    Examples
    --------
    >>> largest(lambda rows: 20_000 / rows, 1000, 100_000)
    4000
    >>> largest(lambda rows: 20_000 / rows, 6000, 100_000) is None
    True
    """
    if pairs(most) >= WANTED_PAIRS:
        return most
    if pairs(least) < WANTED_PAIRS:
        return None
    low, high = least, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if pairs(middle) >= WANTED_PAIRS else (low, middle)
    return low


def _measure(task: Task, place: int, deadline: float) -> Cost:
    """Time one pair at growing sizes, as long as it is cheap."""
    rows = min(FIRST_ROWS, task.design.train_size)
    seen: list[tuple[int, float]] = []
    while True:
        small = dataclasses.replace(
            task, design=dataclasses.replace(task.design, train_size=rows, n_drawn=2)
        )
        start = time.monotonic()
        try:
            run_pair(small.job(place, 0, deadline))
        except TimeIsUp:
            return through(seen)
        seconds = time.monotonic() - start
        seen.append((rows, seconds))
        left = deadline - time.monotonic()
        if rows == task.design.train_size or GROWTH * seconds > PROBE_SHARE * left:
            return through(seen)
        rows = min(GROWTH * rows, task.design.train_size)


def through(seen: list[tuple[int, float]]) -> Cost:
    """Draw a power law through the last two times; too dear if even the first was not finished.

    Examples
    --------
    >>> through([(100, 1.0), (400, 4.0)]).at(1600)
    16.0
    """
    if not seen:
        return Cost(FIRST_ROWS, math.inf, STEEPEST)
    exponent = STEEPEST
    if len(seen) > 1:
        (few, fast), (many, slow) = seen[-2:]
        measured = math.log(max(slow, 1e-6) / max(fast, 1e-6)) / math.log(many / few)
        exponent = min(STEEPEST, max(FLATTEST, measured))
    rows, seconds = seen[-1]
    return Cost(rows, seconds, exponent)
