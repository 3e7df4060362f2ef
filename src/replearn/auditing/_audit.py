"""The function ``audit(estimator, X, y)``: pairs of all contenders, as far as the time lasts."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import strftime
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_regressor
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from replearn.auditing._budget import START_SECONDS, Affordable, within
from replearn.auditing._columns import DataFacts, Subgroups, cells, data_facts, make_subgroups
from replearn.auditing._contender_results import (
    CLASSIFIER_ARRAYS,
    REGRESSOR_ARRAYS,
    ClassifierResult,
    ContenderResult,
    RegressorResult,
)
from replearn.auditing._contenders import (
    Contender,
    ParamGrid,
    Setting,
    make_contenders,
    missing_kinds,
)
from replearn.auditing._design import MIN_SAMPLE, AuditDesign, Rows, draw_rows, make_design
from replearn.auditing._explanation import ExplanationRuns, column_names
from replearn.auditing._measurement import NewRowsResult
from replearn.auditing._result import AuditResult
from replearn.auditing._runs import (
    INTERRUPTED,
    TIME,
    PairOutcome,
    Runner,
    Store,
    Task,
    pair_name,
    stacked,
)
from replearn.auditing._sources import measure_sources
from replearn.auditing._statistics import DELTA, mean_limits
from replearn.auditing._time import (
    N_SHUFFLES,
    SLIDING,
    TimeDesign,
    TimeResult,
    make_time_design,
    measure_time,
)
from replearn.execution import Progress, context
from replearn.learners import (
    DecisionThresholdClassifier,
    PointwiseReplicableRegressor,
    check_groups,
    check_labels,
    check_numbers,
    refuse_one_class,
    split_threshold,
    threshold_of_label,
)
from replearn.randomness import SharedKey
from replearn.records import check_choice, check_count, check_fraction, check_positive, if_given
from replearn.tables import data_digest, n_rows

SHOWN_ROWS = 200
"""Rows in the report's table; the others are in ``row_flips``."""

