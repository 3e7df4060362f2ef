"""The door: ``audit(estimator, X, y)``."""

from __future__ import annotations

import dataclasses
import os
import time
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.auditing._checks import checked_codes
from replearn.auditing._columns import cells, make_subgroups
from replearn.auditing._contender_result import ContenderResult, gather
from replearn.auditing._contenders import Contender, make_contenders
from replearn.auditing._design import AuditDesign, draw_rows, make_design
from replearn.auditing._facts import look_at
from replearn.auditing._measure import Work, measure
from replearn.auditing._result import AuditResult
from replearn.auditing._runs import Question
from replearn.auditing._store import Store, data_digest
from replearn.learners.inputs import check_groups, check_labels, describe_learner
from replearn.randomness import SharedKey
from replearn.tables import n_rows

SHOWN_ROWS = 200
"""Rows in the report's table; the others are in ``row_flips``."""


def audit(  # noqa: PLR0913
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_pairs: int = 20,
    sample: str = "disjoint",
    test_size: int | float | None = None,
    train_size: int | None = None,
    groups: ArrayLike | None = None,
    subgroups: Any = "auto",
    rho: float = 0.1,
    delta: float = 0.05,
    time_budget: float | None = None,
    shared_key: Any = 0,
    n_jobs: int | None = None,
    resume: str | os.PathLike[str] | None = None,
    ignore: tuple[str, ...] | list[str] = (),
    verbose: int = 0,
) -> AuditResult:
    """Measure on your own data how often retraining changes an answer.

    The test rows are drawn once. Pairs of samples are drawn from the other rows; each contender
    learns from both samples of a pair, and a test row flips if the two answers differ.

    Parameters
    ----------
    estimator : classifier or dict of str to classifier
        One classifier is compared with bagging of five and with its replicable version (about 64
        base learners, so fewer partitions than the learner's default: the promise is the same,
        real flips are more frequent). A dict is taken as it is; its first entry is the one that
        others are compared with.
    X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
        The file, in its own order.
    y : array-like of shape (n,)
        Labels of any kind.
    n_pairs : int, default=20
        Pairs of runs; twenty resolve the flip frequency of a row to 5 %.
    sample : {"disjoint", "bootstrap"}, default="disjoint"
        Cut the samples of a pair from the file, or draw them with replacement.
    test_size : int, float or None, default=None
        Number or share of test rows; None: 30 %, at most 2000.
    train_size : int or None, default=None
        Rows (groups) that each run learns from; None: half of the others ("disjoint") or as many
        as there are ("bootstrap"). If ``2 * n_pairs * train_size`` rows are there, no two pairs
        share a row, and the limits hold for the population instead of for this file.
    groups : array-like of shape (n,), default=None
        Rows of one group (one patient) stay together in tests, samples and blocks.
    subgroups : "auto", None, list of column names, or dict of name to labels, default="auto"
        Flips are told for each; "auto" takes columns of texts or booleans with few values.
    rho : float, default=0.1
        Flip probability that the default replicable contender promises.
    delta : float, default=0.05
        Each pair of confidence limits fails with probability at most delta.
    time_budget : float, default=None
        No pair is begun after so many seconds (at least two are run).
    shared_key : str, bytes, int or SharedKey, default=0
        Draws the rows, fills seeds that were left open (both runs of a pair get the same), and is
        the key of the default replicable contender.
    n_jobs : int, default=None
        Number of joblib workers. The result does not depend on it.
    resume : path, default=None
        A folder where every finished pair is kept. After an interruption, the same call continues.
    ignore : sequence of str, default=()
        Codes of findings that are not looked for.
    verbose : int, default=0
        Progress: 0 speaks only when it takes long, 1 always, negative never.

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
    ['what you use today', 'bagging with 5', 'replicable']
    >>> rate = result.flip_rate("what you use today")
    >>> 0 < rate.lower < rate.value < rate.upper < 0.2
    True
    """
    start = time.monotonic()
    _check_shares(rho=rho, delta=delta)
    ignored = checked_codes(ignore)
    codes, classes = check_labels(X, y, None)
    group_of_row = check_groups(groups, n_rows(X))
    key = SharedKey(shared_key).child("audit")
    rows = draw_rows(n_rows(X), test_size, group_of_row, key)
    design = make_design(
        n_rows(X), rows, n_pairs=n_pairs, sample=sample, train_size=train_size, key=key
    )
    contenders = make_contenders(
        estimator, rho=rho, shared_key=shared_key, n=design.train_size, n_classes=len(classes)
    )
    question = Question(X, codes, classes, group_of_row, rows.test)
    found_subgroups = make_subgroups(X, subgroups, rows.test)
    store = Store(resume, _manifest(contenders, question, design))
    work = Work(contenders, question, design, rows, key)
    outcomes = measure(work, store, time_budget=time_budget, n_jobs=n_jobs, verbose=verbose)
    results = tuple(
        gather(
            contender.name,
            describe_learner(contender.estimator)[0],
            codes[rows.test],
            pairs,
            remark=contender.remark,
            in_front=_in_front(contender),
            default_key=_has_default_key(contender),
        )
        for contender, pairs in zip(contenders, outcomes, strict=True)
    )
    shown = _least_stable(results)
    names, values = cells(X, rows.test[shown])
    return AuditResult(
        design=dataclasses.replace(design, n_pairs=len(outcomes[0])),
        contenders=results,
        classes=tuple(classes.tolist()),
        test=rows.test,
        clusters=None if rows.unit_of_row is None else rows.unit_of_row[rows.test],
        subgroups=found_subgroups,
        facts=look_at(X, codes, rows.test),
        shown_rows=shown,
        columns=tuple(names),
        cells=tuple(map(tuple, values)),
        delta=delta,
        rho=rho,
        ignore=ignored,
        pairs_wanted=n_pairs,
        wall_seconds=time.monotonic() - start,
    )


def _check_shares(**values: Any) -> None:
    for name, value in values.items():
        if not isinstance(value, Real) or not 0 < float(value) < 1:
            raise ValueError(f"{name}={value!r} must lie between 0 and 1.")


def _manifest(
    contenders: list[Contender], question: Question, design: AuditDesign
) -> dict[str, Any]:
    """What two audits must share to have the same result; the number of pairs may grow."""
    items = dataclasses.asdict(design)
    if not design.independent_pairs:
        del items["n_pairs"]
    return {
        "version": 1,
        "contenders": [[c.name, *describe_learner(c.estimator)] for c in contenders],
        "data": data_digest(question.X, question.codes, question.groups),
        "classes": [str(label) for label in question.classes.tolist()],
        "design": items,
    }


def _in_front(contender: Contender) -> tuple[str, ...]:
    """Transformers that learn from data in front of a replicable learner."""
    if contender.replicable_part in (None, contender.estimator):
        return ()
    steps = contender.estimator.steps[:-1]
    return tuple(type(step).__name__ for _, step in steps if _learns(step))


def _learns(step: Any) -> bool:
    from sklearn.utils import get_tags

    return step is not None and not isinstance(step, str) and bool(get_tags(step).requires_fit)


def _has_default_key(contender: Contender) -> bool:
    part = contender.replicable_part
    return part is not None and SharedKey(part.shared_key).fingerprint == SharedKey(0).fingerprint


def _least_stable(results: tuple[ContenderResult, ...]) -> NDArray[np.intp]:
    """Rows by the flips of the first contender, ties by the others together."""
    others = np.sum([result.frequency for result in results], axis=0)
    return np.lexsort((-others, -results[0].frequency))[:SHOWN_ROWS]
