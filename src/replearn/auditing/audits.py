"""The function ``audit(estimator, X, y)``, and its result: numbers, verdict, findings, reports."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import is_regressor
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from replearn.auditing import findings
from replearn.auditing.contenders import (
    ParamGrid,
    Setting,
    is_replicable,
    make_contenders,
    missing_kinds,
)
from replearn.auditing.design import NEW_ROWS, AuditDesign, check_variants, make_design
from replearn.auditing.facts import DataFacts, Table
from replearn.auditing.findings import Finding
from replearn.auditing.gate import Gate
from replearn.auditing.groups import Excess, Groups, changes_more
from replearn.auditing.judge import MAX_PRICE, Judgement, judge
from replearn.auditing.limits import DELTA, Floats, row_limits
from replearn.auditing.pairs import INTERRUPTED, Finished, Runner, Store, Task, run_pairs
from replearn.auditing.report import Presented
from replearn.auditing.runs import ContenderResult, Measured, MeasuredTable, audit_table
from replearn.execution import context
from replearn.learners.regressor import PointwiseReplicableRegressor
from replearn.learners.threshold import split_threshold, threshold_of_label, threshold_on_last_label
from replearn.randomness.key import SharedKey
from replearn.records.checks import (
    check_choice,
    check_count,
    check_fraction,
    check_positive,
    if_given,
)
from replearn.tables.rows import n_rows

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
    vary: str | Sequence[str] = NEW_ROWS,
    time: ArrayLike | None = None,
    param_grid: ParamGrid | None = None,
    max_rows: int | None = None,
    time_budget: float | None = None,
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
        in ``FixedThresholdClassifier``: a number, the costs ``(1, 10)`` of a false positive and of
        a false negative, or "prevalence", that of all rows. If None, that of the estimator (a
        ``FixedThresholdClassifier`` or ``TunedThresholdClassifierCV``), or else the most probable
        class is predicted.
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
    vary : str or list of str, default="new rows"
        What differs between the two runs of a pair. The first is what the report is about; each
        further one takes one more training per pair, of every contender.

        - "new rows": two samples without a row in common (or two bootstrap samples);
        - "10 % new rows", or any other share: the rest is in both samples, as when one day of data
          is added and one is dropped;
        - "seed": the same rows with other random seeds;
        - "row order": the same rows in another order;
        - "next period": a window in time, and the next one; requires ``time``. As many new rows at
          random are measured beside it (it takes two more trainings for each pair): what both do
          not share is drift.
    time : array-like of shape (n,), default=None
        Time of each row: dates, numbers, or texts whose alphabetical order is that in time. Then
        "next period" is measured as well.
    param_grid : dict of str to list, or list of them, default=None
        Settings of one estimator, as in ``GridSearchCV``; each is a contender. The limits hold for
        all settings simultaneously, and hence for the one that you choose. The last part of a
        name is enough if it is unambiguous (``max_depth`` inside a pipeline).
    max_rows : int, default=None
        Largest number of rows of the file that are used; they are drawn by the key.
    time_budget : float, default=None
        Seconds for the whole audit: a deadline. What is measured by then is reported, and fits are
        stopped at it; the report says what was finished (`AuditResult.cut_short`). Pairs of all
        contenders take turns, so that a short time gives few pairs of each.
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
    >>> from replearn import audit
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
    if_given(check_count, "max_rows", max_rows, least=30)
    check_choice("on_interrupt", on_interrupt, ("raise", "return"))
    variants = check_variants(vary, has_time=time is not None)
    tolerance = _tolerance(estimator, tolerance, threshold)
    key = SharedKey(shared_key).child("audit")
    table = Table.of(X, y, tolerance, groups, subgroups, key, test_size, max_rows, time)
    design = make_design(n_rows(X), table.rows, n_pairs, key, sample, train_size, variants)
    n_classes = len(table.class_names)
    cut = _threshold_in_force(estimator, threshold, table)
    of_target = (n_classes, tolerance, y_range, cut)
    setting = Setting(rho, shared_key, design.train_size, *of_target)
    made = make_contenders(estimator, setting, names=contenders, param_grid=param_grid)
    task = Task(made, table, design, key)
    deadline = None if time_budget is None else start + time_budget
    store = Store(resume, task.manifest("" if resume is None else table.digest))
    runner = Runner(store, deadline, n_jobs, verbose, on_interrupt == "return")
    finished = run_pairs(task, runner)
    results = finished.results(task)
    kept = {contender.name for contender in results}
    not_measured = tuple(c.name for c in made if c.name not in kept)
    return AuditResult(
        contenders=results,
        tolerance=tolerance,
        threshold=threshold_name(estimator, threshold, table.rarer),
        rho=rho,
        pairs_wanted=n_pairs,
        not_measured=not_measured,
        cut_short=(
            *_cut_short(finished, task, runner, not_measured),
            *missing_kinds(estimator, contenders or param_grid, setting),
        ),
        interrupted=runner.stopped == INTERRUPTED,
        design=dataclasses.replace(design, n_pairs=len(finished.pairs)),
        wall_seconds=context.now() - start,
        **table.described(_least_stable(results)),
    )


def threshold_name(estimator: Any, threshold: Any, label: int = 1) -> str:
    """Name the rule by which the baseline decides, as a rule about one of two labels.

    Empty: the most probable class. The threshold is about the second label.

    >>> threshold_name(None, (1, 10)), threshold_name(None, "prevalence"), threshold_name(None, 0.2)
    ('costs 1:10', 'prevalence', '0.2')
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
    kinds = FixedThresholdClassifier | TunedThresholdClassifierCV
    return f"that of {type(first).__name__}" if isinstance(first, kinds) else ""


