"""Displays in scikit-learn's manner: keep the numbers, draw on request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from replearn.auditing._result import AuditResult
from replearn.guarantees._displays import axes_or_new

Lines = list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class _Display:
    """Lines of numbers that can be drawn and given back."""

    lines: Lines

    def frame(self) -> Any:
        """Return the numbers as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.lines)

    def _names(self) -> list[str]:
        return list(dict.fromkeys(line["contender"] for line in self.lines))

    def _of(self, name: str) -> Lines:
        return [line for line in self.lines if line["contender"] == name]


def _distances(lines: Lines, centre: str, low: str, high: str) -> Any:
    """Error bars as matplotlib takes them."""
    return np.array(
        [[line[centre] - line[low], line[high] - line[centre]] for line in lines]
    ).T.clip(min=0)


class AccuracyFlipsDisplay(_Display):
    """Accuracy against flip rate, one point per contender, with limits.

    Parameters
    ----------
    lines : list of dict
        The numbers; see ``frame()``.
    """

    @classmethod
    def from_result(cls, result: AuditResult) -> AccuracyFlipsDisplay:
        """Take the numbers from an audit."""
        found = result.to_dict()["contenders"]
        return cls(
            [
                {"contender": c["name"]}
                | {f"flip_{k}": c["flip_rate"][k] for k in ("estimate", "lower", "upper")}
                | {f"accuracy_{k}": c["accuracy"][k] for k in ("estimate", "lower", "upper")}
                for c in found
            ]
        )

    def plot(self, ax: Any = None) -> AccuracyFlipsDisplay:
        """Draw on ``ax``, or on a new figure."""
        ax = axes_or_new(ax)
        for line in self.lines:
            ax.errorbar(
                [line["flip_estimate"]],
                [line["accuracy_estimate"]],
                xerr=_distances([line], "flip_estimate", "flip_lower", "flip_upper"),
                yerr=_distances([line], "accuracy_estimate", "accuracy_lower", "accuracy_upper"),
                fmt="o",
                label=line["contender"],
            )
        ax.set(xlabel="flip rate", ylabel="accuracy")
        ax.set_xlim(left=0)
        ax.legend()
        return self


class RowFlipsDisplay(_Display):
    """Share of test rows that flip at least so often.

    Parameters
    ----------
    lines : list of dict
        The numbers; see ``frame()``.
    """

    @classmethod
    def from_result(cls, result: AuditResult) -> RowFlipsDisplay:
        """Take the numbers from an audit."""
        return cls(
            [
                {"contender": c.name, "row": int(row), "frequency": float(value)}
                for c in result.contenders
                for row, value in zip(result.test, c.frequency, strict=True)
            ]
        )

    def plot(self, ax: Any = None) -> RowFlipsDisplay:
        """Draw on ``ax``, or on a new figure."""
        ax = axes_or_new(ax)
        for name in self._names():
            values = np.sort([line["frequency"] for line in self._of(name)])
            share = 1 - np.arange(len(values)) / len(values)
            ax.step(values, share, where="pre", label=name)
        ax.set(xlabel="flip frequency of a row", ylabel="share of rows that flip at least so often")
        ax.set_yscale("log")
        ax.legend()
        return self


class GroupFlipsDisplay(_Display):
    """Flip rate by class and subgroup, with limits.

    Parameters
    ----------
    lines : list of dict
        The numbers; see ``frame()``.
    """

    @classmethod
    def from_result(cls, result: AuditResult) -> GroupFlipsDisplay:
        """Take the numbers from an audit."""
        lines = []
        for c in result.to_dict()["contenders"]:
            of_class = [{"subgroup": "class", **line} for line in c["by_class"]]
            lines += [{"contender": c["name"], **line} for line in of_class + c["by_subgroup"]]
        return cls(lines)

    def plot(self, ax: Any = None) -> GroupFlipsDisplay:
        """Draw on ``ax``, or on a new figure."""
        ax = axes_or_new(ax)
        names = self._names()
        for place, name in enumerate(names):
            lines = self._of(name)
            ax.errorbar(
                [line["estimate"] for line in lines],
                np.arange(len(lines)) + 0.2 * (place - (len(names) - 1) / 2),
                xerr=_distances(lines, "estimate", "lower", "upper"),
                fmt="o",
                label=name,
            )
        labels = [f"{line['subgroup']} = {line['level']}" for line in self._of(names[0])]
        ax.set_yticks(range(len(labels)), labels)
        ax.set(xlabel="flip rate")
        ax.set_xlim(left=0)
        ax.legend()
        return self


class FlipReliabilityDisplay(_Display):
    """Predicted against observed flip probability of the replicable contenders.

    Parameters
    ----------
    lines : list of dict
        The numbers; see ``frame()``.
    """

    @classmethod
    def from_result(cls, result: AuditResult) -> FlipReliabilityDisplay:
        """Take the numbers from an audit."""
        return cls(
            [
                {"contender": c["name"], **line}
                for c in result.to_dict()["contenders"]
                for line in c["reliability"] or []
            ]
        )

    def plot(self, ax: Any = None) -> FlipReliabilityDisplay:
        """Draw on ``ax``, or on a new figure."""
        ax = axes_or_new(ax)
        ax.plot([0, 0.6], [0, 0.6], linestyle=":", color="grey", label="as predicted")
        for name in self._names():
            lines = self._of(name)
            x = [line["predicted"] for line in lines]
            ax.plot(x, [line["observed"] for line in lines], marker="o", label=name)
        ax.set(xlabel="predicted flip probability", ylabel="observed share of flips")
        ax.legend()
        return self


class FlipsByBlocksDisplay(_Display):
    """Flip rate against the number of blocks T, beside what is promised.

    Parameters
    ----------
    lines : list of dict
        The numbers; see ``frame()``.
    """

    columns: ClassVar[tuple[str, ...]] = ("n_blocks", "n_partitions", "rho")

    @classmethod
    def from_result(cls, result: AuditResult) -> FlipsByBlocksDisplay:
        """Take the numbers of the contenders that have a certificate, by number of blocks."""
        found = [c for c in result.to_dict()["contenders"] if c["certificate"] is not None]
        lines = [
            {"contender": c["name"], **c["flip_rate"]}
            | {name: c["certificate"][name] for name in cls.columns}
            for c in found
        ]
        for line in lines:
            del line["strict"]
        return cls(sorted(lines, key=lambda line: line["n_blocks"]))

    def plot(self, ax: Any = None) -> FlipsByBlocksDisplay:
        """Draw on ``ax``, or on a new figure."""
        ax = axes_or_new(ax)
        blocks = [line["n_blocks"] for line in self.lines]
        ax.errorbar(
            blocks,
            [line["estimate"] for line in self.lines],
            yerr=_distances(self.lines, "estimate", "lower", "upper"),
            fmt="o-",
            label="measured",
        )
        ax.plot(blocks, [line["rho"] for line in self.lines], "s:", label="promised")
        ax.set(xlabel="number of blocks T", ylabel="flip rate")
        ax.set_ylim(bottom=0)
        ax.legend()
        return self
