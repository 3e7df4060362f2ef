"""What an audit of regression has measured: flips of rounded values, spread, reports."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.auditing._design import AuditDesign
from replearn.auditing._report import markdown_table, markdown_text, save_report
from replearn.auditing._statistics import Estimate, as_json, mean_limits, percent
from replearn.records.json import pretty_json
from replearn.records.text import aligned, html_table, html_text
from replearn.tables.rows import import_pandas

Floats = NDArray[np.float64]
_HEAD = ("", "flips", "spread", "estimated", "certified", "RMSE")


@dataclass(frozen=True, eq=False)
class RegressorResult:
    """All pairs of one regressor.

    Parameters
    ----------
    name : str
        How the report calls it.
    flips : ndarray of shape (pairs, rows)
        Chance that the rounded values differ, offsets of shared grids integrated out; for a
        regressor without a grid of its own, whether they differ on multiples of the resolution.
    apart : ndarray of shape (pairs, rows)
        Distance of the two values before rounding, in units of y.
    squared_errors : ndarray of shape (pairs, 2, rows)
        Of the rounded values.
    estimated : float or None
        What the runs themselves estimate of the flips, from the spread of their blocks.
    certified : float or None
        What the certificate promises for one point.
    verdict : str
        Of the certificate; empty without one.
    """

    name: str
    flips: Floats
    apart: Floats
    squared_errors: Floats
    estimated: float | None
    certified: float | None
    verdict: str


@dataclass(frozen=True, eq=False, repr=False)
class RegressionAudit:
    """What an audit of regression has measured.

    Parameters
    ----------
    design : AuditDesign
        How the file was split.
    resolution : float
        Spacing of the grid, in units of y.
    regressors : tuple of RegressorResult
        In order; the first is the baseline.
    test : ndarray of int
        Positions of the test rows in the file.
    delta : float
        Each pair of limits fails with probability at most delta.
    """

    design: AuditDesign
    resolution: float
    regressors: tuple[RegressorResult, ...]
    test: NDArray[np.intp]
    delta: float = 0.05

    def __getitem__(self, name: str) -> RegressorResult:
        found = {one.name: one for one in self.regressors}
        if name not in found:
            raise KeyError(f"no regressor {name!r}; there are {list(found)}")
        return found[name]

    def flip_rate(self, name: str) -> Estimate:
        """Share of rounded predictions that differ, with limits over pairs and rows."""
        return mean_limits(self[name].flips, self.delta)

    def spread(self, name: str) -> Estimate:
        """Mean distance of two predictions of one row before rounding, with limits."""
        return mean_limits(self[name].apart, self.delta, within=(0.0, np.inf))

    def rmse(self, name: str) -> float:
        """Root mean squared error of the rounded predictions."""
        return float(np.sqrt(self[name].squared_errors.mean()))

    @property
    def headline(self) -> str:
        """Whether a replicable regressor flips less than the baseline here, in a sentence."""
        base = self.regressors[0]
        if len(self.regressors) == 1:
            return f"{base.name} changes {self.flip_rate(base.name)} of its rounded values."
        best = min(self.regressors[1:], key=lambda one: float(one.flips.mean()))
        gain = mean_limits(base.flips - best.flips, self.delta, within=(-1.0, 1.0))
        counts = f"{percent(best.flips.mean())} against {percent(base.flips.mean())}"
        price = f"RMSE {self.rmse(best.name):.4g} against {self.rmse(base.name):.4g}"
        if gain.lower > 0.0:
            return f"Fewer flips: {best.name} {counts}; {price}."
        if gain.upper < 0.0:
            return f"More flips, nothing gained: {best.name} {counts}; {price}."
        return f"No difference beyond chance: {best.name} {counts}; {price}."

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON data."""
        return {
            "task": "regression",
            "headline": self.headline,
            "resolution": self.resolution,
            "n_pairs": self.design.n_pairs,
            "n_test": self.design.n_test,
            "train_size": self.design.train_size,
            "limits_hold_for": self.design.limits_hold_for,
            "regressors": [
                {
                    "name": one.name,
                    "flips": as_json(self.flip_rate(one.name)),
                    "spread": as_json(self.spread(one.name)),
                    "rmse": self.rmse(one.name),
                    "estimated": one.estimated,
                    "certified": one.certified,
                    "verdict": one.verdict,
                }
                for one in self.regressors
            ],
        }

    def frame(self) -> Any:
        """Return a pandas DataFrame with one line per regressor."""
        return import_pandas().json_normalize(self.to_dict()["regressors"])

    def to_markdown(self) -> str:
        """Return the report as Markdown."""
        table = markdown_table(self._lines(), "|---|" + "---:|" * (len(_HEAD) - 1))
        return (
            f"# Audit of regression\n\n**{markdown_text(self.headline)}**\n\n"
            f"{markdown_text(self._about())}\n\n{table}\n"
        )

    def to_html(self) -> str:
        """Return the report as one HTML page."""
        return (
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Audit of regression'
            "</title><style>body{font:16px sans-serif;max-width:50em;margin:2em auto}"
            "td,th{padding:.2em .8em;text-align:right}caption{text-align:left}</style>"
            f"<body>{self._repr_html_()}</body></html>"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report; the ending .html, .json or .md says how."""
        save_report(
            path,
            html=self.to_html,
            json=lambda: pretty_json(self.to_dict()),
            md=self.to_markdown,
        )

    def _about(self) -> str:
        return (
            f"{self.design.n_pairs} pairs of {self.design.train_size} rows, {self.design.n_test} "
            f"test rows, rounded to {self.resolution:g}; limits for "
            f"{self.design.limits_hold_for}. A flip is another rounded value; spread is the mean "
            f"distance of two predictions before rounding."
        )

    def _lines(self) -> list[tuple[str, ...]]:
        return [
            _HEAD,
            *(
                (
                    one.name,
                    str(self.flip_rate(one.name)),
                    f"{self.spread(one.name):.4g}",
                    percent(one.estimated),
                    "" if one.certified is None else f"{one.certified:.3f} ({one.verdict})",
                    f"{self.rmse(one.name):.4g}",
                )
                for one in self.regressors
            ),
        ]

    def __str__(self) -> str:
        return f"{self.headline}\n\n{self._about()}\n\n{aligned(self._lines())}"

    def to_text(self, *, details: bool = False) -> str:
        """Return the report for a terminal."""
        return str(self)

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.regressors)
        return f"RegressionAudit({names}; {self.design.n_pairs} pairs)"

    def _repr_html_(self) -> str:
        table = html_table(self._about(), self._lines(), header=True)
        return f"<p><strong>{html_text(self.headline)}</strong></p>{table}"