def _threshold_in_force(estimator: Any, threshold: Any, table: Table) -> float | None:
    """Return the decision threshold of the contenders, on the probability of the second label."""
    own = getattr(estimator, "threshold", None) if is_replicable(estimator) else None
    if threshold is not None and is_replicable(estimator):
        raise ValueError(
            f"threshold={threshold!r} is not supported with {type(estimator).__name__}, which has "
            "a threshold of its own: set that."
        )
    given = threshold if own is None else own
    if given is None or table.classes is None:
        return None
    label = table.classes[-1] if own is None else estimator.pos_label
    base = estimator if own is None else estimator.estimator
    if not isinstance(estimator, Mapping):
        split_threshold(base, given, table.classes, label)  # raises if it cannot be
    return threshold_on_last_label(given, label, table.classes, table.codes)


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


def _cut_short(
    finished: Finished, task: Task, runner: Runner, missing: tuple[str, ...]
) -> Iterator[str]:
    """Say how far the audit got, where it is not as far as requested."""
    n_done = len(finished.pairs)
    design = task.design
    if n_done < design.n_pairs:
        yield f"{n_done} of {design.n_pairs} pairs were run: {runner.stopped}"
    if missing:
        is_cut = runner.stopped == INTERRUPTED
        why = "because it was interrupted" if is_cut else "for lack of time"
        yield f"left out {why}: {', '.join(missing)}"
    n_used = len(task.table.rows.used)
    if n_used < design.n_rows:
        yield f"{n_used:,} of {design.n_rows:,} rows of the file were used, as requested"


def _least_stable(results: tuple[ContenderResult, ...]) -> NDArray[np.intp]:
    """Rows by the flips of the first contender, ties by the others together."""
    frequencies = [result.flips.mean(axis=0) for result in results]
    return np.lexsort((-np.sum(frequencies, axis=0), -frequencies[0]))[:SHOWN_ROWS]


