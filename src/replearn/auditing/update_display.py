"""What changes when a model is replaced, as one display."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from replearn.auditing._statistics import Estimate
from replearn.auditing.comparison import ModelComparison
from replearn.auditing.displays import Display
from replearn.records import check_choice

UPDATE_KINDS = ("groups", "migration", "scores", "calibration")


class UpdateDisplay(Display):
    """One picture of a comparison of two models.

    Parameters
    ----------
    comparison : ModelComparison
        The result of `compare`.
    kind : {"groups", "migration", "scores", "calibration"}
        - "groups": share of predictions that change, over all rows and by subgroup, with limits.
        - "migration": rows by the band of their old and of their new score.
        - "scores": new score against the old one; rows that change are marked.
        - "calibration": observed share of the positive label by estimated probability, for both.

        All but "groups" require scores, "calibration" also the truth.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.auditing import UpdateDisplay, compare
    >>> found = compare(np.zeros(40), np.arange(40) < 4, subgroups={"half": np.arange(40) < 20})
    >>> np.asarray(UpdateDisplay.from_comparison(found).frame()["estimate"]).tolist()
    [0.1, 0.2, 0.0]
    """

    def __init__(self, comparison: ModelComparison, *, kind: str = "groups") -> None:
        self.comparison = comparison
        self.kind = check_choice("kind", kind, UPDATE_KINDS)
        scores = comparison.scores
        if kind != "groups" and scores is None:
            raise ValueError(f"kind={kind!r} requires scores of two classes.")
        if kind == "calibration" and scores is not None and scores.calibration is None:
            raise ValueError("kind='calibration' requires true labels.")

    @classmethod
    def from_comparison(cls, comparison: ModelComparison, *, kind: str = "groups") -> Self:
        """Take the numbers from a comparison."""
        return cls(comparison, kind=kind)

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = getattr(self, f"_{self.kind}_columns")()
        return columns

    def _draw(self, ax: Any) -> None:
        getattr(self, f"_draw_{self.kind}")(ax)

    # -- numbers -----------------------------------------------------------------------------------
    def _lines(self) -> list[tuple[str, Estimate]]:
        found = self.comparison
        return [("all rows", found.flips), *((g.name, g) for g in found.worst_subgroups())]

    def _groups_columns(self) -> dict[str, Any]:
        lines = self._lines()
        return {
            "group": [name for name, _ in lines],
            "estimate": [share.value for _, share in lines],
            "lower": [share.lower for _, share in lines],
            "upper": [share.upper for _, share in lines],
        }

    def _migration_columns(self) -> dict[str, Any]:
        counts = self._migration_counts()
        n_bands = len(counts)
        return {
            "old_band": np.repeat(np.arange(n_bands), n_bands),
            "new_band": np.tile(np.arange(n_bands), n_bands),
            "rows": counts.ravel(),
        }

    def _migration_counts(self) -> Any:
        scores = self.comparison.scores
        assert scores is not None, "__init__ has checked"
        return np.array(scores.migration.counts)

    def _scores_columns(self) -> dict[str, Any]:
        compared = self.comparison.compared
        assert compared.scores is not None, "__init__ has checked"
        old, new = compared.scores
        return {"score_a": old, "score_b": new, "changed": compared.changed}

    def _calibration_columns(self) -> dict[str, Any]:
        bins = [(model, part) for model, parts in self._calibration() for part in parts]
        return {
            "model": [model for model, _ in bins],
            "rows": [part.count for _, part in bins],
            "predicted": [part.predicted for _, part in bins],
            "observed": [part.observed for _, part in bins],
        }

    def _calibration(self) -> list[tuple[str, Any]]:
        scores = self.comparison.scores
        assert scores is not None, "__init__ has checked"
        assert scores.calibration is not None, "__init__ has checked"
        return [("old", scores.calibration.a), ("new", scores.calibration.b)]

    # -- drawings ----------------------------------------------------------------------------------
    def _draw_groups(self, ax: Any) -> None:
        lines = self._lines()
        values = np.array([[s.value, s.lower, s.upper] for _, s in lines])
        heights = np.arange(len(lines))[::-1]
        reach = np.abs(values[:, 1:] - values[:, :1]).T
        level = f"{100 - 100 * self.comparison.delta:g} % limits"
        ax.errorbar(values[:, 0], heights, xerr=reach, fmt="o", label=level)
        ax.set_yticks(heights, [name for name, _ in lines])
        ax.set(xlabel="share of predictions that change")
        ax.set_xlim(left=0)

    def _draw_migration(self, ax: Any) -> None:
        counts = self._migration_counts()
        ax.imshow(np.log1p(counts), cmap="Blues", origin="lower")
        for line, column in zip(*np.nonzero(counts), strict=True):
            ax.text(column, line, counts[line, column], ha="center", va="center", fontsize=7)
        ends = [-0.5, len(counts) - 0.5]
        ax.plot(ends, ends, ":", color="0.4", label="same band")
        ax.set(xlabel="band of the new score", ylabel="band of the old score")

    def _draw_scores(self, ax: Any) -> None:
        columns = self._scores_columns()
        changed = columns["changed"]
        for rows, label, color in ((~changed, "stays", "0.7"), (changed, "changes", "C1")):
            both = columns["score_a"][rows], columns["score_b"][rows]
            ax.plot(*both, ".", color=color, alpha=0.5, label=label, rasterized=True)
        ax.set(xlabel="old score", ylabel="new score")

    def _draw_calibration(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], ":", color="black", label="calibrated")
        for model, bins in self._calibration():
            ax.plot([b.predicted for b in bins], [b.observed for b in bins], "o-", label=model)
        ax.set(xlabel="estimated probability", ylabel="observed share")