MIN_PAIRS = 2
"""Limits require two pairs: a contender with fewer is left out."""


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
    new_rows: float | Sequence[float] = 1.0,
    param_grid: ParamGrid | None = None,
    time: ArrayLike | None = None,
    window: str = SLIDING,
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
        A single estimator is the baseline, and the other contenders are made from it. A dict lists
        all contenders; its first entry is the baseline.
    X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
        All rows, in the order of the file.
    y : array-like of shape (n,)
        Labels of any kind; numbers for a regressor.
    contenders : list of str, default=None
        The contenders to measure; some of the names, if ``estimator`` is a dict. For one classifier
        they are

        - "baseline": the classifier itself;
        - "bagging": the mean of five models;
        - "score": `ScoreReplicableClassifier`; its rho is estimated, not certified;
        - "incumbent": `IncumbentClassifier`; the second training of a pair keeps the predictions of
          the first where it is not sure;
        - "replicable": `PointwiseReplicableClassifier` with about 64 base estimators, hence fewer
          partitions than by default: the guarantee is the same, but flips are more frequent;
        - "replicable-full": the same with all partitions, as ``fit`` trains it;
        - "score-loose": as "score", at twice rho;
        - "incumbent-fixed": as "incumbent" with ``memory=0.5``: two fits per pair instead of seven;
        - "representative": of five models on resamples, the one that is nearest to their mean.

        If None, the first five, or with a grid the first. For one regressor they are "baseline",
        "bagging", "incumbent" (`IncumbentRegressor` with ``tolerance`` as its band) and
        "replicable" (`PointwiseReplicableRegressor` with ``tolerance`` as its resolution).
    n_pairs : int, default=20
        Number of pairs of runs. With twenty, the flip frequency of a row has steps of 5 %.
    threshold : float, str or pair of float, default=None
        Decision threshold of every contender on the probability of the second of two classes, as
        in `DecisionThresholdClassifier`: a number, the costs ``(1, 10)`` of a false positive and of
        a false negative, "prevalence", "recall=0.8" or "rate=0.3". If None, that of the estimator
        (a ``FixedThresholdClassifier``, ``TunedThresholdClassifierCV`` or
        `DecisionThresholdClassifier`), or else the most probable class is predicted.
    tolerance : float, default=None
        For regressors: two predictions that differ by at least this much, in units of y, have
        changed. If None, y holds labels, unless a `PointwiseReplicableRegressor` is audited, whose
        resolution is used.
    y_range : (float, float), default=None
        Range of the predictions of the default replicable regressor, fixed before the data are
        seen.
    groups : array-like of shape (n,), default=None
        Rows of one group (one patient) stay together in the test rows, samples and blocks.
    subgroups : "auto", None, list of column names, or dict of name to labels, default="auto"
        Flips are reported for each of them; "auto" takes columns of text or booleans with few
        values.
    rho : float, default=0.1
        Flip probability that the default replicable contender guarantees.
    test_size : int or float, default=None
        Number or share of test rows. If None, 30 %, but at most 2000.
    train_size : int, default=None
        Rows (groups) that each run learns from. If None, half of the rows that are not test rows.
        If there are ``2 * n_pairs * train_size`` rows, no two pairs share a row, and the limits
        hold for the population instead of for this file.
    sample : {"disjoint", "bootstrap"}, default="disjoint"
        Whether the samples of a pair are cut from the file, or drawn with replacement.
    new_rows : float or sequence of float, default=1.0
        Share of the second sample of a pair that is new; the rest is shared with the first, as
        when one day of data is added and one is dropped. If several shares are given, the report
        is about the largest one; each of the others takes one more training per pair, and the
        report shows changed predictions against the share of new rows.
    param_grid : dict of str to list, or list of them, default=None
        Settings of one estimator, as in ``GridSearchCV``; each is a contender. The limits hold for
        all settings simultaneously, and hence for the one that you choose. The last part of a
        name is enough if it is unambiguous (``max_depth`` inside a pipeline).
    time : array-like of shape (n,), default=None
        Time of each row: dates, numbers, or texts whose alphabetical order is that in time. The
        baseline is also retrained in time order: on windows of periods, tested on the period after
        them, and nineteen times with the rows shuffled, which distinguishes drift from noise. This
        takes at most 120 trainings.
    window : {"sliding", "growing"}, default="sliding"
        Whether a retraining in time order drops the oldest rows.
    max_rows : int, default=None
        Largest number of rows of the file that are used; they are drawn by the key.
    time_budget : float, default=None
        Seconds for the whole audit. Small fits of each contender decide for how many rows, and for
        which contenders, there is time for five pairs; fits are stopped at the deadline. The
        report says what was finished (`AuditResult.cut_short`), and its headline names the
        contenders that were not measured.
    sources : bool, default=None
        Whether to measure where changes come from: the baseline is repeated on the same rows with
        another seed, another order of the rows, another order of the columns, and two threads. The
        number of repetitions follows from ``n_pairs`` and the number of contenders: at most a fifth
        of their trainings, but at least five of each. If None, it is measured unless there is a
        time budget.
    shared_key : str, bytes, int or SharedKey, default=0
        The key that draws the rows, sets ``random_state`` where it is None (the same in both runs
        of a pair), and is passed to the default contenders that need one.
    resume : path, default=None
        A folder where every finished pair is kept. After an interruption, the same call continues.
    on_interrupt : {"raise", "return"}, default="raise"
        Whether Ctrl-C raises, or returns what has been measured.
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
    tolerance = _tolerance(estimator, tolerance, threshold)
    key = SharedKey(shared_key).child("audit")
    table = _Table.of(X, y, tolerance, groups, subgroups, key, test_size, max_rows)
    if threshold is not None:  # raises if it cannot be
        split_threshold(estimator, threshold, np.asarray(table.class_names))
    samples = (n_pairs, key, sample, train_size, new_rows)
    design = make_design(n_rows(X), table.rows, *samples)
    windows = None if time is None else table.windows(time, window, design, key)
    of_target = (len(table.class_names), tolerance, y_range, threshold)
    setting = Setting(rho, shared_key, design.train_size, *of_target)
    make = partial(make_contenders, estimator, names=contenders, param_grid=param_grid)
    wanted = table.task(make(setting), design, key)
    deadline = None if time_budget is None else start + time_budget
    fits = Affordable(design.train_size, tuple(range(len(wanted.contenders))))
    if deadline is not None:
        fixed = train_size is not None
        workers = effective_n_jobs(n_jobs)
        fits = within(wanted, deadline, fixed_size=fixed, resume=resume, n_jobs=workers)
    smaller = dataclasses.replace(setting, n=fits.train_size)  # plans follow the rows
    task = wanted if deadline is None else fits.shrink(wanted, make(smaller))
    store = Store(resume, task.manifest("" if resume is None else table.digest))
    keep_interrupted = on_interrupt == "return"
    runner = Runner(store, deadline, 1 if fits.alone else n_jobs, verbose, keep_interrupted)
    _announce(task, windows, verbose)
    finished = _run_pairs(task, table, runner, tolerance)
    wants_sources = deadline is None if sources is None else sources
    by_source = measure_sources(task, finished.baseline, runner, tolerance) if wants_sources else ()
    in_time_order = None if windows is None else measure_time(task, windows, runner, tolerance)
    results = finished.results(task, table, tolerance)
    return AuditResult(
        contenders=results,
        sources=by_source,
        new_rows=finished.new_rows(task, table, tolerance),
        in_time_order=in_time_order,
        explanation=finished.explanation(X),
        tolerance=tolerance,
        threshold=threshold_name(estimator, threshold, table.rarer),
        rho=rho,
        pairs_wanted=n_pairs,
        not_measured=_not_measured(finished, task, wanted),
        cut_short=(
            *_cut_short(finished, task, wanted, runner),
            *_not_begun(runner, wants_sources and not by_source, windows, in_time_order),
            *missing_kinds(estimator, contenders or param_grid, setting),
        ),
        interrupted=runner.stopped == INTERRUPTED,
        design=dataclasses.replace(task.design, n_pairs=len(finished.pairs)),
        wall_seconds=context.now() - start,
        **table.described(_least_stable(results)),
    )


