"""The function ``audit(estimator, X, y)``: pairs of all contenders, as far as the time lasts."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_regressor
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from replearn.auditing import _runs
from replearn.auditing._budget import START_SECONDS, within
from replearn.auditing._columns import cells, data_facts, make_subgroups
from replearn.auditing._contender_results import (
    CLASSIFIER_ARRAYS,
    REGRESSOR_ARRAYS,
    ClassifierResult,
    ContenderResult,
    RegressorResult,
)
from replearn.auditing._contenders import Contender, Setting, make_contenders, missing_kinds
from replearn.auditing._design import MIN_SAMPLE, draw_rows, make_design
from replearn.auditing._result import AuditResult
from replearn.auditing._runs import Job, PairOutcome, Store, Task
from replearn.auditing._sources import SourceResult, measure_sources
from replearn.execution import DeadlinePassed, Progress, context, in_workers
from replearn.learners import (
    DecisionThresholdClassifier,
    PointwiseReplicableRegressor,
    check_groups,
    check_labels,
    check_numbers,
    split_threshold,
)
from replearn.randomness import SharedKey
from replearn.records import check_choice, check_count, check_fraction, check_positive, if_given
from replearn.tables import data_digest, n_rows

SHOWN_ROWS = 200
"""Rows in the report's table; the others are in ``row_flips``."""

MIN_PAIRS = 2
"""Limits require two pairs: a contender with fewer is left out."""

TIME = "the time budget ended"
INTERRUPTED = "it was interrupted"


