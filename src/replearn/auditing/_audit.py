"""The function ``audit(estimator, X, y)`` and the result it returns."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray

from replearn.auditing._columns import cells, data_facts, make_subgroups
from replearn.auditing._contenders import Setting, make_contenders
from replearn.auditing._design import AuditDesign, Rows, design_options, draw_rows, make_design
from replearn.auditing._measurement import ContenderResult
from replearn.auditing._pairs import INTERRUPTED, Affordable, Finished, afford, run_pairs
from replearn.auditing._result import AuditResult
from replearn.auditing._runs import Store, Task, earlier_manifest
from replearn.binding.learner import describe_learner
from replearn.execution import runtime
from replearn.learners.inputs import check_groups, check_labels
from replearn.randomness import SharedKey
from replearn.records.checks import check_fraction
from replearn.tables import data_digest, n_rows

MANIFEST_VERSION = 3
"""Raised when kept pairs are written in another way: folders of other versions are refused."""

SHOWN_ROWS = 200
"""Rows in the report's table; the others are in ``row_flips``."""


def audit(  # noqa: PLR0913
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_pairs: int = 20,
    design: Mapping[str, Any] | None = None,
    groups: ArrayLike | None = None,
    subgroups: Any = "auto",
    rho: float = 0.1,
    shared_key: Any = 0,
    resume: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> AuditResult:
    """Measure on your own data how often retraining changes a prediction.

    The test rows are drawn once. Pairs of samples are drawn from the other rows; each contender
    is fitted on both samples of a pair, and a test row flips if the two predictions differ.

    Parameters
    ----------
    estimator : classifier or dict of str to classifier
        One classifier is the baseline, beside bagging of five and its replicable version (about
        64 base learners, so fewer partitions than the learner's default: the guarantee is the
        same, real flips are more frequent). A dict is taken as it is; its first entry is the
        baseline.
    X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
        All rows, in the order of the file.
    y : array-like of shape (n,)
        Labels of any kind; for numbers see `audit_regression`.
    n_pairs : int, default=20
        Pairs of runs; twenty resolve the flip frequency of a row to 5 %.
    design : dict, default=None
        How pairs are drawn, where the defaults do not fit; any of

        - ``test_size``: number or share of test rows (default: 30 %, at most 2000);
        - ``train_size``: rows (groups) that each run learns from (default: half of the others).
          If ``2 * n_pairs * train_size`` rows are there, no two pairs share a row, and the limits
          hold for the population instead of for this file;
        - ``sample``: "disjoint" (default) cuts the samples of a pair from the file, "bootstrap"
          draws them with replacement, by default as many as there are;
        - ``time_budget``: seconds for the whole audit. Small fits tell first how many rows,
          and which contenders, leave time for five pairs; fits end at the deadline. The report
          says how far it got (`AuditResult.cut_short`);
        - ``contenders``: which ones, for one classifier among "baseline", "bagging",
          "replicable", "replicable-full" (all partitions, as ``fit`` trains it), "score" and
          "score-loose" (`ScoreReplicableClassifier` at rho and at 2 rho: an estimate, no
          certificate) and "incumbent" (`IncumbentClassifier`: the second training of a pair
          keeps the answers of the first where it is not sure);
        - ``rows``: at most so many rows of the file, drawn by the key, are used;
        - ``for_blocks``: a function from the rows of a block to the classifier that the replicable
          contender trains there (smaller leaves); default: the one that is audited;
        - ``interrupt``: "raise" (default), or "report" to return what was measured before Ctrl-C.
    groups : array-like of shape (n,), default=None
        Rows of one group (one patient) stay together in tests, samples and blocks.
    subgroups : "auto", None, list of column names, or dict of name to labels, default="auto"
        Flips are reported for each; "auto" takes columns of text or booleans with few values.
    rho : float, default=0.1
        Flip probability that the default replicable contender guarantees.
    shared_key : str, bytes, int or SharedKey, default=0
        Draws the rows, fills seeds that were left open (both runs of a pair get the same), and is
        the key of the default replicable contender.
    resume : path, default=None
        A folder where every finished pair is kept. After an interruption, the same call continues.
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
    ['baseline', 'bagging (5 models)', 'replicable']
    >>> rate = result.flip_rate("baseline")
    >>> 0 < rate.lower < rate.value < rate.upper < 0.2
    True
    """
    start = runtime.now()
    check_fraction("rho", rho, one=False)
    options = design_options(design)
    codes, classes = check_labels(X, y, None)
    group_of_row = check_groups(groups, n_rows(X))
    key = SharedKey(shared_key).child("audit")
    rows = draw_rows(n_rows(X), options["test_size"], group_of_row, key, most=options["rows"])
    sizes = make_design(n_rows(X), rows, n_pairs=n_pairs, key=key, options=options)
    in_blocks = options["for_blocks"]
    setting = Setting(rho, shared_key, sizes.train_size, len(classes), in_blocks)
    contenders = make_contenders(estimator, setting, options["contenders"])
    levels = make_subgroups(X, subgroups, rows.test)
    facts = data_facts(X, codes, rows.test, rows.used)
    task = Task(contenders, X, classes[codes], classes, group_of_row, rows, sizes, key)
    deadline = None if options["time_budget"] is None else start + options["time_budget"]
    if deadline is not None:
        wanted = _within(task, deadline, options, resume, effective_n_jobs(n_jobs))
        task = _shrunk(task, wanted, estimator, setting, options)
        n_jobs = 1 if wanted.alone else n_jobs
    digest = "" if resume is None else data_digest(X, codes, group_of_row)
    finished = run_pairs(
        task,
        Store(resume, _manifest(task, digest)),
        deadline=deadline,
        n_jobs=n_jobs,
        verbose=verbose,
        keep_interrupted=options["interrupt"] == "report",
    )
    results = tuple(
        ContenderResult.from_pairs(task.contenders[place], codes[rows.test], pairs)
        for place, pairs in zip(finished.kept, finished.outcomes, strict=True)
    )
    shown = _least_stable(results)
    names, values = cells(X, rows.test[shown])
    return AuditResult(
        design=dataclasses.replace(task.design, n_pairs=len(finished.outcomes[0])),
        contenders=results,
        classes=tuple(classes.tolist()),
        test=rows.test,
        clusters=None if rows.unit_of_row is None else rows.unit_of_row[rows.test],
        subgroups=levels,
        facts=facts,
        shown_rows=shown,
        columns=tuple(names),
        cells=tuple(map(tuple, values)),
        rho=rho,
        pairs_wanted=n_pairs,
        cut_short=tuple(_cut_short(finished, task, sizes, rows, contenders, n_pairs)),
        interrupted=finished.stopped == INTERRUPTED,
        wall_seconds=runtime.now() - start,
        finished=time.strftime("%Y-%m-%d %H:%M"),
    )


def _within(
    task: Task, deadline: float, options: Mapping[str, Any], resume: Any, n_jobs: int
) -> Affordable:
    """Choose what fits into the time; a folder of an earlier call has chosen already."""
    places = tuple(range(len(task.contenders)))
    earlier = earlier_manifest(resume)
    if earlier is not None:
        names = [name for name, *_ in earlier["contenders"]]
        kept = tuple(p for p in places if task.contenders[p].name in names)
        return Affordable(earlier["design"]["train_size"], kept or places)
    if options["train_size"] is not None:
        return Affordable(task.design.train_size, places)
    return afford(task, deadline, n_jobs)


def _shrunk(
    task: Task, wanted: Affordable, estimator: Any, setting: Setting, options: Mapping[str, Any]
) -> Task:
    """Return the task with fewer rows and contenders; plans follow the number of rows."""
    setting = dataclasses.replace(setting, n=wanted.train_size)
    contenders = make_contenders(estimator, setting, options["contenders"])
    return dataclasses.replace(
        task,
        contenders=[contenders[place] for place in wanted.contenders],
        design=dataclasses.replace(task.design, train_size=wanted.train_size),
    )


def _cut_short(
    finished: Finished,
    task: Task,
    full: AuditDesign,
    rows: Rows,
    contenders: list[Any],
    n_pairs: int,
) -> list[str]:
    """Say how far the audit got, where it is not as far as asked."""
    told = []
    n_done, unit = len(finished.outcomes[0]), full.unit
    if n_done < n_pairs:
        told.append(f"{n_done} of {n_pairs} pairs were run: {finished.stopped}")
    if task.design.train_size < full.train_size:
        told.append(
            f"to keep the time budget each training saw {task.design.train_size:,} of "
            f"{full.train_size:,} {unit}; with more of them fewer predictions change"
        )
    kept = {task.contenders[place].name for place in finished.kept}
    missing = [c.name for c in contenders if c.name not in kept]
    if missing:
        told.append(f"left out for lack of time: {', '.join(missing)}")
    if len(rows.used) < full.n_rows:
        told.append(f"{len(rows.used):,} of {full.n_rows:,} rows of the file were used, as asked")
    return told


def _manifest(task: Task, digest: str) -> dict[str, Any]:
    """What two audits must share to have the same result; the number of pairs may grow."""
    design = dataclasses.asdict(task.design)
    if not task.design.independent_pairs:
        del design["n_pairs"], design["n_drawn"]
    return {
        "version": MANIFEST_VERSION,
        "contenders": [[c.name, *describe_learner(c.estimator)] for c in task.contenders],
        "data": digest,
        "classes": [str(label) for label in task.classes.tolist()],
        "design": design,
    }


def _least_stable(results: tuple[ContenderResult, ...]) -> NDArray[np.intp]:
    """Rows by the flips of the first contender, ties by the others together."""
    others = np.sum([result.frequency for result in results], axis=0)
    return np.lexsort((-others, -results[0].frequency))[:SHOWN_ROWS]