def _announce(task: Task, windows: TimeDesign | None, verbose: int) -> None:
    """Say beforehand how many trainings shares of new rows and time order take."""
    design = task.design
    lines = []
    if design.other_shares:
        n_shares = 1 + len(design.other_shares)
        lines.append(
            f"{n_shares} shares of new rows: {(1 + n_shares) * design.n_pairs} trainings of each "
            f"contender instead of {2 * design.n_pairs}"
        )
    if windows is not None:
        lines.append(
            f"time order: {windows.n_trainings} trainings of {task.contenders[0].name} "
            f"({windows.n_retrainings} retrainings, in time order and {N_SHUFFLES} times shuffled)"
        )
    if verbose >= 0 and lines:
        sys.stderr.write("\n".join([*lines, ""]))


@dataclass(frozen=True, eq=False)
class _Table:
    """The rows of an audit: what is predicted, which rows are tested, what they show."""

    X: Any
    labels: NDArray[Any]  # as the file has them
    codes: NDArray[Any]  # indices of classes, or the numbers
    classes: NDArray[Any] | None  # None: the target is a quantity
    groups: NDArray[Any] | None
    rows: Rows
    subgroups: Subgroups
    facts: DataFacts

    @classmethod
    def of(
        cls,
        X: Any,
        y: ArrayLike,
        tolerance: float | None,
        groups: ArrayLike | None,
        subgroups: Any,
        key: SharedKey,
        test_size: int | float | None,
        max_rows: int | None,
    ) -> _Table:
        """Check the arguments, draw the test rows and look at all rows."""
        codes: NDArray[Any]
        classes: NDArray[Any] | None = None
        if tolerance is None:
            codes, classes = check_labels(X, y, None)
            refuse_one_class(classes)
        else:
            check_positive("tolerance", tolerance)
            codes = check_numbers(X, y)
        labels = codes if classes is None else classes[codes]
        group_of_row = check_groups(groups, n_rows(X))
        rows = draw_rows(n_rows(X), test_size, group_of_row, key, max_rows=max_rows)
        levels = make_subgroups(X, subgroups, rows.test)
        facts = data_facts(X, codes, rows.test, rows.used, group_of_row)
        return cls(X, labels, codes, classes, group_of_row, rows, levels, facts)

    @property
    def class_names(self) -> tuple[Any, ...]:
        """The classes; none if the target is a quantity."""
        return () if self.classes is None else tuple(self.classes.tolist())

    @property
    def rarer(self) -> int:
        """Index of the rarer of two classes; the second where both are as frequent."""
        return 0 if self.classes is not None and np.mean(self.codes == 0) < 0.5 else 1

    @property
    def truth(self) -> NDArray[Any]:
        """What the test rows have: indices of classes, or numbers."""
        return self.codes[self.rows.test]

    @property
    def clusters(self) -> NDArray[np.intp] | None:
        """Group of each test row."""
        unit_of_row = self.rows.unit_of_row
        return None if unit_of_row is None else unit_of_row[self.rows.test]

    @property
    def digest(self) -> str:
        """Digest of all rows."""
        bits = self.codes if self.classes is not None else self.codes.view(np.int64)
        return data_digest(self.X, bits, self.groups)

    def task(self, contenders: list[Contender], design: AuditDesign, key: SharedKey) -> Task:
        """Return what is to be run."""
        described = (self.X, self.labels, self.classes, self.groups, self.rows)
        return Task(contenders, *described, design, key)

    def windows(self, time: Any, window: str, design: AuditDesign, key: SharedKey) -> TimeDesign:
        """Cut the rows into periods; a window has as many rows as a training of the pairs."""
        if self.groups is not None:
            raise ValueError("time is not supported with groups.")
        max_rows = 2 * design.train_size
        return make_time_design(time, self.rows.used, len(self.codes), window, key, max_rows)

    def described(self, shown: NDArray[np.intp]) -> dict[str, Any]:
        """Return what a result says about the rows; ``shown`` are some of the test rows."""
        names, values = cells(self.X, self.rows.test[shown])
        return {
            "classes": self.class_names,
            "test": self.rows.test,
            "clusters": self.clusters,
            "subgroups": self.subgroups,
            "facts": self.facts,
            "shown_rows": shown,
            "columns": tuple(names),
            "cells": tuple(map(tuple, values)),
            "finished": strftime("%Y-%m-%d %H:%M"),
        }


