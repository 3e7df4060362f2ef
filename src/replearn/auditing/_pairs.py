"""Run all pairs of all contenders, as far as time and patience last."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from sklearn.utils.parallel import Parallel, delayed

from replearn.auditing import _runs
from replearn.auditing._budget import START_SECONDS
from replearn.auditing._clock import TimeIsUp
from replearn.auditing._runs import Job, PairOutcome, Store, Task
from replearn.execution import Progress

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
        now = time.monotonic()
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
    if deadline is not None and deadline - time.monotonic() < 2 * START_SECONDS:
        n_jobs = 1  # the time would go into starting workers
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
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
