"""Accuracy against the flips of the 99 % row, for the guide "Which estimator should I use?"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt

CONTENDERS = {
    "single fit": ("o", "0.45"),
    "bagging, 24": ("s", "tab:blue"),
    "bagging, 5": ("D", "tab:cyan"),
    "our defaults": ("^", "tab:green"),
    "score, rho 0.2": ("v", "tab:orange"),
    "score, rho 0.1": ("v", "tab:red"),
}
NAMES = {
    "logreg": "logistic regression",
    "forest": "forest",
    "boosting": "boosting",
    "tree": "tree",
}


def draw(records: list[dict[str, Any]], path: Path) -> None:
    """Draw one panel per estimator, one mark per contender and file."""
    shown = [model for model in NAMES if any(one["model"] == model for one in records)]
    figure, panels = plt.subplots(1, len(shown), figsize=(3.3 * len(shown), 3.6), squeeze=False)
    for panel, model in zip(panels[0], shown, strict=True):
        for name, (marker, colour) in CONTENDERS.items():
            found = [one for one in records if (one["model"], one["contender"]) == (model, name)]
            if not found:
                continue
            gains = [100 * item["gain"] for item in found]
            panel.scatter(
                gains, [item["flips_99"] for item in found], marker=marker, color=colour,
                label=name, alpha=0.8,
            )  # fmt: skip
        panel.set_title(NAMES[model])
        panel.set_xlabel("accuracy against the single fit, points")
        panel.set_ylim(0, 1.05)
        panel.axvline(0, color="0.8", zorder=0)
    panels[0][0].set_ylabel("flips of the 99 % row")
    handles, labels = panels[0][-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False)
    figure.tight_layout(rect=(0, 0.07, 1, 1))
    figure.savefig(path, dpi=110)
