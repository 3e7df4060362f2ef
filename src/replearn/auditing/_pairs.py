"""Run all pairs of all contenders, as far as time and patience last.

What fits into a time budget is judged from small fits of each contender (`afford`). Times depend on
the machine, so an audit with a time budget may choose other sizes elsewhere; the report says which.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sklearn.utils.parallel import Parallel, delayed

from replearn.auditing import _runs
from replearn.auditing._runs import Job, PairOutcome, Store, Task, run_pair
from replearn.execution import Progress, runtime
from replearn.execution.runtime import TimeIsUp

LEAST_PAIRS = 2
"""Limits need two pairs: a contender with fewer is left out."""

TIME, INTERRUPTED = "the time budget ended", "it was interrupted"


@dataclass(frozen=True, eq=False)
class Finished:
    """What was run: the same pairs of all contenders that are kept."""

    kept: list[int]  # places of the contenders
    outcomes: list[list[PairOutcome]]  # of each kept contender
    stopped: str  # why not all pairs were run; empty if they were


@dataclass(eq=False)
class _Clock:
    """When to stop, and how long a pair of all contenders takes."""

    deadline: float | None
    stopped: str = ""
    started: list[float] = field(default_factory=list)

    def allows(self) -> bool:
        """Tell whether another pair is likely to be finished in time."""
        now = runtime.now()
        self.started.append(now)
        if self.deadline is None:
            return True
        first, pairs = self.started[0], len(self.started) - 1
        each = (now - first) / pairs if pairs else 0.0
        if now + each > self.deadline:
            self.stopped = TIME
        return not self.stopped


def run_pairs(
    task: Task,
    store: Store,
    *,
    deadline: float | None,
    n_jobs: int | None,
    verbose: int,
    keep_interrupted: bool = False,
) -> Finished:
    """Run what the store does not hold yet.

    Each new pair is stored as soon as it is done. After the deadline nothing is started, and fits
    end at their next block. With ``keep_interrupted``, Ctrl-C ends the run in the same way.
    """
    total = len(task.contenders) * task.design.n_pairs
    progress = Progress(total, "pairs", verbose=verbose)
    clock = _Clock(deadline)
    jobs = (
        delayed(_run_one)(contender, task.job(contender, pair, deadline))
        for contender, pair in _missing(task, store, clock, progress)
    )
    if deadline is not None and deadline - runtime.now() < 2 * START_SECONDS:
        n_jobs = 1  # the time would go into starting workers
    how = {"return_as": "generator_unordered", "pre_dispatch": "n_jobs"}
    parallel = Parallel(n_jobs=n_jobs, **how)
    try:
        for contender, pair, outcome in parallel(jobs):
            if outcome is None:
                clock.stopped = TIME
            else:
                store.put(contender, pair, outcome)
                progress.advance()
    except KeyboardInterrupt:
        if not keep_interrupted:
            raise
        clock.stopped = INTERRUPTED
    finally:
        progress.close()
    return _finished(task, store, clock.stopped)


def _missing(
    task: Task, store: Store, clock: _Clock, progress: Progress
) -> Iterator[tuple[int, int]]:
    """Yield what is to be run, pair by pair, so that all contenders have the same pairs.

    Under a deadline each contender gets its first pairs at once, the baseline before the others:
    there is something to report as early as possible.
    """
    n_pairs, places = task.design.n_pairs, range(len(task.contenders))
    early = min(LEAST_PAIRS, n_pairs) if clock.deadline is not None else 0
    rounds = [[(c, p) for p in range(early)] for c in places] if early else []
    rounds += [[(c, p) for c in places] for p in range(early, n_pairs)]
    for number, work in enumerate(rounds):
        missing = [item for item in work if not store.has(*item)]
        if len(missing) < len(work):
            progress.advance(len(work) - len(missing))
        # The first pairs are begun in any case: their deadline ends them.
        if missing and number >= len(places) * bool(early) and not clock.allows():
            return
        for item in missing:
            if clock.stopped:
                return
            yield item


def _run_one(contender: int, job: Job) -> tuple[int, int, PairOutcome | None]:
    try:
        return contender, job.pair, _runs.run_pair(job)
    except TimeIsUp:
        return contender, job.pair, None
    except Exception as error:
        error.add_note(f"contender {job.contender.name!r}, pair {job.pair}")
        raise


def _finished(task: Task, store: Store, stopped: str) -> Finished:
    """Keep the contenders with enough finished pairs, and the pairs that all of them have."""
    wanted = range(task.design.n_pairs)
    done = [{p for p in wanted if store.has(c, p)} for c in range(len(task.contenders))]
    pairs = set(wanted)
    kept: list[int] = []
    for contender in sorted(range(len(done)), key=lambda c: (c > 0, -len(done[c]))):
        shared = pairs & done[contender]
        if len(shared) >= LEAST_PAIRS:
            pairs, kept = shared, [*kept, contender]
        elif contender == 0:
            _refuse(task, stopped, len(shared))
    kept = sorted(kept)
    outcomes = [[store.finished[c, p] for p in sorted(pairs)] for c in kept]
    return Finished(kept, outcomes, stopped)


def _refuse(task: Task, stopped: str, n_done: int) -> None:
    """Say that too little was run for any report."""
    if stopped == INTERRUPTED:
        raise KeyboardInterrupt
    raise ValueError(
        f"{stopped} with {n_done} finished pairs of {task.contenders[0].name!r}, and limits need "
        f"{LEAST_PAIRS}. Give a larger time_budget, fewer rows (design={{'rows': ...}}; command "
        "line: --rows), or a faster model."
    )


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

START_SECONDS, SLOWEST = 4.0, 20.0
"""Starting worker processes costs about this much, times how slow a busy machine is."""

STEEPEST, FLATTEST = 1.3, 0.5
"""Exponents of the time of a fit in its number of rows, as far as they are believed."""


@dataclass(frozen=True)
class Affordable:
    """Sizes that fit into the time that is left."""

    train_size: int
    contenders: tuple[int, ...]  # places of those that are kept
    alone: bool = False  # no time to start other processes


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
    began, used = runtime.now(), time.process_time()
    costs = [_measure(task, place, deadline) for place in range(len(task.contenders))]
    waited = (runtime.now() - began) / max(time.process_time() - used, 1e-3)
    slowness = min(max(waited, 1.0), SLOWEST)
    left, start = max(deadline - runtime.now(), 0.0), slowness * START_SECONDS
    alone = n_jobs == 1 or left < 2 * start
    seconds = USED_SHARE * (left if alone else n_jobs * (left - start))

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
    return Affordable(rows_for(places) or least, places, alone)


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
        start = runtime.now()
        try:
            run_pair(small.job(place, 0, deadline))
        except TimeIsUp:
            return through(seen)
        seconds = runtime.now() - start
        seen.append((rows, seconds))
        left = deadline - runtime.now()
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
