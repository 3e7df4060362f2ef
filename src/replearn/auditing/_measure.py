"""Run all pairs of all contenders: in parallel, with progress, within a time budget."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sklearn.utils.parallel import Parallel, delayed

from replearn.auditing._contenders import Contender
from replearn.auditing._design import AuditDesign, Rows, draw_pair
from replearn.auditing._runs import PairOutcome, Question, run_pair
from replearn.auditing._store import Store
from replearn.execution import Progress
from replearn.randomness import SharedKey

LEAST_PAIRS = 2
"""A time budget never stops an audit before limits can be given at all."""


@dataclass(frozen=True, eq=False)
class Work:
    """Everything a worker needs."""

    contenders: list[Contender]
    question: Question
    design: AuditDesign
    rows: Rows
    key: SharedKey


def measure(
    work: Work, store: Store, *, time_budget: float | None, n_jobs: int | None, verbose: int
) -> list[list[PairOutcome]]:
    """Run what the store does not hold yet.

    Parameters
    ----------
    work : Work
        Contenders, data and design.
    store : Store
        Finished pairs; each new one is added as soon as it is done.
    time_budget : float or None
        No pair is begun after so many seconds; pairs that are begun are finished.
    n_jobs : int or None
        Number of joblib workers.
    verbose : int
        See `Progress`.

    Returns
    -------
    list of list of PairOutcome
        For each contender the finished pairs, the same for all contenders.
    """
    n_contenders, n_pairs = len(work.contenders), work.design.n_pairs
    progress = Progress(n_contenders * n_pairs, "pairs", verbose=verbose)
    begun: list[int] = []
    missing = _missing(work, store, time_budget, begun, progress)
    tasks = (delayed(_one)(work, contender, pair) for contender, pair in missing)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
    try:
        for contender, pair, outcome in parallel(tasks):
            store.put(contender, pair, outcome)
            progress.advance()
    finally:
        progress.close()
    return [[_finished(store, c, pair) for pair in begun] for c in range(n_contenders)]


def _missing(
    work: Work, store: Store, time_budget: float | None, begun: list[int], progress: Progress
) -> Iterator[tuple[int, int]]:
    """Yield what is to be run, pair by pair, so that all contenders have the same pairs."""
    start = time.monotonic()
    for pair in range(work.design.n_pairs):
        late = time_budget is not None and time.monotonic() - start > time_budget
        if late and pair >= LEAST_PAIRS:
            return
        begun.append(pair)
        for contender in range(len(work.contenders)):
            if store.get(contender, pair) is None:
                yield contender, pair
            else:
                progress.advance()


def _one(work: Work, contender: int, pair: int) -> tuple[int, int, PairOutcome]:
    samples = draw_pair(work.design, work.rows, work.key, pair)
    who: Any = work.contenders[contender]
    try:
        return contender, pair, run_pair(who, work.question, samples, work.key, pair)
    except Exception as error:
        error.add_note(f"contender {who.name!r}, pair {pair}")
        raise


def _finished(store: Store, contender: int, pair: int) -> PairOutcome:
    found = store.get(contender, pair)
    assert found is not None, "every pair that was begun is finished"
    return found
