"""What fits into a time budget, judged from small fits of each contender.

Times depend on the machine, so an audit with a time budget may choose other sizes elsewhere; the
report says which.
"""

from __future__ import annotations

import dataclasses
import math
import time
from dataclasses import dataclass
from typing import Any

from replearn.auditing._contenders import Contender
from replearn.auditing._runs import START_SECONDS, Task, earlier_manifest, run_pair
from replearn.execution import DeadlinePassed, context
from replearn.records import smallest_integer

FIRST_ROWS = 500
GROWTH = 4
"""Sizes of the small fits."""

PROBE_SHARE = 0.04
"""A small fit is not tried if it would take more than this share of the time that is left."""

PROBED_SHARE = 0.6
"""Contenders are left out that were not tried before this share of the time was used."""

WANTED_PAIRS = 5
"""The number of training rows is reduced before that of pairs."""

ENOUGH_ROWS = 10_000
MIN_ROWS = 1000
"""Contenders are left out before fewer rows are used; the others use at least ``MIN_ROWS``."""

USED_SHARE = 0.8
"""The rest is for what was judged too low."""

SLOWEST = 20.0
"""A busy machine is at most this many times as slow."""

STEEPEST = 1.3
FLATTEST = 0.5
"""Exponents of the time of a fit in its number of rows, as far as they are believed."""


@dataclass(frozen=True)
class Affordable:
    """Sizes that fit into the time that is left."""

    train_size: int
    contenders: tuple[int, ...]  # indices of those that are kept
    alone: bool = False  # no time to start other processes

    def shrink(self, task: Task, contenders: list[Contender]) -> Task:
        """Return the task with fewer rows, and those of the contenders that are kept."""
        return dataclasses.replace(
            task,
            contenders=[contenders[index] for index in self.contenders],
            design=dataclasses.replace(task.design, train_size=self.train_size),
        )


@dataclass(frozen=True)
class Cost:
    """Seconds of one pair as a power of the rows it learns from, through what was measured."""

    rows: int
    seconds: float
    exponent: float

    def at(self, rows: int) -> float:
        """Extrapolate to another number of rows."""
        return float(self.seconds * (rows / self.rows) ** self.exponent)


def within(
    task: Task, deadline: float, *, fixed_size: bool, resume: Any, n_jobs: int
) -> Affordable:
    """Choose what fits into the time; a folder of an earlier call has chosen already."""
    indices = tuple(range(len(task.contenders)))
    earlier = earlier_manifest(resume)
    if earlier is not None:
        names = [name for name, *_ in earlier["contenders"]]
        kept = tuple(p for p in indices if task.contenders[p].name in names)
        return Affordable(earlier["design"]["train_size"], kept or indices)
    if fixed_size:
        return Affordable(task.design.train_size, indices)
    return _afford(task, deadline, n_jobs)


def _afford(task: Task, deadline: float, n_jobs: int) -> Affordable:
    """Choose rows and contenders for at least a few pairs before the deadline."""
    size = task.design.train_size
    least = min(MIN_ROWS, task.design.train_size)
    began = context.now()
    used = time.process_time()
    latest = began + PROBED_SHARE * (deadline - began)
    costs = [_measure(task, index, deadline, latest) for index in range(len(task.contenders))]
    waited = (context.now() - began) / max(time.process_time() - used, 1e-3)
    slowness = min(max(waited, 1.0), SLOWEST)
    left = max(deadline - context.now(), 0.0)
    start = slowness * START_SECONDS
    alone = n_jobs == 1 or left < 2 * start
    seconds = USED_SHARE * (left if alone else n_jobs * (left - start))

    def rows_for(indices: tuple[int, ...]) -> int:
        """Return the largest number of rows with enough pairs; 0 if even the least has too few."""

        def too_few_pairs(rows: int) -> bool:
            each = sum(costs[index].at(rows) for index in indices)
            return seconds / max(each, 1e-9) < WANTED_PAIRS

        first = smallest_integer(too_few_pairs, start=least, limit=size)
        if first is None:
            return size
        return first - 1 if first > least else 0

    indices = tuple(p for p, cost in enumerate(costs) if p == 0 or cost.seconds < math.inf)
    enough = min(ENOUGH_ROWS, size)
    while rows_for(indices) < enough and len(indices) > 2:
        # The others can then be trained on more rows; the headline names what is left out.
        dearest = max(indices[1:], key=lambda index: costs[index].at(enough))
        indices = tuple(index for index in indices if index != dearest)
    return Affordable(rows_for(indices) or least, indices, alone)


def _measure(task: Task, index: int, deadline: float, latest: float) -> Cost:
    """Time one pair at growing sizes, as long as it is cheap; none is begun too late."""
    rows = min(FIRST_ROWS, task.design.train_size)
    seen: list[tuple[int, float]] = []
    if index > 0 and context.now() > latest:
        return through(seen)
    while True:
        small = dataclasses.replace(
            task, design=dataclasses.replace(task.design, train_size=rows, n_drawn=2)
        )
        start = context.now()
        try:
            run_pair(small.job(index, 0, deadline))
        except DeadlinePassed:
            return through(seen)
        seconds = context.now() - start
        seen.append((rows, seconds))
        left = deadline - context.now()
        if rows == task.design.train_size or GROWTH * seconds > PROBE_SHARE * left:
            return through(seen)
        rows = min(GROWTH * rows, task.design.train_size)


def through(seen: list[tuple[int, float]]) -> Cost:
    """Draw a power law through the last two times; too dear if even the first was not finished.

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