def audit(  # noqa: PLR0913
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    contenders: Sequence[str] | None = None,
    n_pairs: int = 20,
    threshold: Any = None,
    tolerance: float | None = None,
    y_range: tuple[float, float] | None = None,
    groups: ArrayLike | None = None,
    subgroups: Any = "auto",
    rho: float = 0.1,
    test_size: int | float | None = None,
    train_size: int | None = None,
    sample: str = "disjoint",
    new_rows: float = 1.0,
    max_rows: int | None = None,
    time_budget: float | None = None,
    sources: bool | None = None,
    shared_key: Any = 0,
    resume: str | os.PathLike[str] | None = None,
    on_interrupt: str = "raise",
    n_jobs: int | None = None,
    verbose: int = 0,
) -> AuditResult:
    """Measure on your own data how often retraining changes a prediction.

    The test rows are drawn once. Pairs of samples are drawn from the other rows; each contender
    is fitted on both samples of a pair, and a test row flips if the two predictions differ.

    Parameters
    ----------
    estimator : classifier, regressor, or dict of str to them
        One estimator is the baseline, next to the other contenders that are made from it. A dict
        is taken as it is; its first entry is the baseline.
    X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
        All rows, in the order of the file.
    y : array-like of shape (n,)
        Labels of any kind; numbers for a regressor.
    contenders : list of str, default=None
        Which ones to measure; of a dict, some of its names. For one classifier, among

        - "baseline": the classifier itself;
        - "bagging": the mean of five models;
        - "score": `ScoreReplicableClassifier`; its rho is estimated, not certified;
        - "incumbent": `IncumbentClassifier`; the second training of a pair keeps the predictions of
          the first where it is not sure;
        - "replicable": `PointwiseReplicableClassifier` with about 64 base estimators, so fewer
          partitions than by default: the guarantee is the same, real flips are more frequent;
        - "replicable-full": the same with all partitions, as ``fit`` trains it;
        - "score-loose": as "score", at twice rho.

        None: the first five. For one regressor, among "baseline", "bagging", "incumbent"
        (`IncumbentRegressor` with ``tolerance`` as its band) and "replicable"
        (`PointwiseReplicableRegressor` with ``tolerance`` as its resolution).
    n_pairs : int, default=20
        Pairs of runs; twenty resolve the flip frequency of a row to 5 %.
    threshold : float, str or pair of float, default=None
        Decision threshold of every contender on the probability of the second of two classes, as
        in `DecisionThresholdClassifier`: a number, the costs ``(1, 10)`` of a false positive and of
        a false negative, "prevalence", "recall=0.8" or "rate=0.3". None: that of the estimator (a
        ``FixedThresholdClassifier``, ``TunedThresholdClassifierCV`` or
        `DecisionThresholdClassifier`), or its most probable class.
    tolerance : float, default=None
        For regressors: two predictions that differ by at least so much, in units of y, have
        changed. None: y holds labels, unless a `PointwiseReplicableRegressor` is audited, whose
        resolution is taken.
    y_range : (float, float), default=None
        Range of the predictions of the default replicable regressor, known before the data.
    groups : array-like of shape (n,), default=None
        Rows of one group (one patient) stay together in tests, samples and blocks.
    subgroups : "auto", None, list of column names, or dict of name to labels, default="auto"
        Flips are reported for each; "auto" takes columns of text or booleans with few values.
    rho : float, default=0.1
        Flip probability that the default replicable contender guarantees.
    test_size : int or float, default=None
        Number or share of test rows; None: 30 %, at most 2000.
    train_size : int, default=None
        Rows (groups) that each run learns from; None: half of the others. If ``2 * n_pairs *
        train_size`` rows are there, no two pairs share a row, and the limits hold for the
        population instead of for this file.
    sample : {"disjoint", "bootstrap"}, default="disjoint"
        Whether the samples of a pair are cut from the file, or drawn with replacement.
    new_rows : float, default=1.0
        Share of the second sample of a pair that is new; the rest is shared with the first, as
        when one day of data is added and one is dropped.
    max_rows : int, default=None
        At most so many rows of the file, drawn by the key, are used.
    time_budget : float, default=None
        Seconds for the whole audit. Small fits of each contender decide how many rows, and which
        contenders, leave time for five pairs; fits end at the deadline. The report says how far it
        got (`AuditResult.cut_short`), and its headline which contenders were not measured.
    sources : bool, default=None
        Whether to measure where changes come from: the baseline is repeated on the same rows with
        another seed, another order of the rows, another order of the columns, and two threads. The
        number of repetitions follows from ``n_pairs`` and the number of contenders, and adds at
        most a fifth of their trainings. None: unless there is a time budget.
    shared_key : str, bytes, int or SharedKey, default=0
        Draws the rows, fills seeds that were left open (both runs of a pair get the same), and is
        the key of the default contenders that need one.
    resume : path, default=None
        A folder where every finished pair is kept. After an interruption, the same call continues.
    on_interrupt : {"raise", "return"}, default="raise"
        Whether Ctrl-C raises, or returns what was measured before it.
    n_jobs : int, default=None
        Number of joblib workers. The result does not depend on it.
    verbose : int, default=0
        0 reports progress only for long audits, 1 always, a negative number never.

    Returns
    -------
    AuditResult
        ``print``, ``frame``, ``findings``, ``save("report.html")``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from replearn.auditing import audit
    >>> X, y = make_classification(3000, flip_y=0.2, random_state=0)
    >>> result = audit(GaussianNB(), X, y, n_pairs=4, shared_key="trial-2026")
    >>> [contender.name for contender in result.contenders]
    ['baseline', 'bagging (5 models)', 'score thresholds', 'incumbent', 'replicable']
    >>> rate = result.flip_rate("baseline")
    >>> 0 < rate.lower < rate.value < rate.upper < 0.2
    True
    """
    start = context.now()
    check_fraction("rho", rho, one=False)
    if_given(check_positive, "time_budget", time_budget)
    if_given(check_count, "max_rows", max_rows, least=3 * MIN_SAMPLE)
    check_choice("on_interrupt", on_interrupt, ("raise", "return"))
    tolerance = _tolerance(estimator, tolerance)
    if threshold is not None and tolerance is not None:
        raise ValueError(f"threshold={threshold!r} is not supported with regressors.")
    target = _Target.of_labels(X, y) if tolerance is None else _Target.of_numbers(X, y, tolerance)
    if threshold is not None:
        split_threshold(estimator, threshold, np.asarray(target.names))  # raises if it cannot be
    group_of_row = check_groups(groups, n_rows(X))
    key = SharedKey(shared_key).child("audit")
    rows = draw_rows(n_rows(X), test_size, group_of_row, key, max_rows=max_rows)
    sizes = make_design(
        n_rows(X),
        rows,
        n_pairs=n_pairs,
        key=key,
        sample=sample,
        train_size=train_size,
        new_rows=new_rows,
    )
    setting = Setting(
        rho,
        shared_key,
        sizes.train_size,
        len(target.names),
        tolerance=tolerance,
        y_range=y_range,
        threshold=threshold,
    )
    requested = make_contenders(estimator, setting, contenders)
    levels = make_subgroups(X, subgroups, rows.test)
    facts = data_facts(X, target.codes, rows.test, rows.used, group_of_row)
    wanted = Task(requested, X, target.labels, target.classes, group_of_row, rows, sizes, key)
    task = wanted
    deadline = None
    if time_budget is not None:
        deadline = start + time_budget
        workers = effective_n_jobs(n_jobs)
        fixed = train_size is not None
        fitting = within(wanted, deadline, fixed_size=fixed, resume=resume, n_jobs=workers)
        smaller = dataclasses.replace(setting, n=fitting.train_size)  # plans follow the rows
        task = fitting.shrink(wanted, make_contenders(estimator, smaller, contenders))
        n_jobs = 1 if fitting.alone else n_jobs
    digest = "" if resume is None else data_digest(X, target.bits, group_of_row)
    finished = _run_pairs(
        task,
        Store(resume, task.manifest(digest)),
        deadline=deadline,
        n_jobs=n_jobs,
        verbose=verbose,
        keep_interrupted=on_interrupt == "return",
    )
    measured: tuple[SourceResult, ...] = ()
    wants_sources = time_budget is None if sources is None else sources
    if wants_sources and finished.stopped != INTERRUPTED:
        options: dict[str, Any] = {"deadline": deadline, "n_jobs": n_jobs, "verbose": verbose}
        try:
            measured = measure_sources(task, finished.baseline, tolerance=tolerance, **options)
        except KeyboardInterrupt:
            if on_interrupt == "raise":
                raise
            finished = dataclasses.replace(finished, stopped=INTERRUPTED)
    results = finished.results(task, target.codes[rows.test], tolerance)
    shown = _least_stable(results)
    names, values = cells(X, rows.test[shown])
    return AuditResult(
        design=dataclasses.replace(task.design, n_pairs=len(finished.outcomes[0])),
        contenders=results,
        sources=measured,
        classes=target.names,
        tolerance=tolerance,
        threshold=threshold_name(estimator, threshold),
        test=rows.test,
        clusters=None if rows.unit_of_row is None else rows.unit_of_row[rows.test],
        subgroups=levels,
        facts=facts,
        shown_rows=shown,
        columns=tuple(names),
        cells=tuple(map(tuple, values)),
        rho=rho,
        pairs_wanted=n_pairs,
        not_measured=_not_measured(finished, task, wanted),
        cut_short=tuple(
            filter(
                None,
                [
                    *_cut_short(finished, task, wanted),
                    missing_kinds(estimator, contenders, setting),
                ],
            )
        ),
        interrupted=finished.stopped == INTERRUPTED,
        wall_seconds=context.now() - start,
        finished=time.strftime("%Y-%m-%d %H:%M"),
    )


