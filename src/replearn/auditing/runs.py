"""From the runs of pairs to one table of measured numbers, which everything else reads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing.design import ANY_PERIOD, NEXT_PERIOD, AuditDesign
from replearn.auditing.groups import Groups, members
from replearn.auditing.limits import (
    ANY,
    SHARES,
    SIGNED,
    Estimate,
    Floats,
    Mask,
    difference_limits,
    limits,
    mean_limits,
    quantile_limits,
)
from replearn.auditing.metrics import Measure, Predictions
from replearn.bounds.flips import halves_supremum
from replearn.guarantees.certificate import Certificate
from replearn.tables.rows import import_pandas

ALL = "all"
FLIPS = "flips"
ONE_IN_100 = "flips, 1 row in 100"
WORST_ROW = "flips, worst row"
DIFFERENCE = "difference of "


@dataclass(frozen=True)
class Measured(Estimate):
    """One measured number: the only record of audits, comparisons, gates and reports.

    Parameters
    ----------
    value, lower, upper : float
        The estimate, and its limits.
    contender : str
        Whose number it is; of a comparison "old" or "new".
    what : str
        What was measured: "flips", "accuracy", "recall of yes", "difference of accuracy" (to the
        baseline, or to the old model) and so on.
    variant : str, default=""
        What differs between the two runs of a pair, if not what the report is about.
    group : str, default="all"
        The rows: "all", or a column and its value.
    rows : int, default=0
        Their number.
    """

    contender: str
    what: str
    variant: str = ""
    group: str = ALL
    rows: int = 0

    def __str__(self) -> str:
        return self.percent(2)


class MeasuredTable(tuple[Measured, ...]):
    """Measured numbers, in order."""

    __slots__ = ()

    def get(
        self, what: str, contender: str | None = None, group: str = ALL, variant: str = ""
    ) -> Measured | None:
        """Return one number; None if it was not measured. Without a contender, the first one's."""
        found = self.select(what=what, contender=contender, group=group, variant=variant)
        return found[0] if found else None

    def select(self, **wanted: str | None) -> MeasuredTable:
        """Return the numbers whose fields are as wanted; None is any.

        >>> table = MeasuredTable([Measured(0.1, 0.0, 0.2, "baseline", "flips")])
        >>> len(table.select(what="flips")), len(table.select(what="accuracy"))
        (1, 0)
        """
        asked = {name: value for name, value in wanted.items() if value is not None}
        return MeasuredTable(
            row for row in self if all(getattr(row, name) == asked[name] for name in asked)
        )

    def names(self, name: str) -> list[str]:
        """Return the different values of a field, in order."""
        return list(dict.fromkeys(getattr(row, name) for row in self))

    def groups(self, what: str = FLIPS) -> MeasuredTable:
        """Return the numbers of single groups."""
        return MeasuredTable(row for row in self.select(what=what) if row.group != ALL)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one flat record per number, as JSON values."""
        return [
            {n: None if isinstance(v, float) and not math.isfinite(v) else v for n, v in row}
            for row in (asdict(measured).items() for measured in self)
        ]

    def frame(self) -> Any:
        """Return a pandas DataFrame with one line per number."""
        return import_pandas().DataFrame(self.to_dicts())


@dataclass(frozen=True, eq=False)
class Runs:
    """The pairs of one contender, all with the same variant of the second run.

    Parameters
    ----------
    name : str
        The contender.
    predictions : Labels or Quantities
        What both runs of each pair predict for the test rows; a comparison has one pair.
    clusters : ndarray of int, or None
        Group of each test row; rows of one group are not independent.
    variant : str
        What differs between the two runs, if not what the report is about.
    one_pair : bool
        Whether the pairs are not a sample: their mean is one pair, and limits are over rows alone.
    pair_variance : float
        Least variance of a mean over pairs.
    """

    name: str
    predictions: Predictions
    clusters: NDArray[np.intp] | None = None
    variant: str = ""
    one_pair: bool = False
    pair_variance: float = 0.0

    @property
    def flips(self) -> Floats:
        """Chance that the prediction of a row changes, shape (pairs, rows)."""
        return self.predictions.flips

    def estimate(self, measure: Measure, delta: float) -> Estimate:
        """Mean of a measure with its limits."""
        table = self._pairs(measure.table)
        where = measure.rows
        if not self.pair_variance:
            return limits(table, delta, self.clusters, rows=where, within=measure.within)
        return mean_limits(
            table,
            delta,
            self.clusters,
            rows=where,
            within=measure.within,
            pair_variance=self.pair_variance,
        )

    def _pairs(self, table: Floats) -> Floats:
        return table.mean(axis=0, keepdims=True) if self.one_pair else table

    def changes(
        self, delta: float, groups: Groups, by_group: tuple[str, ...] = (FLIPS,)
    ) -> Iterator[Measured]:
        """Yield how often predictions change: over all rows, by group, for single rows."""
        measures = [Measure(FLIPS, self.flips), *self.predictions.changes()]
        for measure in measures:
            yield self.measured(measure, delta)
        for column, value, here in members(groups):
            for measure in measures:
                if measure.name in by_group:
                    some = Measure(measure.name, measure.table, measure.within, here)
                    yield self.measured(some, delta, f"{column} = {value}")
        if len(self.flips) > 1 and not self.one_pair:
            for name, q in ((ONE_IN_100, 0.99), (WORST_ROW, 1.0)):
                yield self._of(name, quantile_limits(self.flips, q, delta))

    def scores(self, delta: float) -> Iterator[Measured]:
        """Yield how useful the predictions are."""
        for measure in self.predictions.scores():
            yield self.measured(measure, delta)

    def differences(self, other: Runs, delta: float) -> Iterator[Measured]:
        """Yield the scores, and the flips of several pairs, minus those of another contender."""
        theirs = {measure.name: measure for measure in other.predictions.scores()}
        mine = [measure for measure in self.predictions.scores() if measure.name in theirs]
        if not self.one_pair:
            theirs[FLIPS] = Measure(FLIPS, other.flips, SHARES)
            mine = [Measure(FLIPS, self.flips, SHARES), *mine]
        for measure in mine:
            table = measure.table - theirs[measure.name].table
            yield self.measured_difference(measure._replace(table=table), delta, DIFFERENCE)

    def measured(self, measure: Measure, delta: float, group: str = ALL) -> Measured:
        """Return the mean of a measure with its limits, as a record."""
        return self._of(measure.name, self.estimate(measure, delta), group, measure.rows)

    def measured_difference(self, measure: Measure, delta: float, prefix: str = "") -> Measured:
        """Return the mean of a table of differences with its limits, as a record."""
        table = self._pairs(measure.table)
        if measure.within is None:
            found = difference_limits(table, delta, self.clusters, rows=measure.rows)
        else:
            within = SIGNED if measure.within == SHARES else ANY
            found = mean_limits(
                table,
                delta,
                self.clusters,
                rows=measure.rows,
                within=within,
                pair_variance=self.pair_variance,
            )
        return self._of(f"{prefix}{measure.name}", found, ALL, measure.rows)

    def _of(
        self, what: str, found: Estimate, group: str = ALL, rows: Mask | None = None
    ) -> Measured:
        n_rows = self.predictions.n_rows if rows is None else int(rows.sum())
        numbers = float(found.value), float(found.lower), float(found.upper)
        return Measured(*numbers, self.name, what, self.variant, group, n_rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class ContenderResult:
    """What an audit knows of one contender besides the numbers of its table.

    Parameters
    ----------
    name, description, kind, needs : str
        Its name, the estimator in words, the classes of the estimator and the steps before it, and
        what it requires besides the data: nothing, the old model, or a shared key.
    runs : dict of str to Runs
        Its pairs, by what differs between the two runs; "" is what the report is about.
    seconds : ndarray of shape (pairs, runs)
        Processor seconds of one fit and prediction.
    certificate : Certificate or None
        Of the first run.
    promises : tuple of str
        Sentences of a certificate of another task.
    promised_as : str
        Verdict of that certificate: "certified", "estimated" or "not certified".
    incomparable : tuple of str
        Why the runs of some pair are not comparable; empty if all are.
    in_front : tuple of str
        Transformers in front of a replicable estimator that learn from data.
    default_key : bool
        Whether a replicable estimator has the default key.
    remark : str
        What a reader of the report should know.
    measured_as : str
        What the audited estimator is, if it is not the one that ``fit`` would train.
    is_setting : bool
        Whether it is a setting of a grid, from which the best is chosen.
    decision_threshold : float or None
        Mean decision threshold of the runs, if they have one.
    notes : tuple of (str, int)
        Warnings, and in how many pairs they were raised.
    """

    name: str
    description: str
    kind: str
    needs: str
    runs: Mapping[str, Runs]
    seconds: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    certificate: Certificate | None = None
    promises: tuple[str, ...] = ()
    promised_as: str = ""
    incomparable: tuple[str, ...] = ()
    in_front: tuple[str, ...] = ()
    default_key: bool = False
    remark: str = ""
    measured_as: str = ""
    is_setting: bool = False
    decision_threshold: float | None = None
    notes: tuple[tuple[str, int], ...] = ()

    @property
    def predictions(self) -> Predictions:
        """What both runs of each pair predict."""
        return self.runs[""].predictions

    @property
    def flips(self) -> Floats:
        """Chance that the prediction of a row changes, shape (pairs, rows)."""
        return self.runs[""].flips

    @property
    def truth(self) -> NDArray[Any]:
        """True labels of the test rows, as indices in the list of classes, or numbers."""
        truth = self.predictions.truth
        assert truth is not None, "an audit knows the truth"
        return truth

    def promise(self, design: AuditDesign) -> float | None:
        """Largest flip probability of a row that the certificate allows for such pairs.

        Two random halves of one file are not independent: their limit is a little larger than rho
        (theorem: halves-of-one-file).
        """
        certificate = self.certificate
        vote = None if certificate is None else certificate.design
        if certificate is None or vote is None or certificate.task != "pointwise":
            return None
        if vote.runs != 2:
            return None
        if design.sample == "bootstrap" or design.independent_pairs:
            return certificate.rho
        if vote.law is None:
            return None  # halves of one file: no limit is known
        return max(certificate.rho or 0.0, halves_supremum(vote.law, vote.vote))


def audit_table(
    contenders: Iterable[ContenderResult], deltas: Mapping[str, float], groups: Groups
) -> MeasuredTable:
    """Measure every contender of an audit; differences are to the first one."""
    contenders = list(contenders)
    first = contenders[0].runs[""]
    rows: list[Measured] = []
    for contender in contenders:
        delta = deltas[contender.name]
        runs = contender.runs[""]
        rows += [*runs.changes(delta, groups), *runs.scores(delta)]
        rows += [] if runs is first else runs.differences(first, delta)
        for variant, others in contender.runs.items():
            rows += others.changes(delta, {}) if variant else []
        if NEXT_PERIOD in contender.runs:
            rows.append(_drift(contender.runs[NEXT_PERIOD], contender.runs[ANY_PERIOD], delta))
    return MeasuredTable(rows)


def _drift(later: Runs, shuffled: Runs, delta: float) -> Measured:
    """Flips from one window in time to the next, minus those with as many new rows at random.

    Windows overlap, and are no sample: without drift their mean varies at most as a single random
    pair does, beside the mean of the random pairs.
    """
    table = later.flips.mean(axis=0) - shuffled.flips
    spread = later.pair_variance * (1 + 1 / len(table))
    runs = replace(later, pair_variance=spread)
    return runs.measured_difference(Measure(FLIPS, table, SHARES), delta, DIFFERENCE)