def threshold_name(estimator: Any, threshold: Any, label: int = 1) -> str:
    """Name the rule by which the baseline decides, as a rule about one of two labels.

    Empty: the most probable class. The threshold is about the second label.

    >>> threshold_name(None, (1, 10)), threshold_name(None, "recall=0.8"), threshold_name(None, 0.2)
    ('costs 1:10', 'recall=0.8', '0.2')
    >>> threshold_name(None, (1, 10), 0), threshold_name(None, 0.2, 0)
    ('costs 10:1', '0.8')
    """
    if threshold is not None:
        threshold = threshold_of_label(threshold, label, np.arange(2))
    if isinstance(threshold, tuple):
        return f"costs {threshold[0]:g}:{threshold[1]:g}"
    if threshold is not None:
        return threshold if isinstance(threshold, str) else f"{threshold:.3g}"
    first = next(iter(estimator.values())) if isinstance(estimator, Mapping) else estimator
    kinds = FixedThresholdClassifier | TunedThresholdClassifierCV | DecisionThresholdClassifier
    return f"that of {type(first).__name__}" if isinstance(first, kinds) else ""


def _tolerance(estimator: Any, tolerance: float | None, threshold: Any) -> float | None:
    """Return the tolerance of regressors, and None for classifiers."""
    found = _found_tolerance(estimator, tolerance)
    if threshold is not None and found is not None:
        raise ValueError(f"threshold={threshold!r} is not supported with regressors.")
    return found