@dataclass(frozen=True, eq=False)
class _Target:
    """What is predicted: labels by their codes, or numbers."""

    labels: NDArray[Any]  # as the file has them
    codes: NDArray[Any]  # indices of classes, or the numbers
    classes: NDArray[Any] | None

    @classmethod
    def of_labels(cls, X: Any, y: ArrayLike) -> _Target:
        codes, classes = check_labels(X, y, None)
        return cls(classes[codes], codes, classes)

    @classmethod
    def of_numbers(cls, X: Any, y: ArrayLike, tolerance: float) -> _Target:
        check_positive("tolerance", tolerance)
        values = check_numbers(X, y)
        return cls(values, values, None)

    @property
    def names(self) -> tuple[Any, ...]:
        """The classes; none if the target is a quantity."""
        return () if self.classes is None else tuple(self.classes.tolist())

    @property
    def bits(self) -> NDArray[np.intp]:
        """What a digest of the data reads."""
        return self.codes if self.classes is not None else self.codes.view(np.int64)


def threshold_name(estimator: Any, threshold: Any) -> str:
    """Name the rule by which the baseline decides; empty: the most probable class.

    >>> threshold_name(None, (1, 10)), threshold_name(None, "recall=0.8"), threshold_name(None, 0.2)
    ('costs 1:10', 'recall=0.8', '0.2')
    """
    if isinstance(threshold, tuple):
        return f"costs {threshold[0]:g}:{threshold[1]:g}"
    if threshold is not None:
        return f"{threshold}"
    first = next(iter(estimator.values())) if isinstance(estimator, Mapping) else estimator
    kinds = FixedThresholdClassifier | TunedThresholdClassifierCV | DecisionThresholdClassifier
    return f"that of {type(first).__name__}" if isinstance(first, kinds) else ""


