"""Displays in scikit-learn's manner: compute first, draw on request, give the numbers back.

matplotlib is imported when a figure is drawn, pandas when a table is requested.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from replearn.auditing._audit import AuditResult

Lines = list[dict[str, Any]]


class Display:
    """What all displays share: ``plot`` draws, ``frame`` returns the numbers.

    ``plot`` sets ``ax_`` and ``figure_``, as scikit-learn's displays do.
    """

    legend_location: ClassVar[str] = "best"
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


class AuditDisplay(Display):
    """A display of an audit: one line of numbers per point.

    Parameters
    ----------
    lines : list of dict
        The numbers; see ``frame()``.
    """

    def __init__(self, lines: Lines) -> None:
        self.lines = lines

    @classmethod
    def from_result(cls, result: AuditResult) -> Self:
        """Take the numbers from an audit."""
        return cls(cls._lines_of(result))

    @staticmethod
    def _lines_of(result: AuditResult) -> Lines:
        raise NotImplementedError

    def _columns(self) -> dict[str, Any]:
        names = self.lines[0] if self.lines else {}
        return {name: [line[name] for line in self.lines] for name in names}

    def _names(self) -> list[str]:
        return list(dict.fromkeys(line["contender"] for line in self.lines))

    def _of(self, name: str) -> Lines:
        return [line for line in self.lines if line["contender"] == name]


def _error_bars(lines: Lines, prefix: str = "") -> Any:
    """Error bars as matplotlib takes them."""
    values = [[line[prefix + k] for line in lines] for k in ("lower", "estimate", "upper")]
    return np.diff(values, axis=0).clip(min=0)


def _limits(values: dict[str, Any], prefix: str = "") -> dict[str, float]:
    return {prefix + k: values[k] for k in ("estimate", "lower", "upper")}


class AccuracyFlipsDisplay(AuditDisplay):
    """Accuracy against flip rate, one point per contender, with limits."""

    @staticmethod
    def _lines_of(result: AuditResult) -> Lines:
        return [
            {"contender": c["name"]}
            | _limits(c["flip_rate"], "flip_")
            | _limits(c["accuracy"], "accuracy_")
            for c in result.to_dict()["contenders"]
        ]

    def _draw(self, ax: Any) -> None:
        for line in self.lines:
            ax.errorbar(
                [line["flip_estimate"]],
                [line["accuracy_estimate"]],
                xerr=_error_bars([line], "flip_"),
                yerr=_error_bars([line], "accuracy_"),
                fmt="o",
                label=line["contender"],
            )
        ax.set(xlabel="flip rate", ylabel="accuracy")
        ax.set_xlim(left=0)


class RowFlipsDisplay(AuditDisplay):
    """Share of test rows with at least a given flip frequency."""

    @staticmethod
    def _lines_of(result: AuditResult) -> Lines:
        return [
            {"contender": c.name, "row": int(row), "frequency": float(value)}
            for c in result.contenders
            for row, value in zip(result.test, c.frequency, strict=True)
        ]

    def _draw(self, ax: Any) -> None:
        for name in self._names():
            values = np.sort([line["frequency"] for line in self._of(name)])
            share = 1 - np.arange(len(values)) / len(values)
            ax.step(values, share, where="pre", label=name)
        ax.set(xlabel="flip frequency of a row", ylabel="share of rows at or above")
        ax.set_yscale("log")


class GroupFlipsDisplay(AuditDisplay):
    """Flip rate by class and subgroup, with limits."""

    @staticmethod
    def _lines_of(result: AuditResult) -> Lines:
        lines = []
        for c in result.to_dict()["contenders"]:
            of_class = [{"subgroup": "class", **line} for line in c["by_class"]]
            lines += [{"contender": c["name"], **line} for line in of_class + c["by_subgroup"]]
        return lines

    def _draw(self, ax: Any) -> None:
        names = self._names()
        for index, name in enumerate(names):
            lines = self._of(name)
            ax.errorbar(
                [line["estimate"] for line in lines],
                np.arange(len(lines)) + 0.2 * (index - (len(names) - 1) / 2),
                xerr=_error_bars(lines),
                fmt="o",
                label=name,
            )
        labels = [f"{line['subgroup']} = {line['level']}" for line in self._of(names[0])]
        ax.set_yticks(range(len(labels)), labels)
        ax.set(xlabel="flip rate")
        ax.set_xlim(left=0)


class FlipReliabilityDisplay(AuditDisplay):
    """Predicted against observed flip probability of the replicable contenders."""

    @staticmethod
    def _lines_of(result: AuditResult) -> Lines:
        return [
            {"contender": c["name"], **line}
            for c in result.to_dict()["contenders"]
            for line in c["reliability"] or []
        ]

    def _draw(self, ax: Any) -> None:
        ax.plot([0, 0.6], [0, 0.6], linestyle=":", color="grey", label="as predicted")
        for name in self._names():
            lines = self._of(name)
            x = [line["predicted"] for line in lines]
            ax.plot(x, [line["observed"] for line in lines], marker="o", label=name)
        ax.set(xlabel="predicted flip probability", ylabel="observed share of flips")


class FlipsByBlocksDisplay(AuditDisplay):
    """Measured flip rate and certified rho against the number of blocks."""

    @staticmethod
    def _lines_of(result: AuditResult) -> Lines:
        lines = [
            {"contender": c["name"]}
            | _limits(c["flip_rate"])
            | {name: c["certificate"][name] for name in ("n_blocks", "n_partitions", "rho")}
            for c in result.to_dict()["contenders"]
            if c["certificate"] is not None
        ]
        return sorted(lines, key=lambda line: line["n_blocks"])

    def _draw(self, ax: Any) -> None:
        blocks = [line["n_blocks"] for line in self.lines]
        ax.errorbar(
            blocks,
            [line["estimate"] for line in self.lines],
            yerr=_error_bars(self.lines),
            fmt="o-",
            label="measured",
        )
        ax.plot(blocks, [line["rho"] for line in self.lines], "s:", label="certified")
        ax.set(xlabel="number of blocks", ylabel="flip rate")
        ax.set_ylim(bottom=0)
