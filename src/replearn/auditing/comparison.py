"""Compare two models on the same rows: an audit with one pair, and the list of rows that change."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.auditing.contenders import is_replicable
from replearn.auditing.facts import as_text, cells, factorize, make_subgroups
from replearn.auditing.gate import MUST_NOT_CHANGE, Gate
from replearn.auditing.groups import Excess, Groups, changes_more
from replearn.auditing.limits import DELTA, SHARES, Floats, Mask
from replearn.auditing.metrics import Measure, Predictions, Quantities, has_changed
from replearn.auditing.outputs import (
    check_ids,
    check_quantity,
    check_rows,
    check_scores,
    labels_of_outputs,
    model_output,
    quantities_of_outputs,
)
from replearn.auditing.report import Presented
from replearn.auditing.runs import Measured, MeasuredTable, Runs
from replearn.learners.row_sketch import warn_if_trained_on
from replearn.records.checks import check_fraction
from replearn.tables.rows import import_pandas

OLD = "old"
NEW = "new"
MAX_TRANSITIONS = 20
MAX_ROWS = 500
"""So many rows that change are listed."""

OVER_KEYS = "flips over all keys"
WITHIN = " within a version"
ADDED = "added "
BY_GROUP = ("flips", "becomes wrong", "becomes right")


@dataclass(frozen=True)
class Transition:
    """Rows whose prediction changes from one label to another, and how many of them get better.

    Two labels that are approvals and refusals: the rows that are swapped in, and out.
    """

    old: str
    new: str
    rows: int
    become_right: int | None
    become_wrong: int | None


@dataclass(frozen=True)
class ChangedRow:
    """A row whose prediction changes.

    Parameters
    ----------
    row : int
        Its position.
    id : str
        Its id, or its position.
    old, new : str
        Old and new prediction.
    truth : str or None
        The true label.
    change : str
        "right to wrong", "wrong to right", "wrong to wrong", "right to right" (quantities only),
        or "changes" without the truth.
    moved : float or None
        How far the probability, or the value, moves.
    cells : tuple of str
        Features.
    """

    row: int
    id: str
    old: str
    new: str
    truth: str | None
    change: str
    moved: float | None
    cells: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ModelComparison(Presented):
    """What changes for whom when a new model replaces an old one.

    Parameters
    ----------
    old, new : ndarray of shape (n,)
        Predictions of both models for each row; of several runs, the most frequent one.
    runs : Runs
        What both models predict, as pairs of runs.
    within : tuple of Runs
        Pairs of two runs of the same version; empty unless there are several.
    X : table
        The rows.
    ids : ndarray or None
        Names of the rows.
    subgroups : dict
        Name to (values, index of each row's value).
    kept : ndarray of int, ModelComparison, or None
        Positions of the rows whose predictions must not change, or a comparison on other rows.
    comparable : str
        Whether the certificates of both models are those of comparable runs.
    over_keys : ndarray or None
        For comparable runs: chance of each row to change, averaged over keys.
    n_runs : (int, int)
        Runs of the old and of the new version.
    delta : float
        Each pair of limits fails with probability at most delta.
    about : dict of str to str
        What the models and the rows are called: ``old``, ``new``, ``data``.
    gates : tuple of Gate
        Gates that were applied.
    """

    old: NDArray[Any]
    new: NDArray[Any]
    runs: Runs
    within: tuple[Runs, ...] = ()
    X: Any
    ids: NDArray[Any] | None
    subgroups: Groups
    kept: Any
    comparable: str
    over_keys: Floats | None
    n_runs: tuple[int, int] = (1, 1)
    delta: float = DELTA
    about: Mapping[str, str] = field(default_factory=dict)
    gates: tuple[Gate, ...] = ()

    kind = "compare"
    judged = NEW
    found = ()

    @property
    def predictions(self) -> Predictions:
        """What both models predict, and the truth."""
        return self.runs.predictions

    @property
    def clusters(self) -> NDArray[np.intp] | None:
        """Group of each row."""
        return self.runs.clusters

    @cached_property
    def changed(self) -> Mask:
        """Whether the prediction of each row changes."""
        return has_changed(self.old, self.new, self.tolerance)

    @property
    def tolerance(self) -> float | None:
        """Of quantities: predictions that differ by at least this much have changed."""
        return self.predictions.tolerance if isinstance(self.predictions, Quantities) else None

    @property
    def flipped(self) -> NDArray[np.intp]:
        """Positions of the rows with different predictions."""
        return np.flatnonzero(self.changed)

    @property
    def flips(self) -> Measured:
        """Share of rows with different predictions."""
        return self.table[0]

    @cached_property
    def table(self) -> MeasuredTable:
        """All measured numbers, by "old" and "new"; differences are new minus old."""
        runs = self.runs
        rows = [*runs.changes(self.delta, self.subgroups, BY_GROUP), *self._noise()]
        old, new = (
            dataclasses.replace(runs, name=name, predictions=runs.predictions.run(index))
            for index, name in enumerate((OLD, NEW))
        )
        rows += [*old.scores(self.delta), *new.scores(self.delta)]
        rows += new.differences(old, self.delta)
        if self.over_keys is not None:
            table = self.over_keys[np.newaxis]
            rows.append(runs.measured(Measure(OVER_KEYS, table, SHARES), self.delta))
        if self.kept is not None:
            n_kept = len(self.kept.old if isinstance(self.kept, ModelComparison) else self.kept)
            count = float(len(self.violations))
            rows.append(Measured(count, count, count, NEW, MUST_NOT_CHANGE, rows=n_kept))
        return MeasuredTable(rows)

    def _noise(self) -> Iterator[Measured]:
        """Yield what changes between two runs of one version, and what the new version adds."""
        if not self.within:
            return
        between = _by_row(self.runs)
        noise = [_by_row(runs) for runs in self.within]
        for name, values in between.items():
            # Of each row, the mean of both versions: what one more run would change anyway.
            floor = np.mean([changes[name] for changes in noise], axis=0)
            within = _range_of(self.runs, name)
            yield self.runs.measured(Measure(f"{name}{WITHIN}", floor, within), self.delta)
            for runs, changes in zip(self.within, noise, strict=True):
                side = Measure(f"{name} within the {runs.name} version", changes[name], within)
                yield self.runs.measured(side, self.delta)
            added = Measure(f"{ADDED}{name}", values - floor)
            yield self.runs.measured_difference(added, self.delta)

    def changes_more(self) -> list[Excess]:
        """Return the subgroups that change more often than the other rows, the worst first."""
        flips = self.runs.flips.mean(axis=0, keepdims=True)
        return changes_more(flips, self.subgroups, self.delta, self.clusters)

    def changed_frame(self) -> Any:
        """Return a pandas DataFrame of the rows with different predictions."""
        rows = self.flipped
        columns: dict[str, Any] = {"row": rows}
        if self.ids is not None:
            columns["id"] = self.ids[rows]
        columns |= {OLD: self.old[rows], NEW: self.new[rows]}
        if self.predictions.truth is not None:
            columns["truth"] = self._truth[rows]
        return import_pandas().DataFrame(columns)

    @cached_property
    def _truth(self) -> NDArray[Any]:
        truth = self.predictions.truth
        assert truth is not None, "the truth is known"
        return truth if self.tolerance is not None else np.array(self.predictions.classes)[truth]

    @cached_property
    def right(self) -> tuple[Mask, Mask] | None:
        """Whether the old and the new prediction of each row are right, if the truth is known."""
        if self.predictions.truth is None:
            return None
        old, new = (~has_changed(p, self._truth, self.tolerance) for p in (self.old, self.new))
        return old, new

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """How many rows change from which label to which, the most frequent first."""
        if self.tolerance is not None:
            return ()
        rows = self.flipped
        pairs = list(zip(self.old[rows].tolist(), self.new[rows].tolist(), strict=True))
        right = self.right
        counts = [Counter(pairs)]
        if right is not None:
            counts += [
                Counter(pair for pair, row in zip(pairs, rows, strict=True) if after[row])
                for after in (right[1], right[0])
            ]

        def outcome(a: Any, b: Any) -> tuple[int | None, int | None]:
            return (None, None) if right is None else (counts[1][a, b], counts[2][a, b])

        ranked = sorted(counts[0].items(), key=lambda item: (-item[1], str(item[0])))
        return tuple(
            Transition(str(a), str(b), n, *outcome(a, b)) for (a, b), n in ranked[:MAX_TRANSITIONS]
        )

    @cached_property
    def changed_rows(self) -> tuple[ChangedRow, ...]:
        """Up to 500 rows whose prediction changes, those that become wrong first."""
        moved = self._moved()
        rows = self.flipped
        worse = np.zeros(len(self.old)) if self.right is None else self.right[0] & ~self.right[1]
        distance = np.zeros(len(self.old)) if moved is None else moved
        ranked = rows[np.lexsort((rows, -distance[rows], -1.0 * worse[rows]))][:MAX_ROWS]
        return tuple(self._listed(ranked, moved))

    @property
    def violations(self) -> tuple[ChangedRow, ...]:
        """The rows that must not change, and do."""
        if self.kept is None:
            return ()
        if isinstance(self.kept, ModelComparison):
            return tuple(self.kept._listed(self.kept.flipped, None))
        return tuple(self._listed(self.kept[self.changed[self.kept]], self._moved()))

    def _moved(self) -> Floats | None:
        """Distance of the probabilities, or of the values, of each row."""
        changes = {measure.name: measure.table for measure in self.predictions.changes()}
        table = changes.get("change of the probability", changes.get("change of the value"))
        return None if table is None else table.mean(axis=0)

    def _listed(self, rows: NDArray[np.intp], moved: Floats | None) -> Iterator[ChangedRow]:
        features = _features_of(self.X, rows)[1]
        for place, row in enumerate(rows.tolist()):
            yield ChangedRow(
                row=row,
                id=str(row if self.ids is None else self.ids[row]),
                old=as_text(self.old[row]),
                new=as_text(self.new[row]),
                truth=None if self.right is None else as_text(self._truth[row]),
                change=_kind(self.right, row),
                moved=None if moved is None else float(moved[row]),
                cells=tuple(features[place]),
            )

    def is_useless(self, name: str) -> bool:
        """Whether the new model predicts a single class; not judged without the truth."""
        return False

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(_features_of(self.X, np.arange(0))[0])

    @property
    def n_groups(self) -> int | None:
        """Number of groups of rows that belong together."""
        return None if self.clusters is None else len(np.unique(self.clusters))

    def with_settings(
        self, *, about: Mapping[str, str] | None = None, gates: Sequence[Gate] | None = None
    ) -> ModelComparison:
        """Return the same comparison with names of models and rows, and gates, for reports.

        Parameters
        ----------
        about : dict of str to str, default=None
            What the models and the rows are called: ``old``, ``new``, ``data``.
        gates : sequence of Gate, default=None
            The result of `gates`.

        Returns
        -------
        ModelComparison
            The same numbers.
        """
        return dataclasses.replace(
            self,
            about=self.about if about is None else dict(about),
            gates=self.gates if gates is None else tuple(gates),
        )

    def items(self, *, values: bool = True) -> dict[str, Any]:
        """Return what the JSON of a comparison has besides the measured numbers."""
        rows = [dataclasses.asdict(row) for row in self.changed_rows]
        if not values:
            rows = [{**row, "cells": []} for row in rows]
        return {
            "n_rows": len(self.old),
            "n_changed": len(self.flipped),
            "n_groups": self.n_groups,
            "n_runs": list(self.n_runs),
            "tolerance": self.tolerance,
            "delta": self.delta,
            "comparable": self.comparable,
            "transitions": [dataclasses.asdict(one) for one in self.transitions],
            "must_not_change": None if self.kept is None else [row.id for row in self.violations],
            "columns": list(self.columns) if values else [],
            "rows": [{**row, "cells": list(row["cells"])} for row in rows],
        }

    def timings(self) -> dict[str, Any]:
        """Return nothing: a comparison is not timed."""
        return {}

    def __repr__(self) -> str:
        return f"ModelComparison({len(self.flipped)} of {len(self.old)} rows flip)"


def compare(  # noqa: PLR0913
    old: Any,
    new: Any,
    X: Any = None,
    y: ArrayLike | None = None,
    *,
    ids: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    subgroups: Any = None,
    scores: Any = None,
    pos_label: Any = None,
    tolerance: float | None = None,
    must_not_change: Any = None,
    delta: float = DELTA,
) -> ModelComparison:
    """Compare two fitted models on the same rows.

    Parameters
    ----------
    old, new : fitted models, arrays of shape (n,), MLflow URIs, or lists of them
        The model in use, and the one that would replace it; or their predictions for X; or texts
        such as ``"models:/credit/3"``, which require MLflow. A list holds several runs of one
        version: the report then says how much two runs of the same version differ anyway.
    X : array-like, frame, sparse matrix or list of text of shape (n, n_features), default=None
        Rows that neither model has learned from; None for arrays of predictions.
    y : array-like of shape (n,), default=None
        True labels, if they are known.
    ids : array-like of shape (n,), default=None
        Names of the rows, all different.
    groups : array-like of shape (n,), default=None
        Rows with the same value belong together (one patient, one prompt): limits then treat
        groups as units, and are approximate.
    subgroups : "auto", None, list of column names, or dict of name to labels, default=None
        Flips are reported for each of them.
    scores : pair of arrays of shape (n,), default=None
        Probability of the positive label by the old and by the new model; with several runs, of
        shape (runs, n). If None, what ``predict_proba`` returns, if all models have it.
    pos_label : label, default=None
        The label that the scores are about. If None, the last one in sorted order.
    tolerance : float, default=None
        For quantities: predictions that differ by at least this much have changed, and predictions
        whose error is smaller are right.
    must_not_change : array-like or ModelComparison, default=None
        Rows whose predictions must not change: ids (positions without ``ids``), or a mask; or a
        comparison of both models on other rows, all of which must not change.
    delta : float, default=0.05
        Each pair of limits fails with probability at most delta.

    Returns
    -------
    ModelComparison
        Its limits are about other rows of the same population, for these two models (these runs).
        They say nothing about other trainings, which `audit` measures.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from replearn import compare
    >>> X, y = make_classification(3000, flip_y=0.2, random_state=0)
    >>> one, two = GaussianNB().fit(X[:500], y[:500]), GaussianNB().fit(X[500:1000], y[500:1000])
    >>> flips = compare(one, two, X[1000:], y[1000:]).flips
    >>> 0.02 < flips.lower < flips.value < flips.upper < 0.1
    True
    """
    check_fraction("delta", delta, one=False)
    olds, news = _runs_of(old), _runs_of(new)
    _check_order(olds[0], news[0])
    X = _rows_or_none(X, olds[0])
    sides = tuple(
        [model_output(name, model, X) for model in models]
        for name, models in ((OLD, olds), (NEW, news))
    )
    outputs = [*sides[0], *sides[1]]
    for name, side in zip((OLD, NEW), sides, strict=True):
        warn_if_trained_on(name, side[0].model, X)
    n = len(outputs[0].labels)
    if n == 0:
        raise ValueError("X has no rows: there is nothing to compare.")
    truth = None if y is None else check_rows("y", y, n)
    clusters = None if groups is None else factorize(check_rows("groups", groups, n))[1]
    names = None if ids is None else check_ids(ids, n)
    given = None if scores is None else check_scores(scores, n, (len(olds), len(news)))
    if tolerance is None:
        predictions: Any = labels_of_outputs(outputs, truth, given, pos_label)
    else:
        predictions = quantities_of_outputs(outputs, truth, tolerance)
    usual = [(_usual if tolerance is None else _mean)([o.labels for o in side]) for side in sides]
    verdict, same = _comparability(olds[0], news[0])
    between = [(i, len(olds) + j) for i in range(len(olds)) for j in range(len(news))]
    return ModelComparison(
        old=usual[0],
        new=usual[1],
        runs=Runs(NEW, _paired(predictions, between), clusters, one_pair=True),
        within=tuple(_within(predictions, (len(olds), len(news)), clusters)),
        X=X,
        ids=names,
        subgroups=make_subgroups(X, subgroups, np.arange(n)),
        kept=_kept_rows(must_not_change, names, n),
        comparable=verdict,
        over_keys=_over_keys(olds[0], news[0], X) if same else None,
        n_runs=(len(olds), len(news)),
        delta=delta,
    )


# -- several runs of one version -------------------------------------------------------------------
def _runs_of(given: Any) -> list[Any]:
    """Return the runs of one version: what a list holds, if it holds models or arrays."""
    if isinstance(given, list | tuple) and len(given):
        first = given[0]
        is_uri = isinstance(first, str) and "/" in first
        if hasattr(first, "predict") or is_uri or np.ndim(first) == 1:
            return list(given)
    return [given]


def _paired(predictions: Any, pairs: list[tuple[int, int]]) -> Any:
    """Arrange the runs, which have the first axis, as pairs of runs."""
    indices = np.array(pairs)
    arrays = {
        f.name: getattr(predictions, f.name)[indices]
        for f in dataclasses.fields(predictions)
        if f.name in ("codes", "probabilities", "reported")
        and getattr(predictions, f.name) is not None
    }
    return dataclasses.replace(predictions, **arrays)


def _within(
    predictions: Any, n_runs: tuple[int, int], clusters: NDArray[np.intp] | None
) -> Iterator[Runs]:
    """Yield the pairs of two runs of the same version, for each version with several runs."""
    first = 0
    for name, count in zip((OLD, NEW), n_runs, strict=True):
        pairs = list(combinations(range(first, first + count), 2))
        # In both directions: what becomes wrong may do so either way.
        pairs += [(j, i) for i, j in pairs]
        if pairs:
            yield Runs(name, _paired(predictions, pairs), clusters, one_pair=True)
        first += count


def _by_row(runs: Runs) -> dict[str, Floats]:
    """Return each kind of change as one line: its share of all pairs of runs, by row."""
    measures = [Measure("flips", runs.flips), *runs.predictions.changes()]
    return {measure.name: measure.table.mean(axis=0, keepdims=True) for measure in measures}


def _range_of(runs: Runs, name: str) -> Any:
    """Return between which numbers a kind of change lies."""
    measures = {measure.name: measure.within for measure in runs.predictions.changes()}
    return measures.get(name)


def _usual(runs: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the most frequent prediction of each row; of equally frequent ones the first."""
    if len(runs) == 1:
        return runs[0]
    known, codes = factorize(np.concatenate([np.asarray(run, dtype=object) for run in runs]))
    table = codes.reshape(len(runs), -1)
    counts = (table[:, np.newaxis] == table[np.newaxis]).sum(axis=0)
    chosen = table[counts.argmax(axis=0), np.arange(table.shape[1])]
    return np.asarray(np.array(known, dtype=object)[chosen].tolist())


def _mean(runs: list[NDArray[Any]]) -> NDArray[Any]:
    return np.asarray(np.mean([check_quantity("predictions", run) for run in runs], axis=0))


# -- checks ----------------------------------------------------------------------------------------
def _rows_or_none(X: Any, old: Any) -> Any:
    """Return X; for arrays of predictions without X, as many rows without columns."""
    if X is not None:
        return X
    if isinstance(old, str) or hasattr(old, "predict"):
        raise ValueError("X is None: models need rows to predict.")
    return np.empty((len(old), 0))


def _check_order(old: Any, new: Any) -> None:
    """Raise if two columns of pandas name the same rows in different orders."""
    if not (hasattr(old, "iloc") and hasattr(new, "iloc")) or old.index.equals(new.index):
        return
    is_permuted = len(old) == len(new) and old.index.is_unique and new.index.is_unique
    if is_permuted and bool(new.index.isin(old.index).all()):
        raise ValueError(
            "old and new have one index in different orders, but predictions are compared row by "
            "row: give new.reindex(old.index), or both without an index."
        )


def _kept_rows(wanted: Any, names: NDArray[Any] | None, n_rows: int) -> Any:
    """Return the positions of rows that are named by id, by position or by a mask."""
    if wanted is None or isinstance(wanted, ModelComparison):
        return wanted
    chosen = np.asarray(wanted)
    if chosen.dtype == bool:
        if chosen.shape != (n_rows,):
            raise ValueError(
                f"must_not_change has shape {chosen.shape}, but X has {n_rows} rows: a mask needs "
                "one entry for each."
            )
        return np.flatnonzero(chosen)
    if names is None:
        if chosen.dtype.kind not in "iu" or np.any((chosen < 0) | (chosen >= n_rows)):
            raise ValueError(
                "must_not_change must be a mask, or positions of rows of X; names of rows require "
                "ids."
            )
        return chosen.astype(np.intp)
    known = {name: index for index, name in enumerate(names.tolist())}
    missing = [name for name in chosen.tolist() if name not in known]
    if missing:
        raise ValueError(
            f"must_not_change: {len(missing)} of {len(chosen)} ids are not among the compared rows "
            f"(the first: {missing[0]!r})."
        )
    return np.array([known[name] for name in chosen.tolist()], dtype=np.intp)


def _comparability(model_a: Any, model_b: Any) -> tuple[str, bool]:
    """Tell, in words and as a truth value, whether two fitted models are comparable runs."""
    if not (hasattr(model_a, "certificate_") and hasattr(model_b, "certificate_")):
        return "unknown: not both models have a certificate", False
    verdict = model_a.certificate_.comparable(model_b.certificate_)
    return str(verdict), bool(verdict)


def _over_keys(model_a: Any, model_b: Any, X: Any) -> Floats | None:
    both = is_replicable(model_a) and is_replicable(model_b)
    if not both or len(model_a.classes_) != 2:
        return None
    # theorem: pointwise-threshold
    return np.abs(model_a.explain(X).response - model_b.explain(X).response)


def _kind(right: tuple[Mask, Mask] | None, row: int) -> str:
    if right is None:
        return "changes"
    before, after = ("right" if side[row] else "wrong" for side in right)
    return f"{before} to {after}"


def _features_of(X: Any, rows: NDArray[np.intp]) -> tuple[list[str], list[list[str]]]:
    """Return names and cells of the features of some rows; nothing where X has no columns."""
    if getattr(X, "shape", (0, 1))[1:] == (0,):
        return [], [[] for _ in rows]
    return cells(X, rows)
