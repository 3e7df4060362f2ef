"""What an audit measured: all contenders, and the numbers that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._columns import DataFacts, Subgroups
from replearn.auditing._contender_results import ContenderResult
from replearn.auditing._design import AuditDesign
from replearn.auditing._explanation import ExplanationRuns
from replearn.auditing._judgement import MAX_PRICE, Judgement, judge
from replearn.auditing._sources import SourceResult
from replearn.auditing._statistics import DELTA, Estimate, mean_limits, row_limits
from replearn.auditing._time import TimeResult

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NewRowsResult:
    """Which predictions change when this many of the training rows are new.

    Parameters
    ----------
    share : float
        Share of new rows.
    flips : dict of str to ndarray of shape (pairs, rows)
        Of each contender.
    """

    share: float
    flips: Mapping[str, Floats]


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
    explanation : ExplanationRuns, default=None
        Importances and coefficients of the baseline.
    not_measured : tuple of str, default=()
        Contenders that were left out for lack of time.
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
    explanation: ExplanationRuns | None = None
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