# -- what was measured, and what follows from it ---------------------------------------------------
READERS = ("python", "command")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class AuditResult(Presented):
    """The result of `audit`: the measured numbers, the verdict, findings, and reports of them.

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
        Name to (values, index of each test row's value).
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
    gates : tuple of Gate, default=()
        Gates that were applied.
    finished : str, default=""
        Date and time of the audit.
    """

    design: AuditDesign
    contenders: tuple[ContenderResult, ...]
    classes: tuple[Any, ...]
    test: NDArray[np.intp]
    clusters: NDArray[np.intp] | None
    subgroups: Groups
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
    not_measured: tuple[str, ...] = ()
    cut_short: tuple[str, ...] = ()
    interrupted: bool = False
    reader: str = "python"
    about: Mapping[str, str] = field(default_factory=dict)
    gates: tuple[Gate, ...] = ()
    finished: str = ""

    kind = "audit"

    def __getitem__(self, name: str) -> ContenderResult:
        contenders = {contender.name: contender for contender in self.contenders}
        if name not in contenders:
            raise KeyError(f"no contender {name!r}; there are {list(contenders)}")
        return contenders[name]

    @cached_property
    def table(self) -> MeasuredTable:
        """All measured numbers; those of the settings of a grid have limits that hold at once."""
        n_settings = max(1, sum(c.is_setting for c in self.contenders))
        deltas = {
            c.name: self.delta / n_settings if c.is_setting else self.delta for c in self.contenders
        }
        truth = [str(label) for label in self.classes], self.contenders[0].truth
        groups = {"class": truth, **self.subgroups} if self.classes else self.subgroups
        return audit_table(self.contenders, deltas, groups)

    def flip_rate(self, name: str, variant: str = "") -> Measured:
        """Share of a contender's predictions that change, with limits over pairs and rows."""
        found = self.table.get("flips", self[name].name, variant=variant)
        if found is None:
            raise KeyError(f"no variant {variant!r}; measured: {list(self.design.vary)}")
        return found

    def changes_more(self) -> list[Excess]:
        """Return the subgroups in which the baseline changes more, the worst first."""
        return changes_more(self.contenders[0].flips, self.subgroups, self.delta, self.clusters)

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
        probabilities = contender.predictions.probabilities
        if probabilities is None:
            raise ValueError(f"contender {contender.name!r} has no predict_proba, so no risks.")
        event = self.classes[-1] if event is None else event
        if event not in self.classes:
            raise ValueError(f"event={event!r} is not one of the classes {list(self.classes)}.")
        risks = probabilities[..., self.classes.index(event)]
        return risks[:, 0], risks[:, 1]

    @cached_property
    def judgement(self) -> Judgement:
        """Each contender against the baseline, and which one to use."""
        return judge(self)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The outcome of every check, by code."""
        return findings.find(self)

    @property
    def found(self) -> tuple[Finding, ...]:
        """The findings that were found."""
        return tuple(finding for finding in self.findings if finding.status == "found")

    @property
    def judged(self) -> str:
        """The contender that gates judge: the baseline."""
        return self.contenders[0].name

    def is_useless(self, name: str) -> bool:
        """Whether a contender predicts a single class: a gate does not pass then."""
        return not self.judgement[name].usable

    @property
    def decision_rule(self) -> str:
        """At which threshold the baseline decides, in words; empty: the more probable class."""
        first = self.contenders[0]
        if not self.threshold or not self.classes:
            return ""
        rarer = int(np.argmin(np.bincount(first.truth, minlength=len(self.classes))))
        threshold = first.decision_threshold
        if threshold is None:
            named = self.threshold
        else:
            named = f"{1 - threshold if rarer == 0 else threshold:.3g}"
        rule = f" ({self.threshold})" if self.threshold != named else ""
        return f"{named}{rule} on the probability of {self.classes[rarer]!r}"

    def with_settings(
        self,
        *,
        delta: float | None = None,
        max_price: float | None = None,
        ignore: Sequence[str] | None = None,
        about: Mapping[str, str] | None = None,
        reader: str | None = None,
        gates: Sequence[Gate] | None = None,
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
        gates : sequence of Gate, default=None
            Gates that were applied, for reports.

        Returns
        -------
        AuditResult
            The same measurement with other limits, findings and wording.
        """
        wanted: dict[str, Any] = {
            "delta": if_given(check_fraction, "delta", delta, one=False),
            "max_price": if_given(check_fraction, "max_price", max_price, zero=True),
            "ignore": None if ignore is None else _checked_codes(ignore),
            "about": None if about is None else dict(about),
            "reader": reader and check_choice("reader", reader, READERS),
            "gates": None if gates is None else tuple(gates),
        }
        given = {name: value for name, value in wanted.items() if value is not None}
        return dataclasses.replace(self, **given)

    def items(self, *, values: bool = True) -> dict[str, Any]:
        """Return what the JSON of an audit has besides the measured numbers."""
        design = dataclasses.asdict(self.design) | {
            "vary": list(self.design.vary),
            "pairs_wanted": self.pairs_wanted,
            "independent_pairs": self.design.independent_pairs,
            "limits_hold_for": self.design.limits_hold_for,
        }
        judgement = self.judgement
        return {
            "design": design | {"delta": self.delta, "rho": self.rho, "threshold": self.threshold},
            "classes": [str(label) for label in self.classes],
            "tolerance": self.tolerance,
            "leading": judgement.leading,
            "recommended": judgement.recommended,
            "recommendations": judgement.recommendations,
            "contenders": [self._about(contender) for contender in self.contenders],
            "cut_short": list(self.cut_short),
            "columns": list(self.columns) if values else [],
            "rows": [self._shown(place, values) for place in range(len(self.shown_rows))],
            "findings": [dataclasses.asdict(f) for f in self.findings],
        }

    def timings(self) -> dict[str, Any]:
        """Return when the audit ended, and how long it took."""
        seconds = {c.name: float(c.seconds.mean()) for c in self.contenders}
        return {
            "finished": self.finished,
            "wall_seconds": self.wall_seconds,
            "seconds_per_run": seconds,
        }

    def _about(self, contender: ContenderResult) -> dict[str, Any]:
        """Return what the JSON says about a contender besides its numbers."""
        certificate = contender.certificate
        names = ("name", "description", "needs", "remark", "measured_as", "promised_as")
        judged = self.judgement[contender.name]
        return {
            **{name: getattr(contender, name) for name in names},
            "outcome": judged.outcome,
            "price": judged.price,
            "promises": list(contender.promises),
            "certificate": None if certificate is None else certificate.to_dict(),
            "limit_for_these_pairs": contender.promise(self.design),
            "incomparable": list(contender.incomparable),
            "in_front": list(contender.in_front),
            "notes": [list(note) for note in contender.notes],
        }

    def _shown(self, place: int, values: bool) -> dict[str, Any]:
        """Return one of the least stable rows."""
        row = self.shown_rows[place]
        truth = self.contenders[0].truth[row]
        return {
            "row": int(self.test[row]),
            "truth": str(self.classes[truth]) if self.classes else f"{truth:g}",
            "flips": {c.name: float(c.flips[:, row].mean()) for c in self.contenders},
            "cells": list(self.cells[place]) if values else [],
        }

    def __repr__(self) -> str:
        names = ", ".join(c.name for c in self.contenders)
        return f"AuditResult({names}; {self.design.n_pairs} pairs, {self.design.n_test} test rows)"


def _checked_codes(ignore: Sequence[str]) -> tuple[str, ...]:
    """Refuse codes that do not exist: a typing error would go unnoticed."""
    known = list(findings.CHECKS)
    if isinstance(ignore, str) or not set(ignore) <= set(known):
        raise ValueError(f"ignore={ignore!r} must be a list of codes; the known codes are {known}.")
    return tuple(ignore)
