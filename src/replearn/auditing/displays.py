"""Displays in scikit-learn's manner: compute first, draw on request, give the numbers back.

matplotlib is imported when a figure is drawn, pandas when a table is requested.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from replearn.auditing.audits import AuditResult
from replearn.auditing.runs import Measured


class Display:
    """What all displays share: ``plot`` draws, ``frame`` returns the numbers.

    ``plot`` sets ``ax_`` and ``figure_``, as scikit-learn's displays do.
    """

    legend_location = "best"
    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = _new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        self.ax_.legend(loc=self.legend_location)
        return self

    def frame(self) -> Any:
        """Return the numbers as a pandas DataFrame; as a dict of arrays where pandas is missing."""
        columns = {name: np.asarray(values) for name, values in self._columns().items()}
        try:
            import pandas
        except ImportError:
            return columns
        return pandas.DataFrame(columns)

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError

    def _columns(self) -> dict[str, Any]:
        raise NotImplementedError


def _new_axes() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "plot() needs matplotlib: pip install 'replicable-learn[plot]'; "
            "frame() gives the numbers without it"
        ) from error
    return pyplot.subplots()[1]


@dataclass(eq=False)
class AccuracyFlipsDisplay(Display):
    """Accuracy against changed predictions, one point per contender, with limits.

    Parameters
    ----------
    flips, scores : list of Measured
        Share of changed predictions and leading score of each contender.
    """

    flips: list[Measured]
    scores: list[Measured]

    @classmethod
    def from_result(cls, result: AuditResult) -> Self:
        """Take the numbers from an audit."""
        lead = result.judgement.leading
        wanted = {"group": "all", "variant": ""}
        return cls(
            list(result.table.select(what="flips", **wanted)),
            list(result.table.select(what=lead, **wanted)),
        )

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {"contender": [row.contender for row in self.flips]}
        for prefix, rows in (("flip", self.flips), ("score", self.scores)):
            for limit in ("value", "lower", "upper"):
                columns[f"{prefix}_{limit}"] = [getattr(row, limit) for row in rows]
        return columns

    def _draw(self, ax: Any) -> None:
        for flips, score in zip(self.flips, self.scores, strict=True):
            bars = {"xerr": _error_bars(flips), "yerr": _error_bars(score)}
            ax.errorbar([flips.value], [score.value], **bars, fmt="o", label=flips.contender)
        ax.set(xlabel="changed predictions", ylabel=self.scores[0].what)
        ax.set_xlim(left=0)


def _error_bars(estimate: Measured) -> Any:
    """Error bars as matplotlib takes them."""
    values = [[estimate.lower], [estimate.value], [estimate.upper]]
    return np.diff(values, axis=0).clip(min=0)


@dataclass(eq=False)
class RowFlipsDisplay(Display):
    """Share of test rows whose prediction changes at least as often as a given frequency.

    Parameters
    ----------
    frequencies : dict of str to ndarray
        How often the prediction of each test row changes, for each contender.
    rows : ndarray of int
        Positions of the test rows in the file.
    """

    frequencies: dict[str, Any]
    rows: Any

    @classmethod
    def from_result(cls, result: AuditResult) -> Self:
        """Take the numbers from an audit."""
        return cls({c.name: c.flips.mean(axis=0) for c in result.contenders}, result.test)

    def _columns(self) -> dict[str, Any]:
        names = list(self.frequencies)
        return {
            "contender": np.repeat(names, len(self.rows)),
            "row": np.tile(self.rows, len(names)),
            "frequency": np.concatenate(list(self.frequencies.values())),
        }

    def _draw(self, ax: Any) -> None:
        for name, frequency in self.frequencies.items():
            share = 1 - np.arange(len(frequency)) / len(frequency)
            ax.step(np.sort(frequency), share, where="pre", label=name)
        ax.set(xlabel="how often a row changes", ylabel="share of rows at or above")
        ax.set_yscale("log")
