"""Instability plots of clinical prediction models, as one display.

Kinds and axes as in Riley and Collins (2023) and in the R package pminternal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from replearn.auditing._audit import AuditResult
from replearn.auditing.displays import Display
from replearn.auditing.instability import DECISION_THRESHOLDS, Retrainings, net_benefit
from replearn.records import check_choice

INSTABILITY_KINDS = ("prediction", "classification", "mape", "calibration", "decision")
GREY = "0.6"
_LEGENDS = {"calibration": "upper left", "decision": "lower left"}


class InstabilityDisplay(Display):
    """One of the five instability plots of clinical prediction models.

    Parameters
    ----------
    runs : Retrainings
        Estimated risks before and after retraining; with the truth for "calibration" and
        "decision".
    kind : {"prediction", "classification", "mape", "calibration", "decision"}
        - "prediction": risk after retraining against the risk before. Dashed lines enclose 95 % of
          the risks after retraining. The points of a stable model lie on the diagonal.
        - "classification": share of retrainings that classify a row differently, by its risk. It
          is high near the decision threshold for every model, and elsewhere for unstable ones.
        - "mape": mean absolute change of the risk of a row, by its risk.
        - "calibration": one calibration curve per model, in ten bins of equal size.
        - "decision": one decision curve per model: net benefit of treating everybody whose
          estimated risk reaches the threshold, next to treating all and treating none.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.auditing import InstabilityDisplay, Retrainings
    >>> runs = Retrainings.from_risks([0.2, 0.7], [[0.3, 0.7], [0.1, 0.6]])
    >>> display = InstabilityDisplay(runs, kind="prediction")
    >>> np.asarray(display.frame()["retrained"]).tolist()
    [0.3, 0.7, 0.1, 0.6]
    """

    def __init__(self, runs: Retrainings, *, kind: str = "prediction") -> None:
        self.runs = runs
        self.kind = check_choice("kind", kind, INSTABILITY_KINDS)
        self.legend_location = _LEGENDS.get(kind, "best")

    @classmethod
    def from_result(
        cls,
        result: AuditResult,
        contender: str | None = None,
        *,
        kind: str = "prediction",
        **options: Any,
    ) -> Self:
        """Take the pairs of an audit; other parameters as in `Retrainings.from_result`."""
        return cls(Retrainings.from_result(result, contender, **options), kind=kind)

    @classmethod
    def from_models(
        cls,
        original: Any,
        retrained: Sequence[Any],
        X: Any,
        y: Any = None,
        *,
        kind: str = "prediction",
        **options: Any,
    ) -> Self:
        """Let models predict the same rows; other parameters as in `Retrainings.from_models`."""
        return cls(Retrainings.from_models(original, retrained, X, y, **options), kind=kind)

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = getattr(self, f"_{self.kind}_columns")()
        return columns

    def _draw(self, ax: Any) -> None:
        getattr(self, f"_draw_{self.kind}")(ax)

    # -- numbers -----------------------------------------------------------------------------------
    def _prediction_columns(self) -> dict[str, Any]:
        pairs, rows = self.runs.original.shape
        return {
            "retraining": np.repeat(np.arange(pairs), rows),
            "row": np.tile(np.arange(rows), pairs),
            "original": self.runs.original.ravel(),
            "retrained": self.runs.retrained.ravel(),
        }

    def _classification_columns(self) -> dict[str, Any]:
        return self._row_columns(index=self.runs.classification_index())

    def _mape_columns(self) -> dict[str, Any]:
        return self._row_columns(mape=self.runs.mape())

    def _row_columns(self, **values: Any) -> dict[str, Any]:
        return {"row": np.arange(len(self.runs.risk)), "risk": self.runs.risk, **values}

    def _calibration_columns(self) -> dict[str, Any]:
        curves = self.runs.calibration()
        return {
            **self._run_columns([len(x) for x, _ in curves]),
            "predicted": np.concatenate([x for x, _ in curves]),
            "observed": np.concatenate([y for _, y in curves]),
        }

    def _decision_columns(self) -> dict[str, Any]:
        benefit = self.runs.net_benefit()
        return {
            **self._run_columns([len(DECISION_THRESHOLDS)] * len(benefit)),
            "threshold": np.tile(DECISION_THRESHOLDS, len(benefit)),
            "net_benefit": benefit.ravel(),
        }

    def _run_columns(self, lengths: Sequence[int]) -> dict[str, Any]:
        first = self.runs.n_originals
        kinds = ["original" if index < first else "retrained" for index in range(len(lengths))]
        numbers = [index if index < first else index - first for index in range(len(lengths))]
        return {"run": np.repeat(kinds, lengths), "number": np.repeat(numbers, lengths)}

    # -- drawings ----------------------------------------------------------------------------------
    def _draw_prediction(self, ax: Any) -> None:
        before = self.runs.original.ravel()
        after = self.runs.retrained.ravel()
        ax.plot(before, after, ".", color=GREY, alpha=0.3, markersize=3, rasterized=True)
        ends = [min(before.min(), after.min()), max(before.max(), after.max())]
        ax.plot(ends, ends, color="C0", label="as before")
        band = self.runs.interval()
        ax.plot(band.original, band.lower, "--", color="C1", label="95 % of the retrained risks")
        ax.plot(band.original, band.upper, "--", color="C1")
        ax.set(xlabel=self._risk_label(), ylabel="after retraining")

    def _draw_classification(self, ax: Any) -> None:
        index = self.runs.classification_index()
        self._draw_rows(ax, index, self.runs.by_risk().index, f"{index.mean():.1%}")
        ax.set_ylabel("classification instability index")

    def _draw_mape(self, ax: Any) -> None:
        mape = self.runs.mape()
        self._draw_rows(ax, mape, self.runs.by_risk().mape, f"{mape.mean():.3f}")
        ax.set_ylabel("mean absolute prediction error")

    def _draw_rows(self, ax: Any, values: Any, means: Any, mean: str) -> None:
        """Draw one number per row against its risk, and the mean by risk."""
        label = f"rows (mean {mean})"
        ax.plot(self.runs.risk, values, ".", color=GREY, alpha=0.5, label=label, rasterized=True)
        ax.plot(self.runs.by_risk().risk, means, color="C1", label="mean by risk")
        ax.set_xlabel(self._risk_label())
        ax.set_ylim(bottom=0)

    def _draw_calibration(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], ":", color="black", label="calibrated")
        self._draw_curves(ax, self.runs.calibration())
        ax.set(xlabel=self._risk_label(), ylabel="observed share")

    def _draw_decision(self, ax: Any) -> None:
        benefit = self.runs.net_benefit()
        self._draw_curves(ax, [(DECISION_THRESHOLDS, line) for line in benefit])
        truth = self.runs.truth
        assert truth is not None, "net_benefit has checked"
        everybody = net_benefit(np.ones(len(truth)), truth, DECISION_THRESHOLDS)
        ax.plot(DECISION_THRESHOLDS, everybody, ":", color="black", label="treat all")
        ax.axhline(0.0, color="black", linewidth=0.8, label="treat none")
        top = max(0.01, float(benefit.max()), float(everybody.max()))
        ax.set(xlabel="decision threshold", ylabel="net benefit", ylim=(-0.15 * top, 1.05 * top))

    def _draw_curves(self, ax: Any, curves: Sequence[tuple[Any, Any]]) -> None:
        """Draw one curve per run: retrained ones thin, an original on top."""
        # All runs of an audit's pairs are equal: there is no original to emphasise.
        first = self.runs.n_originals if self.runs.n_originals == 1 else 0
        for index, (x, y) in enumerate(curves[first:]):
            label = ("retrained" if first else "one run each") if index == 0 else None
            ax.plot(x, y, color="0.45", alpha=0.5, linewidth=0.8, label=label)
        for x, y in curves[:first]:
            ax.plot(x, y, color="C0", linewidth=1.8, label="original")

    def _risk_label(self) -> str:
        return f"estimated risk of {self.runs.event!r}"