def _tolerance(estimator: Any, tolerance: float | None) -> float | None:
    """Return the tolerance of regressors, and None for classifiers."""
    models = list(estimator.values()) if isinstance(estimator, Mapping) else [estimator]
    tagged = [model for model in models if hasattr(model, "__sklearn_tags__")]
    if tolerance is not None or not any(map(is_regressor, tagged)):
        return tolerance
    grids = {float(m.resolution) for m in models if isinstance(m, PointwiseReplicableRegressor)}
    if len(grids) != 1:
        raise ValueError(
            "tolerance=None: regressors require a tolerance, in units of y; predictions that "
            "differ by at least so much count as changed."
        )
    return grids.pop()


def _cut_short(finished: Finished, task: Task, wanted: Task) -> Iterator[str]:
    """Say how far the audit got, where it is not as far as requested."""
    n_done = len(finished.outcomes[0])
    full = wanted.design
    size = task.design.train_size
    if n_done < full.n_pairs:
        yield f"{n_done} of {full.n_pairs} pairs were run: {finished.stopped}"
    if size < full.train_size:
        yield (
            f"to keep the time budget each training saw {size:,} of {full.train_size:,} "
            f"{full.unit}; with more of them fewer predictions change"
        )
    missing = _not_measured(finished, task, wanted)
    if missing:
        yield f"left out for lack of time: {', '.join(missing)}"
    n_used = len(wanted.rows.used)
    if n_used < full.n_rows:
        yield f"{n_used:,} of {full.n_rows:,} rows of the file were used, as requested"


def _not_measured(finished: Finished, task: Task, wanted: Task) -> tuple[str, ...]:
    """Name the contenders that were requested, and were not measured."""
    kept = {task.contenders[index].name for index in finished.kept}
    return tuple(c.name for c in wanted.contenders if c.name not in kept)


def _least_stable(results: tuple[ContenderResult, ...]) -> NDArray[np.intp]:
    """Rows by the flips of the first contender, ties by the others together."""
    others = np.sum([result.frequency for result in results], axis=0)
    return np.lexsort((-others, -results[0].frequency))[:SHOWN_ROWS]


# -- all pairs of all contenders, as far as time and patience last ---------------------------------
@dataclass(frozen=True, eq=False)
class Finished:
    """What was run: the same pairs of all contenders that are kept."""

    kept: list[int]  # indices of the contenders
    pairs: list[int]  # numbers of the pairs that all of them have
    outcomes: list[list[PairOutcome]]  # of each kept contender
    stopped: str  # why not all pairs were run; empty if they were

    @property
    def baseline(self) -> dict[int, PairOutcome]:
        """The pairs of the baseline, by their numbers."""
        return dict(zip(self.pairs, self.outcomes[0], strict=True))

    def results(
        self, task: Task, truth: NDArray[Any], tolerance: float | None
    ) -> tuple[ContenderResult, ...]:
        """Return what each contender's pairs show."""
        return tuple(
            _result(task.contenders[index], truth, pairs, tolerance)
            for index, pairs in zip(self.kept, self.outcomes, strict=True)
        )


