"""The result of an audit: numbers, findings, and the reports of both."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from replearn.auditing import _records, _report
from replearn.auditing._checks import CHECKS, Finding
from replearn.auditing._measurement import Measurement
from replearn.records import check_choice, check_fraction, pretty_json
from replearn.tables import import_pandas

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
