"""Instability plots of clinical prediction models, as displays.

Names and axes as in Riley and Collins (2023) and in the R package pminternal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from replearn.auditing._audit import AuditResult
from replearn.auditing.displays import Display
from replearn.auditing.instability import DECISION_THRESHOLDS, Retrainings, net_benefit

GREY = "0.6"


class InstabilityDisplay(Display):
    """What the instability displays share.

    Parameters
    ----------
    runs : Retrainings
        Estimated risks before and after retraining.
    """

    def __init__(self, runs: Retrainings) -> None:
        self.runs = runs

    @classmethod
    def from_result(cls, result: AuditResult, contender: str | None = None, **options: Any) -> Self:
        """Take the pairs of an audit; parameters as in `Retrainings.from_result`."""
        return cls(Retrainings.from_result(result, contender, **options))

    @classmethod
    def from_models(
        cls, original: Any, retrained: Sequence[Any], X: Any, y: Any = None, **options: Any
    ) -> Self:
        """Let models predict the same rows; parameters as in `Retrainings.from_models`."""
        return cls(Retrainings.from_models(original, retrained, X, y, **options))

    def _rows(self, **values: Any) -> dict[str, Any]:
        return {"row": np.arange(len(self.runs.risk)), "risk": self.runs.risk, **values}

    def _draw_rows(self, ax: Any, values: Any, name: str, mean: str) -> None:
        """Draw one number per row against its risk, and the mean by risk."""
        label = f"rows (mean {mean})"
        by_risk = self.runs.by_risk()
        ax.plot(self.runs.risk, values, ".", color=GREY, alpha=0.5, label=label, rasterized=True)
        ax.plot(by_risk["risk"], by_risk[name], color="C1", label="mean by risk")
        ax.set_xlabel(self._risk_label())
        ax.set_ylim(bottom=0)

    def _risk_label(self) -> str:
        return f"estimated risk of {self.runs.event!r}"


class PredictionInstabilityDisplay(InstabilityDisplay):
    """Prediction instability plot: estimated risk after retraining against the risk before.

    Dashed lines enclose 95 % of the risks after retraining, in bins of the risk before. A stable
    model has its points on the diagonal.

    Parameters
    ----------
    runs : Retrainings
        Estimated risks before and after retraining.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.auditing import PredictionInstabilityDisplay, Retrainings
    >>> runs = Retrainings.from_risks([0.2, 0.7], [[0.3, 0.7], [0.1, 0.6]])
    >>> display = PredictionInstabilityDisplay(runs)
    >>> np.asarray(display.frame()["retrained"]).tolist()
    [0.3, 0.7, 0.1, 0.6]
    """

    def _columns(self) -> dict[str, Any]:
        pairs, rows = self.runs.original.shape
        return {
            "retraining": np.repeat(np.arange(pairs), rows),
            "row": np.tile(np.arange(rows), pairs),
            "original": self.runs.original.ravel(),
            "retrained": self.runs.retrained.ravel(),
        }

    def _draw(self, ax: Any) -> None:
        before = self.runs.original.ravel()
        after = self.runs.retrained.ravel()
        ax.plot(before, after, ".", color=GREY, alpha=0.3, markersize=3, rasterized=True)
        ends = [min(before.min(), after.min()), max(before.max(), after.max())]
        ax.plot(ends, ends, color="C0", label="as before")
        band = self.runs.interval()
        for side in ("lower", "upper"):
            label = "95 % of the retrained risks" if side == "lower" else None
            ax.plot(band["original"], band[side], "--", color="C1", label=label)
        ax.set(xlabel=self._risk_label(), ylabel="after retraining")


class ClassificationInstabilityDisplay(InstabilityDisplay):
    """Classification instability index of each row against its estimated risk.

    The index is the share of retrainings that classify the row differently. Near the decision
    threshold it is high for every model; an unstable model has high values far from it, too.

    Parameters
    ----------
    runs : Retrainings
        Estimated risks before and after retraining.
    """

    def _columns(self) -> dict[str, Any]:
        return self._rows(index=self.runs.classification_index())

    def _draw(self, ax: Any) -> None:
        index = self.runs.classification_index()
        self._draw_rows(ax, index, "index", f"{index.mean():.1%}")
        ax.set_ylabel("classification instability index")


class MAPEInstabilityDisplay(InstabilityDisplay):
    """Mean absolute prediction error (MAPE) of each row against its estimated risk.

    Parameters
    ----------
    runs : Retrainings
        Estimated risks before and after retraining.
    """

    def _columns(self) -> dict[str, Any]:
        return self._rows(mape=self.runs.mape())

    def _draw(self, ax: Any) -> None:
        mape = self.runs.mape()
        self._draw_rows(ax, mape, "mape", f"{mape.mean():.3f}")
        ax.set_ylabel("mean absolute prediction error")


class _CurvesDisplay(InstabilityDisplay):
    """One curve per run: retrained ones thin, an original on top."""

    def _draw_curves(self, ax: Any, curves: Sequence[tuple[Any, Any]]) -> None:
        # The runs of an audit's pairs are all alike: there is no original to stand out.
        first = self.runs.n_originals if self.runs.n_originals == 1 else 0
        for index, (x, y) in enumerate(curves[first:]):
            label = ("retrained" if first else "one run each") if index == 0 else None
            ax.plot(x, y, color="0.45", alpha=0.5, linewidth=0.8, label=label)
        for x, y in curves[:first]:
            ax.plot(x, y, color="C0", linewidth=1.8, label="original")

    def _names(self, lengths: Sequence[int]) -> dict[str, Any]:
        first = self.runs.n_originals
        kinds = ["original" if index < first else "retrained" for index in range(len(lengths))]
        numbers = [index if index < first else index - first for index in range(len(lengths))]
        return {"run": np.repeat(kinds, lengths), "number": np.repeat(numbers, lengths)}


class CalibrationInstabilityDisplay(_CurvesDisplay):
    """Calibration curves of the model and of its retrained versions, on the same rows.

    Ten bins of equal size: mean estimated risk against the share that had the event.

    Parameters
    ----------
    runs : Retrainings
        Estimated risks before and after retraining, with the truth.
    """

    legend_location: ClassVar[str] = "upper left"

    def _columns(self) -> dict[str, Any]:
        curves = self.runs.calibration()
        return {
            **self._names([len(x) for x, _ in curves]),
            "predicted": np.concatenate([x for x, _ in curves]),
            "observed": np.concatenate([y for _, y in curves]),
        }

    def _draw(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], ":", color="black", label="calibrated")
        self._draw_curves(ax, self.runs.calibration())
        ax.set(xlabel=self._risk_label(), ylabel="observed share")


class DecisionCurveInstabilityDisplay(_CurvesDisplay):
    """Decision curves of the model and of its retrained versions, on the same rows.

    Net benefit of treating everybody whose estimated risk reaches the threshold, beside treating
    all and treating none.

    Parameters
    ----------
    runs : Retrainings
        Estimated risks before and after retraining, with the truth.
    """

    legend_location: ClassVar[str] = "lower left"

    def _columns(self) -> dict[str, Any]:
        benefit = self.runs.net_benefit()
        return {
            **self._names([len(DECISION_THRESHOLDS)] * len(benefit)),
            "threshold": np.tile(DECISION_THRESHOLDS, len(benefit)),
            "net_benefit": benefit.ravel(),
        }

    def _draw(self, ax: Any) -> None:
        benefit = self.runs.net_benefit()
        self._draw_curves(ax, [(DECISION_THRESHOLDS, line) for line in benefit])
        truth = self.runs.truth
        assert truth is not None, "net_benefit has checked"
        everybody = net_benefit(np.ones(len(truth)), truth, DECISION_THRESHOLDS)
        ax.plot(DECISION_THRESHOLDS, everybody, ":", color="black", label="treat all")
        ax.axhline(0.0, color="black", linewidth=0.8, label="treat none")
        top = max(0.01, float(benefit.max()), float(everybody.max()))
        ax.set(xlabel="decision threshold", ylabel="net benefit", ylim=(-0.15 * top, 1.05 * top))
