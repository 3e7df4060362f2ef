"""What an audit found: frozen arrays, and everything else derived from them."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._columns import Subgroups
from replearn.auditing._contender_result import ContenderResult
from replearn.auditing._design import AuditDesign
from replearn.auditing._facts import DataFacts
from replearn.auditing._statistics import Estimate, mean_limits, row_limits
from replearn.records.files import write_atomically

if TYPE_CHECKING:
    from replearn.auditing._findings import Finding


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult:
    """The measurement of an audit; made by :func:`audit`.

    Parameters
    ----------
    design : AuditDesign
        How the file was cut.
    contenders : tuple of ContenderResult
        In order; the first is the one that others are compared with.
    classes : tuple
        The labels.
    test : ndarray of int
        Positions of the test rows in the file.
    clusters : ndarray of int or None
        Group of each test row.
    subgroups : dict
        Name to (levels, level of each test row).
    facts : DataFacts
        What the rows themselves say.
    shown_rows : ndarray of int
        The least stable test rows, as places among the test rows.
    columns : tuple of str
        Names of the features.
    cells : tuple of tuple of str
        The features of the shown rows, in words.
    delta : float
        Each pair of confidence limits fails with probability at most delta.
    rho : float
        The flip probability that was asked for.
    ignore : tuple of str
        Codes of findings that are not looked for.
    pairs_wanted : int
        Pairs asked for; fewer were run if the time budget ended the audit.
    wall_seconds : float
        How long the audit took in this process.
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
    delta: float
    rho: float
    ignore: tuple[str, ...]
    pairs_wanted: int
    wall_seconds: float

    def __getitem__(self, name: str) -> ContenderResult:
        for contender in self.contenders:
            if contender.name == name:
                return contender
        raise KeyError(f"no contender {name!r}; there are {[c.name for c in self.contenders]}")

    def flip_rate(self, name: str) -> Estimate:
        """Mean flip rate of a contender with limits over pairs and rows."""
        return mean_limits(self[name].flips, self.delta, self.clusters)

    def row_flips(self, name: str) -> dict[str, NDArray[Any]]:
        """Flip frequency of each test row of a contender, with limits for each row separately."""
        frequency, lower, upper = row_limits(self[name].flips, self.delta)
        return {"row": self.test, "frequency": frequency, "lower": lower, "upper": upper}

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What deserves a look, by code."""
        from replearn.auditing._findings import find

        return find(self)

    @cached_property
    def _summary(self) -> dict[str, Any]:
        from replearn.auditing._summary import summarize

        return summarize(self)

    def to_dict(self, *, timings: bool = True, values: bool = True) -> dict[str, Any]:
        """Return everything as JSON values; the schema is documented.

        Parameters
        ----------
        timings : bool, default=True
            Whether to tell seconds; without them two equal audits give equal bytes.
        values : bool, default=True
            Whether to tell the features of the least stable rows.

        Returns
        -------
        dict
            See the page on the schema.
        """
        from replearn.auditing._summary import without_timings, without_values

        told = self._summary if timings else without_timings(self._summary)
        return copy.deepcopy(told if values else without_values(told))

    def to_json(self, *, timings: bool = True, values: bool = True) -> str:
        """Return everything as JSON text; parameters as in `to_dict`."""
        from replearn.auditing._report import to_json

        return to_json(self.to_dict(timings=timings, values=values))

    def to_markdown(self) -> str:
        """Return a short report for a pull request or a wiki."""
        from replearn.auditing._report import to_markdown

        return to_markdown(self._summary)

    def to_html(self, *, values: bool = True) -> str:
        """Return the report as one self-contained HTML page (needs jinja2).

        Parameters
        ----------
        values : bool, default=True
            Whether the features of the least stable rows are shown. False: only their places in
            the file, for reports that leave the house.

        Returns
        -------
        str
            Opens from disk; nothing is loaded from a network.
        """
        from replearn.auditing._report import to_html

        return to_html(self._summary, values=values)

    def save(self, path: str | os.PathLike[str], *, values: bool = True) -> None:
        """Write the report; the ending .html, .json or .md says how.

        Parameters
        ----------
        path : path
            Where to.
        values : bool, default=True
            Whether the features of the least stable rows are told (Markdown never tells them).
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

        from replearn.auditing._summary import contender_lines

        return pd.DataFrame(contender_lines(self._summary))

    def __repr__(self) -> str:
        names = ", ".join(c.name for c in self.contenders)
        return f"AuditResult({names}; {self.design.n_pairs} pairs, {self.design.n_test} test rows)"

    def __str__(self) -> str:
        from replearn.auditing._report import to_text

        return to_text(self._summary)

    def _repr_html_(self) -> str:
        from replearn.auditing._report import to_notebook

        return to_notebook(self._summary)