def _found_tolerance(estimator: Any, tolerance: float | None) -> float | None:
    models = list(estimator.values()) if isinstance(estimator, Mapping) else [estimator]
    tagged = [model for model in models if hasattr(model, "__sklearn_tags__")]
    if tolerance is not None or not any(map(is_regressor, tagged)):
        return tolerance
    grids = {float(m.resolution) for m in models if isinstance(m, PointwiseReplicableRegressor)}
    if len(grids) != 1:
        raise ValueError(
            "tolerance=None: regressors require a tolerance, in units of y; predictions that "
            "differ by at least this much count as changed."
        )
    return grids.pop()


def _cut_short(finished: Finished, task: Task, wanted: Task, runner: Runner) -> Iterator[str]:
    """Say how far the audit got, where it is not as far as requested."""
    n_done = len(finished.pairs)
    full = wanted.design
    size = task.design.train_size
    if n_done < full.n_pairs:
        yield f"{n_done} of {full.n_pairs} pairs were run: {runner.stopped}"
    elif runner.stopped:
        yield f"not everything besides the pairs was run: {runner.stopped}"
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


def _not_begun(
    runner: Runner, no_sources: bool, windows: TimeDesign | None, in_time_order: TimeResult | None
) -> Iterator[str]:
    """Name what was requested beside the pairs, and had no time."""
    if runner.stopped and no_sources:
        yield f"where changes come from was not measured: {runner.stopped}"
    if runner.stopped and windows is not None and in_time_order is None:
        yield f"retraining in time order was not measured: {runner.stopped}"


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

    @property
    def baseline(self) -> dict[int, PairOutcome]:
        """The pairs of the baseline, by their numbers."""
        return dict(zip(self.pairs, self.outcomes[0], strict=True))

    def results(
        self, task: Task, table: _Table, tolerance: float | None, *, run: int = 1
    ) -> tuple[ContenderResult, ...]:
        """Return what each contender's pairs show; ``run`` is the one beside the first."""
        return tuple(
            _result(
                task.contenders[index],
                table.truth,
                [outcome.against_first(run) for outcome in pairs],
                tolerance,
            )
            for index, pairs in zip(self.kept, self.outcomes, strict=True)
        )

    def new_rows(
        self, task: Task, table: _Table, tolerance: float | None
    ) -> tuple[NewRowsResult, ...]:
        """Return the changes for each of several shares of new rows; empty for a single one."""
        others = task.design.other_shares
        shares = dict(zip(others, range(2, 2 + len(others)), strict=True)) if others else {}
        shares |= {task.design.new_rows: 1} if others else {}
        return tuple(
            NewRowsResult(
                share,
                {c.name: c.flips for c in self.results(task, table, tolerance, run=run)},
            )
            for share, run in shares.items()
        )

    def explanation(self, X: Any) -> ExplanationRuns | None:
        """Return importances and coefficients of the baseline; None if they were not kept."""
        pairs = [outcome.against_first(1) for outcome in self.outcomes[0]]
        importances = stacked([outcome.importances for outcome in pairs])
        if importances is None:
            return None
        coefficients = [pair.coefficients for pair in pairs if len(pair.coefficients) == 2]
        return ExplanationRuns(column_names(X), importances, coefficients)


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

    runner: Runner
    started: list[float] = field(default_factory=list)

    def allows(self) -> bool:
        """Tell whether another pair is likely to be finished in time."""
        now = context.now()
        self.started.append(now)
        if self.runner.deadline is None:
            return True
        first = self.started[0]
        pairs = len(self.started) - 1
        each = (now - first) / pairs if pairs else 0.0
        if now + each > self.runner.deadline:
            self.runner.stopped = TIME
        return not self.runner.stopped