def _result(
    contender: Contender, truth: NDArray[Any], pairs: list[PairOutcome], tolerance: float | None
) -> ContenderResult:
    if tolerance is None:
        return ClassifierResult.from_pairs(contender, truth, pairs, CLASSIFIER_ARRAYS)
    grid = getattr(contender.estimator, "resolution", None)
    settings = {"tolerance": tolerance, "resolution": None if grid is None else float(grid)}
    return RegressorResult.from_pairs(contender, truth, pairs, REGRESSOR_ARRAYS, **settings)


@dataclass(eq=False)
class _Clock:
    """When to stop, and how long a pair of all contenders takes."""

    deadline: float | None
    stopped: str = ""
    started: list[float] = field(default_factory=list)

    def allows(self) -> bool:
        """Tell whether another pair is likely to be finished in time."""
        now = context.now()
        self.started.append(now)
        if self.deadline is None:
            return True
        first = self.started[0]
        pairs = len(self.started) - 1
        each = (now - first) / pairs if pairs else 0.0
        if now + each > self.deadline:
            self.stopped = TIME
        return not self.stopped


def _run_pairs(
    task: Task,
    store: Store,
    *,
    deadline: float | None,
    n_jobs: int | None,
    verbose: int,
    keep_interrupted: bool,
) -> Finished:
    """Run what the store does not hold yet.

    Each new pair is stored as soon as it is done. After the deadline nothing is started, and fits
    end at their next block. With ``keep_interrupted``, Ctrl-C ends the run in the same way.
    """
    total = len(task.contenders) * task.design.n_pairs
    progress = Progress(total, "pairs", verbose=verbose)
    clock = _Clock(deadline)
    jobs = (
        (contender, task.job(contender, pair, deadline))
        for contender, pair in _missing(task, store, clock, progress)
    )
    if deadline is not None and deadline - context.now() < 2 * START_SECONDS:
        n_jobs = 1  # the time would go into starting workers
    options = {"return_as": "generator_unordered", "pre_dispatch": "n_jobs"}
    try:
        for contender, pair, outcome in in_workers(_run_one, jobs, n_jobs=n_jobs, **options):
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
    n_pairs = task.design.n_pairs
    indices = range(len(task.contenders))
    early = min(MIN_PAIRS, n_pairs) if clock.deadline is not None else 0
    rounds = [[(c, p) for p in range(early)] for c in indices] if early else []
    rounds += [[(c, p) for c in indices] for p in range(early, n_pairs)]
    for number, work in enumerate(rounds):
        missing = [item for item in work if not store.has(*item)]
        if len(missing) < len(work):
            progress.advance(len(work) - len(missing))
        # The first pairs are begun in any case: their deadline ends them.
        if missing and number >= len(indices) * bool(early) and not clock.allows():
            return
        for item in missing:
            if clock.stopped:
                return
            yield item


def _run_one(contender: int, job: Job) -> tuple[int, int, PairOutcome | None]:
    try:
        return contender, job.pair, _runs.run_pair(job)
    except DeadlinePassed:
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
        if len(shared) >= MIN_PAIRS:
            pairs = shared
            kept = [*kept, contender]
        elif contender == 0:
            _refuse(task, stopped, len(shared))
    kept = sorted(kept)
    numbers = sorted(pairs)
    outcomes = [[store.finished[c, p] for p in numbers] for c in kept]
    return Finished(kept, numbers, outcomes, stopped)


def _refuse(task: Task, stopped: str, n_done: int) -> None:
    """Say that too little was run for any report."""
    if stopped == INTERRUPTED:
        raise KeyboardInterrupt
    raise ValueError(
        f"{stopped} with {n_done} finished pairs of {task.contenders[0].name!r}, and limits need "
        f"{MIN_PAIRS}. Set a larger time_budget, a smaller max_rows (command line: --rows), or a "
        "faster model."
    )
