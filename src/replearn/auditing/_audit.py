"""The function ``audit(estimator, X, y)`` and the result it returns."""

from __future__ import annotations

import copy
import dataclasses
import os
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.auditing import _report, _summary
from replearn.auditing._check import Finding
from replearn.auditing._columns import cells, data_facts, make_subgroups
from replearn.auditing._contenders import make_contenders
from replearn.auditing._design import design_options, draw_rows, make_design
from replearn.auditing._findings import checked_codes, find
from replearn.auditing._measurement import ContenderResult, Measurement
from replearn.auditing._runs import Store, Task, run_pairs
from replearn.learners.inputs import check_groups, check_labels, describe_learner
from replearn.randomness import SharedKey
from replearn.records.checks import check_choice, check_fraction
from replearn.records.files import write_atomically
from replearn.records.json import pretty_json
from replearn.tables import data_digest, n_rows

MANIFEST_VERSION = 2
"""Raised when kept pairs are written in another way: folders of other versions are refused."""

READERS = ("python", "command")
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
        Labels of any kind.
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
        - ``time_budget``: no pair is started after so many seconds (at least two are run).
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
    start = time.monotonic()
    check_fraction("rho", rho, one=False)
    options = design_options(design)
    time_budget = options.pop("time_budget")
    codes, classes = check_labels(X, y, None)
    group_of_row = check_groups(groups, n_rows(X))
    key = SharedKey(shared_key).child("audit")
    rows = draw_rows(n_rows(X), options.pop("test_size"), group_of_row, key)
    sizes = make_design(n_rows(X), rows, n_pairs=n_pairs, key=key, **options)
    contenders = make_contenders(
        estimator, rho=rho, shared_key=shared_key, n=sizes.train_size, n_classes=len(classes)
    )
    levels = make_subgroups(X, subgroups, rows.test)
    task = Task(contenders, X, classes[codes], classes, group_of_row, rows, sizes, key)
    store = Store(resume, _manifest(task, data_digest(X, codes, group_of_row)))
    outcomes = run_pairs(task, store, time_budget=time_budget, n_jobs=n_jobs, verbose=verbose)
    results = tuple(
        ContenderResult.from_pairs(contender, codes[rows.test], pairs)
        for contender, pairs in zip(contenders, outcomes, strict=True)
    )
    shown = _least_stable(results)
    names, values = cells(X, rows.test[shown])
    return AuditResult(
        design=dataclasses.replace(sizes, n_pairs=len(outcomes[0])),
        contenders=results,
        classes=tuple(classes.tolist()),
        test=rows.test,
        clusters=None if rows.unit_of_row is None else rows.unit_of_row[rows.test],
        subgroups=levels,
        facts=data_facts(X, codes, rows.test),
        shown_rows=shown,
        columns=tuple(names),
        cells=tuple(map(tuple, values)),
        rho=rho,
        pairs_wanted=n_pairs,
        wall_seconds=time.monotonic() - start,
        finished=time.strftime("%Y-%m-%d %H:%M"),
    )


def _manifest(task: Task, digest: str) -> dict[str, Any]:
    """What two audits must share to have the same result; the number of pairs may grow."""
    design = dataclasses.asdict(task.design)
    if not task.design.independent_pairs:
        del design["n_pairs"]
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


class AuditResult(Measurement):
    """The result of :func:`audit`: the measured numbers, the findings, and reports of both.

    See the fields of `Measurement`: ``design``, ``contenders`` (also ``result[name]``),
    ``classes``, ``test``, ``delta``, ``rho`` and others.
    """

    def with_settings(
        self,
        *,
        delta: float | None = None,
        ignore: Sequence[str] | None = None,
        about: Mapping[str, str] | None = None,
        reader: str | None = None,
    ) -> AuditResult:
        """Return the same measurement, reported in another way; nothing is run again.

        Parameters
        ----------
        delta : float, default=None
            Each pair of confidence limits fails with probability at most delta (0.05 at first).
        ignore : sequence of str, default=None
            Codes of findings that are not looked for.
        about : dict of str to str, default=None
            What the head of reports says about the rows: ``file``, ``target``, ``model``.
        reader : {"python", "command"}, default=None
            Whether remedies name functions ("python" at first) or options of the command line.

        Returns
        -------
        AuditResult
            With other limits, findings and words.
        """
        return dataclasses.replace(
            self,
            delta=self.delta if delta is None else check_fraction("delta", delta, one=False),
            ignore=self.ignore if ignore is None else checked_codes(ignore),
            about=self.about if about is None else dict(about),
            reader=self.reader if reader is None else check_choice("reader", reader, READERS),
        )

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """The outcome of every check, by code."""
        return find(self)

    @cached_property
    def _values(self) -> dict[str, Any]:
        return _summary.summarize(self, self.findings)

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
        items = copy.deepcopy(self._values)
        if not timings:
            del items["timings"]
        if not values:
            items["columns"] = []
            for row in items["least_stable_rows"]:
                row["cells"] = []
        return items

    def to_json(self, *, timings: bool = True, values: bool = True) -> str:
        """Return everything as JSON text; parameters as in `to_dict`."""
        return pretty_json(self.to_dict(timings=timings, values=values))

    def to_markdown(self) -> str:
        """Return a short report for a pull request or a wiki."""
        return _report.to_markdown(self._values)

    def to_html(self, *, values: bool = True) -> str:
        """Return the report as one self-contained HTML page (needs jinja2).

        Parameters
        ----------
        values : bool, default=True
            Whether the features of the least stable rows are shown. False: only their places in
            the file, for reports that are passed on.

        Returns
        -------
        str
            Opens from disk; nothing is loaded from a network.
        """
        return _report.to_html(self._values, values=values)

    def save(self, path: str | os.PathLike[str], *, values: bool = True) -> None:
        """Write the report; the ending .html, .json or .md says how.

        Parameters
        ----------
        path : path
            Where to.
        values : bool, default=True
            Whether to include the features of the least stable rows (Markdown never does).
        """
        writers = {
            ".html": lambda: self.to_html(values=values),
            ".json": lambda: self.to_json(values=values),
            ".md": self.to_markdown,
        }
        ending = Path(path).suffix.lower()
        if ending not in writers:
            raise ValueError(f"path={str(path)!r} must end in {', '.join(writers)}.")
        write_atomically(path, writers[ending]() + "\n")

    def frame(self) -> Any:
        """Return a pandas DataFrame with one line per contender."""
        import pandas as pd

        return pd.DataFrame(_summary.contender_lines(self._values))

    def __repr__(self) -> str:
        names = ", ".join(c.name for c in self.contenders)
        return f"AuditResult({names}; {self.design.n_pairs} pairs, {self.design.n_test} test rows)"

    def __str__(self) -> str:
        return _report.to_text(self._values)

    def _repr_html_(self) -> str:
        return _report.to_notebook(self._values)