def _so_far(task: Task, table: _Table, store: Store, tolerance: float | None, name: str) -> str:
    """Say what is known of the baseline; empty before two pairs, and if another one has run."""
    names = [pair_name(0, pair) for pair in range(task.design.n_pairs)]
    pairs = [store.finished[name].against_first(1) for name in names if name in store.finished]
    if name not in names or len(pairs) < MIN_PAIRS:
        return ""
    baseline = task.contenders[0]
    flips = _result(baseline, table.truth, pairs, tolerance).flips
    return f"so far {baseline.name} changes {mean_limits(flips, DELTA, table.clusters).percent()}"


def _run_pairs(task: Task, table: _Table, runner: Runner, tolerance: float | None) -> Finished:
    """Run what the store does not hold yet.

    Each new pair is stored as soon as it is done. After the deadline nothing is started, and fits
    end at their next block.
    """
    total = len(task.contenders) * task.design.n_pairs
    progress = Progress(total, "pairs", verbose=runner.verbose)
    deadline = runner.deadline
    jobs = (
        (pair_name(contender, pair), task.job(contender, pair, deadline))
        for contender, pair in _missing(task, runner, progress)
    )
    # With little time left, it would go into starting workers.
    hurry = deadline is not None and deadline - context.now() < 2 * START_SECONDS
    try:
        so_far = partial(_so_far, task, table, runner.store, tolerance)
        runner.run(jobs, progress, n_jobs=1 if hurry else None, so_far=so_far)
    finally:
        progress.close()
    return _finished(task, runner)


def _missing(task: Task, runner: Runner, progress: Progress) -> Iterator[tuple[int, int]]:
    """Yield what is to be run, pair by pair, so that all contenders have the same pairs.

    Each contender gets its first pairs at once, the baseline before the others: there is something
    to report as early as possible.
    """
    clock = _Clock(runner)
    n_pairs = task.design.n_pairs
    indices = range(len(task.contenders))
    rounds = [[(c, p) for p in range(MIN_PAIRS)] for c in indices]
    rounds += [[(c, p) for c in indices] for p in range(MIN_PAIRS, n_pairs)]
    for number, work in enumerate(rounds):
        missing = [item for item in work if pair_name(*item) not in runner.store]
        if len(missing) < len(work):
            progress.advance(len(work) - len(missing))
        # The first pairs are begun in any case: their deadline ends them.
        if missing and number >= len(indices) and not clock.allows():
            return
        for item in missing:
            if runner.stopped:
                return
            yield item


def _finished(task: Task, runner: Runner) -> Finished:
    """Keep the contenders with enough finished pairs, and the pairs that all of them have."""
    wanted = range(task.design.n_pairs)
    store = runner.store
    done = [{p for p in wanted if pair_name(c, p) in store} for c in range(len(task.contenders))]
    pairs = set(wanted)
    kept: list[int] = []
    for contender in sorted(range(len(done)), key=lambda c: (c > 0, -len(done[c]))):
        shared = pairs & done[contender]
        if len(shared) >= MIN_PAIRS:
            pairs = shared
            kept = [*kept, contender]
        elif contender == 0:
            _refuse(task, runner.stopped, len(shared))
    kept = sorted(kept)
    numbers = sorted(pairs)
    outcomes = [[store.finished[pair_name(c, p)] for p in numbers] for c in kept]
    return Finished(kept, numbers, outcomes)


def _refuse(task: Task, stopped: str, n_done: int) -> None:
    """Say that too little was run for any report."""
    if stopped == INTERRUPTED:
        raise KeyboardInterrupt
    raise ValueError(
        f"{stopped} with {n_done} finished pairs of {task.contenders[0].name!r}, and limits need "
        f"{MIN_PAIRS}. Set a larger time_budget, a smaller max_rows (command line: --rows), or a "
        "faster model."
    )
