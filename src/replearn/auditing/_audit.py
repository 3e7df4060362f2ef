"""The function ``audit(estimator, X, y)``, and its result: numbers, findings, reports."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_regressor
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from replearn.auditing import _records, _report
from replearn.auditing._budget import Affordable, within
from replearn.auditing._checks import CHECKS, Finding
from replearn.auditing._contender_results import (
    ContenderResult,
    NewRowsResult,
)
from replearn.auditing._contenders import (
    ParamGrid,
    Setting,
    make_contenders,
    missing_kinds,
)
from replearn.auditing._judgement import MAX_PRICE, Judgement, judge
from replearn.auditing._runs import (
    INTERRUPTED,
    Finished,
    Runner,
    SourceResult,
    Store,
    Task,
    measure_sources,
    run_pairs,
)
from replearn.auditing._statistics import DELTA, Estimate, mean_limits, row_limits
from replearn.auditing._table import (
    MIN_SAMPLE,
    AuditDesign,
    DataFacts,
    Subgroups,
    Table,
    make_design,
)
from replearn.auditing._time import (
    N_SHUFFLES,
    SLIDING,
    TimeDesign,
    TimeResult,
    make_time_design,
    measure_time,
)
from replearn.execution import context
from replearn.learners import (
    DecisionThresholdClassifier,
    PointwiseReplicableRegressor,
    split_threshold,
    threshold_of_label,
)
from replearn.randomness import SharedKey
from replearn.records import (
    check_choice,
    check_count,
    check_fraction,
    check_positive,
    if_given,
    pretty_json,
)
from replearn.tables import import_pandas, n_rows

SHOWN_ROWS = 200
"""Rows in the report's table; the others are in ``row_flips``."""


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
          partitions than by default: the guarantee is the same, but flips are more frequent.

        If None, all five, or with a grid the first. For one regressor they are "baseline",
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
    table = Table.of(X, y, tolerance, groups, subgroups, key, test_size, max_rows)
    if threshold is not None:  # raises if it cannot be
        split_threshold(estimator, threshold, np.asarray(table.class_names))
    samples = (n_pairs, key, sample, train_size, new_rows)
    design = make_design(n_rows(X), table.rows, *samples)
    windows = None if time is None else _windows(table, time, window, design, key)
    of_target = (len(table.class_names), tolerance, y_range, threshold)
    setting = Setting(rho, shared_key, design.train_size, *of_target)
    make = partial(make_contenders, estimator, names=contenders, param_grid=param_grid)
    of_table = (table.X, table.labels, table.classes, table.groups, table.rows)
    wanted = Task(make(setting), *of_table, design, key)
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
    finished = run_pairs(task, table, runner, tolerance)
    wants_sources = deadline is None if sources is None else sources
    by_source = measure_sources(task, finished.baseline, runner, tolerance) if wants_sources else ()
    in_time_order = None if windows is None else measure_time(task, windows, runner, tolerance)
    results = finished.results(task, table, tolerance)
    return AuditResult(
        contenders=results,
        sources=by_source,
        new_rows=finished.new_rows(task, table, tolerance),
        in_time_order=in_time_order,
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


def _windows(
    table: Table, time: Any, window: str, design: AuditDesign, key: SharedKey
) -> TimeDesign:
    """Cut the rows into periods; a window has as many rows as a training of the pairs."""
    if table.groups is not None:
        raise ValueError("time is not supported with groups.")
    max_rows = 2 * design.train_size
    return make_time_design(time, table.rows.used, len(table.codes), window, key, max_rows)


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
        is_cut = runner.stopped == INTERRUPTED
        why = "because it was interrupted" if is_cut else "for lack of time"
        yield f"left out {why}: {', '.join(missing)}"
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


# -- what was measured, and the numbers that follow from it ----------------------------------------
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Measurement:
    """The numbers of an audit, before limits, findings and reports are derived from them.

    Parameters
    ----------
    design : AuditDesign
        How the file was split.
    contenders : tuple of ContenderResult
        In order; the first is the baseline.
    classes : tuple
        The labels; empty if the target is a quantity.
    test : ndarray of int
        Positions of the test rows in the file.
    clusters : ndarray of int or None
        Group of each test row.
    subgroups : dict
        Name to (levels, level of each test row).
    facts : DataFacts
        What the rows themselves show.
    shown_rows : ndarray of int
        The least stable test rows, as indices among the test rows.
    columns : tuple of str
        Names of the features.
    cells : tuple of tuple of str
        The features of the shown rows, as text.
    rho : float
        The flip probability that was requested.
    pairs_wanted : int
        Pairs requested; fewer were run if the time budget ended the audit.
    wall_seconds : float
        How long the audit took in this process.
    delta : float, default=0.05
        Each pair of confidence limits fails with probability at most delta.
    tolerance : float, default=None
        Of a quantity: predictions that differ by at least this much have changed.
    threshold : str, default=""
        The rule by which the baseline decides, in words, about the rarer of two classes; empty: the
        most probable class.
    max_price : float, default=0.01
        The largest loss of accuracy, as a share, at which a contender is recommended.
    ignore : tuple of str, default=()
        Codes of findings that are not looked for.
    sources : tuple of SourceResult, default=()
        Which predictions of the baseline change on the same rows when one thing changes.
    new_rows : tuple of NewRowsResult, default=()
        Which predictions change for each of several shares of new rows.
    in_time_order : TimeResult, default=None
        Retrainings of the baseline in time order, and with the rows shuffled.
    not_measured : tuple of str, default=()
        Contenders that were left out, for lack of time or by an interruption.
    cut_short : tuple of str, default=()
        How far the audit got, where it is not as far as requested, in words.
    interrupted : bool, default=False
        Whether Ctrl-C ended the audit.
    reader : {"python", "command"}, default="python"
        Whether remedies name functions or options of the command line.
    about : dict of str to str, default={}
        Where the rows come from (``file``, ``target``, ``model``), for the head of reports.
    finished : str, default=""
        Date and time of the audit.
    """

    design: AuditDesign
    contenders: tuple[ContenderResult, ...]
    classes: tuple[Any, ...]
    test: NDArray[np.intp]
    clusters: NDArray[np.intp] | None
    subgroups: Subgroups
    facts: DataFacts
    shown_rows: NDArray[np.intp]
    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    rho: float
    pairs_wanted: int
    wall_seconds: float
    delta: float = DELTA
    tolerance: float | None = None
    threshold: str = ""
    max_price: float = MAX_PRICE
    ignore: tuple[str, ...] = ()
    sources: tuple[SourceResult, ...] = ()
    new_rows: tuple[NewRowsResult, ...] = ()
    in_time_order: TimeResult | None = None
    not_measured: tuple[str, ...] = ()
    cut_short: tuple[str, ...] = ()
    interrupted: bool = False
    reader: str = "python"
    about: Mapping[str, str] = field(default_factory=dict)
    finished: str = ""

    def __getitem__(self, name: str) -> ContenderResult:
        contenders = {contender.name: contender for contender in self.contenders}
        if name not in contenders:
            raise KeyError(f"no contender {name!r}; there are {list(contenders)}")
        return contenders[name]

    def flip_rate(self, name: str) -> Estimate:
        """Mean flip rate of a contender with limits over pairs and rows."""
        return self.mean(self[name].flips, delta=self.delta_of(self[name]))

    def delta_of(self, contender: ContenderResult) -> float:
        """Failure probability of a contender's limits; those of a grid's settings hold at once."""
        n_settings = sum(c.is_setting for c in self.contenders)
        return self.delta / n_settings if contender.is_setting else self.delta

    def source_rate(self, name: str) -> Estimate:
        """Share of predictions that change on the same rows when one thing changes."""
        found = {source.name: source.flips for source in self.sources}
        if name not in found:
            raise KeyError(f"no source {name!r}; measured: {list(found)}")
        return self.mean(found[name])

    def row_flips(self, name: str) -> dict[str, NDArray[Any]]:
        """Flip frequency of each test row of a contender, with limits for each row separately."""
        frequency, lower, upper = row_limits(self[name].flips, self.delta)
        return {"row": self.test, "frequency": frequency, "lower": lower, "upper": upper}

    def risks(self, name: str | None = None, *, event: Any = None) -> tuple[Floats, Floats]:
        """Estimated probabilities of an event by both runs of each pair.

        Parameters
        ----------
        name : str, default=None
            The contender. If None, the baseline.
        event : label, default=None
            The class whose probability it is. If None, the last one.

        Returns
        -------
        before, after : ndarray of shape (pairs, rows)
            Of the first run of each pair, and of the second.
        """
        contender = self.contenders[0] if name is None else self[name]
        probabilities = getattr(contender, "probabilities", None)
        if probabilities is None:
            raise ValueError(f"contender {contender.name!r} has no predict_proba, so no risks.")
        event = self.classes[-1] if event is None else event
        if event not in self.classes:
            raise ValueError(f"event={event!r} is not one of the classes {list(self.classes)}.")
        risks = probabilities[..., self.classes.index(event)]
        return risks[:, 0], risks[:, 1]

    def usefulness(self, name: str) -> Any:
        """How useful a contender's predictions are, with limits over pairs and rows."""
        return self.judgement[name].usefulness

    @cached_property
    def judgement(self) -> Judgement:
        """Each contender against the baseline, and which one to use."""
        return judge(self)

    def mean(
        self,
        values: Floats,
        *,
        rows: NDArray[np.bool_] | None = None,
        delta: float | None = None,
        within: tuple[float, float] | None = None,
    ) -> Estimate:
        """Mean over pairs and (some) test rows, with limits that respect the groups of rows."""
        return mean_limits(values, delta or self.delta, self.clusters, rows=rows, within=within)


# -- numbers, findings, and reports of both --------------------------------------------------------
READERS = ("python", "command")


class AuditResult(Measurement):
    """The result of `audit`: the measured numbers, the findings, and reports of both.

    See the fields of `Measurement`: ``design``, ``contenders`` (also ``result[name]``),
    ``classes``, ``test``, ``delta``, ``rho`` and others.
    """

    def with_settings(
        self,
        *,
        delta: float | None = None,
        max_price: float | None = None,
        ignore: Sequence[str] | None = None,
        about: Mapping[str, str] | None = None,
        reader: str | None = None,
    ) -> AuditResult:
        """Return the same measurement, reported in another way; nothing is run again.

        Parameters
        ----------
        delta : float, default=None
            Each pair of confidence limits fails with probability at most delta (0.05 by default).
        max_price : float, default=None
            The largest loss of accuracy (of balanced accuracy), as a share, at which a contender is
            recommended (0.01 by default).
        ignore : sequence of str, default=None
            Codes of findings that are not looked for.
        about : dict of str to str, default=None
            What the head of a report says about the rows: ``file``, ``target``, ``model``.
        reader : {"python", "command"}, default=None
            Whether remedies name functions ("python", the default) or options of the command line.

        Returns
        -------
        AuditResult
            The same measurement with other limits, findings and wording.
        """
        return dataclasses.replace(
            self,
            delta=self.delta if delta is None else check_fraction("delta", delta, one=False),
            max_price=self.max_price
            if max_price is None
            else check_fraction("max_price", max_price, zero=True),
            ignore=self.ignore if ignore is None else _checked_codes(ignore),
            about=self.about if about is None else dict(about),
            reader=self.reader if reader is None else check_choice("reader", reader, READERS),
        )

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The outcome of every check, by code."""
        return tuple(check.run(self) for check in CHECKS)

    @cached_property
    def report(self) -> _records.Report:
        """All numbers of the reports, as typed records."""
        return _records.make_report(self, self.findings)

    def to_dict(self, *, timings: bool = True, values: bool = True) -> dict[str, Any]:
        """Return everything as JSON values; the schema is documented.

        Parameters
        ----------
        timings : bool, default=True
            Whether to include seconds; without them two equal audits give equal bytes.
        values : bool, default=True
            Whether to include the features of the least stable rows.

        Returns
        -------
        dict
            See the page on the schema.
        """
        return _records.to_dict(self.report, timings=timings, values=values)

    def to_json(self, *, timings: bool = True, values: bool = True) -> str:
        """Return everything as JSON text; parameters as in `to_dict`."""
        return pretty_json(self.to_dict(timings=timings, values=values))

    def to_markdown(self) -> str:
        """Return a short report for a pull request or a wiki."""
        return _report.to_markdown(self.report)

    def to_html(self, *, values: bool = True) -> str:
        """Return the report as one self-contained HTML page (needs jinja2).

        Parameters
        ----------
        values : bool, default=True
            Whether the features of the least stable rows are shown. If False, only their row
            numbers are, for reports that are passed on.

        Returns
        -------
        str
            A page that opens from disk, and loads nothing from a network.
        """
        return _report.to_html(self.report, values=values)

    def save(self, path: str | os.PathLike[str], *, values: bool = True) -> None:
        """Write the report in the format of the suffix: .html, .json or .md.

        Parameters
        ----------
        path : path
            The file to write.
        values : bool, default=True
            Whether to include the features of the least stable rows (Markdown never does).
        """
        _report.save_report(
            path,
            html=lambda: self.to_html(values=values),
            json=lambda: self.to_json(values=values),
            md=self.to_markdown,
        )

    def to_text(self, *, details: bool = False) -> str:
        """Return the report for a terminal, as ``print(result)`` shows it.

        Parameters
        ----------
        details : bool, default=False
            Whether to add every table and finding.

        Returns
        -------
        str
            The headline, a table and a recommendation, followed by the details.
        """
        return _report.to_text(self.report, details=details)

    def frame(self) -> Any:
        """Return a pandas DataFrame with one line per contender."""
        return import_pandas().DataFrame(
            [_records.flat_line(self.report, contender) for contender in self.report.contenders]
        )

    def __repr__(self) -> str:
        names = ", ".join(c.name for c in self.contenders)
        return f"AuditResult({names}; {self.design.n_pairs} pairs, {self.design.n_test} test rows)"

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return _report.to_notebook(self.report)


def _checked_codes(ignore: Sequence[str]) -> tuple[str, ...]:
    """Refuse codes that do not exist: a typing error would go unnoticed."""
    known = [check.code for check in CHECKS]
    if isinstance(ignore, str) or not set(ignore) <= set(known):
        raise ValueError(f"ignore={ignore!r} must be a list of codes; the known codes are {known}.")
    return tuple(ignore)
