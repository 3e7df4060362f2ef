"""Displays in scikit-learn's manner: compute first, draw on request, give the numbers back.

matplotlib is imported when a figure is drawn, pandas when a table is requested.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from replearn.auditing._audit import AuditResult
from replearn.auditing._statistics import Estimate, as_json

LIMITS = ("estimate", "lower", "upper")


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
    names : list of str
        The contenders.
    flips, accuracy : list of Estimate
        Share of changed predictions and accuracy of each.
    score : str, default="accuracy"
        What leads the report instead of accuracy: "AUC", "weighted accuracy" or "R²".
    """

    names: list[str]
    flips: list[Estimate]
    accuracy: list[Estimate]
    score: str = "accuracy"

    @classmethod
    def from_result(cls, result: AuditResult) -> Self:
        """Take the numbers from an audit."""
        judged = result.judgement.contenders
        return cls(
            [c.name for c in judged],
            [c.changed for c in judged],
            [c.scores[0].value for c in judged],
            judged[0].scores[0].name,
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "contender": self.names,
            **{f"flip_{k}": [e[k] for e in map(as_json, self.flips)] for k in LIMITS},
            **{f"accuracy_{k}": [e[k] for e in map(as_json, self.accuracy)] for k in LIMITS},
        }

    def _draw(self, ax: Any) -> None:
        for name, flips, accuracy in zip(self.names, self.flips, self.accuracy, strict=True):
            x = [flips.value]
            y = [accuracy.value]
            bars = {"xerr": _error_bars(flips), "yerr": _error_bars(accuracy)}
            ax.errorbar(x, y, **bars, fmt="o", label=name)
        ax.set(xlabel="changed predictions", ylabel=self.score)
        ax.set_xlim(left=0)


def _error_bars(estimate: Estimate) -> Any:
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
        return cls({c.name: c.frequency for c in result.contenders}, result.test)

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


@dataclass(eq=False)
class NewRowsDisplay(Display):
    """Share of predictions that change, against the share of training rows that are new.

    Parameters
    ----------
    shares : list of float
        Shares of new rows.
    changed : dict of str to list of Estimate
        Share of changed predictions of each contender, for each share of new rows. Limits of
        different shares are not independent: pairs of different shares have their first sample in
        common.
    """

    shares: list[float]
    changed: dict[str, list[Estimate]]

    @classmethod
    def from_result(cls, result: AuditResult) -> Self:
        """Take the numbers from an audit with several shares of new rows.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from replearn.auditing import NewRowsDisplay, audit
        >>> X, y = make_classification(1200, flip_y=0.2, random_state=0)
        >>> tree = {"tree": DecisionTreeClassifier(max_depth=3)}
        >>> result = audit(tree, X, y, new_rows=[0.1, 1.0], n_pairs=2, verbose=-1)
        >>> few, all_new = NewRowsDisplay.from_result(result).changed["tree"]
        >>> few.value < all_new.value
        True
        """
        found = result.report.new_rows
        if not found:
            raise ValueError("the audit has one share of new rows: pass several as new_rows=.")
        names = [contender.name for contender in result.contenders]
        changed = {name: [item.changed[name] for item in found] for name in names}
        return cls([item.share for item in found], changed)

    def _columns(self) -> dict[str, Any]:
        estimates = [estimate for line in self.changed.values() for estimate in line]
        return {
            "contender": np.repeat(list(self.changed), len(self.shares)),
            "new_rows": np.tile(self.shares, len(self.changed)),
            **{f"flip_{k}": [e[k] for e in map(as_json, estimates)] for k in LIMITS},
        }

    def _draw(self, ax: Any) -> None:
        for name, estimates in self.changed.items():
            values = [estimate.value for estimate in estimates]
            bars = np.hstack([_error_bars(estimate) for estimate in estimates])
            ax.errorbar(self.shares, values, yerr=bars, fmt="o-", label=name)
        ax.set(xlabel="share of new rows", ylabel="changed predictions", xscale="log")
        ax.set_ylim(bottom=0)
